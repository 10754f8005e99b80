/* bench indexes: the widths of groups, engine compact and an exact hash table side by side; the two engines at a typical
 * error; and the error of an index that gets more units than planned. */
#include "bench/cases/bench_cases.h"

#include "bench/cases/index/index_growth.h"
#include "cli/core/output/output.h"

static const uint32_t groups[INDEXES_GROUPS] = {1, 8, 64, 256, 512};

#define MANY_UNITS 64u
#define MANY_ERROR 0.001
#define GROWN 160u /* units in an index planned for PLANNED, as in the paper */
#define PLANNED 64u
#define CONTROL_FACTOR 3u /* reaches it in one rebuild */
#define CONTROL_GROUP 32u

static index_report row_of(const bench_settings *settings, bry_engine engine, uint32_t group)
{
    index_report row = {.settings = *settings};
    row.settings.index.engine = engine;
    row.settings.index.group = group;
    row.settings.index.segmented = false;
    return row;
}

static bool measure_index_rows(index_report *rows, size_t count)
{
    index_data data;
    const index_data *of[INDEX_MOST_ROWS];
    for (size_t i = 0; i < count; i++)
        if (!index_plan_for(&rows[i]))
            return false;
    if (!index_data_for(&data, &rows[0].settings.index))
        return false;
    for (size_t i = 0; i < count; i++)
        of[i] = &data;
    bool good = index_reports_measure(of, rows, count, false);
    index_data_free(&data);
    return good;
}

static bool measure_control(indexes_report *report)
{
    static const struct {
        bry_index_control control;
        bool segmented;
    } ways[INDEXES_CONTROLS] = {
        [INDEXES_UNCONTROLLED] = {BRY_INDEX_UNCONTROLLED, false},
        [INDEXES_LARGER] = {BRY_INDEX_LARGER, false},
        [INDEXES_TIGHTER] = {BRY_INDEX_TIGHTER, false},
        [INDEXES_SEGMENTED] = {BRY_INDEX_TIGHTER, true},
    };
    index_settings settings = report->settings.index;
    index_data data;
    settings.units = GROWN;
    if (!index_data_for(&data, &settings))
        return false;
    settings.engine = BRY_ENGINE_DBA;
    settings.units = PLANNED;
    settings.group = CONTROL_GROUP;
    report->planned = PLANNED;
    report->grown = GROWN;
    bool good = true;
    for (int i = 0; i < INDEXES_CONTROLS && good; i++) {
        settings.segmented = ways[i].segmented;
        bry_index_options options = index_options_for(&settings, report->settings.error, true);
        options.dba.control = ways[i].control;
        options.dba.factor = CONTROL_FACTOR;
        good = index_grow(&options, &data, GROWN * 2, NULL, &report->control[i]);
    }
    if (!good)
        cli_fail("an index that grew lost elements, or memory ran out");
    index_data_free(&data);
    return good;
}

bool bench_indexes(const bench_settings *settings, indexes_report *report)
{
    *report = (indexes_report){.settings = *settings};
    for (int i = 0; i < INDEXES_GROUPS; i++)
        report->row[i] = row_of(settings, BRY_ENGINE_DBA, groups[i]);
    report->row[INDEXES_COMPACT] = row_of(settings, BRY_ENGINE_COMPACT, 0);
    report->row[INDEXES_EXACT] = row_of(settings, BRY_ENGINE_COMPACT, 0);
    report->row[INDEXES_EXACT].exact = true;
    if (!measure_index_rows(report->row, INDEXES_ROWS))
        return false;
    /* The same number of elements in other units, at another error. */
    bench_settings many = *settings;
    many.error = MANY_ERROR;
    many.index.unit_capacity =
        (settings->index.units * settings->index.unit_capacity + MANY_UNITS - 1) / MANY_UNITS;
    many.index.units = MANY_UNITS;
    report->many[INDEXES_MANY_DBA] = row_of(&many, BRY_ENGINE_DBA, 512);
    report->many[INDEXES_MANY_COMPACT] = row_of(&many, BRY_ENGINE_COMPACT, 0);
    return measure_index_rows(report->many, INDEXES_MANY_ROWS) && measure_control(report);
}
