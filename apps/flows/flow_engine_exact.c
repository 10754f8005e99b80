/*
 * An ordinary hash table: the 128-bit hash of a flow and its value, in slots of 24 bytes, with
 * linear probing. At most 7 of 10 slots are in use, and the table doubles. Two of a billion flows
 * have the same hash with a probability of 10^-21.
 */
#include "apps/flows/flow_engine.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_SLOTS 1024u

typedef struct exact_flow {
    bry_hash hash;
    uint32_t value;
    uint32_t used;
} exact_flow;

typedef struct exact_flows {
    flow_engine base;
    bry_allocator allocator;
    exact_flow *slots;
    uint64_t mask, count; /* slots - 1, a power of two; flows */
} exact_flows;

static exact_flow *find_exact_slot(const exact_flows *flows, bry_hash hash)
{
    uint64_t i = hash.lo & flows->mask;
    while (flows->slots[i].used &&
           (flows->slots[i].hash.lo != hash.lo || flows->slots[i].hash.hi != hash.hi))
        i = (i + 1) & flows->mask;
    return &flows->slots[i];
}

static void exact_flow_find(flow_engine *engine, const flow_clock *clock, const bry_hash *hashes,
                            size_t n, uint32_t *values, bry_answer *answers)
{
    const exact_flows *flows = (const exact_flows *)engine;
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(&flows->slots[hashes[i].lo & flows->mask]);
    for (size_t i = 0; i < n; i++) {
        const exact_flow *slot = find_exact_slot(flows, hashes[i]);
        answers[i] =
            slot->used && !flow_value_expired(clock, slot->value) ? BRY_PRESENT : BRY_ABSENT;
        values[i] = slot->value;
    }
}

static exact_flow *make_slots(const exact_flows *flows, uint64_t slots)
{
    size_t size = (size_t)slots * sizeof(exact_flow);
    exact_flow *made = flows->allocator.alloc(flows->allocator.opaque, size);
    if (made)
        memset(made, 0, size);
    return made;
}

static void free_slots(exact_flows *flows)
{
    if (flows->slots)
        flows->allocator.free(flows->allocator.opaque, flows->slots,
                              (size_t)(flows->mask + 1) * sizeof *flows->slots);
}

static bool double_slots(exact_flows *flows)
{
    exact_flows wider = *flows;
    wider.mask = flows->mask * 2 + 1;
    wider.slots = make_slots(flows, wider.mask + 1);
    if (!wider.slots)
        return false;
    for (uint64_t i = 0; i <= flows->mask; i++)
        if (flows->slots[i].used)
            *find_exact_slot(&wider, flows->slots[i].hash) = flows->slots[i];
    free_slots(flows);
    *flows = wider;
    return true;
}

static bry_status exact_store(flow_engine *engine, const flow_clock *clock, const bry_hash *hashes,
                              const uint32_t *values, size_t n)
{
    exact_flows *flows = (exact_flows *)engine;
    (void)clock;
    while ((flows->count + n) * 10 > (flows->mask + 1) * 7)
        if (!double_slots(flows))
            return BRY_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        exact_flow *slot = find_exact_slot(flows, hashes[i]);
        flows->count += !slot->used;
        *slot = (exact_flow){hashes[i], values[i], 1};
    }
    return BRY_OK;
}

/* Later flows move up if their probe sequence passes the hole. */
static void delete_exact_slot(exact_flows *flows, uint64_t hole)
{
    uint64_t mask = flows->mask;
    for (uint64_t i = (hole + 1) & mask; flows->slots[i].used; i = (i + 1) & mask) {
        uint64_t home = flows->slots[i].hash.lo & mask;
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        flows->slots[hole] = flows->slots[i];
        hole = i;
    }
    flows->slots[hole].used = 0;
    flows->count--;
}

/* A deletion may move a flow into the slot, which is therefore judged again. */
static void exact_sweep(flow_engine *engine, const flow_clock *clock)
{
    exact_flows *flows = (exact_flows *)engine;
    for (uint64_t i = 0; i <= flows->mask; i++)
        while (flows->slots[i].used && flow_value_expired(clock, flows->slots[i].value))
            delete_exact_slot(flows, i);
}

static void exact_facts(const flow_engine *engine, flow_engine_facts *facts)
{
    const exact_flows *flows = (const exact_flows *)engine;
    *facts = (flow_engine_facts){
        .flows = flows->count,
        .bytes = sizeof *flows + (flows->mask + 1) * sizeof *flows->slots,
    };
}

static void exact_destroy(flow_engine *engine)
{
    exact_flows *flows = (exact_flows *)engine;
    free_slots(flows);
    free(flows);
}

bry_status flow_engine_exact(const flow_engine_options *options, flow_engine **engine)
{
    static const flow_engine_calls calls = {exact_flow_find, exact_store, NULL,
                                            exact_sweep,     exact_facts, exact_destroy};
    exact_flows *flows = malloc(sizeof *flows);
    if (!flows)
        return BRY_E_NOMEM;
    *flows = (exact_flows){.base = {&calls}, .mask = LEAST_SLOTS - 1};
    flows->allocator = *options->allocator;
    flows->slots = make_slots(flows, LEAST_SLOTS);
    if (!flows->slots) {
        free(flows);
        return BRY_E_NOMEM;
    }
    *engine = &flows->base;
    return BRY_OK;
}
