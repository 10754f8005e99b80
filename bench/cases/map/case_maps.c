/*
 * The engines on the same pairs, in interleaved rounds; then the same look-ups in maps with few and
 * with many distinct values, which should take the same time.
 */
#include "bench/cases/bench_cases.h"

#define FEW_VALUES 100u
#define MANY_VALUES 16000u
#define MOST_VALUES_ITEMS 1000000u

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

bool bench_maps(const bench_settings *settings, maps_report *report)
{
    *report = (maps_report){.settings = *settings};
    return compare_engines(settings, report) && compare_values(settings, report);
}
