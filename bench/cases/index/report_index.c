/* The reports of indexes, in two formats. */
#include "bench/cases/bench_cases.h"
#include "cli/core/output/text_table.h"

#include <math.h>

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

static double bits_each(const index_report *report)
{
    return (double)report->record.bytes * 8 / report_elements(report);
}

static double false_positive(const index_report *report)
{
    return (double)report->record.found / (double)report->asked;
}

/* ---- one index ----------------------------------------------------------------------------- */

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
    cli_json_number(json, "bits_per_element", bits_each(report));
    cli_json_number(json, "planned_error", report->shape.error);
    cli_json_number(json, "estimated_error", record->estimated_error);
    cli_json_number(json, "false_positive", false_positive(report));
    cli_json_number(json, "locate_exact", (double)record->exact / (double)report->asked);
    for (unsigned phase = 0; phase < INDEX_PHASES; phase++) {
        char key[64];
        snprintf(key, sizeof key, "ns_%s", phase_names[phase]);
        cli_json_number(json, key, report->time[phase].median);
        snprintf(key, sizeof key, "ns_%s_min", phase_names[phase]);
        cli_json_number(json, key, report->time[phase].min);
    }
}

void bench_index_json(cli_json *json, const index_report *report)
{
    cli_json_count(json, "elements", (uint64_t)report_elements(report));
    cli_json_count(json, "asked", report->asked);
    cli_json_number(json, "error", report->settings.error);
    cli_json_bool(json, "grow", report->settings.grow);
    cli_json_count(json, "batch", report->settings.batch);
    cli_json_count(json, "rounds", report->settings.rounds);
    cli_json_count(json, "reinserted", report->record.reinserted);
    index_row_json(json, report);
}

/* ---- tables -------------------------------------------------------------------------------- */

static void write_index_head(cli_table *table, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cli_table_add(table, "%s", names[i]);
}

static void name_row(cli_table *table, const index_report *row)
{
    const index_settings *index = &row->settings.index;
    if (row->exact)
        cli_table_add(table, "exact hash table");
    else if (index->engine == BRY_ENGINE_DBA)
        cli_table_add(table, "dba, groups of %u%s", row->record.group,
                      index->segmented ? ", segmented" : "");
    else
        cli_table_add(table, "%s", bry_engine_name(index->engine));
}

static void times_row(cli_table *table, const index_report *row, unsigned phases, bool fastest)
{
    for (unsigned phase = 0; phase < phases; phase++) {
        bench_time time = row->time[phase];
        if (isnan(time.median))
            cli_table_add(table, "-");
        else if (fastest)
            cli_table_add(table, "%.1f (%.1f)", time.median, time.min);
        else
            cli_table_add(table, "%.1f", time.median);
    }
}

static bool rows_text(FILE *out, const index_report *rows, size_t count)
{
    static const char *const names[] = {"index", "bits/element", "observed", "exact", "add",
                                        "hit",   "miss",         "hit*",     "miss*", "reinsert"};
    cli_table table = CLI_TABLE("lrrrrrrrrr");
    write_index_head(&table, names, sizeof names / sizeof names[0]);
    for (size_t i = 0; i < count; i++) {
        name_row(&table, &rows[i]);
        cli_table_add(&table, "%.2f", bits_each(&rows[i]));
        cli_table_add(&table, "%.3g", false_positive(&rows[i]));
        cli_table_add(&table, "%.4f", (double)rows[i].record.exact / (double)rows[i].asked);
        times_row(&table, &rows[i], INDEX_PHASES, true);
    }
    bool printed = cli_table_print(&table, out);
    cli_table_free(&table);
    return printed;
}

static void rows_title(FILE *out, const index_report *row)
{
    fprintf(out,
            "index: %u units of %llu elements, error %g, batches of %zu; %llu elements "
            "looked up\n\n",
            row->settings.index.units, (unsigned long long)row->settings.index.unit_capacity,
            row->settings.error, row->settings.batch, (unsigned long long)row->asked);
}

static void rows_legend(FILE *out, unsigned rounds)
{
    fprintf(out,
            "\nobserved: absent elements with any candidate; exact: present ones with the right "
            "unit alone.\nTimes: ns of processor time per element, without hashing; median of %u "
            "rounds (fastest).\n*: in batches.\n",
            rounds);
}

bool bench_index_text(FILE *out, const index_report *report)
{
    rows_title(out, report);
    bool printed = rows_text(out, report, 1);
    rows_legend(out, report->settings.rounds);
    return printed;
}

/* ---- indexes ------------------------------------------------------------------------------- */

static const char *const control_names[INDEXES_CONTROLS] = {
    [INDEXES_UNCONTROLLED] = "uncontrolled",
    [INDEXES_LARGER] = "larger",
    [INDEXES_TIGHTER] = "tighter",
    [INDEXES_SEGMENTED] = "tighter_segmented",
};
static const char *const control_titles[INDEXES_CONTROLS] = {
    [INDEXES_UNCONTROLLED] = "uncontrolled",
    [INDEXES_LARGER] = "A: larger units",
    [INDEXES_TIGHTER] = "B: tighter units",
    [INDEXES_SEGMENTED] = "B, segmented",
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

void bench_indexes_json(cli_json *json, const indexes_report *report)
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

static bool control_text(FILE *out, const indexes_report *report)
{
    static const char *const names[] = {"control",   "units",      "MB",      "observed",
                                        "by target", "reinserted", "reinsert"};
    cli_table table = CLI_TABLE("lrrrrrr");
    fprintf(out, "\nPlanned for %u units, filled like %u:\n\n", report->planned, report->grown);
    write_index_head(&table, names, sizeof names / sizeof names[0]);
    for (int i = 0; i < INDEXES_CONTROLS; i++) {
        const control_report *run = &report->control[i];
        cli_table_add(&table, "%s", control_titles[i]);
        cli_table_add(&table, "%u", run->units);
        cli_table_add(&table, "%.1f", (double)run->bytes / 1e6);
        cli_table_add(&table, "%.3g", run->observed);
        cli_table_add(&table, "%.2f", run->observed / report->settings.error);
        cli_table_add(&table, "%llu", (unsigned long long)run->reinserted);
        if (isnan(run->ns_reinsert))
            cli_table_add(&table, "-");
        else
            cli_table_add(&table, "%.1f", run->ns_reinsert);
    }
    bool printed = cli_table_print(&table, out);
    cli_table_free(&table);
    return printed;
}

bool bench_indexes_text(FILE *out, const indexes_report *report)
{
    const index_report *row = report->row, *widest = &row[INDEXES_GROUPS - 1];
    rows_title(out, row);
    bool printed = rows_text(out, row, INDEXES_ROWS);
    fprintf(out,
            "\nGroups of %u against groups of 1: misses %.1f and hits %.1f times as fast; in "
            "batches again %.2f\nand %.2f times.\n",
            widest->settings.index.group, index_times_as(&row[0], INDEX_MISS, widest, INDEX_MISS),
            index_times_as(&row[0], INDEX_HIT, widest, INDEX_HIT),
            index_times_as(widest, INDEX_MISS, widest, INDEX_MISS_BATCH),
            index_times_as(widest, INDEX_HIT, widest, INDEX_HIT_BATCH));
    fputc('\n', out);
    rows_title(out, report->many);
    printed = rows_text(out, report->many, INDEXES_MANY_ROWS) && printed;
    printed = control_text(out, report) && printed;
    rows_legend(out, report->settings.rounds);
    return printed;
}
