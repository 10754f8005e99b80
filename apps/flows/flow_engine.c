#include "apps/flows/flow_engine.h"

const char *const flow_engine_names[3] = {"compact", "kbf", "exact"};

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
