/* Flows and their states, for measurements: the same in every run. */
#ifndef BLOOMERY_BENCH_FLOW_STATES_H
#define BLOOMERY_BENCH_FLOW_STATES_H

#include <bloomery/hash.h>

/* A flow goes through as many states, in equal parts of its life; neighbours may be equal. */
enum { FLOW_STEPS = 4 };

/* 1 SYN seen, 2 SYN-ACK seen, 3 established, 4 mid-stream, 5 closing, 6 closed, 7 reset. */
enum { FLOW_STATES = 8 };

/* The state of a flow at step 0 to FLOW_STEPS - 1. */
uint8_t flow_state_at(uint64_t flow, unsigned step);

/* The hash of a flow's addresses; different for each flow below 2^63. */
bry_hash flow_hash(uint64_t flow);

#endif
