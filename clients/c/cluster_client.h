/* The inside of a client: its nodes, their connections, and the map of slots. */
#ifndef BLOOMERY_CLUSTER_CLIENT_H
#define BLOOMERY_CLUSTER_CLIENT_H

#include "clients/c/cluster_reply.h"

#include <bloomery_cluster.h>
#include <sys/types.h>

#define BRYC__NONE UINT32_MAX

/* What a URL says. Unset strings are NULL, except for host and name. */
typedef struct bryc__url {
    char *host, *user, *password, *name;
    uint32_t port;
} bryc__url;

/* NULL, or what is wrong with the URL; then nothing is allocated. */
const char *bryc__url_read(const char *text, bryc__url *url);
void bryc__url_free(bryc__url *url);

/* A node. Requests that were sent to it are answered in the order of the queue (exchange.c). */
typedef struct bryc__node {
    char *host;
    uint32_t port;
    uint32_t slots;
    uint32_t replicas; /* number of replicas that the cluster has for its slots */
    redisContext *link; /* NULL: not connected */
    void *whole_replies; /* hiredis' own functions, which make redisReply objects */
    bryc__flat flat;
    uint32_t *queue; /* numbers of requests, and ASKING and WAIT between them */
    size_t queued, capacity;
    size_t sent; /* entries of the queue that were sent */
    size_t sent_bytes; /* bytes that were sent of the entry after these */
    size_t answered; /* entries of the queue that were answered */
    size_t confirmed; /* entries up to the last WAIT that was answered */
    bool waits; /* entries were added after the last WAIT */
    bool replaced; /* another server may have its address now */
    uint64_t heard_at; /* when it last made progress */
    uint64_t down_until; /* no attempt to connect before */
} bryc__node;

struct bryc_client {
    bryc__url url;
    uint32_t connect_ms, reply_ms, patience_ms;
    pid_t process; /* the process that opened the connections */
    bool is_cluster;
    bool stale; /* the map of slots is known to be out of date */
    uint64_t refreshed_at;
    uint32_t first_asked; /* the node that is asked first for the map of slots */
    bryc__node **nodes;
    uint32_t count, capacity;
    uint32_t owners[BRYC_SLOTS]; /* the node of each slot, or BRYC__NONE */
    char message[512];
};

/* Sets the message and returns the status. */
__attribute__((format(printf, 3, 4))) bry_status bryc__fail(bryc_client *client, bry_status status,
                                                            const char *format, ...);

/* Milliseconds of a clock that is never set back. */
uint64_t bryc__now(void);
void bryc__sleep(uint64_t ms);

/* The status of an error reply. */
bry_status bryc__reply_status(const char *text, size_t len);

/* How many nodes have slots. */
uint32_t bryc__primaries(const bryc_client *client);

/* ---- the same command for many keys (cluster_client.c) ------------------------------------- */

/* Keys number first to first + n - 1; `write` writes one of at most BRYC__KEY_MAX bytes. */
#define BRYC__KEY_MAX 256u
typedef struct bryc__keys {
    void (*write)(const void *of, uint64_t number, char *text, size_t room);
    const void *of;
    uint64_t first;
    size_t n;
} bryc__keys;

typedef bry_status (*bryc__read_replies)(void *context, bryc_command *commands, size_t n);

/* Sends `words`, with each key as the second, and returns what `read` returns of the replies, or
 * the status of the first failure if it is NULL. */
bry_status bryc__ask_each(bryc_client *client, const char *const *words, uint32_t count,
                          const bryc__keys *keys, bryc__read_replies read, void *context);

/* ---- connections (cluster_link.c) ---------------------------------------------------------- */

/* Connects and authenticates. On failure *status is BRY_E_IO if it may help to try again, and
 * BRY_E_UNSUPPORTED if not, such as a wrong password. */
redisContext *bryc__link_open(bryc_client *client, const char *host, uint32_t port,
                              bry_status *status);

/* One command on a connection that waits for no other reply. NULL after a failure. */
redisReply *bryc__link_call(bryc_client *client, redisContext *link, const char *bytes, size_t len);

/* Connects a node that is not connected. Sets the message. */
bry_status bryc__node_connect(bryc_client *client, bryc__node *node);
void bryc__node_disconnect(bryc__node *node);

/* Drops connections that belong to the parent process. */
void bryc__check_process(bryc_client *client);

/* ---- slots (cluster_slots.c) --------------------------------------------------------------- */

/* Learns the map of slots from any node that answers. */
bry_status bryc__learn_slots(bryc_client *client);

/* "12 host:port" of MOVED or ASK, answered by node `from`. False if it is not that. */
bool bryc__redirection(bryc_client *client, uint32_t from, const char *text, size_t len,
                       uint32_t *slot, uint32_t *node);

#endif
