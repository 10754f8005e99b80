/* The report of one map, in JSON and as text. doc/man/bloomery-bench.1 explains the fields. */
#include "bench/cases/bench_cases.h"
#include "cli/core/output/text_table.h"

#include <math.h>

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
        char key[64];
        if (skips >> shown[i] & 1)
            continue;
        snprintf(key, sizeof key, "ns_%s", phase_names[shown[i]]);
        cli_json_number(json, key, report->time[shown[i]].median);
        snprintf(key, sizeof key, "ns_%s_min", phase_names[shown[i]]);
        cli_json_number(json, key, report->time[shown[i]].min);
    }
}

void bench_map_json(cli_json *json, const map_report *report)
{
    map_settings_json(json, report);
    map_facts_json(json, report);
    changes_json(json, report);
    map_times_json(json, report, 0);
}

void map_row_json(cli_json *json, const map_report *report)
{
    map_settings_json(json, report);
    map_facts_json(json, report);
    map_times_json(json, report, MAP_NO_CHANGE);
}

static void describe_map(FILE *out, const map_report *report)
{
    const bench_settings *settings = &report->settings;
    const map_settings *map = &settings->map;
    fprintf(out, "map: engine %s, %llu keys, %llu %s", bry_engine_name(map->engine),
            (unsigned long long)settings->items, (unsigned long long)map->values,
            map->raw ? "integers" : "values");
    if (map->top > 0)
        fprintf(out, ", one at %g %%", map->top * 100);
    if (map->skew > 0)
        fprintf(out, ", Zipf %g", map->skew);
    fprintf(out, ", error %g %%, batches of %zu\n", settings->error * 100, settings->batch);
    if (map->engine != BRY_ENGINE_KBF)
        return;
    fprintf(out, "%s shape, %g times its size: %llu cells, %u per key; ",
            map->layout == BRY_MAP_PAPER ? "paper" : "tuned", map->size,
            (unsigned long long)report->record.cells, report->shape.kbf.hashes);
    if (map->decode == MAP_DECODE_SETS)
        fputs("decoding of sets", out);
    else
        fprintf(out, "decoding level %u", map->decode);
    fprintf(out, ", %s encoder, %s%s\n", map->greedy ? "greedy" : "algebraic",
            map->unmasked ? "unmasked" : "masked",
            map_settings_papers(map) ? "; the papers' own code" : "");
}

bool bench_map_text(FILE *out, const map_report *report)
{
    uint64_t items = report->settings.items;
    bry_map_errors seen = map_errors_seen(&report->record, items);
    const bry_map_errors *expected = &report->shape.errors;
    describe_map(out, report);
    fprintf(out, "\n%.2f bytes per key, %.2f with all that belongs to it\n\n",
            share_of(report->record.bytes_main, items), share_of(report->record.bytes, items));
    cli_table errors = CLI_TABLE("lrr");
    cli_table_add(&errors, "error");
    cli_table_add(&errors, "expected");
    cli_table_add(&errors, "observed");
    const struct {
        const char *name;
        double expected, observed;
    } rows[] = {
        {"false negative", expected->false_negative, seen.false_negative},
        {"false positive", expected->false_positive, seen.false_positive},
        {"incorrect", expected->incorrect, seen.incorrect},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cli_table_add(&errors, "%s", rows[i].name);
        cli_table_add(&errors, "%.3g", rows[i].expected);
        cli_table_add(&errors, "%.3g", rows[i].observed);
    }
    bool printed = cli_table_print(&errors, out);
    cli_table_free(&errors);
    fputc('\n', out);
    cli_table times = CLI_TABLE("lrr");
    cli_table_add(&times, "operation");
    cli_table_add(&times, "ns");
    cli_table_add(&times, "fastest");
    for (unsigned i = 0; i < MAP_PHASES; i++) {
        const bench_time *time = &report->time[shown[i]];
        if (isnan(time->median))
            continue;
        cli_table_add(&times, "%s", phase_names[shown[i]]);
        cli_table_add(&times, "%.1f", time->median);
        cli_table_add(&times, "%.1f", time->min);
    }
    printed = cli_table_print(&times, out) && printed;
    cli_table_free(&times);
    fprintf(out, "\nTimes: ns of processor time per key, without hashing; median of %u rounds.\n",
            report->settings.rounds);
    return printed;
}
