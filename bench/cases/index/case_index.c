/* bench index: one index, all operations. */
#include "bench/cases/bench_cases.h"

#include "cli/core/args.h"
#include "cli/core/output/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int index_settings_read(const char *engine, index_settings *settings)
{
    bry_engine named = BRY_ENGINE_AUTO;
    if (engine && bry_engine_parse(engine, &named) != BRY_OK)
        return cli_misuse(NULL, "--engine: there is no engine %s", cli_quote(engine).text);
    if (named == BRY_ENGINE_AUTO)
        named = BRY_ENGINE_COMPACT;
    if (named != BRY_ENGINE_COMPACT && named != BRY_ENGINE_DBA)
        return cli_misuse(NULL, "--engine: indexes have no engine %s", engine);
    if (named == BRY_ENGINE_COMPACT && (settings->group || settings->segmented))
        return cli_misuse(NULL, "--%s: engine compact does not have it",
                          settings->group ? "group" : "segmented");
    settings->engine = named;
    bry_index_options options = index_options_for(settings, 0, false);
    bry_index_shape shape = {0};
    if (bry_index_plan(&options, &shape) != BRY_OK)
        return cli_misuse(NULL, "--group: %u is not one of 1, 8, 16, 32, 64, 128, 256 and 512",
                          settings->group);
    return CLI_GO_ON;
}

bool index_plan_for(index_report *report)
{
    bry_index_options options =
        index_options_for(&report->settings.index, report->settings.error, report->settings.grow);
    report->shape = (bry_index_shape){0};
    if (report->exact || bry_index_plan(&options, &report->shape) == BRY_OK)
        return true;
    cli_fail("no index can be made of this size and error");
    return false;
}

static bool check_index_report(const index_report *report, const bench_result *result)
{
    const index_record *record = &report->record;
    uint64_t asked = report->asked;
    if (result->found[INDEX_HIT] != asked || result->found[INDEX_HIT_BATCH] != asked) {
        cli_fail("the units of %llu elements were not found",
                 (unsigned long long)(asked - result->found[INDEX_HIT]));
        return false;
    }
    /* One more than the band: even if less than one is expected, one may occur. */
    double p = record->estimated_error, expected = (double)asked * p;
    if ((double)record->found <= expected + 5 * sqrt(expected) + 1)
        return true;
    cli_fail("%llu false positives where %.1f are expected", (unsigned long long)record->found,
             expected);
    return false;
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
    if (index_data_make(data, settings->units, settings->unit_capacity, 0))
        return true;
    cli_fail("%llu elements do not fit in memory",
             (unsigned long long)settings->unit_capacity * settings->units);
    return false;
}

bool bench_index(const bench_settings *settings, index_report *report)
{
    *report = (index_report){.settings = *settings};
    index_data data;
    if (!index_plan_for(report) || !index_data_for(&data, &settings->index))
        return false;
    const index_data *of = &data;
    bool good = index_reports_measure(&of, report, 1, true);
    index_data_free(&data);
    return good;
}
