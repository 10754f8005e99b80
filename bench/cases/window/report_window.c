/* The report of one window, in JSON and as text. doc/man/bloomery-bench.1 explains the fields. */
#include "bench/cases/window/window_cases.h"
#include "cli/core/output/text_table.h"

#include <math.h>

static const char *const phase_names[WINDOW_PHASES] = {
    [WINDOW_ADD] = "add",
    [WINDOW_HIT] = "hit",
    [WINDOW_MISS] = "miss",
    [WINDOW_HIT_BATCH] = "hit_batch",
    [WINDOW_MISS_BATCH] = "miss_batch",
};

static const char *engine_of(const window_report *report)
{
    static const char *const others[] = {
        [WINDOW_RBF] = "rbf", [WINDOW_RING] = "ring", [WINDOW_EXACT] = "exact"};
    const window_work *work = &report->work;
    return others[work->kind] ? others[work->kind] : bry_engine_name(work->settings.engine);
}

static const char *mode_of(const window_report *report)
{
    return window_mode_name(report->work.settings.engine, report->work.settings.mode);
}

void window_row_json(cli_json *json, const window_report *report)
{
    const window_settings *settings = &report->work.settings;
    const window_facts *facts = &report->facts;
    cli_json_text(json, "engine", engine_of(report));
    cli_json_text(json, "mode", mode_of(report));
    cli_json_count(json, "elements", settings->elements);
    cli_json_count(json, "generations", settings->generations);
    cli_json_number(json, "error", settings->error);
    cli_json_text(json, "isa", bry_isa());
    cli_json_count(json, "window_ms", report->work.window);
    cli_json_count(json, "batch", settings->batch);
    cli_json_count(json, "rounds", settings->rounds);
    cli_json_count(json, "bytes", facts->bytes);
    cli_json_number(json, "bits_per_element", facts->bits_per_element);
    cli_json_number(json, "false_positive", facts->false_positive);
    cli_json_number(json, "predicted", facts->predicted);
    cli_json_count(json, "absent_asked", facts->absent);
    cli_json_count(json, "promised_asked", facts->promised);
    cli_json_count(json, "forgotten_early", facts->forgotten_early);
    for (unsigned phase = 0; phase < WINDOW_PHASES; phase++) {
        char key[64];
        snprintf(key, sizeof key, "ns_%s", phase_names[phase]);
        cli_json_number(json, key, report->time[phase].median);
        snprintf(key, sizeof key, "ns_%s_min", phase_names[phase]);
        cli_json_number(json, key, report->time[phase].min);
    }
}

void bench_window_json(cli_json *json, const window_report *report)
{
    window_row_json(json, report);
}

bool bench_window_text(FILE *out, const window_report *report)
{
    const window_settings *settings = &report->work.settings;
    const window_facts *facts = &report->facts;
    const char *mode = mode_of(report);
    fprintf(out,
            "window: engine %s%s%s, %llu elements in a window of %u generations, error "
            "%g %%\n\n",
            engine_of(report), mode ? ", " : "", mode ? mode : "",
            (unsigned long long)settings->elements, settings->generations, settings->error * 100);
    fprintf(out, "bits per element  %.2f at the worst point of a generation\n",
            facts->bits_per_element);
    fprintf(out, "false positives   %.4g %%, predicted %.4g %%\n", facts->false_positive * 100,
            facts->predicted * 100);
    fprintf(out, "forgotten early   %llu of %llu\n\n", (unsigned long long)facts->forgotten_early,
            (unsigned long long)facts->promised);
    cli_table text = CLI_TABLE("lrr");
    cli_table_add(&text, "operation");
    cli_table_add(&text, "ns");
    cli_table_add(&text, "fastest");
    for (unsigned phase = 0; phase < WINDOW_PHASES; phase++) {
        cli_table_add(&text, "%s", phase_names[phase]);
        cli_table_add(&text, "%.1f", report->time[phase].median);
        cli_table_add(&text, "%.1f", report->time[phase].min);
    }
    bool printed = cli_table_print(&text, out);
    cli_table_free(&text);
    fprintf(out,
            "\nProcessor time per element, without hashing; batches of %zu, median of %u "
            "rounds.\n",
            settings->batch, settings->rounds);
    return printed;
}
