/* bench indexes: the widths of groups, engine compact and an exact hash table side by side; the two engines at a typical
 * error; and the error of an index that gets more units than planned. */
#include "bench/cases/index/index_cases.h"
#include "bench/cases/index/index_growth.h"
#include "cli/core/output/output.h"

/* The first rows are groups of dba. */
enum { INDEXES_GROUPS = 5, INDEXES_COMPACT = INDEXES_GROUPS, INDEXES_EXACT, INDEXES_ROWS };
enum indexes_many { INDEXES_MANY_DBA, INDEXES_MANY_COMPACT, INDEXES_MANY_ROWS };
enum indexes_control {
    INDEXES_UNCONTROLLED,
    INDEXES_LARGER,
    INDEXES_TIGHTER,
    INDEXES_SEGMENTED,
    INDEXES_CONTROLS
};

typedef struct indexes_report {
    bench_settings settings;
    index_report row[INDEXES_ROWS];
    index_report many[INDEXES_MANY_ROWS];
    uint32_t planned, grown; /* units */
    control_report control[INDEXES_CONTROLS];
} indexes_report;

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

static const char *const control_names[INDEXES_CONTROLS] = {
    [INDEXES_UNCONTROLLED] = "uncontrolled",
    [INDEXES_LARGER] = "larger",
    [INDEXES_TIGHTER] = "tighter",
    [INDEXES_SEGMENTED] = "tighter_segmented",
};

/* How many times as fast b is as a. */
static double index_times_as(const index_report *a, unsigned of_a, const index_report *b,
                             unsigned of_b)
{
    return a->time[of_a].median / b->time[of_b].median;
}

static void index_ratios_json(cli_json *json, const indexes_report *report)
{
    const index_report *row = report->row, *one = &row[0], *dba = &report->many[INDEXES_MANY_DBA],
                       *compact = &report->many[INDEXES_MANY_COMPACT];
    cli_json_open(json, "ratios", '{');
    for (int i = 1; i < INDEXES_GROUPS; i++) {
        char key[48];
        unsigned group = row[i].settings.index.group;
        snprintf(key, sizeof key, "miss_%u_by_1", group);
        cli_json_number(json, key, index_times_as(one, INDEX_MISS, &row[i], INDEX_MISS));
        snprintf(key, sizeof key, "hit_%u_by_1", group);
        cli_json_number(json, key, index_times_as(one, INDEX_HIT, &row[i], INDEX_HIT));
        snprintf(key, sizeof key, "miss_%u_batched", group);
        cli_json_number(json, key, index_times_as(&row[i], INDEX_MISS, &row[i], INDEX_MISS_BATCH));
        snprintf(key, sizeof key, "hit_%u_batched", group);
        cli_json_number(json, key, index_times_as(&row[i], INDEX_HIT, &row[i], INDEX_HIT_BATCH));
    }
    cli_json_number(json, "compact_miss_by_dba",
                    index_times_as(compact, INDEX_MISS_BATCH, dba, INDEX_MISS_BATCH));
    cli_json_number(json, "compact_hit_by_dba",
                    index_times_as(compact, INDEX_HIT_BATCH, dba, INDEX_HIT_BATCH));
    cli_json_number(json, "segmented_reinsert",
                    report->control[INDEXES_TIGHTER].ns_reinsert /
                        report->control[INDEXES_SEGMENTED].ns_reinsert);
    cli_json_close(json, '}');
}

static void control_json(cli_json *json, const indexes_report *report)
{
    cli_json_open(json, "control", '{');
    cli_json_count(json, "planned_units", report->planned);
    cli_json_count(json, "grown_units", report->grown);
    cli_json_open(json, "runs", '[');
    for (int i = 0; i < INDEXES_CONTROLS; i++) {
        const control_report *run = &report->control[i];
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "control", control_names[i]);
        cli_json_count(json, "units", run->units);
        cli_json_count(json, "bytes", run->bytes);
        cli_json_count(json, "rebuilds", run->rebuilds);
        cli_json_count(json, "reinserted", run->reinserted);
        cli_json_number(json, "full_error", run->full_error);
        cli_json_number(json, "estimated_error", run->estimated_error);
        cli_json_number(json, "false_positive", run->observed);
        cli_json_number(json, "by_target", run->observed / report->settings.error);
        cli_json_number(json, "ns_reinsert", run->ns_reinsert);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
    cli_json_close(json, '}');
}

static void rows_json(cli_json *json, const char *key, const index_report *rows, size_t count)
{
    cli_json_open(json, key, '[');
    for (size_t i = 0; i < count; i++) {
        cli_json_open(json, NULL, '{');
        index_row_json(json, &rows[i]);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void indexes_json(cli_json *json, const indexes_report *report)
{
    const bench_settings *settings = &report->settings;
    cli_json_count(json, "units", settings->index.units);
    cli_json_count(json, "unit_capacity", settings->index.unit_capacity);
    cli_json_number(json, "error", settings->error);
    cli_json_count(json, "asked", report->row[0].asked);
    cli_json_count(json, "batch", settings->batch);
    cli_json_count(json, "rounds", settings->rounds);
    rows_json(json, "indexes", report->row, INDEXES_ROWS);
    cli_json_open(json, "engines", '{');
    cli_json_number(json, "error", report->many[0].settings.error);
    rows_json(json, "indexes", report->many, INDEXES_MANY_ROWS);
    cli_json_close(json, '}');
    control_json(json, report);
    index_ratios_json(json, report);
}

bool bench_indexes(const bench_settings *settings, cli_json *json)
{
    indexes_report report = {.settings = *settings};
    for (int i = 0; i < INDEXES_GROUPS; i++)
        report.row[i] = row_of(settings, BRY_ENGINE_DBA, groups[i]);
    report.row[INDEXES_COMPACT] = row_of(settings, BRY_ENGINE_COMPACT, 0);
    report.row[INDEXES_EXACT] = row_of(settings, BRY_ENGINE_COMPACT, 0);
    report.row[INDEXES_EXACT].exact = true;
    if (!measure_index_rows(report.row, INDEXES_ROWS))
        return false;
    /* The same number of elements in other units, at another error. */
    bench_settings many = *settings;
    many.error = MANY_ERROR;
    many.index.unit_capacity =
        (settings->index.units * settings->index.unit_capacity + MANY_UNITS - 1) / MANY_UNITS;
    many.index.units = MANY_UNITS;
    report.many[INDEXES_MANY_DBA] = row_of(&many, BRY_ENGINE_DBA, 512);
    report.many[INDEXES_MANY_COMPACT] = row_of(&many, BRY_ENGINE_COMPACT, 0);
    if (!measure_index_rows(report.many, INDEXES_MANY_ROWS) || !measure_control(&report))
        return false;
    indexes_json(json, &report);
    return true;
}
