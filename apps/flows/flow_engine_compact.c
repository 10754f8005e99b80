/* Flows in a map of engine compact; a sweep deletes the old ones by their value. */
#include "apps/flows/flow_engine.h"

#include <stdlib.h>

typedef struct compact_flows {
    flow_engine base;
    bry_map *map;
    bry_map_value values[FLOW_FOUND]; /* of one call */
} compact_flows;

static void compact_flow_find(flow_engine *engine, const flow_clock *clock, const bry_hash *hashes,
                              size_t n, uint32_t *values, bry_answer *answers)
{
    compact_flows *flows = (compact_flows *)engine;
    bry_map_get_n(flows->map, hashes, n, flows->values, answers);
    for (size_t i = 0; i < n; i++) {
        if (answers[i] != BRY_PRESENT)
            continue;
        values[i] = (uint32_t)flows->values[i].number;
        if (flow_value_expired(clock, values[i]))
            answers[i] = BRY_ABSENT;
    }
}

static bry_status compact_store(flow_engine *engine, const flow_clock *clock,
                                const bry_hash *hashes, const uint32_t *values, size_t n)
{
    compact_flows *flows = (compact_flows *)engine;
    (void)clock;
    for (size_t i = 0; i < n; i++)
        flows->values[i] = bry_map_value_number(values[i]);
    return bry_map_set_n(flows->map, hashes, flows->values, n, NULL);
}

static bry_map_verdict judge_flow(void *clock, bry_map_value value, bry_map_value *changed)
{
    (void)changed;
    return flow_value_expired(clock, (uint32_t)value.number) ? BRY_MAP_DEL : BRY_MAP_KEEP;
}

/* If memory runs out, which deletions hardly need, the rest is left to the next sweep. */
static void compact_sweep(flow_engine *engine, const flow_clock *clock)
{
    compact_flows *flows = (compact_flows *)engine;
    flow_clock now = *clock;
    bry_map_judge judge = {judge_flow, &now};
    bry_status status;
    uint64_t cursor = 0;
    do
        status = bry_map_sweep(flows->map, &judge, UINT64_MAX, &cursor);
    while (status == BRY_OK && cursor != 0);
}

static void compact_flow_facts(const flow_engine *engine, flow_engine_facts *facts)
{
    const compact_flows *flows = (const compact_flows *)engine;
    bry_map_stats stats = {0};
    bry_map_get_stats(flows->map, &stats);
    *facts = (flow_engine_facts){
        .flows = stats.items,
        .bytes = stats.bytes + sizeof *flows,
        .bound = stats.planned,
        .estimated = stats.estimated,
    };
}

static void compact_destroy(flow_engine *engine)
{
    compact_flows *flows = (compact_flows *)engine;
    bry_map_destroy(flows->map);
    free(flows);
}

bry_status flow_engine_compact(const flow_engine_options *options, flow_engine **engine)
{
    static const flow_engine_calls calls = {compact_flow_find, compact_store,      NULL,
                                            compact_sweep,     compact_flow_facts, compact_destroy};
    const bry_map_options map = flow_engine_map(options, BRY_ENGINE_COMPACT, FLOW_VALUE_BITS);
    compact_flows *flows = malloc(sizeof *flows);
    if (!flows)
        return BRY_E_NOMEM;
    flows->base.calls = &calls;
    bry_status status = bry_map_create(&map, &flows->map);
    if (status != BRY_OK) {
        free(flows);
        return status;
    }
    *engine = &flows->base;
    return BRY_OK;
}
