/* One window, or several in interleaved rounds: first size and errors, then speed. */
#include "bench/cases/window/window_cases.h"

#include "cli/core/output/output.h"

#include <math.h>
#include <stdlib.h>

/* ---- what must hold ------------------------------------------------------------------------ */

static bool check_window_report(const window_report *report, const bench_result *result)
{
    const window_facts *facts = &report->facts;
    double error = report->work.settings.error, asked = (double)facts->absent;
    if (report->work.kind != WINDOW_LIBRARY && report->work.kind != WINDOW_PAPER)
        return true; /* only reported */
    if (facts->forgotten_early) {
        cli_fail("%s: %llu elements were forgotten early", report->name,
                 (unsigned long long)facts->forgotten_early);
        return false;
    }
    if (facts->false_positive * asked > error * asked + 5 * sqrt(error * asked) + 1) {
        cli_fail("%s: an error of %.3g where %g is promised", report->name, facts->false_positive,
                 error);
        return false;
    }
    if (result->found[WINDOW_HIT] != result->found[WINDOW_HIT_BATCH] ||
        result->found[WINDOW_MISS] != result->found[WINDOW_MISS_BATCH]) {
        cli_fail("%s: batches and single look-ups give different answers", report->name);
        return false;
    }
    return true;
}

/* ---- measuring ----------------------------------------------------------------------------- */

static bool window_out_of_memory(const char *name)
{
    cli_fail("%s does not fit in memory", name);
    return false;
}

static bool measure_windows(window_report *reports, size_t count)
{
    bench_candidate candidates[WINDOWS_ROWS];
    const void *works[WINDOWS_ROWS];
    bench_result results[WINDOWS_ROWS] = {0};
    for (size_t i = 0; i < count; i++) {
        candidates[i] = window_candidate(reports[i].work.kind);
        candidates[i].name = reports[i].name;
        works[i] = &reports[i].work;
    }
    const bench_plan plan = {
        .candidates = candidates,
        .works = works,
        .count = count,
        .phases = WINDOW_PHASES,
        .operations = reports[0].work.settings.elements,
        .rounds = reports[0].work.settings.rounds,
    };
    bool good = bench_measure(&plan, NULL, results);
    for (size_t i = 0; i < count && good; i++) {
        for (unsigned phase = 0; phase < WINDOW_PHASES; phase++)
            reports[i].time[phase] = results[i].time[phase];
        good = check_window_report(&reports[i], &results[i]);
    }
    return good;
}

bool window_reports_measure(window_report *reports, size_t count)
{
    bench_keys keys;
    uint8_t *answers = malloc(reports[0].work.settings.batch);
    if (!answers || !bench_keys_make(&keys, reports[0].work.settings.elements)) {
        free(answers);
        return window_out_of_memory("the elements");
    }
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        reports[i].work.keys = &keys;
        reports[i].work.answers = answers;
        if (window_trial(&reports[i].work, &reports[i].facts) != BRY_OK)
            good = window_out_of_memory(reports[i].name);
    }
    good = good && measure_windows(reports, count);
    bench_keys_free(&keys);
    free(answers);
    return good;
}

bool bench_window(const window_settings *settings, window_report *report)
{
    *report = (window_report){.name = "window"};
    bry_status status = window_work_plan(&report->work, window_kind_of(settings), settings);
    if (status != BRY_OK) {
        cli_fail("no such window can be made at this size and error");
        return false;
    }
    return window_reports_measure(report, 1);
}
