/* Many requests to many nodes at once, with redirections and repetitions. */
#ifndef BLOOMERY_CLUSTER_EXCHANGE_H
#define BLOOMERY_CLUSTER_EXCHANGE_H

#include "clients/c/cluster_client.h"

typedef enum bryc__state {
    BRYC__WAITING, /* to be sent */
    BRYC__SENT,
    BRYC__ANSWERED, /* WAIT has not confirmed it yet */
    BRYC__DONE, /* answered, maybe with an error */
    BRYC__FAILED, /* without a reply */
} bryc__state;

/* A command, encoded, and where it goes. */
typedef struct bryc__request {
    const char *bytes;
    size_t len;
    uint32_t slot; /* decides the node, unless it is BRYC_FIXED */
    uint32_t node; /* where it is sent */
    uint16_t flags; /* BRYC_ONCE … */
    uint8_t state; /* bryc__state; start with 0 */
    uint8_t tries;
    bool asked; /* ASK sent it to `node` */
    bool lost; /* a connection broke after it was sent, so it may have been executed */
    bry_status status; /* of a request without a reply */
    uint64_t not_before;
    uint64_t deadline; /* it is not sent again after that; 0 before the first repetition */
} bryc__request;

typedef struct bryc__exchange {
    bryc_client *client;
    bryc__request *requests;
    uint32_t n;
    bool flat; /* replies are a bryc__flat of the node; else a redisReply, which deliver() owns */
    uint32_t wait; /* replicas that must confirm the requests to a node; 0: no WAIT */
    uint32_t wait_ms;
    /* Called for the reply that counts; for one that is sent again after that, again. */
    void (*deliver)(void *context, uint32_t request, void *reply);
    void *context;
    uint32_t confirmed; /* the fewest replicas that confirmed; UINT32_MAX: no WAIT was sent */
    uint32_t pending; /* requests that are not done */
    uint64_t next; /* when a waiting request is due */
} bryc__exchange;

/* Returns when every request is done or failed. The requests' statuses tell which failed; the
 * client has the message of the first failure. */
void bryc__exchange_run(bryc__exchange *self);

/* For `deliver`: the context is an array of bryc_command. */
void bryc__deliver_command(void *context, uint32_t request, void *reply);

#endif
