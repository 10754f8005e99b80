/* bench index: one index, all operations. */
#include "bench/cases/index/index_cases.h"

#include "bench/harness/bench_fail.h"
#include "cli/core/args.h"

#include <math.h>
#include <string.h>

int index_settings_read(const char *engine, index_settings *settings)
{
    int code = bench_engine_read(engine, BRY_JOB_INDEX, "indexes", &settings->engine);
    if (code != CLI_GO_ON)
        return code;
    if (settings->engine == BRY_ENGINE_COMPACT && (settings->group || settings->segmented))
        return cli_misuse("--%s: engine compact does not have it",
                          settings->group ? "group" : "segmented");
    bry_index_options options = index_options_for(settings, 0, false);
    bry_index_shape shape = {0};
    if (bry_index_plan(&options, &shape) != BRY_OK)
        return cli_misuse("--group: %u is not one of 1, 8, 16, 32, 64, 128, 256 and 512",
                          settings->group);
    return CLI_GO_ON;
}

bool index_plan_for(index_report *report)
{
    bry_index_options options =
        index_options_for(&report->settings.index, report->settings.error, report->settings.grow);
    report->shape = (bry_index_shape){0};
    return report->exact || bry_index_plan(&options, &report->shape) == BRY_OK ||
           bench_fail("no index can be made of this size and error");
}

static bool check_index_report(const index_report *report, const bench_result *result)
{
    const index_record *record = &report->record;
    uint64_t asked = report->asked;
    if (result->found[INDEX_HIT] != asked || result->found[INDEX_HIT_BATCH] != asked)
        return bench_fail("the units of %llu elements were not found",
                          (unsigned long long)(asked - result->found[INDEX_HIT]));
    /* One more than the band: even if less than one is expected, one may occur. */
    double p = record->estimated_error, expected = (double)asked * p;
    return (double)record->found <= expected + 5 * sqrt(expected) + 1 ||
           bench_fail("%llu false positives where %.1f are expected",
                      (unsigned long long)record->found, expected);
}

bool index_reports_measure(const index_data *const *data, index_report *reports, size_t count,
                           bool reinsert)
{
    bench_candidate candidates[INDEX_MOST_ROWS];
    bench_result results[INDEX_MOST_ROWS] = {0};
    index_work works[INDEX_MOST_ROWS];
    const void *given[INDEX_MOST_ROWS];
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        bry_index_options options = index_options_for(
            &reports[i].settings.index, reports[i].settings.error, reports[i].settings.grow);
        good = index_work_make(&works[i], data[i], &options, reports[i].settings.batch,
                               &reports[i].record) &&
               good;
        candidates[i] = reports[i].exact ? candidate_exact_index : candidate_index;
        if (!reinsert || options.engine != BRY_ENGINE_DBA)
            candidates[i].skips |= 1u << INDEX_REINSERT;
        given[i] = &works[i];
        reports[i].asked = data[i]->asked;
    }
    const bench_plan plan = {
        .candidates = candidates,
        .works = given,
        .count = count,
        .phases = INDEX_PHASES,
        .operations = data[0]->asked,
        .rounds = reports[0].settings.rounds,
    };
    if (!good)
        cli_no_memory();
    good = good && bench_measure(&plan, NULL, results);
    for (size_t i = 0; i < count; i++) {
        memcpy(reports[i].time, results[i].time, sizeof reports[i].time);
        good = good && check_index_report(&reports[i], &results[i]);
        index_work_free(&works[i]);
    }
    return good;
}

bool index_data_for(index_data *data, const index_settings *settings)
{
    return index_data_make(data, settings->units, settings->unit_capacity, 0) ||
           bench_fail("%llu elements do not fit in memory",
                      (unsigned long long)settings->unit_capacity * settings->units);
}

static const char *const phase_names[INDEX_PHASES] = {
    [INDEX_ADD] = "add",
    [INDEX_HIT] = "hit",
    [INDEX_MISS] = "miss",
    [INDEX_HIT_BATCH] = "hit_batch",
    [INDEX_MISS_BATCH] = "miss_batch",
    [INDEX_REINSERT] = "reinsert",
};

static double report_elements(const index_report *report)
{
    return (double)report->settings.index.units * (double)report->settings.index.unit_capacity;
}

static double false_positive(const index_report *report)
{
    return (double)report->record.found / (double)report->asked;
}

void index_row_json(cli_json *json, const index_report *report)
{
    const index_record *record = &report->record;
    cli_json_text(json, "engine",
                  report->exact ? "exact" : bry_engine_name(report->settings.index.engine));
    cli_json_count(json, "units", report->settings.index.units);
    cli_json_count(json, "unit_capacity", report->settings.index.unit_capacity);
    cli_json_count(json, "group", record->group);
    cli_json_bool(json, "segmented", report->settings.index.segmented);
    cli_json_count(json, "hashes", report->shape.dba.hashes);
    cli_json_count(json, "bytes", record->bytes);
    cli_json_number(json, "bits_per_element",
                    (double)report->record.bytes * 8 / report_elements(report));
    cli_json_number(json, "planned_error", report->shape.error);
    cli_json_number(json, "estimated_error", record->estimated_error);
    cli_json_number(json, "false_positive", false_positive(report));
    cli_json_number(json, "locate_exact", (double)record->exact / (double)report->asked);
    for (unsigned phase = 0; phase < INDEX_PHASES; phase++)
        bench_time_json(json, phase_names[phase], report->time[phase]);
}

bool bench_index(const bench_settings *settings, cli_json *json)
{
    index_report report = {.settings = *settings};
    index_data data;
    if (!index_plan_for(&report) || !index_data_for(&data, &settings->index))
        return false;
    const index_data *of = &data;
    bool good = index_reports_measure(&of, &report, 1, true);
    index_data_free(&data);
    if (!good)
        return false;
    cli_json_count(json, "elements", (uint64_t)report_elements(&report));
    cli_json_count(json, "asked", report.asked);
    cli_json_number(json, "error", report.settings.error);
    cli_json_bool(json, "grow", report.settings.grow);
    cli_json_count(json, "batch", report.settings.batch);
    cli_json_count(json, "rounds", report.settings.rounds);
    cli_json_count(json, "reinserted", report.record.reinserted);
    index_row_json(json, &report);
    return true;
}
