/*
 * The tracker: takes packets, finds the flow of each, and moves it to its next state.
 *
 * Packets are collected in rounds. The flows of a round are looked up in one batch, each once; the
 * packets are then processed in their order, and the flows that have changed are stored in one
 * batch. The result is the same as with one look-up and one change per packet, but memory accesses
 * overlap, and a burst of packets of one flow costs one look-up.
 */
#ifndef BLOOMERY_APPS_FLOW_TRACKER_H
#define BLOOMERY_APPS_FLOW_TRACKER_H

#include "apps/flows/flow_engine.h"
#include "apps/flows/flow_key.h"

typedef struct flow_sighting {
    const flow_packet *packet;
    flow_event event;
    flow_state before; /* State of the flow before the packet. */
    flow_state after; /* State of the flow after the packet. */
    flow_side side; /* of the sender */
    flow_note note;
    bool begins;
    uint64_t now; /* by the tracker's clock, microseconds */
} flow_sighting;

/* Is told of packets that may be a part of an attack: those that are noted, begin a flow, complete
 * a handshake, or are a SYN or RST. */
typedef void flow_watch(void *context, const flow_sighting *seen);

/* Wrong answers of the engine, counted by the exact twin. A flow is looked up once per round. */
typedef struct flow_errors {
    uint64_t absent; /* Flows looked up that the twin did not have. */
    uint64_t present; /* Flows looked up that the twin had. */
    uint64_t false_positive; /* of the absent */
    uint64_t false_negative; /* Present flows that were not found. */
    uint64_t incorrect; /* Present flows that were found in another state. */
} flow_errors;

typedef struct flow_counts {
    uint64_t packets; /* of TCP */
    uint64_t flows; /* that have begun */
    int64_t states[FLOW_STATES]; /* flows by the state that they are in, or had when they were
                                    deleted; the sum is `flows` */
    uint64_t notes[FLOW_NOTES]; /* packets */
    uint64_t unsure; /* packets whose flow the engine was unsure of: nothing was done */
    uint64_t unstored; /* flows that did not fit into the memory */
    uint64_t untracked; /* packets of unknown flows while the memory was full */
    uint64_t late; /* packets before an earlier one */
    uint64_t jumps_back; /* of the clock */
    uint64_t first; /* Time of the first packet, in microseconds since 1970. */
    uint64_t last; /* Time of the last packet, in microseconds since 1970. */
    uint64_t most_flows; /* The most flows so far. */
    uint64_t most_bytes; /* The most memory so far. */
} flow_counts;

/* Flows in a state as it is reported: closing includes both directions. */
static inline uint64_t flow_counts_state(const flow_counts *counts, unsigned state)
{
    int64_t count =
        counts->states[state] + (state == FLOW_CLOSING ? counts->states[FLOW_CLOSING_BACK] : 0);
    return count > 0 ? (uint64_t)count : 0; /* kbf may count a change that it has refused */
}

typedef struct flow_tracker_options {
    flow_engine_options engine;
    flow_key_kind key;
    uint64_t idle; /* Milliseconds after which an idle flow is forgotten. */
    uint64_t linger; /* Milliseconds after which an ended flow is forgotten. */
    bool check; /* with an exact twin */
    const bry_allocator *twin_allocator;
    flow_watch *watch; /* may be NULL */
    void *context;
} flow_tracker_options;

typedef struct flow_tracker flow_tracker;

/* BRY_E_RANGE, BRY_E_NOMEM. */
bry_status flow_tracker_create(const flow_tracker_options *options, flow_tracker **made);
void flow_tracker_destroy(flow_tracker *tracker);

/* Where the next packet may be written: flow_tracker_add() does not have to copy it then. */
flow_packet *flow_tracker_room(flow_tracker *tracker);

/* The packet may wait for its round to be full. */
void flow_tracker_add(flow_tracker *tracker, const flow_packet *packet);

/* Processes the packets that wait. */
void flow_tracker_flush(flow_tracker *tracker);

/* Counts as of the last flush. */
const flow_counts *flow_tracker_counts(const flow_tracker *tracker);
/* Deletes the flows that have expired first. */
void flow_tracker_facts(flow_tracker *tracker, flow_engine_facts *facts);

/* The twin's: false if there is none. */
bool flow_tracker_check(const flow_tracker *tracker, flow_errors *errors,
                        const flow_counts **counts);

#endif
