/* Runs the case flows and writes its report. */
#include "bench/bench_runs.h"
#include "bench/cases/flows/flows_cases.h"
#include "cli/core/output/output.h"

#ifdef BLOOMERY_HAVE_FLOWS
int bench_run_flows(const bench_request *asked)
{
    flows_report report;
    /* The papers' number of flows belongs to the default number of packets. */
    uint64_t packets = asked->settings.items;
    uint64_t flows = packets < FLOWS_PACKETS ? packets / 11 : FLOWS_PAPER_FLOWS;
    /* The programs first: a child's peak memory includes what this process uses when it forks. */
    if (!bench_flows_programs(packets, &report.programs) ||
        !bench_flows_paper(flows, &report.paper) || !bench_flows_speed(packets, &report.speed))
        return CLI_FAILED;
    if (!asked->as_json) {
        bench_open_text(asked);
        return bench_printed(bench_flows_text(stdout, &report));
    }
    cli_json json = CLI_JSON_TO(stdout);
    bench_open_json(&json, asked, "flows");
    bench_flows_json(&json, &report);
    cli_json_close(&json, '}');
    return CLI_YES;
}
#else
int bench_run_flows(const bench_request *asked)
{
    (void)asked;
    return cli_fail("this build has no bloomery flows (CMake: BLOOMERY_FLOWS)");
}
#endif
