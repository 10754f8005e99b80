/*
 * The cases. A case measures and checks, and then writes the members of its report as JSON, so that
 * writing does not disturb the measurement. doc/man/bloomery-bench.1 explains the members. The tables
 * of README.md and doc/benchmarks.md are made from the JSON (bench/tables/).
 */
#ifndef BLOOMERY_BENCH_BENCH_CASES_H
#define BLOOMERY_BENCH_BENCH_CASES_H

#include "bench/cases/index/index_candidates.h"
#include "bench/cases/map/map_settings.h"
#include "bench/cases/window/window_settings.h"
#include "cli/core/json/json_write.h"

#include <bloomery/job.h>

typedef struct bench_settings {
    uint64_t items; /* keys added, present keys looked up, absent keys looked up */
    double error;
    size_t batch;
    unsigned rounds;
    unsigned value_bits; /* of maplet, like the following */
    bool grow; /* may grow; else it is planned for all keys */
    bool compare; /* with an exact hash table */
    map_settings map;
    index_settings index;
    window_settings window;
    bry_engine filter_engine; /* of a filter that is measured alone */
} bench_settings;

/* False, with a message on stderr, if memory ran out or an answer was wrong. What was written then is
 * not shown. */
typedef bool bench_run(const bench_settings *settings, cli_json *json);

bench_run bench_hash;
bench_run bench_filter; /* one engine */
bench_run bench_filters;
bench_run bench_maplet;
bench_run bench_map;
bench_run bench_maps;
bench_run bench_remote; /* memcached */
bench_run bench_index;
bench_run bench_indexes;
bench_run bench_window;
bench_run bench_windows;
bench_run bench_seen;
bench_run bench_flows;

/* Reads --engine; NULL: not given, and *engine becomes the default if it is auto. `objects` are those of
 * the job, for a message. CLI_GO_ON, or the exit code after it. */
int bench_engine_read(const char *name, bry_job job, const char *objects, bry_engine *engine);

/* Fills *settings, in which all but the engine is set. CLI_GO_ON, or the exit code after a
 * message. */
int index_settings_read(const char *engine, index_settings *settings);

#endif
