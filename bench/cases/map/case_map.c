/* One map, all operations: the answers are counted and compared with the promised error. */
#include "bench/cases/map/map_cases.h"
#include "bench/harness/bench_fail.h"

#include <math.h>

/* False positives as a share of the absent keys, the others as a share of the present ones. */
static bry_map_errors map_errors_seen(const map_record *record, uint64_t items)
{
    double n = (double)items;
    const map_tally *hit = &record->said[MAP_HIT], *miss = &record->said[MAP_MISS];
    return (bry_map_errors){
        .false_positive = (double)miss->wrong / n,
        .false_negative = (double)(hit->absent + hit->unsure) / n,
        .incorrect = (double)hit->wrong / n,
    };
}

/* The times of one candidate, by the actual number of operations. */
static void take_map_times(const map_data *data, const bench_result *result, bench_time *times)
{
    for (unsigned phase = 0; phase < MAP_PHASES; phase++) {
        /* The harness divides by the number of all keys, but fewer are deleted. */
        double scale = phase == MAP_DELETE ? (double)data->count / (double)data->churn : 1;
        times[phase].median = result->time[phase].median * scale;
        times[phase].min = result->time[phase].min * scale;
    }
}

/* ---- what must hold ------------------------------------------------------------------------ */

static bool same_tally(const map_tally *a, const map_tally *b)
{
    return a->right == b->right && a->wrong == b->wrong && a->absent == b->absent &&
           a->unsure == b->unsure;
}

/* At most the expected number plus a band: errors occur in pairs of keys, so their number varies
 * like twice the number of pairs; and even if less than one is expected, a pair may occur. */
static bool check_most(const char *what, double seen, double expected)
{
    return seen <= expected + 5 * sqrt(2 * expected) + 2 ||
           bench_fail("map: %.0f %s where %.1f are expected", seen, what, expected);
}

static bool check_compact(const map_report *report, double n, double same_value)
{
    const map_record *record = &report->record;
    const map_tally *hit = &record->said[MAP_HIT];
    bry_map_errors seen = map_errors_seen(record, report->settings.items);
    double p = record->estimated.false_positive;
    if (hit->absent || hit->unsure || record->updated.absent || record->updated.unsure)
        return bench_fail("map: engine compact reports present keys as absent");
    if (fabs(seen.false_positive - p) * n > 5 * sqrt(n * p) + 2)
        return bench_fail("map: %.0f false positives where %.1f are expected",
                          seen.false_positive * n, p * n);
    return check_most("wrong values", seen.incorrect * n, p * n * (1 - same_value));
}

/* As the formulae predict. */
static bool check_kbf(const map_report *report, double n)
{
    const map_record *record = &report->record;
    const bry_map_errors *expected = &report->shape.errors;
    bry_map_errors seen = map_errors_seen(record, report->settings.items);
    /* Keys whose update was refused keep their old value. */
    uint64_t refused = record->said[MAP_UPDATE].absent + record->said[MAP_UPDATE].unsure;
    if (record->said[MAP_HIT].wrong || record->updated.wrong > refused ||
        record->kept.wrong > refused)
        return bench_fail("map: engine kbf returns values of other keys");
    return check_most("false negatives", seen.false_negative * n, expected->false_negative * n) &&
           check_most("false positives", seen.false_positive * n, expected->false_positive * n);
}

static bool check_map_report(const map_report *report, double same_value, bool batched)
{
    const map_record *record = &report->record;
    double n = (double)report->settings.items;
    if (batched && (!same_tally(&record->said[MAP_HIT], &record->said[MAP_HIT_BATCH]) ||
                    !same_tally(&record->said[MAP_MISS], &record->said[MAP_MISS_BATCH])))
        return bench_fail("map: batches and single look-ups give different answers");
    if (report->settings.map.unmasked)
        return true; /* the papers' version is only reported */
    return report->settings.map.engine == BRY_ENGINE_KBF ? check_kbf(report, n)
                                                         : check_compact(report, n, same_value);
}

/* ---- measuring ----------------------------------------------------------------------------- */

bool map_reports_measure(const map_data *const *data, map_report *reports, size_t count,
                         unsigned skips)
{
    enum { MOST = 8 };
    bench_candidate candidates[MOST] = {0};
    map_work works[MOST] = {0};
    const void *given[MOST] = {0};
    bench_result results[MOST] = {0};
    bool good = count <= MOST;
    for (size_t i = 0; i < count && good; i++) {
        const bench_settings *settings = &reports[i].settings;
        bry_map_options options;
        bry_status status = map_options_for(&settings->map, settings->items, settings->error,
                                            settings->grow, &options, &reports[i].shape);
        if (status == BRY_OK && !map_work_make(&works[i], data[i], &settings->map, &options,
                                               settings->batch, &reports[i].record))
            status = BRY_E_NOMEM;
        if (status != BRY_OK) {
            cli_fail("no such map can be made at this size and error");
            good = false;
        }
        candidates[i] = map_settings_papers(&settings->map) ? candidate_paper_map : candidate_map;
        candidates[i].skips |= skips;
        given[i] = &works[i];
    }
    const bench_plan plan = {
        .candidates = candidates,
        .works = given,
        .count = count,
        .phases = MAP_PHASES,
        .operations = good ? data[0]->count : 0,
        .rounds = reports[0].settings.rounds,
    };
    good = good && bench_measure(&plan, NULL, results);
    for (size_t i = 0; i < count && good; i++) {
        take_map_times(data[i], &results[i], reports[i].time);
        good = check_map_report(&reports[i], data[i]->mix.same,
                                !(candidates[i].skips & (1u << MAP_HIT_BATCH)));
    }
    for (size_t i = 0; i < count && i < MOST; i++)
        map_work_free(&works[i]);
    return good;
}

bool map_data_for(map_data *data, const bench_settings *settings)
{
    if (map_data_make(data, settings->items, (uint32_t)settings->map.values, settings->map.skew,
                      settings->map.top))
        return true;
    return bench_fail("%llu pairs do not fit in memory", (unsigned long long)settings->items);
}

/* ---- the report ---------------------------------------------------------------------------- */

static const char *const phase_names[MAP_PHASES] = {
    [MAP_INSERT] = "insert",
    [MAP_UPDATE] = "update",
    [MAP_DELETE] = "delete",
    [MAP_HIT] = "hit",
    [MAP_MISS] = "miss",
    [MAP_HIT_BATCH] = "hit_batch",
    [MAP_MISS_BATCH] = "miss_batch",
};

/* In the order of importance. */
static const unsigned shown[MAP_PHASES] = {MAP_INSERT, MAP_UPDATE,    MAP_DELETE,    MAP_HIT,
                                           MAP_MISS,   MAP_HIT_BATCH, MAP_MISS_BATCH};

static void map_settings_json(cli_json *json, const map_report *report)
{
    const bench_settings *settings = &report->settings;
    const map_settings *map = &settings->map;
    bool kbf = map->engine == BRY_ENGINE_KBF;
    cli_json_text(json, "engine", bry_engine_name(map->engine));
    cli_json_count(json, "items", settings->items);
    cli_json_count(json, "values", map->values);
    cli_json_number(json, "error", settings->error);
    cli_json_text(json, "isa", bry_isa());
    cli_json_text(json, "shape", !kbf ? NULL : map->layout == BRY_MAP_PAPER ? "paper" : "tuned");
    if (map->decode == MAP_DECODE_SETS)
        cli_json_text(json, "decode", "sets");
    else
        cli_json_number(json, "decode", kbf ? map->decode : NAN);
    cli_json_text(json, "encoder", !kbf ? NULL : map->greedy ? "greedy" : "algebraic");
    if (kbf)
        cli_json_bool(json, "masked", !map->unmasked);
    else
        cli_json_text(json, "masked", NULL);
    cli_json_text(json, "code", map_settings_papers(map) ? "papers" : "library");
    cli_json_bool(json, "raw", map->raw);
    cli_json_number(json, "skew", map->skew);
    cli_json_number(json, "top", map->top);
    cli_json_number(json, "size", kbf ? map->size : NAN);
    cli_json_bool(json, "grow", settings->grow);
    cli_json_count(json, "batch", settings->batch);
    cli_json_count(json, "rounds", settings->rounds);
}

static double share_of(uint64_t some, uint64_t all)
{
    return (double)some / (double)all;
}

static void map_facts_json(cli_json *json, const map_report *report)
{
    const map_record *record = &report->record;
    uint64_t items = report->settings.items;
    bool kbf = report->settings.map.engine == BRY_ENGINE_KBF;
    cli_json_number(json, "cells", kbf ? (double)record->cells : NAN);
    cli_json_number(json, "hashes", kbf ? report->shape.kbf.hashes : NAN);
    cli_json_count(json, "bytes", record->bytes);
    cli_json_number(json, "bytes_per_key", share_of(record->bytes_main, items));
    cli_json_number(json, "bytes_per_key_total", share_of(record->bytes, items));
    cli_json_number(json, "expected_false_negative", report->shape.errors.false_negative);
    cli_json_number(json, "expected_false_positive", report->shape.errors.false_positive);
    cli_json_number(json, "expected_incorrect", report->shape.errors.incorrect);
    bry_map_errors seen = map_errors_seen(record, items);
    cli_json_number(json, "false_negative", seen.false_negative);
    cli_json_number(json, "false_positive", seen.false_positive);
    cli_json_number(json, "incorrect", seen.incorrect);
    cli_json_number(json, "unsure_present", share_of(record->said[MAP_HIT].unsure, items));
    cli_json_number(json, "unsure_absent", share_of(record->said[MAP_MISS].unsure, items));
}

/* Shares of the changed keys, and of the keys that remain after deletions. */
static void changes_json(cli_json *json, const map_report *report)
{
    const map_record *record = &report->record;
    const map_tally *update = &record->said[MAP_UPDATE], *delete = &record->said[MAP_DELETE];
    uint64_t items = report->settings.items;
    uint64_t deleted = delete->right + delete->absent + delete->unsure, left = items - deleted;
    cli_json_number(json, "refused_update", share_of(update->absent + update->unsure, items));
    cli_json_number(json, "refused_delete", share_of(delete->absent + delete->unsure, deleted));
    cli_json_number(json, "false_negative_updated",
                    share_of(record->updated.absent + record->updated.unsure, items));
    cli_json_number(json, "incorrect_updated", share_of(record->updated.wrong, items));
    cli_json_number(json, "false_negative_deleted",
                    share_of(record->kept.absent + record->kept.unsure, left));
    cli_json_number(json, "incorrect_deleted", share_of(record->kept.wrong, left));
    cli_json_number(json, "false_positive_deleted", share_of(record->gone.wrong, deleted));
}

static void map_times_json(cli_json *json, const map_report *report, unsigned skips)
{
    for (unsigned i = 0; i < MAP_PHASES; i++) {
        if (!(skips >> shown[i] & 1))
            bench_time_json(json, phase_names[shown[i]], report->time[shown[i]]);
    }
}

void map_row_json(cli_json *json, const map_report *report)
{
    map_settings_json(json, report);
    map_facts_json(json, report);
    map_times_json(json, report, MAP_NO_CHANGE);
}

bool bench_map(const bench_settings *settings, cli_json *json)
{
    map_data data;
    map_report report = {.settings = *settings};
    if (!map_data_for(&data, settings))
        return false;
    const map_data *given = &data;
    bool good = map_reports_measure(&given, &report, 1, 0);
    map_data_free(&data);
    if (good) {
        map_settings_json(json, &report);
        map_facts_json(json, &report);
        changes_json(json, &report);
        map_times_json(json, &report, 0);
    }
    return good;
}
