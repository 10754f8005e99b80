#include "bench/cases/bench_cases.h"
#include "bench/cases/flows/flows_cases.h"
#include "bench/harness/bench_fail.h"

bool bench_flows(const bench_settings *settings, cli_json *json)
{
#ifdef BLOOMERY_HAVE_FLOWS
    uint64_t packets = settings->items;
    /* The papers' number of flows belongs to the default number of packets. */
    uint64_t flows = packets < FLOWS_PACKETS ? packets / 11 : FLOWS_PAPER_FLOWS;
    /* The programs first: a child's peak memory includes what this process uses when it forks. */
    return bench_flows_programs(packets, json) && bench_flows_paper(flows, json) &&
           bench_flows_speed(packets, json);
#else
    (void)settings;
    (void)json;
    return bench_fail("this build has no bloomery flows (CMake: BLOOMERY_FLOWS)");
#endif
}
