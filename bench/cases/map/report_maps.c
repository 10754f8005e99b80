/* The report of all engines, in two formats. doc/man/bloomery-bench.1 explains the fields. */
#include "bench/cases/bench_cases.h"
#include "cli/core/output/text_table.h"

static const char *const row_names[MAPS_ROWS] = {"compact", "kbf, tuned shape", "kbf, paper shape"};
static const char *const values_names[MAPS_VALUES_ROWS] = {
    "compact, few values", "compact, many values", "kbf, few values", "kbf, many values"};

static double per_key(const map_report *row)
{
    return (double)row->record.bytes_main / (double)row->settings.items;
}

/* The ratio of the two times. */
static double map_times_as(const map_report *slow, const map_report *fast, unsigned phase)
{
    return slow->time[phase].median / fast->time[phase].median;
}

static void map_ratios_json(cli_json *json, const char *name, const map_report *slow,
                            const map_report *fast, bool bytes)
{
    cli_json_open(json, name, '{');
    if (bytes)
        cli_json_number(json, "bytes", per_key(slow) / per_key(fast));
    cli_json_number(json, "insert", map_times_as(slow, fast, MAP_INSERT));
    cli_json_number(json, "hit", map_times_as(slow, fast, MAP_HIT));
    cli_json_number(json, "miss", map_times_as(slow, fast, MAP_MISS));
    cli_json_number(json, "hit_batch", map_times_as(slow, fast, MAP_HIT_BATCH));
    cli_json_number(json, "miss_batch", map_times_as(slow, fast, MAP_MISS_BATCH));
    cli_json_close(json, '}');
}

void bench_maps_json(cli_json *json, const maps_report *report)
{
    const map_report *row = report->row, *values = report->values_row;
    cli_json_open(json, "maps", '[');
    for (unsigned i = 0; i < MAPS_ROWS; i++) {
        cli_json_open(json, NULL, '{');
        map_row_json(json, &row[i]);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
    cli_json_open(json, "values", '[');
    for (unsigned i = 0; i < MAPS_VALUES_ROWS; i++) {
        cli_json_open(json, NULL, '{');
        map_row_json(json, &values[i]);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
    map_ratios_json(json, "paper_by_compact", &row[MAPS_PAPER], &row[MAPS_COMPACT], true);
    map_ratios_json(json, "tuned_by_compact", &row[MAPS_TUNED], &row[MAPS_COMPACT], true);
    map_ratios_json(json, "compact_many_by_few", &values[MAPS_COMPACT_MANY],
                    &values[MAPS_COMPACT_FEW], false);
    map_ratios_json(json, "kbf_many_by_few", &values[MAPS_KBF_MANY], &values[MAPS_KBF_FEW], false);
}

static const unsigned columns[] = {MAP_INSERT, MAP_HIT, MAP_MISS, MAP_HIT_BATCH, MAP_MISS_BATCH};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* Present keys that are not answered with their value, and absent keys that are answered with
 * one. */
static void errors_row(cli_table *table, const map_report *row)
{
    bry_map_errors seen = map_errors_seen(&row->record, row->settings.items);
    cli_table_add(table, "%.4g %%", (seen.false_negative + seen.incorrect) * 100);
    cli_table_add(table, "%.4g %%", seen.false_positive * 100);
}

static bool write_map_table(FILE *out, const char *const *names, const map_report *rows,
                            size_t count)
{
    static const char *const head[] = {"map", "bytes/key", "misread", "false pos.", "insert",
                                       "hit", "miss",      "hit*",    "miss*"};
    cli_table text = CLI_TABLE("lrrrrrrrr");
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        cli_table_add(&text, "%s", head[i]);
    for (size_t i = 0; i < count; i++) {
        cli_table_add(&text, "%s", names[i]);
        cli_table_add(&text, "%.2f", per_key(&rows[i]));
        errors_row(&text, &rows[i]);
        for (unsigned c = 0; c < COLUMNS; c++)
            cli_table_add(&text, "%.1f (%.1f)", rows[i].time[columns[c]].median,
                          rows[i].time[columns[c]].min);
    }
    bool printed = cli_table_print(&text, out);
    cli_table_free(&text);
    return printed;
}

bool bench_maps_text(FILE *out, const maps_report *report)
{
    const bench_settings *settings = &report->settings;
    const map_report *row = report->row, *values = report->values_row;
    fprintf(out, "maps: %llu keys, %llu values, error %g %%, batches of %zu\n\n",
            (unsigned long long)settings->items, (unsigned long long)settings->map.values,
            settings->error * 100, settings->batch);
    bool printed = write_map_table(out, row_names, row, MAPS_ROWS);
    fprintf(out,
            "\ncompact against kbf in the paper's shape: %.1f times fewer bytes, hits %.2f and "
            "misses %.2f times as fast.\n",
            per_key(&row[MAPS_PAPER]) / per_key(&row[MAPS_COMPACT]),
            map_times_as(&row[MAPS_PAPER], &row[MAPS_COMPACT], MAP_HIT),
            map_times_as(&row[MAPS_PAPER], &row[MAPS_COMPACT], MAP_MISS));
    fprintf(out, "\n%llu keys, %llu and %llu values:\n\n",
            (unsigned long long)values[0].settings.items,
            (unsigned long long)values[MAPS_COMPACT_FEW].settings.map.values,
            (unsigned long long)values[MAPS_COMPACT_MANY].settings.map.values);
    printed = write_map_table(out, values_names, values, MAPS_VALUES_ROWS) && printed;
    fprintf(out,
            "\nmisread: present keys reported absent, unsure or with another value. Times: ns "
            "of processor\ntime per key, without hashing; median of %u rounds (fastest). *: in "
            "batches.\n",
            settings->rounds);
    return printed;
}
