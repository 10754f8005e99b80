/* The report of the comparison with memcached, in two formats. doc/man/bloomery-bench.1 explains
 * the fields. */
#include "bench/cases/bench_cases.h"
#include "cli/core/output/text_table.h"

#include <math.h>

static const char *const phase_names[REMOTE_PHASES] = {
    [REMOTE_FILL] = "fill",
    [REMOTE_HIT] = "hit",
    [REMOTE_MISS] = "miss",
    [REMOTE_HIT_BATCH] = "hit_batch",
    [REMOTE_MISS_BATCH] = "miss_batch",
    [REMOTE_UPDATE] = "update",
    [REMOTE_DELETE] = "delete",
};

/* memcached's figure divided by that of row i. */
static double by_time(const remote_report *report, unsigned i, unsigned phase)
{
    return report->row[0].time[phase].median / report->row[i].time[phase].median;
}

static double by_bytes(const remote_report *report, unsigned i)
{
    return report->row[0].bytes_per_pair / report->row[i].bytes_per_pair;
}

void bench_remote_json(cli_json *json, const remote_report *report)
{
    cli_json_text(json, "version", report->version);
    cli_json_count(json, "pairs", report->settings.items);
    cli_json_count(json, "asked", report->asked);
    cli_json_count(json, "values", report->settings.map.values);
    cli_json_number(json, "error", report->settings.error);
    cli_json_count(json, "batch", REMOTE_BATCH);
    cli_json_count(json, "rounds", report->settings.rounds);
    cli_json_number(json, "key_bytes", report->facts.key_bytes);
    cli_json_number(json, "value_bytes", report->facts.value_bytes);
    cli_json_open(json, "stores", '[');
    for (unsigned i = 0; i < REMOTE_ROWS; i++) {
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "name", report->row[i].name);
        cli_json_number(json, "bytes_per_pair", report->row[i].bytes_per_pair);
        cli_json_number(json, "resident_per_pair", report->row[i].resident_per_pair);
        cli_json_number(json, "wrong", report->row[i].wrong);
        cli_json_number(json, "false_positive", report->row[i].false_positive);
        for (unsigned phase = 0; phase < REMOTE_PHASES; phase++) {
            char key[64];
            snprintf(key, sizeof key, "ns_%s", phase_names[phase]);
            cli_json_number(json, key, report->row[i].time[phase].median);
            snprintf(key, sizeof key, "ns_%s_min", phase_names[phase]);
            cli_json_number(json, key, report->row[i].time[phase].min);
        }
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
    for (unsigned i = 1; i < REMOTE_ROWS; i++) {
        char key[64];
        snprintf(key, sizeof key, "memcached_by_%s", report->row[i].name);
        cli_json_open(json, key, '{');
        cli_json_number(json, "bytes", by_bytes(report, i));
        for (unsigned phase = 0; phase < REMOTE_PHASES; phase++)
            cli_json_number(json, phase_names[phase], by_time(report, i, phase));
        cli_json_close(json, '}');
    }
}

static const unsigned columns[] = {REMOTE_FILL, REMOTE_UPDATE,    REMOTE_DELETE,    REMOTE_HIT,
                                   REMOTE_MISS, REMOTE_HIT_BATCH, REMOTE_MISS_BATCH};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

bool bench_remote_text(FILE *out, const remote_report *report)
{
    static const char *const head[] = {"store", "bytes/pair", "fill*", "update", "delete",
                                       "hit",   "miss",       "hit*",  "miss*"};
    const bench_settings *settings = &report->settings;
    if (!report->there) {
        fputs("memcached is not installed (Debian: memcached), so there is no comparison with "
              "it.\n",
              out);
        return true;
    }
    fprintf(out,
            "memcached %s over loopback: %llu pairs, %llu values, keys of %.1f and values of %.1f "
            "bytes;\nmaps in-process with an error of %g %%\n\n",
            report->version, (unsigned long long)settings->items,
            (unsigned long long)settings->map.values, report->facts.key_bytes,
            report->facts.value_bytes, settings->error * 100);
    cli_table table = CLI_TABLE("lrrrrrrrr");
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        cli_table_add(&table, "%s", head[i]);
    for (unsigned i = 0; i < REMOTE_ROWS; i++) {
        cli_table_add(&table, "%s", report->row[i].name);
        cli_table_add(&table, "%.2f", report->row[i].bytes_per_pair);
        for (unsigned c = 0; c < COLUMNS; c++)
            cli_table_add(&table, "%.0f", report->row[i].time[columns[c]].median);
    }
    for (unsigned i = 1; i < REMOTE_ROWS; i++) {
        cli_table_add(&table, "memcached by %s", report->row[i].name);
        cli_table_add(&table, "%.1f", by_bytes(report, i));
        for (unsigned c = 0; c < COLUMNS; c++)
            cli_table_add(&table, "%.1f", by_time(report, i, columns[c]));
    }
    bool printed = cli_table_print(&table, out);
    cli_table_free(&table);
    fprintf(out,
            "\nBytes as each store counts them; memcached's process grew by %.0f per pair. Times:\n"
            "wall-clock ns, including hashing or sending; median of %u rounds.\n"
            "*: %u keys at once.\n",
            report->row[0].resident_per_pair, settings->rounds, REMOTE_BATCH);
    return printed;
}
