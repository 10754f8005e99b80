#include "bench/bench_runs.h"

#include "bench/harness/result_block.h"
#include "cli/core/output/output.h"

#include <stdlib.h>

int bench_printed(bool good)
{
    return good ? CLI_YES : cli_fail(BRY_E_NOMEM, "%s", bry_status_text(BRY_E_NOMEM));
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
        return cli_fail(BRY_E_UNSUPPORTED, "memcached is not installed (Debian: memcached)");
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
    if (!bench_indexes(&asked->settings, true, &report))
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

/* ---- all: everything, in sizes that take minutes --------------------------------------------- */

#define MOST_MAPLET_ITEMS 2000000u
#define MOST_MAPS_ITEMS 2000000u
#define MOST_REMOTE_ITEMS 1000000u
#define MOST_REMOTE_ROUNDS 3u
#define MOST_INDEXES_ROUNDS 2u
#define MOST_WINDOWS_ROUNDS 3u
#define MOST_SEEN_ROUNDS 3u

typedef struct all_report {
    hash_report hashes;
    filter_report filters;
    maplet_report maplet;
    maps_report maps;
    remote_report remote;
    indexes_report indexes;
    windows_report windows;
    seen_report seen;
} all_report;

static uint64_t at_most(uint64_t asked, uint64_t most)
{
    return asked < most ? asked : most;
}

static bench_settings maplet_among_all(const bench_settings *asked)
{
    bench_settings settings = *asked;
    settings.items = at_most(settings.items, MOST_MAPLET_ITEMS);
    settings.error = MAPLET_ERROR;
    settings.value_bits = MAPLET_VALUE_BITS;
    settings.compare = true;
    return settings;
}

static bench_settings maps_among_all(const bench_settings *asked)
{
    bench_settings settings = *asked;
    settings.items = at_most(settings.items, MOST_MAPS_ITEMS);
    settings.error = MAP_ERROR;
    settings.map = (map_settings){.values = MAP_VALUES};
    return settings;
}

static bench_settings memcached_among_all(const bench_settings *asked)
{
    bench_settings settings = maps_among_all(asked);
    settings.items = at_most(settings.items, MOST_REMOTE_ITEMS);
    settings.rounds = (unsigned)at_most(settings.rounds, MOST_REMOTE_ROUNDS);
    return settings;
}

static bench_settings indexes_among_all(const bench_settings *asked)
{
    bench_settings settings = *asked;
    settings.error = INDEXES_ERROR;
    settings.index = (index_settings){
        .units = INDEXES_UNITS,
        .unit_capacity = at_most(asked->items / INDEXES_UNITS + 1, INDEX_CAPACITY),
    };
    settings.rounds = (unsigned)at_most(settings.rounds, MOST_INDEXES_ROUNDS);
    return settings;
}

static window_settings windows_among_all(const bench_settings *asked)
{
    bench_settings settings = *asked;
    settings.error = WINDOW_ERROR;
    settings.rounds = (unsigned)at_most(settings.rounds, MOST_WINDOWS_ROUNDS);
    const window_settings window = {.elements = at_most(asked->items, WINDOW_ELEMENTS)};
    return bench_window_settings(&settings, &window);
}

static seen_settings seen_among_all(const bench_settings *asked)
{
    return (seen_settings){asked->items, SEEN_ERROR,
                           (unsigned)at_most(asked->rounds, MOST_SEEN_ROUNDS)};
}

static bool measure_all(const bench_settings *settings, all_report *report)
{
    const bench_settings maplet = maplet_among_all(settings), maps = maps_among_all(settings),
                         remote = memcached_among_all(settings),
                         indexes = indexes_among_all(settings);
    const window_settings windows = windows_among_all(settings);
    const seen_settings seen = seen_among_all(settings);
    return bench_hash(settings, &report->hashes) &&
           bench_filters(settings, true, &report->filters) &&
           bench_maplet(&maplet, &report->maplet) && bench_maps(&maps, &report->maps) &&
           bench_remote(&remote, &report->remote) &&
           bench_indexes(&indexes, false, &report->indexes) &&
           bench_windows(&windows, &report->windows) && bench_seen(&seen, &report->seen);
}

static void all_json(const bench_request *asked, const all_report *report)
{
    cli_json json = CLI_JSON_TO(stdout);
    bench_open_json(&json, asked, "all");
    cli_json_open(&json, "hash", '{');
    bench_hash_json(&json, &report->hashes);
    cli_json_close(&json, '}');
    cli_json_open(&json, "filter", '{');
    bench_filters_json(&json, &report->filters);
    cli_json_close(&json, '}');
    cli_json_open(&json, "maplet", '{');
    bench_maplet_json(&json, &report->maplet);
    cli_json_close(&json, '}');
    cli_json_open(&json, "maps", '{');
    bench_maps_json(&json, &report->maps);
    cli_json_close(&json, '}');
    if (report->remote.there) {
        cli_json_open(&json, "memcached", '{');
        bench_remote_json(&json, &report->remote);
        cli_json_close(&json, '}');
    } else {
        cli_json_text(&json, "memcached", NULL);
    }
    cli_json_open(&json, "indexes", '{');
    bench_indexes_json(&json, &report->indexes);
    cli_json_close(&json, '}');
    cli_json_open(&json, "windows", '{');
    bench_windows_json(&json, &report->windows);
    cli_json_close(&json, '}');
    cli_json_open(&json, "seen", '{');
    bench_seen_json(&json, &report->seen);
    cli_json_close(&json, '}');
    cli_json_close(&json, '}');
}

static bool all_text(const bench_request *asked, const all_report *report)
{
    bench_open_text(asked);
    bool printed = bench_hash_text(stdout, &report->hashes);
    fputc('\n', stdout);
    printed = bench_filters_text(stdout, &report->filters) && printed;
    fputc('\n', stdout);
    printed = bench_maplet_text(stdout, &report->maplet) && printed;
    fputc('\n', stdout);
    printed = bench_maps_text(stdout, &report->maps) && printed;
    fputc('\n', stdout);
    printed = bench_remote_text(stdout, &report->remote) && printed;
    fputc('\n', stdout);
    printed = bench_indexes_text(stdout, &report->indexes) && printed;
    fputc('\n', stdout);
    printed = bench_windows_text(stdout, &report->windows) && printed;
    fputc('\n', stdout);
    return bench_seen_text(stdout, &report->seen) && printed;
}

/* The generated part of doc/benchmarks.md: the machine, then the tables. */
static int rewrite_block(const bench_request *asked, const all_report *report)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return bench_printed(false);
    fputs("Measured by `make bench` on: ", out);
    bench_machine_line(out, &asked->machine);
    fputs(".\n\n", out);
    bool good = bench_filters_markdown(out, &report->filters);
    fputc('\n', out);
    good = bench_maplet_markdown(out, &report->maplet) && good;
    fputc('\n', out);
    good = bench_maps_markdown(out, &report->maps) && good;
    fputc('\n', out);
    good = bench_remote_markdown(out, &report->remote) && good;
    fputc('\n', out);
    good = bench_indexes_markdown(out, &report->indexes) && good;
    fputc('\n', out);
    good = bench_windows_markdown(out, &report->windows) && good;
    fputc('\n', out);
    good = bench_seen_markdown(out, &report->seen) && good;
    good = fclose(out) == 0 && good;
    int code = !good                                        ? bench_printed(false)
               : bench_block_replace(asked->markdown, text) ? CLI_YES
                                                            : CLI_FAILED;
    free(text);
    return code;
}

int bench_run_all(const bench_request *asked)
{
    all_report report;
    /* Checked before measuring, which takes minutes. */
    if (asked->markdown && !bench_block_check(asked->markdown))
        return CLI_FAILED;
    if (!measure_all(&asked->settings, &report))
        return CLI_FAILED;
    if (asked->as_json)
        all_json(asked, &report);
    else if (!all_text(asked, &report))
        return bench_printed(false);
    return asked->markdown ? rewrite_block(asked, &report) : CLI_YES;
}
