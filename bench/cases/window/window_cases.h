/* What the cases window and windows share. */
#ifndef BLOOMERY_BENCH_WINDOW_CASES_H
#define BLOOMERY_BENCH_WINDOW_CASES_H

#include "bench/cases/bench_cases.h"
#include "bench/cases/window/window_trial.h"

enum windows_row {
    WINDOWS_COMPACT,
    WINDOWS_FBF,
    WINDOWS_PAPER,
    WINDOWS_RING,
    WINDOWS_RBF,
    WINDOWS_EXACT,
    WINDOWS_ROWS
};

typedef struct window_report {
    const char *name; /* for people */
    window_work work;
    window_facts facts;
    bench_time time[WINDOW_PHASES];
} window_report;

/* Windows in interleaved rounds, all with the same number of elements. Only the library's must keep
 * a promise.
 */
bool window_reports_measure(window_report *reports, size_t count);
void window_row_json(cli_json *json, const window_report *report);

#endif
