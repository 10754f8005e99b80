/* The cases of windows: one, all of them compared, and `bloomery seen` compared with other
 * programs. */
#ifndef BLOOMERY_BENCH_WINDOW_CASES_H
#define BLOOMERY_BENCH_WINDOW_CASES_H

#include "bench/cases/window/window_trial.h"
#include "cli/core/json/json_write.h"

#define WINDOW_ELEMENTS 1000000u
#define WINDOW_ERROR 0.001

/* ---- window: one engine -------------------------------------------------------------------- */

typedef struct window_report {
    const char *name; /* for people */
    window_work work;
    window_facts facts;
    bench_time time[WINDOW_PHASES];
} window_report;

/* False, with a message on stderr, if memory ran out or a promise was broken: an element forgotten
 * early, or more errors than the target plus five standard deviations. */
bool bench_window(const window_settings *settings, window_report *report);
void bench_window_json(cli_json *json, const window_report *report);
bool bench_window_text(FILE *out, const window_report *report);

/* Windows in interleaved rounds, all with the same number of elements. Only the library's must keep
 * a promise.
 */
bool window_reports_measure(window_report *reports, size_t count);
void window_row_json(cli_json *json, const window_report *report);

/* ---- windows: side by side, bursts, retries ------------------------------------------------ */

enum windows_row {
    WINDOWS_COMPACT,
    WINDOWS_FBF,
    WINDOWS_PAPER,
    WINDOWS_RING,
    WINDOWS_RBF,
    WINDOWS_EXACT,
    WINDOWS_ROWS
};
enum { BURST_ROWS = 3, RETRY_SHARES = 5 };

typedef struct windows_report {
    window_settings settings;
    window_report row[WINDOWS_ROWS];
    uint64_t burst_elements;
    burst_facts burst[BURST_ROWS]; /* compact, fbf, fbf as published */
    uint64_t retry_operations;
    retry_facts retries[RETRY_SHARES];
} windows_report;

extern const double window_retry_shares[RETRY_SHARES];

bool bench_windows(const window_settings *settings, windows_report *report);
void bench_windows_json(cli_json *json, const windows_report *report);
bool bench_windows_text(FILE *out, const windows_report *report);

/* ---- seen: beside awk and sort ------------------------------------------------------------- */

#define SEEN_ERROR 1e-6

enum seen_row { SEEN_BLOOMERY, SEEN_AWK, SEEN_SORT, SEEN_ROWS };

typedef struct seen_settings {
    uint64_t lines;
    double error;
    unsigned rounds;
} seen_settings;

typedef struct seen_report {
    seen_settings settings;
    uint64_t bytes, distinct; /* of the input */
    char awk[64]; /* its name */
    uint64_t false_drops; /* of `bloomery seen`, compared with the exact answer */
    double expected_drops; /* at most */
    struct {
        bool there; /* the program was found */
        bool right; /* its output is correct */
        double seconds, seconds_min; /* wall-clock time; the median of the rounds */
        double processor; /* seconds, user and system */
        uint64_t peak_bytes; /* its peak memory */
    } row[SEEN_ROWS];
} seen_report;

bool bench_seen(const seen_settings *settings, seen_report *report);
void bench_seen_json(cli_json *json, const seen_report *report);
bool bench_seen_text(FILE *out, const seen_report *report);

#endif
