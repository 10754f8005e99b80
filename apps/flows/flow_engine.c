#include "apps/flows/flow_engine.h"

const char *const flow_engine_names[3] = {"compact", "kbf", "exact"};

bry_map_options flow_engine_map(const flow_engine_options *options, bry_engine engine,
                                unsigned value_bits)
{
    bry_map_options map = BRY_MAP_OPTIONS;
    map.engine = engine;
    map.capacity = options->flows;
    map.error = options->error;
    map.value_bits = value_bits;
    map.seed = options->seed;
    map.allocator = options->allocator;
    return map;
}

bry_status flow_engine_create(const flow_engine_options *options, flow_engine **engine)
{
    switch (options->kind) {
    case FLOW_KBF:
        return flow_engine_kbf(options, engine);
    case FLOW_EXACT:
        return flow_engine_exact(options, engine);
    default:
        return flow_engine_compact(options, engine);
    }
}
