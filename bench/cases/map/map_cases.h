/* What the cases map and maps share. */
#ifndef BLOOMERY_BENCH_MAP_CASES_H
#define BLOOMERY_BENCH_MAP_CASES_H

#include "bench/cases/bench_cases.h"
#include "bench/cases/map/map_candidates.h"

typedef struct map_report {
    bench_settings settings;
    bry_map_shape shape;
    map_record record;
    bench_time time[MAP_PHASES];
} map_report;

/* One of several maps, without the results of changes. */
void map_row_json(cli_json *json, const map_report *report);

/* Makes pairs for the settings. False after a message; then there is nothing to free. */
bool map_data_for(map_data *data, const bench_settings *settings);

/* Measures maps in interleaved rounds, each on its pairs and with the settings in its report; all
 * have the same number of keys. False after a message. */
bool map_reports_measure(const map_data *const *data, map_report *reports, size_t count,
                         unsigned skips);

#endif
