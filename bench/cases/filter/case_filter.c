#include "bench/cases/bench_cases.h"
#include "bench/cases/filter/filter_candidates.h"

#include "bench/harness/bench_fail.h"
#include "bench/peers/peer_libbloom.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_FILTERS = 7 };

typedef struct filter_report {
    bench_settings settings;
    bool compared; /* all candidates, or only the library's filter */
    size_t count;
    struct {
        const filter_candidate *who;
        filter_facts facts;
        bench_result result;
        double false_positive; /* measured */
    } filters[MOST_FILTERS];
} filter_report;

static bool prepare_filter_work(const bench_settings *settings, filter_work *work)
{
    size_t chunk = bench_chunk(settings->batch);
    *work = (filter_work){
        .error = settings->error,
        .batch = settings->batch,
        .hashes = malloc(chunk * sizeof(bry_hash)),
        .answers = malloc(settings->batch),
    };
    if (work->hashes && work->answers && bench_keys_make(&work->keys, settings->items))
        return true;
    return bench_fail("%llu keys do not fit in memory", (unsigned long long)settings->items);
}

static void free_filter_work(filter_work *work)
{
    bench_keys_free(&work->keys);
    free(work->hashes);
    free(work->answers);
}

/* Selects the candidates that are possible at this size. False if one of the library's is not. */
static bool choose_filters(const filter_work *work, filter_report *report)
{
    bool compact = report->settings.filter_engine == BRY_ENGINE_COMPACT;
    const filter_candidate *all[MOST_FILTERS] = {
        compact ? &filter_compact : &filter_blocked,
        compact ? &filter_compact_batch : &filter_blocked_batch,
        report->compared ? &filter_compact : NULL,
        report->compared ? &filter_compact_batch : NULL,
        report->compared ? &filter_standard : NULL,
        report->compared ? &filter_standard_batch : NULL,
        report->compared ? filter_libbloom() : NULL,
    };
    for (size_t i = 0; i < MOST_FILTERS; i++) {
        filter_facts facts;
        if (!all[i])
            continue;
        if (all[i]->facts(work, &facts)) {
            report->filters[report->count].who = all[i];
            report->filters[report->count++].facts = facts;
        } else if (!all[i]->peer) {
            return bench_fail("%s cannot be made at this size and error", all[i]->candidate.name);
        }
    }
    return true;
}

/* Checks that no added key is reported absent, that the library's error is as predicted, and that
 * precomputed hashes give the same answers. */
static bool check_filter(const filter_report *report, size_t i)
{
    const filter_candidate *who = report->filters[i].who;
    const uint64_t *found = report->filters[i].result.found;
    uint64_t items = report->settings.items;
    if (found[PHASE_HIT] != items)
        return bench_fail("%s: %llu keys that were added are reported absent", who->candidate.name,
                          (unsigned long long)(items - found[PHASE_HIT]));
    if (!(who->candidate.skips & BENCH_NO_READY) &&
        (found[PHASE_HIT_READY] != items || found[PHASE_MISS_READY] != found[PHASE_MISS]))
        return bench_fail("%s: precomputed hashes give different answers", who->candidate.name);
    if (who->peer)
        return true;
    /* One more than the band: even if less than one is expected, one may occur. */
    double p = report->filters[i].facts.predicted_error, expected = (double)items * p;
    double away = fabs((double)found[PHASE_MISS] - expected);
    if (away <= 5 * sqrt(expected * (1 - p)) + 1)
        return true;
    return bench_fail("%s: %llu false positives where %.1f are expected", who->candidate.name,
                      (unsigned long long)found[PHASE_MISS], expected);
}

static bool measure_filters(const filter_work *work, filter_report *report)
{
    bench_candidate candidates[MOST_FILTERS];
    bench_result results[MOST_FILTERS] = {0};
    for (size_t i = 0; i < report->count; i++)
        candidates[i] = report->filters[i].who->candidate;
    const bench_plan plan = {
        .candidates = candidates,
        .count = report->count,
        .phases = FILTER_PHASES,
        .operations = report->settings.items,
        .rounds = report->settings.rounds,
    };
    if (!bench_measure(&plan, work, results))
        return false;
    for (size_t i = 0; i < report->count; i++) {
        report->filters[i].result = results[i];
        report->filters[i].false_positive =
            (double)results[i].found[PHASE_MISS] / (double)report->settings.items;
        if (!check_filter(report, i))
            return false;
    }
    for (size_t i = 1; i < report->count; i++)
        if (report->filters[i].who->batched &&
            results[i].found[PHASE_MISS] != results[i - 1].found[PHASE_MISS])
            return bench_fail("batches and single look-ups give different answers");
    return true;
}

static bool measure_filter_case(const bench_settings *settings, bool compare, filter_report *report)
{
    *report = (filter_report){.settings = *settings, .compared = compare};
    filter_work work;
    bool good = prepare_filter_work(settings, &work) && choose_filters(&work, report) &&
                measure_filters(&work, report);
    free_filter_work(&work);
    return good;
}

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

static void filter_times_json(cli_json *json, const bench_result *result, const char *suffix)
{
    for (unsigned phase = 0; phase < FILTER_PHASES; phase++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", phase_names[phase], suffix);
        bench_time_json(json, name, result->time[phase]);
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

bool bench_filter(const bench_settings *settings, cli_json *json)
{
    filter_report filter, *report = &filter;
    if (!measure_filter_case(settings, false, report))
        return false;
    bool compact = report->settings.filter_engine == BRY_ENGINE_COMPACT;
    cli_json_text(json, "engine", bry_engine_name(compact ? BRY_ENGINE_COMPACT : BRY_ENGINE_BLOOM));
    filter_settings_json(json, report);
    filter_facts_json(json, report, 0);
    filter_times_json(json, &report->filters[0].result, "");
    filter_times_json(json, &report->filters[1].result, "_batch");
    return true;
}

bool bench_filters(const bench_settings *settings, cli_json *json)
{
    filter_report filters, *report = &filters;
    if (!measure_filter_case(settings, true, report))
        return false;
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
    return true;
}
