/* Each function runs one case, writes its report and returns the exit code. */
#ifndef BLOOMERY_BENCH_BENCH_RUNS_H
#define BLOOMERY_BENCH_BENCH_RUNS_H

#include "bench/bench_request.h"

/* Defaults. */
#define MAPLET_ERROR 0.001
#define MAPLET_VALUE_BITS 12u
#define MAP_ERROR 0.001
#define MAP_VALUES 3000u

#define INDEX_ERROR 0.001
#define INDEX_UNITS 64u
#define INDEX_CAPACITY 65536u
#define INDEXES_ERROR 0x1p-14 /* for this many units, as in the paper */
#define INDEXES_UNITS 160u

int bench_run_hash(const bench_request *asked);
int bench_run_filter(const bench_request *asked);
int bench_run_filters(const bench_request *asked);
int bench_run_maplet(const bench_request *asked);
int bench_run_map(const bench_request *asked);
int bench_run_maps(const bench_request *asked);
int bench_run_memcached(const bench_request *asked);
int bench_run_index(const bench_request *asked);
int bench_run_indexes(const bench_request *asked);
int bench_run_window(const bench_request *asked); /* these three: bench_window_runs.c */
int bench_run_windows(const bench_request *asked);
int bench_run_seen(const bench_request *asked);
int bench_run_flows(const bench_request *asked); /* bench_flows_run.c */

/* Begin and end of a report. The end returns the exit code: memory may run out while writing. */
void bench_open_json(cli_json *json, const bench_request *asked, const char *name);
void bench_open_text(const bench_request *asked);
int bench_printed(bool good);

/* The settings that all cases share, from the request. */
window_settings bench_window_settings(const bench_settings *settings,
                                      const window_settings *window);

#endif
