/* One window, or several in interleaved rounds: first size and errors, then speed. */
#include "bench/cases/window/window_cases.h"
#include "bench/harness/bench_fail.h"

#include <math.h>
#include <stdlib.h>

/* ---- what must hold ------------------------------------------------------------------------ */

static bool check_window_report(const window_report *report, const bench_result *result)
{
    const window_facts *facts = &report->facts;
    double error = report->work.settings.error, asked = (double)facts->absent;
    if (report->work.kind != WINDOW_LIBRARY && report->work.kind != WINDOW_PAPER)
        return true; /* only reported */
    if (facts->forgotten_early)
        return bench_fail("%s: %llu elements were forgotten early", report->name,
                          (unsigned long long)facts->forgotten_early);
    if (facts->false_positive * asked > error * asked + 5 * sqrt(error * asked) + 1)
        return bench_fail("%s: an error of %.3g where %g is promised", report->name,
                          facts->false_positive, error);
    if (result->found[WINDOW_HIT] != result->found[WINDOW_HIT_BATCH] ||
        result->found[WINDOW_MISS] != result->found[WINDOW_MISS_BATCH])
        return bench_fail("%s: batches and single look-ups give different answers", report->name);
    return true;
}

/* ---- measuring ----------------------------------------------------------------------------- */

static bool window_out_of_memory(const char *name)
{
    return bench_fail("%s does not fit in memory", name);
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
    for (size_t i = 0; i < count; i++)
        reports[i].work.keys = NULL;
    bench_keys_free(&keys);
    free(answers);
    return good;
}

/* ---- the report ---------------------------------------------------------------------------- */

static const char *const phase_names[WINDOW_PHASES] = {
    [WINDOW_ADD] = "add",
    [WINDOW_HIT] = "hit",
    [WINDOW_MISS] = "miss",
    [WINDOW_HIT_BATCH] = "hit_batch",
    [WINDOW_MISS_BATCH] = "miss_batch",
};

static const char *engine_of(const window_report *report)
{
    static const char *const others[] = {
        [WINDOW_RBF] = "rbf", [WINDOW_RING] = "ring", [WINDOW_EXACT] = "exact"};
    const window_work *work = &report->work;
    return others[work->kind] ? others[work->kind] : bry_engine_name(work->settings.engine);
}

static const char *mode_of(const window_report *report)
{
    return window_mode_name(report->work.settings.engine, report->work.settings.mode);
}

void window_row_json(cli_json *json, const window_report *report)
{
    const window_settings *settings = &report->work.settings;
    const window_facts *facts = &report->facts;
    cli_json_text(json, "engine", engine_of(report));
    cli_json_text(json, "mode", mode_of(report));
    cli_json_count(json, "elements", settings->elements);
    cli_json_count(json, "generations", settings->generations);
    cli_json_number(json, "error", settings->error);
    cli_json_text(json, "isa", bry_isa());
    cli_json_count(json, "window_ms", report->work.window);
    cli_json_count(json, "batch", settings->batch);
    cli_json_count(json, "rounds", settings->rounds);
    cli_json_count(json, "bytes", facts->bytes);
    cli_json_number(json, "bits_per_element", facts->bits_per_element);
    cli_json_number(json, "false_positive", facts->false_positive);
    cli_json_number(json, "predicted", facts->predicted);
    cli_json_count(json, "absent_asked", facts->absent);
    cli_json_count(json, "promised_asked", facts->promised);
    cli_json_count(json, "forgotten_early", facts->forgotten_early);
    for (unsigned phase = 0; phase < WINDOW_PHASES; phase++)
        bench_time_json(json, phase_names[phase], report->time[phase]);
}

bool bench_window(const bench_settings *settings, cli_json *json)
{
    const window_settings *window = &settings->window;
    window_report report = {.name = "window"};
    if (window_work_plan(&report.work, window_kind_of(window), window) != BRY_OK)
        return bench_fail("no such window can be made at this size and error");
    if (!window_reports_measure(&report, 1))
        return false;
    window_row_json(json, &report);
    return true;
}
