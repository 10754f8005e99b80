/*
 * The state machine of a TCP flow, as data. A packet is an *event* by its flags, and comes from the
 * initiator of the flow or from the responder. Event and side lead from one state to the next; some
 * are *notes*, packets that do not belong where they are. doc/flows.md draws the table.
 */
#ifndef BLOOMERY_APPS_FLOW_MACHINE_H
#define BLOOMERY_APPS_FLOW_MACHINE_H

#include "apps/flows/flow_packet.h"

typedef enum flow_state {
    FLOW_NEW, /* not in the table */
    FLOW_SYN_SEEN,
    FLOW_SYN_ACK_SEEN,
    FLOW_ESTABLISHED,
    FLOW_MIDSTREAM, /* picked up without its beginning */
    FLOW_CLOSING, /* the initiator has sent its FIN */
    FLOW_CLOSING_BACK, /* the responder has; reported as closing */
    FLOW_CLOSED,
    FLOW_RESET,
    FLOW_UNASKED, /* began with a SYN-ACK */
    FLOW_PROBED, /* began with flags that no connection begins with */
    FLOW_STATES
} flow_state;

typedef enum flow_event {
    FLOW_ON_SYN,
    FLOW_ON_SYN_ACK,
    FLOW_ON_ACK,
    FLOW_ON_DATA, /* an ACK with data */
    FLOW_ON_FIN, /* with ACK, as connections end */
    FLOW_ON_RST,
    FLOW_ON_NULL, /* none of the six flags */
    FLOW_ON_BARE_FIN, /* FIN without ACK */
    FLOW_ON_XMAS, /* FIN, PSH and URG without ACK */
    FLOW_ON_SYN_FIN, /* SYN with FIN or RST */
    FLOW_EVENTS
} flow_event;

typedef enum flow_side { FLOW_INITIATOR, FLOW_RESPONDER, FLOW_SIDES } flow_side;

typedef enum flow_note {
    FLOW_FINE,
    FLOW_SYN_ACK_UNASKED, /* SYN-ACK without SYN */
    FLOW_ACK_UNASKED, /* ACK without SYN */
    FLOW_DATA_UNASKED, /* data without SYN */
    FLOW_RST_UNASKED, /* RST without a flow */
    FLOW_NULL_SCAN,
    FLOW_FIN_SCAN,
    FLOW_XMAS_SCAN,
    FLOW_SYN_FIN_SCAN,
    FLOW_NOTES
} flow_note;

typedef struct flow_step {
    uint8_t next; /* flow_state */
    uint8_t note; /* flow_note */
    bool begins; /* a new flow, also in place of one that has ended */
    bool turns; /* the sender of this packet is the responder from now on */
} flow_step;

typedef struct flow_machine {
    uint8_t events[FLOW_FLAGS][2]; /* flow_event by flags, and whether there is data */
    flow_step steps[FLOW_STATES][FLOW_EVENTS][FLOW_SIDES];
} flow_machine;

/* directed: each flow has packets of one direction only (--key pair and 5tuple), so the answers to
 * them are not to be expected. */
void flow_machine_init(flow_machine *machine, bool directed);

static inline flow_event flow_event_of(const flow_machine *machine, const flow_packet *packet)
{
    return machine->events[packet->flags][packet->has_data];
}

/* A flow that has ended is deleted after lingering. */
static inline bool flow_state_ended(unsigned state)
{
    return state == FLOW_CLOSED || state == FLOW_RESET;
}

extern const flow_label flow_state_labels[FLOW_STATES];
extern const flow_label flow_note_labels[FLOW_NOTES];
extern const char *const flow_event_titles[FLOW_EVENTS];

#endif
