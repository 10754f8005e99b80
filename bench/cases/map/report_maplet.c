/* The report of the maplet, in two formats. doc/man/bloomery-bench.1 explains the fields. */
#include "bench/cases/bench_cases.h"
#include "cli/core/output/text_table.h"

#include <math.h>

static const char *const phase_names[MAPLET_PHASES] = {
    [MAPLET_INSERT] = "insert",
    [MAPLET_HIT] = "hit",
    [MAPLET_MISS] = "miss",
    [MAPLET_HIT_BATCH] = "hit_batch",
    [MAPLET_MISS_BATCH] = "miss_batch",
    [MAPLET_DELETE] = "delete",
    [MAPLET_INSERT_FULL] = "insert_full",
    [MAPLET_UPSERT] = "upsert",
};

/* In the order of importance. */
static const unsigned shown[MAPLET_PHASES] = {
    MAPLET_INSERT, MAPLET_INSERT_FULL, MAPLET_UPSERT,    MAPLET_DELETE,
    MAPLET_HIT,    MAPLET_MISS,        MAPLET_HIT_BATCH, MAPLET_MISS_BATCH,
};

static void maplet_times_json(cli_json *json, const bench_time *times)
{
    for (unsigned i = 0; i < MAPLET_PHASES; i++) {
        char key[64];
        snprintf(key, sizeof key, "ns_%s", phase_names[shown[i]]);
        cli_json_number(json, key, times[shown[i]].median);
        snprintf(key, sizeof key, "ns_%s_min", phase_names[shown[i]]);
        cli_json_number(json, key, times[shown[i]].min);
    }
}

static double exact_per_entry(const maplet_report *report)
{
    return (double)report->exact_bytes / (double)report->settings.items;
}

/* The exact table's figure divided by the maplet's: above 1, the maplet is the better one. */
static void maplet_ratios_json(cli_json *json, const maplet_report *report)
{
    cli_json_open(json, "ratios", '{');
    cli_json_number(json, "bytes", (double)report->exact_bytes / (double)report->bytes);
    for (unsigned i = 0; i < MAPLET_PHASES; i++)
        cli_json_number(json, phase_names[shown[i]],
                        report->exact_time[shown[i]].median / report->time[shown[i]].median);
    cli_json_close(json, '}');
}

void bench_maplet_json(cli_json *json, const maplet_report *report)
{
    const bench_settings *settings = &report->settings;
    cli_json_count(json, "items", settings->items);
    cli_json_count(json, "value_bits", settings->value_bits);
    cli_json_number(json, "error", settings->error);
    cli_json_text(json, "isa", bry_isa());
    cli_json_bool(json, "grow", settings->grow);
    cli_json_count(json, "batch", settings->batch);
    cli_json_count(json, "rounds", settings->rounds);
    cli_json_count(json, "bytes", report->bytes);
    cli_json_number(json, "bits_per_entry", report->bits_per_entry);
    cli_json_number(json, "load", report->load);
    cli_json_number(json, "predicted_error", report->predicted_error);
    cli_json_number(json, "false_positive", report->false_positive);
    cli_json_number(json, "collided", report->collided);
    cli_json_count(json, "max_step", report->max_step);
    if (settings->grow) {
        cli_json_number(json, "bits_per_entry_mean", report->bits_per_entry_mean);
        cli_json_number(json, "bits_per_entry_max", report->bits_per_entry_max);
        cli_json_number(json, "relative_max", report->relative_max);
    }
    maplet_times_json(json, report->time);
    if (!settings->compare)
        return;
    cli_json_open(json, "exact", '{');
    cli_json_number(json, "bytes_per_entry", exact_per_entry(report));
    maplet_times_json(json, report->exact_time);
    cli_json_close(json, '}');
    maplet_ratios_json(json, report);
}

static void text_row(cli_table *table, const char *name, double bits, const bench_time *times)
{
    cli_table_add(table, "%s", name);
    cli_table_add(table, "%.2f", bits);
    for (unsigned i = 0; i < MAPLET_PHASES; i++)
        cli_table_add(table, "%.1f (%.1f)", times[shown[i]].median, times[shown[i]].min);
}

bool bench_maplet_text(FILE *out, const maplet_report *report)
{
    static const char *const head[] = {"table",  "bits/entry", "insert", "insert*", "upsert",
                                       "delete", "hit",        "miss",   "hit**",   "miss**"};
    const bench_settings *settings = &report->settings;
    cli_table table = CLI_TABLE("lrrrrrrrrr");
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        cli_table_add(&table, "%s", head[i]);
    text_row(&table, "maplet", report->bits_per_entry, report->time);
    if (settings->compare)
        text_row(&table, "exact hash table", 8 * exact_per_entry(report), report->exact_time);
    fprintf(out,
            "maplet: %llu entries with %u-bit values, error %g %%, %s, batches of %zu\n"
            "\n",
            (unsigned long long)settings->items, settings->value_bits, settings->error * 100,
            settings->grow ? "growing" : "fixed capacity", settings->batch);
    bool printed = cli_table_print(&table, out);
    cli_table_free(&table);
    fprintf(out,
            "\nerror: at most %.4g %%, observed %.4g %%; %.4g %% of the entries share a "
            "fingerprint.\n",
            report->predicted_error * 100, report->false_positive * 100, report->collided * 100);
    fprintf(out, "%.1f %% of the bits hold entries; an insertion moves at most %u entries.\n",
            report->load * 100, report->max_step);
    if (settings->grow)
        fprintf(out, "from half to full: %.2f bits per entry on average, %.2f at most.\n",
                report->bits_per_entry_mean, report->bits_per_entry_max);
    fprintf(out,
            "Times: ns of processor time per entry, without hashing; median of %u rounds "
            "(fastest).\n*: into a table already at its size. **: in batches.\n",
            settings->rounds);
    return printed;
}
