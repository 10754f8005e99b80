/*
 * The engines on the same pairs, in interleaved rounds; then the same look-ups in maps with few and
 * with many distinct values, which should take the same time.
 */
#include "bench/cases/map/map_cases.h"

#define FEW_VALUES 100u
#define MANY_VALUES 16000u
#define MOST_VALUES_ITEMS 1000000u

enum map_row { MAPS_COMPACT, MAPS_TUNED, MAPS_PAPER, MAPS_ROWS };
/* Rows with few values, and with many. */
enum map_values_row {
    MAPS_COMPACT_FEW,
    MAPS_COMPACT_MANY,
    MAPS_KBF_FEW,
    MAPS_KBF_MANY,
    MAPS_VALUES_ROWS
};

typedef struct maps_report {
    bench_settings settings;
    map_report row[MAPS_ROWS];
    map_report values_row[MAPS_VALUES_ROWS];
} maps_report;

static void set_up_map_row(map_report *row, const bench_settings *settings, bry_engine engine,
                           bry_map_layout layout)
{
    *row = (map_report){.settings = *settings};
    row->settings.map.engine = engine;
    row->settings.map.layout = layout;
    row->settings.map.decode = 4;
    row->settings.map.size = 1;
}

static bool compare_engines(const bench_settings *settings, maps_report *report)
{
    map_data data;
    if (!map_data_for(&data, settings))
        return false;
    set_up_map_row(&report->row[MAPS_COMPACT], settings, BRY_ENGINE_COMPACT, BRY_MAP_TUNED);
    set_up_map_row(&report->row[MAPS_TUNED], settings, BRY_ENGINE_KBF, BRY_MAP_TUNED);
    set_up_map_row(&report->row[MAPS_PAPER], settings, BRY_ENGINE_KBF, BRY_MAP_PAPER);
    const map_data *same[MAPS_ROWS] = {&data, &data, &data};
    bool good = map_reports_measure(same, report->row, MAPS_ROWS, MAP_NO_CHANGE);
    map_data_free(&data);
    return good;
}

static bool compare_values(const bench_settings *settings, maps_report *report)
{
    bench_settings few = *settings, many;
    if (few.items > MOST_VALUES_ITEMS)
        few.items = MOST_VALUES_ITEMS;
    many = few;
    few.map.values = FEW_VALUES;
    many.map.values = MANY_VALUES;
    map_data few_data = {0}, many_data = {0};
    bool good = map_data_for(&few_data, &few) && map_data_for(&many_data, &many);
    const map_data *data[MAPS_VALUES_ROWS];
    for (unsigned i = 0; i < MAPS_VALUES_ROWS && good; i++) {
        bool has_few = i == MAPS_COMPACT_FEW || i == MAPS_KBF_FEW;
        bool compact = i == MAPS_COMPACT_FEW || i == MAPS_COMPACT_MANY;
        data[i] = has_few ? &few_data : &many_data;
        set_up_map_row(&report->values_row[i], has_few ? &few : &many,
                       compact ? BRY_ENGINE_COMPACT : BRY_ENGINE_KBF, BRY_MAP_TUNED);
    }
    good = good && map_reports_measure(data, report->values_row, MAPS_VALUES_ROWS, MAP_NO_CHANGE);
    map_data_free(&few_data);
    map_data_free(&many_data);
    return good;
}

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

static void map_rows_json(cli_json *json, const char *key, const map_report *rows, size_t count)
{
    cli_json_open(json, key, '[');
    for (size_t i = 0; i < count; i++) {
        cli_json_open(json, NULL, '{');
        map_row_json(json, &rows[i]);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void maps_json(cli_json *json, const maps_report *report)
{
    const map_report *row = report->row, *values = report->values_row;
    map_rows_json(json, "maps", row, MAPS_ROWS);
    map_rows_json(json, "values", values, MAPS_VALUES_ROWS);
    map_ratios_json(json, "paper_by_compact", &row[MAPS_PAPER], &row[MAPS_COMPACT], true);
    map_ratios_json(json, "tuned_by_compact", &row[MAPS_TUNED], &row[MAPS_COMPACT], true);
    map_ratios_json(json, "compact_many_by_few", &values[MAPS_COMPACT_MANY],
                    &values[MAPS_COMPACT_FEW], false);
    map_ratios_json(json, "kbf_many_by_few", &values[MAPS_KBF_MANY], &values[MAPS_KBF_FEW], false);
}

bool bench_maps(const bench_settings *settings, cli_json *json)
{
    maps_report report = {.settings = *settings};
    if (!compare_engines(settings, &report) || !compare_values(settings, &report))
        return false;
    maps_json(json, &report);
    return true;
}
