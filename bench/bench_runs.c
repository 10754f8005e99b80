#include "bench/bench_runs.h"

#include "cli/core/output/output.h"

#include <stdlib.h>

int bench_printed(bool good)
{
    return good ? CLI_YES : cli_no_memory();
}

void bench_open_json(cli_json *json, const bench_request *asked, const char *name)
{
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "bench", name);
    bench_machine_json(json, &asked->machine);
}

void bench_open_text(const bench_request *asked)
{
    bench_machine_line(stdout, &asked->machine);
    fputs("\n\n", stdout);
}

int bench_run_hash(const bench_request *asked)
{
    hash_report report;
    if (!bench_hash(&asked->settings, &report))
        return CLI_FAILED;
    if (!asked->as_json) {
        bench_open_text(asked);
        return bench_printed(bench_hash_text(stdout, &report));
    }
    cli_json json = CLI_JSON_TO(stdout);
    bench_open_json(&json, asked, "hash");
    bench_hash_json(&json, &report);
    cli_json_close(&json, '}');
    return CLI_YES;
}

static int run_filters_case(const bench_request *asked, bool compare)
{
    filter_report report;
    if (!bench_filters(&asked->settings, compare, &report))
        return CLI_FAILED;
    if (!asked->as_json) {
        bench_open_text(asked);
        return bench_printed(bench_filters_text(stdout, &report));
    }
    cli_json json = CLI_JSON_TO(stdout);
    bench_open_json(&json, asked, compare ? "filters" : "filter");
    if (compare)
        bench_filters_json(&json, &report);
    else
        bench_filter_json(&json, &report);
    cli_json_close(&json, '}');
    return CLI_YES;
}

int bench_run_filter(const bench_request *asked)
{
    return run_filters_case(asked, false);
}

int bench_run_filters(const bench_request *asked)
{
    return run_filters_case(asked, true);
}

int bench_run_maplet(const bench_request *asked)
{
    maplet_report report;
    if (!bench_maplet(&asked->settings, &report))
        return CLI_FAILED;
    if (!asked->as_json) {
        bench_open_text(asked);
        return bench_printed(bench_maplet_text(stdout, &report));
    }
    cli_json json = CLI_JSON_TO(stdout);
    bench_open_json(&json, asked, "maplet");
    bench_maplet_json(&json, &report);
    cli_json_close(&json, '}');
    return CLI_YES;
}

int bench_run_map(const bench_request *asked)
{
    map_report report;
    if (!bench_map(&asked->settings, &report))
        return CLI_FAILED;
    if (!asked->as_json) {
        bench_open_text(asked);
        return bench_printed(bench_map_text(stdout, &report));
    }
    cli_json json = CLI_JSON_TO(stdout);
    bench_open_json(&json, asked, "map");
    bench_map_json(&json, &report);
    cli_json_close(&json, '}');
    return CLI_YES;
}

int bench_run_maps(const bench_request *asked)
{
    maps_report report;
    if (!bench_maps(&asked->settings, &report))
        return CLI_FAILED;
    if (!asked->as_json) {
        bench_open_text(asked);
        return bench_printed(bench_maps_text(stdout, &report));
    }
    cli_json json = CLI_JSON_TO(stdout);
    bench_open_json(&json, asked, "maps");
    bench_maps_json(&json, &report);
    cli_json_close(&json, '}');
    return CLI_YES;
}

int bench_run_memcached(const bench_request *asked)
{
    remote_report report;
    if (!bench_remote(&asked->settings, &report))
        return CLI_FAILED;
    if (!report.there)
        return cli_fail("memcached is not installed (Debian: memcached)");
    if (!asked->as_json) {
        bench_open_text(asked);
        return bench_printed(bench_remote_text(stdout, &report));
    }
    cli_json json = CLI_JSON_TO(stdout);
    bench_open_json(&json, asked, "memcached");
    bench_remote_json(&json, &report);
    cli_json_close(&json, '}');
    return CLI_YES;
}

int bench_run_index(const bench_request *asked)
{
    index_report report;
    if (!bench_index(&asked->settings, &report))
        return CLI_FAILED;
    if (!asked->as_json) {
        bench_open_text(asked);
        return bench_printed(bench_index_text(stdout, &report));
    }
    cli_json json = CLI_JSON_TO(stdout);
    bench_open_json(&json, asked, "index");
    bench_index_json(&json, &report);
    cli_json_close(&json, '}');
    return CLI_YES;
}

int bench_run_indexes(const bench_request *asked)
{
    indexes_report report;
    if (!bench_indexes(&asked->settings, &report))
        return CLI_FAILED;
    if (!asked->as_json) {
        bench_open_text(asked);
        return bench_printed(bench_indexes_text(stdout, &report));
    }
    cli_json json = CLI_JSON_TO(stdout);
    bench_open_json(&json, asked, "indexes");
    bench_indexes_json(&json, &report);
    cli_json_close(&json, '}');
    return CLI_YES;
}
