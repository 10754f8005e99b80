/* The report of filters, in two formats. */
#include "bench/cases/bench_cases.h"
#include "bench/peers/peer_libbloom.h"
#include "cli/core/output/text_table.h"

#include <math.h>

static const char *const phase_names[FILTER_PHASES] = {
    [PHASE_ADD] = "add",
    [PHASE_HIT] = "hit",
    [PHASE_MISS] = "miss",
    [PHASE_HIT_READY] = "hit_ready",
    [PHASE_MISS_READY] = "miss_ready",
};

/* How many times as fast as libbloom in the same run; NAN without libbloom. */
static double against_libbloom(const filter_report *report, size_t i, unsigned phase)
{
    const filter_candidate *libbloom = filter_libbloom();
    for (size_t j = 0; libbloom && j < report->count; j++)
        if (report->filters[j].who == libbloom)
            return report->filters[j].result.time[phase].median /
                   report->filters[i].result.time[phase].median;
    return NAN;
}

static void filter_settings_json(cli_json *json, const filter_report *report)
{
    cli_json_count(json, "items", report->settings.items);
    cli_json_number(json, "error", report->settings.error);
    cli_json_count(json, "key_bytes", BENCH_KEY_BYTES);
    cli_json_count(json, "batch", report->settings.batch);
    cli_json_count(json, "rounds", report->settings.rounds);
}

/* ns_add, ns_add_min, …; with `suffix`, ns_add_batch, ns_add_batch_min, … */
static void filter_times_json(cli_json *json, const bench_result *result, const char *suffix)
{
    for (unsigned phase = 0; phase < FILTER_PHASES; phase++) {
        char key[64];
        snprintf(key, sizeof key, "ns_%s%s", phase_names[phase], suffix);
        cli_json_number(json, key, result->time[phase].median);
        snprintf(key, sizeof key, "ns_%s%s_min", phase_names[phase], suffix);
        cli_json_number(json, key, result->time[phase].min);
    }
}

static void filter_facts_json(cli_json *json, const filter_report *report, size_t i)
{
    const filter_facts *facts = &report->filters[i].facts;
    cli_json_count(json, "bytes", facts->bytes);
    cli_json_number(json, "bits_per_item", facts->bits_per_item);
    cli_json_number(json, "predicted_error", facts->predicted_error);
    cli_json_number(json, "false_positive", report->filters[i].false_positive);
}

void bench_filter_json(cli_json *json, const filter_report *report)
{
    bool compact = report->settings.filter_engine == BRY_ENGINE_COMPACT;
    cli_json_text(json, "engine", bry_engine_name(compact ? BRY_ENGINE_COMPACT : BRY_ENGINE_BLOOM));
    filter_settings_json(json, report);
    filter_facts_json(json, report, 0);
    filter_times_json(json, &report->filters[0].result, "");
    filter_times_json(json, &report->filters[1].result, "_batch");
}

void bench_filters_json(cli_json *json, const filter_report *report)
{
    filter_settings_json(json, report);
    cli_json_text(json, "libbloom", filter_libbloom_version());
    cli_json_open(json, "filters", '[');
    for (size_t i = 0; i < report->count; i++) {
        const filter_candidate *who = report->filters[i].who;
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "name", who->id);
        cli_json_bool(json, "batched", who->batched);
        filter_facts_json(json, report, i);
        filter_times_json(json, &report->filters[i].result, "");
        cli_json_number(json, "add_vs_libbloom", against_libbloom(report, i, PHASE_ADD));
        cli_json_number(json, "hit_vs_libbloom", against_libbloom(report, i, PHASE_HIT));
        cli_json_number(json, "miss_vs_libbloom", against_libbloom(report, i, PHASE_MISS));
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void add_percent(cli_table *table, double share)
{
    if (isnan(share))
        cli_table_add(table, "-");
    else
        cli_table_add(table, "%.4g %%", share * 100);
}

static void add_times(cli_table *table, double times)
{
    if (isnan(times))
        cli_table_add(table, "-");
    else
        cli_table_add(table, "%.2f", times);
}

bool bench_filters_text(FILE *out, const filter_report *report)
{
    static const char *const head[] = {"filter", "bits/key", "expected", "observed", "add",
                                       "hit",    "miss",     "hit*",     "miss*"};
    bool peer = report->compared && filter_libbloom();
    cli_table table = CLI_TABLE(peer ? "lrrrrrrrrrr" : "lrrrrrrrr");
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        cli_table_add(&table, "%s", head[i]);
    if (peer) {
        cli_table_add(&table, "hit x");
        cli_table_add(&table, "miss x");
    }
    for (size_t i = 0; i < report->count; i++) {
        const filter_facts *facts = &report->filters[i].facts;
        cli_table_add(&table, "%s", report->filters[i].who->candidate.name);
        cli_table_add(&table, "%.2f", facts->bits_per_item);
        add_percent(&table, facts->predicted_error);
        add_percent(&table, report->filters[i].false_positive);
        for (unsigned phase = 0; phase < FILTER_PHASES; phase++) {
            bench_time time = report->filters[i].result.time[phase];
            if (isnan(time.median))
                cli_table_add(&table, "-");
            else
                cli_table_add(&table, "%.1f (%.1f)", time.median, time.min);
        }
        if (peer) {
            add_times(&table, against_libbloom(report, i, PHASE_HIT));
            add_times(&table, against_libbloom(report, i, PHASE_MISS));
        }
    }
    fprintf(out, "filter: %llu keys of %u bytes, error %g %%, batches of %zu\n\n",
            (unsigned long long)report->settings.items, BENCH_KEY_BYTES,
            report->settings.error * 100, report->settings.batch);
    bool printed = cli_table_print(&table, out);
    cli_table_free(&table);
    fprintf(out,
            "\nexpected, observed: the error. Times: ns of processor time per key, hashing it\n"
            "included, *: not included; median of %u rounds (fastest).\n",
            report->settings.rounds);
    if (peer)
        fprintf(out, "x: how many times as fast as libbloom %s in this run.\n",
                filter_libbloom_version());
    else if (report->compared)
        fprintf(out, "libbloom is not built in (BLOOMERY_BENCH), so there is no comparison.\n");
    return printed;
}
