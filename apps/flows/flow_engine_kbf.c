/*
 * Flows in two maps of engine kbf. A kbf cannot be swept, because its cells do not show which keys
 * are there, and it can delete a key only if it is known. So flows that have ended wait in a queue
 * with their hashes, and the others expire with the map that they are in: new flows are added to
 * the young map, a flow that is seen again moves there, and at each idle tick the old map is
 * emptied and becomes the young one.
 *
 *   idle tick   1          2          3
 *   young       a b c      d a        e        a was seen again in tick 2
 *   old                    b c        d a      b and c are gone in tick 3
 */
#include "apps/flows/flow_engine.h"

#include <stdlib.h>
#include <string.h>

/* A value in a kbf: state, initiator, and 2 bits of the tick in which the flow has ended. */
enum { KBF_TICK_MASK = 3, KBF_VALUE_BITS = FLOW_VALUE_SHIFT + 2 };

typedef struct ended_flow {
    bry_hash hash;
    unsigned tick;
} ended_flow;

/* A ring; `room` is 0 or a power of two. */
typedef struct ended_queue {
    ended_flow *flows;
    size_t room, first, count;
} ended_queue;

typedef struct kbf_flows {
    flow_engine base;
    bry_allocator allocator;
    bry_map *young, *old;
    ended_queue ended;
    unsigned idle_tick; /* of the young map */
    bry_map_value values[FLOW_FOUND]; /* of one call, like the following */
    bry_hash hashes[FLOW_FOUND];
    bry_answer answers[FLOW_FOUND];
    size_t places[FLOW_FOUND];
} kbf_flows;

static bry_map_value kbf_value_of(uint32_t value)
{
    unsigned tick = flow_state_ended(flow_value_state(value)) ? flow_value_tick(value) : 0;
    return bry_map_value_number((value & (FLOW_VALUE_STATE | FLOW_VALUE_SECOND)) |
                                (tick & KBF_TICK_MASK) << FLOW_VALUE_SHIFT);
}

/* idle_tick is that of the map in which the value was found. */
static uint32_t flow_value_from_kbf(uint64_t number, const flow_clock *clock, unsigned idle_tick)
{
    unsigned state = number & FLOW_VALUE_STATE, tick = idle_tick;
    if (flow_state_ended(state)) {
        unsigned age =
            (clock->linger_tick - (unsigned)(number >> FLOW_VALUE_SHIFT)) & KBF_TICK_MASK;
        tick = clock->linger_tick - age;
    }
    return flow_value_make(state, number & FLOW_VALUE_SECOND, tick);
}

static void kbf_find(flow_engine *engine, const flow_clock *clock, const bry_hash *hashes, size_t n,
                     uint32_t *values, bry_answer *answers)
{
    kbf_flows *flows = (kbf_flows *)engine;
    size_t left = 0;
    bry_map_get_n(flows->young, hashes, n, flows->values, answers);
    for (size_t i = 0; i < n; i++) {
        if (answers[i] == BRY_PRESENT)
            values[i] = flow_value_from_kbf(flows->values[i].number, clock, clock->idle_tick);
        if (answers[i] != BRY_ABSENT)
            continue;
        flows->hashes[left] = hashes[i];
        flows->places[left++] = i;
    }
    if (bry_map_items(flows->old) == 0)
        return;
    bry_map_get_n(flows->old, flows->hashes, left, flows->values, flows->answers);
    for (size_t i = 0; i < left; i++) {
        size_t place = flows->places[i];
        answers[place] = flows->answers[i];
        if (flows->answers[i] == BRY_PRESENT)
            values[place] =
                flow_value_from_kbf(flows->values[i].number, clock, clock->idle_tick - 1);
    }
}

/* ---- the queue of flows that have ended ------------------------------------------------------ */

static bool widen_ended_queue(kbf_flows *flows)
{
    ended_queue *queue = &flows->ended, wider = {.room = queue->room ? queue->room * 2 : 256};
    wider.flows = flows->allocator.alloc(flows->allocator.opaque, wider.room * sizeof *wider.flows);
    if (!wider.flows)
        return false;
    for (; wider.count < queue->count; wider.count++)
        wider.flows[wider.count] = queue->flows[(queue->first + wider.count) & (queue->room - 1)];
    if (queue->flows)
        flows->allocator.free(flows->allocator.opaque, queue->flows,
                              queue->room * sizeof *queue->flows);
    *queue = wider;
    return true;
}

/* If there is no memory, the flow stays until its map is emptied. */
static void remember_ended(kbf_flows *flows, bry_hash hash, unsigned tick)
{
    ended_queue *queue = &flows->ended;
    if (queue->count == queue->room && !widen_ended_queue(flows))
        return;
    queue->flows[(queue->first + queue->count++) & (queue->room - 1)] = (ended_flow){hash, tick};
}

/* A flow that has begun again, and may have ended again later, is not deleted. */
static bool delete_ended(bry_map *map, const ended_flow *flow)
{
    bry_map_value value;
    if (bry_map_get(map, flow->hash, &value) != BRY_PRESENT)
        return false;
    if (flow_state_ended(value.number & FLOW_VALUE_STATE) &&
        value.number >> FLOW_VALUE_SHIFT == (flow->tick & KBF_TICK_MASK))
        bry_map_del(map, flow->hash, NULL);
    return true;
}

static void expire_ended(kbf_flows *flows, const flow_clock *clock)
{
    ended_queue *queue = &flows->ended;
    while (queue->count > 0 &&
           clock->linger_tick - queue->flows[queue->first].tick > clock->linger_age) {
        const ended_flow *flow = &queue->flows[queue->first];
        if (!delete_ended(flows->young, flow))
            delete_ended(flows->old, flow);
        queue->first = (queue->first + 1) & (queue->room - 1);
        queue->count--;
    }
}

/* ---- changing -------------------------------------------------------------------------------- */

static bry_status kbf_store(flow_engine *engine, const flow_clock *clock, const bry_hash *hashes,
                            const uint32_t *values, size_t n)
{
    kbf_flows *flows = (kbf_flows *)engine;
    for (size_t i = 0; i < n; i++)
        flows->values[i] = kbf_value_of(values[i]);
    bry_status status = bry_map_set_n(flows->young, hashes, flows->values, n, flows->answers);
    if (status != BRY_OK)
        return status;
    size_t moved = 0;
    for (size_t i = 0; i < n; i++) {
        if (flow_state_ended(flow_value_state(values[i])) &&
            (flow_value_tick(values[i]) ^ (clock->linger_tick & FLOW_TICK_MASK)) == 0)
            remember_ended(flows, hashes[i], clock->linger_tick);
        if (flows->answers[i] == BRY_ABSENT)
            flows->hashes[moved++] = hashes[i];
    }
    /* What is left there is hidden, and is gone with the old map. */
    if (moved > 0 && bry_map_items(flows->old) > 0)
        bry_map_del_n(flows->old, flows->hashes, moved, flows->answers);
    return BRY_OK;
}

static void kbf_tick(flow_engine *engine, const flow_clock *clock)
{
    kbf_flows *flows = (kbf_flows *)engine;
    expire_ended(flows, clock);
    for (unsigned passed = clock->idle_tick - flows->idle_tick; passed > 0; passed--) {
        bry_map *emptied = flows->old;
        bry_map_clear(emptied);
        flows->old = flows->young;
        flows->young = emptied;
    }
    flows->idle_tick = clock->idle_tick;
}

static void kbf_facts(const flow_engine *engine, flow_engine_facts *facts)
{
    const kbf_flows *flows = (const kbf_flows *)engine;
    bry_map_stats young = {0}, old = {0};
    bry_map_get_stats(flows->young, &young);
    bry_map_get_stats(flows->old, &old);
    *facts = (flow_engine_facts){
        .flows = young.items + old.items,
        .bytes = young.bytes + old.bytes + sizeof *flows +
                 flows->ended.room * sizeof *flows->ended.flows,
        .bound = young.planned,
        .estimated = young.items > old.items ? young.estimated : old.estimated,
        .ghosts = young.kbf.ghosts + old.kbf.ghosts,
    };
    /* A new flow is looked for in both maps. */
    facts->bound.false_positive *= 2;
    facts->estimated.false_positive = young.estimated.false_positive + old.estimated.false_positive;
}

static void kbf_destroy(flow_engine *engine)
{
    kbf_flows *flows = (kbf_flows *)engine;
    bry_map_destroy(flows->young);
    bry_map_destroy(flows->old);
    if (flows->ended.flows)
        flows->allocator.free(flows->allocator.opaque, flows->ended.flows,
                              flows->ended.room * sizeof *flows->ended.flows);
    free(flows);
}

bry_status flow_engine_kbf(const flow_engine_options *options, flow_engine **engine)
{
    static const flow_engine_calls calls = {kbf_find, kbf_store, kbf_tick,
                                            NULL,     kbf_facts, kbf_destroy};
    const bry_map_options map = flow_engine_map(options, BRY_ENGINE_KBF, KBF_VALUE_BITS);
    kbf_flows *flows = malloc(sizeof *flows);
    if (!flows)
        return BRY_E_NOMEM;
    memset(flows, 0, sizeof *flows);
    flows->base.calls = &calls;
    flows->allocator = *options->allocator;
    bry_status status = bry_map_create(&map, &flows->young);
    if (status == BRY_OK)
        status = bry_map_create(&map, &flows->old);
    if (status != BRY_OK) {
        kbf_destroy(&flows->base);
        return status;
    }
    *engine = &flows->base;
    return BRY_OK;
}
