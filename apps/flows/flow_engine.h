/*
 * Where flows are stored: hash → value. There are three engines, all with the same calls. None
 * stores the key of a flow.
 *
 *   compact  bry_map, engine compact: about 3 bytes per flow at an error of 0.001
 *   kbf      two maps of engine kbf, which take turns: a flow that is seen again moves to the
 *            younger one, and the older one is dropped as a whole. Answers may be "unsure".
 *   exact    a hash table with the 128-bit hash of each flow: 24 bytes per slot
 */
#ifndef BLOOMERY_APPS_FLOW_ENGINE_H
#define BLOOMERY_APPS_FLOW_ENGINE_H

#include "apps/flows/flow_clock.h"
#include "apps/flows/flow_machine.h"

#include <bloomery/map.h>

/* ---- values ---------------------------------------------------------------------------------- */

/* State in bits 0 to 3; bit 4: the initiator is the second end of the key; then the tick. */
enum { FLOW_VALUE_STATE = 15, FLOW_VALUE_SECOND = 16, FLOW_VALUE_SHIFT = 5 };
enum { FLOW_VALUE_BITS = FLOW_VALUE_SHIFT + FLOW_TICK_BITS };

static inline uint32_t flow_value_make(unsigned state, bool second, unsigned tick)
{
    return state | (second ? FLOW_VALUE_SECOND : 0u) | (tick & FLOW_TICK_MASK) << FLOW_VALUE_SHIFT;
}

static inline unsigned flow_value_state(uint32_t value)
{
    return value & FLOW_VALUE_STATE;
}

static inline unsigned flow_value_tick(uint32_t value)
{
    return value >> FLOW_VALUE_SHIFT;
}

/* Idle ticks of a live flow, linger ticks of one that has ended. */
static inline unsigned flow_value_age(const flow_clock *clock, uint32_t value)
{
    unsigned tick =
        flow_state_ended(flow_value_state(value)) ? clock->linger_tick : clock->idle_tick;
    return (tick - flow_value_tick(value)) & FLOW_TICK_MASK;
}

static inline bool flow_value_expired(const flow_clock *clock, uint32_t value)
{
    unsigned most = flow_state_ended(flow_value_state(value)) ? clock->linger_age : clock->idle_age;
    return flow_value_age(clock, value) > most;
}

/* ---- engines --------------------------------------------------------------------------------- */

typedef enum flow_engine_kind { FLOW_COMPACT, FLOW_KBF, FLOW_EXACT } flow_engine_kind;

extern const char *const flow_engine_names[3];

typedef struct flow_engine_options {
    flow_engine_kind kind;
    uint64_t flows; /* to plan for */
    double error;
    uint64_t seed; /* not 0 */
    const bry_allocator *allocator;
} flow_engine_options;

typedef struct flow_engine_facts {
    uint64_t flows; /* Flows in the table. */
    uint64_t bytes; /* Memory of the table. */
    bry_map_errors bound; /* promised; all 0 for exact */
    bry_map_errors estimated; /* now */
    uint64_t ghosts; /* kbf */
} flow_engine_facts;

/* At most this many hashes in a call of find(), and of store(): larger batches would leave the first
 * cache, and allocate memory. */
enum { FLOW_FOUND = 256, FLOW_STORED = 64 };

typedef struct flow_engine flow_engine;

typedef struct flow_engine_calls {
    /* A flow that has expired is BRY_ABSENT. */
    void (*find)(flow_engine *engine, const flow_clock *clock, const bry_hash *hashes, size_t n,
                 uint32_t *values, bry_answer *answers);
    /* All or none. A flow that kbf is unsure of is left as it is. BRY_E_FULL, BRY_E_NOMEM. */
    bry_status (*store)(flow_engine *engine, const flow_clock *clock, const bry_hash *hashes,
                        const uint32_t *values, size_t n);
    /* Called after each tick of the clock; NULL: nothing changes with it. */
    void (*tick)(flow_engine *engine, const flow_clock *clock);
    /* Deletes what has expired; NULL: each tick does. */
    void (*sweep)(flow_engine *engine, const flow_clock *clock);
    void (*facts)(const flow_engine *engine, flow_engine_facts *facts);
    void (*destroy)(flow_engine *engine);
} flow_engine_calls;

struct flow_engine {
    const flow_engine_calls *calls;
};

/* BRY_E_RANGE, BRY_E_NOMEM. */
bry_status flow_engine_create(const flow_engine_options *options, flow_engine **engine);

/* The options of a map with these numbers as values. */
bry_map_options flow_engine_map(const flow_engine_options *options, bry_engine engine,
                                unsigned value_bits);

bry_status flow_engine_compact(const flow_engine_options *options, flow_engine **engine);
bry_status flow_engine_kbf(const flow_engine_options *options, flow_engine **engine);
bry_status flow_engine_exact(const flow_engine_options *options, flow_engine **engine);

#endif
