/*
 * Windows on the same elements, in interleaved rounds; then the library's windows in a burst, and
 * counters with all of them under retries.
 */
#include "bench/cases/window/window_cases.h"
#include "bench/harness/bench_fail.h"

#include <math.h>

enum { BURST_ROWS = 3, RETRY_SHARES = 5 };

typedef struct windows_report {
    window_report row[WINDOWS_ROWS];
    uint64_t burst_elements;
    burst_facts burst[BURST_ROWS]; /* compact, fbf, fbf as published */
    uint64_t retry_operations;
    retry_facts retries[RETRY_SHARES];
} windows_report;

#define BURST_ELEMENTS 8000u
/* Operations under retries: this many per element, but at most the second number. */
#define RETRY_OPERATIONS_EACH 5u
#define RETRY_OPERATIONS_MOST 100000u

static const double window_retry_shares[RETRY_SHARES] = {0.05, 0.1, 0.2, 0.4, 0.8};

static const struct {
    const char *name;
    window_kind kind;
    bry_engine engine;
    window_mode mode;
} candidates[WINDOWS_ROWS] = {
    [WINDOWS_COMPACT] = {"compact", WINDOW_LIBRARY, BRY_ENGINE_COMPACT, WINDOW_MODE_IMPROVED},
    [WINDOWS_FBF] = {"fbf", WINDOW_LIBRARY, BRY_ENGINE_FBF, WINDOW_MODE_IMPROVED},
    [WINDOWS_PAPER] = {"fbf, as published", WINDOW_PAPER, BRY_ENGINE_FBF, WINDOW_MODE_PAPER},
    [WINDOWS_RING] = {"ring of Bloom filters", WINDOW_RING, BRY_ENGINE_AUTO, WINDOW_MODE_IMPROVED},
    [WINDOWS_RBF] = {"RBF", WINDOW_RBF, BRY_ENGINE_AUTO, WINDOW_MODE_IMPROVED},
    [WINDOWS_EXACT] = {"exact", WINDOW_EXACT, BRY_ENGINE_AUTO, WINDOW_MODE_IMPROVED},
};

static window_settings settings_of(const window_settings *settings, unsigned row)
{
    window_settings its = *settings;
    its.engine = candidates[row].engine;
    its.mode = candidates[row].mode;
    return its;
}

static bool report_failure(bry_status status, const char *what)
{
    return bench_fail("%s: %s", what, bry_status_text(status));
}

static bool compare_windows(const window_settings *settings, windows_report *report)
{
    for (unsigned i = 0; i < WINDOWS_ROWS; i++) {
        window_settings its = settings_of(settings, i);
        report->row[i] = (window_report){.name = candidates[i].name};
        bry_status status = window_work_plan(&report->row[i].work, candidates[i].kind, &its);
        if (status != BRY_OK)
            return report_failure(status, candidates[i].name);
    }
    return window_reports_measure(report->row, WINDOWS_ROWS);
}

/* Checks the promise; the published row is only reported. */
static bool check_burst(const burst_facts *facts, double error, const char *name)
{
    double asked = (double)facts->asked;
    return facts->worst_error * asked <= error * asked + 5 * sqrt(error * asked) + 1 ||
           bench_fail("%s: an error of %.3g in a burst where %g is promised", name,
                      facts->worst_error, error);
}

static bool compare_bursts(const window_settings *settings, windows_report *report)
{
    bool good = true;
    report->burst_elements =
        settings->elements < BURST_ELEMENTS ? settings->elements : BURST_ELEMENTS;
    for (unsigned i = 0; i < BURST_ROWS && good; i++) {
        window_settings its = settings_of(settings, i);
        its.elements = report->burst_elements;
        if (i == WINDOWS_PAPER)
            its.generations = 2; /* as the thesis begins: with seconds left to take from t */
        bry_status status = window_burst(&its, &report->burst[i]);
        if (status != BRY_OK)
            return report_failure(status, candidates[i].name);
        good = i == WINDOWS_PAPER ||
               check_burst(&report->burst[i], settings->error, candidates[i].name);
    }
    return good;
}

static const char *const retry_keys[RETRY_ROWS] = {
    [RETRY_RBF] = "rbf",         [RETRY_RING] = "ring",
    [RETRY_PAPER] = "fbf_paper", [RETRY_IMPROVED] = "fbf_improved",
    [RETRY_COMPACT] = "compact",
};

static void burst_json(cli_json *json, const windows_report *report)
{
    static const char *const engines[BURST_ROWS] = {"compact", "fbf", "fbf"};
    static const char *const modes[BURST_ROWS] = {NULL, "improved", "paper"};
    cli_json_open(json, "burst", '{');
    cli_json_count(json, "elements", report->burst_elements);
    cli_json_count(json, "times", BURST_TIMES);
    cli_json_open(json, "windows", '[');
    for (unsigned i = 0; i < BURST_ROWS; i++) {
        const burst_facts *facts = &report->burst[i];
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "engine", engines[i]);
        cli_json_text(json, "mode", modes[i]);
        cli_json_number(json, "worst_error", facts->worst_error);
        cli_json_number(json, "false_positive", facts->error);
        cli_json_count(json, "asked", facts->asked);
        cli_json_count(json, "elements_before", facts->elements_before);
        cli_json_count(json, "elements_peak", facts->elements_peak);
        cli_json_count(json, "bytes_before", facts->bytes_before);
        cli_json_count(json, "bytes_peak", facts->bytes_peak);
        cli_json_count(json, "bytes_after", facts->bytes_after);
        cli_json_count(json, "ended_early", facts->ended_early);
        cli_json_count(json, "resizes", facts->resizes);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
    cli_json_close(json, '}');
}

static void retries_json(cli_json *json, const windows_report *report)
{
    cli_json_open(json, "retries", '{');
    cli_json_count(json, "operations", report->retry_operations);
    cli_json_count(json, "bytes", report->retries[0].bytes);
    cli_json_open(json, "counter_error", '[');
    for (unsigned i = 0; i < RETRY_SHARES; i++) {
        cli_json_open(json, NULL, '{');
        cli_json_number(json, "retried", window_retry_shares[i]);
        for (unsigned row = 0; row < RETRY_ROWS; row++)
            cli_json_number(json, retry_keys[row], report->retries[i].error[row]);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
    cli_json_close(json, '}');
}

static void windows_json(cli_json *json, const windows_report *report)
{
    cli_json_open(json, "windows", '[');
    for (unsigned i = 0; i < WINDOWS_ROWS; i++) {
        cli_json_open(json, NULL, '{');
        window_row_json(json, &report->row[i]);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
    burst_json(json, report);
    retries_json(json, report);
}

bool bench_windows(const bench_settings *all, cli_json *json)
{
    const window_settings *settings = &all->window;
    uint64_t operations = settings->elements * RETRY_OPERATIONS_EACH;
    if (operations > RETRY_OPERATIONS_MOST)
        operations = RETRY_OPERATIONS_MOST;
    windows_report report = {.retry_operations = operations};
    if (!compare_windows(settings, &report) || !compare_bursts(settings, &report))
        return false;
    for (unsigned i = 0; i < RETRY_SHARES; i++) {
        bry_status status =
            window_retries(window_retry_shares[i], operations, 0, &report.retries[i]);
        if (status != BRY_OK)
            return report_failure(status, "counters");
    }
    windows_json(json, &report);
    return true;
}
