/* What the cases index and indexes share. */
#ifndef BLOOMERY_BENCH_INDEX_CASES_H
#define BLOOMERY_BENCH_INDEX_CASES_H

#include "bench/cases/bench_cases.h"

typedef struct index_report {
    bench_settings settings;
    bool exact; /* an exact hash table instead of the library's index */
    bry_index_shape shape;
    uint64_t asked; /* elements of each phase but the first and the last */
    index_record record;
    bench_time time[INDEX_PHASES];
} index_report;

enum { INDEX_MOST_ROWS = 8 };

/* Sets the shape in the report and makes elements for the settings. False after a message. */
bool index_plan_for(index_report *report);
bool index_data_for(index_data *data, const index_settings *settings);

/* Measures indexes in interleaved rounds, each on its elements and with the settings in its
 * report. */
bool index_reports_measure(const index_data *const *data, index_report *reports, size_t count,
                           bool reinsert);

/* One of several indexes. */
void index_row_json(cli_json *json, const index_report *report);

#endif
