/* The report of windows, in two formats. doc/man/bloomery-bench.1 explains the fields. */
#include "bench/cases/window/window_cases.h"
#include "cli/core/output/text_table.h"

#include <math.h>

static const char *const burst_names[BURST_ROWS] = {"compact", "fbf", "fbf, as published"};
static const char *const retry_names[RETRY_ROWS] = {
    [RETRY_RBF] = "RBF",      [RETRY_RING] = "ring",       [RETRY_PAPER] = "fbf, as published",
    [RETRY_IMPROVED] = "fbf", [RETRY_COMPACT] = "compact",
};
static const char *const retry_keys[RETRY_ROWS] = {
    [RETRY_RBF] = "rbf",         [RETRY_RING] = "ring",
    [RETRY_PAPER] = "fbf_paper", [RETRY_IMPROVED] = "fbf_improved",
    [RETRY_COMPACT] = "compact",
};

/* ---- JSON ---------------------------------------------------------------------------------- */

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

void bench_windows_json(cli_json *json, const windows_report *report)
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

/* ---- tables -------------------------------------------------------------------------------- */

static void add_time(cli_table *table, double time)
{
    if (isnan(time))
        cli_table_add(table, "-");
    else
        cli_table_add(table, "%.1f", time);
}

static void fill_windows(cli_table *table, const windows_report *report)
{
    for (unsigned i = 0; i < WINDOWS_ROWS; i++) {
        const window_report *row = &report->row[i];
        const window_facts *facts = &row->facts;
        bool promises = row->work.kind != WINDOW_EXACT;
        cli_table_add(table, "%s", row->name);
        cli_table_add(table, "%.1f", facts->bits_per_element);
        cli_table_add(table, "%.4g %%", promises ? report->settings.error * 100 : 0);
        cli_table_add(table, "%.4g %%", facts->false_positive * 100);
        cli_table_add(table, "%.3g %%",
                      100 * (double)facts->forgotten_early / (double)facts->promised);
        for (unsigned phase = 0; phase < WINDOW_PHASES; phase++)
            add_time(table, row->time[phase].median);
    }
}

static void fill_bursts(cli_table *table, const windows_report *report)
{
    for (unsigned i = 0; i < BURST_ROWS; i++) {
        const burst_facts *facts = &report->burst[i];
        cli_table_add(table, "%s", burst_names[i]);
        cli_table_add(table, "%.3g %%", facts->worst_error * 100);
        cli_table_add(table, "%llu", (unsigned long long)facts->bytes_before);
        cli_table_add(table, "%llu", (unsigned long long)facts->bytes_peak);
        cli_table_add(table, "%llu", (unsigned long long)facts->bytes_after);
    }
}

static void fill_retries(cli_table *table, const windows_report *report)
{
    for (unsigned row = 0; row < RETRY_ROWS; row++) {
        cli_table_add(table, "%s", retry_names[row]);
        for (unsigned i = 0; i < RETRY_SHARES; i++)
            cli_table_add(table, "%.2g %%", report->retries[i].error[row] * 100);
    }
}

static void add_head(cli_table *table, const char *const *head, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cli_table_add(table, "%s", head[i]);
}

static bool print_bursts(const windows_report *report, FILE *out)
{
    static const char *const head[] = {"window", "worst error", "bytes before", "bytes at most",
                                       "bytes after"};
    cli_table table = CLI_TABLE("lrrrr");
    add_head(&table, head, sizeof head / sizeof head[0]);
    fill_bursts(&table, report);
    bool printed = cli_table_print(&table, out);
    cli_table_free(&table);
    return printed;
}

static bool print_retries(const windows_report *report, FILE *out)
{
    cli_table table = CLI_TABLE("lrrrrr");
    cli_table_add(&table, "counter behind");
    for (unsigned i = 0; i < RETRY_SHARES; i++)
        cli_table_add(&table, "%g %% retried", window_retry_shares[i] * 100);
    fill_retries(&table, report);
    bool printed = cli_table_print(&table, out);
    cli_table_free(&table);
    return printed;
}

bool bench_windows_text(FILE *out, const windows_report *report)
{
    static const char *const head[] = {"window", "bits/element", "error", "false pos.", "forgotten",
                                       "add",    "hit",          "miss",  "hit*",       "miss*"};
    const window_settings *settings = &report->settings;
    fprintf(out, "windows: %llu elements in a window, error %g %%, batches of %zu\n\n",
            (unsigned long long)settings->elements, settings->error * 100, settings->batch);
    cli_table table = CLI_TABLE("lrrrrrrrrr");
    add_head(&table, head, sizeof head / sizeof head[0]);
    fill_windows(&table, report);
    bool printed = cli_table_print(&table, out);
    cli_table_free(&table);
    fprintf(out,
            "\nbits/element: of one window, at the worst point of a generation. forgotten: shares "
            "of what\nwas added within the window. Times: ns of processor time, without hashing; "
            "median of %u\nrounds. *: in batches.\n",
            settings->rounds);
    fprintf(out, "\n%llu elements in a window of 8 s, then %u times as many for 6 s:\n\n",
            (unsigned long long)report->burst_elements, BURST_TIMES);
    printed = print_bursts(report, out) && printed;
    fprintf(out, "\nHow far a counter is off, each window in %llu bytes:\n\n",
            (unsigned long long)report->retries[0].bytes);
    return print_retries(report, out) && printed;
}
