#include "bench/cases/bench_cases.h"

#include "bench/peers/peer_libbloom.h"
#include "cli/core/output/output.h"

#include <math.h>
#include <stdlib.h>

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
    cli_fail("%llu keys do not fit in memory", (unsigned long long)settings->items);
    return false;
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
            cli_fail("%s cannot be made at this size and error", all[i]->candidate.name);
            return false;
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
    if (found[PHASE_HIT] != items) {
        cli_fail("%s: %llu keys that were added are reported absent", who->candidate.name,
                 (unsigned long long)(items - found[PHASE_HIT]));
        return false;
    }
    if (!(who->candidate.skips & BENCH_NO_READY) &&
        (found[PHASE_HIT_READY] != items || found[PHASE_MISS_READY] != found[PHASE_MISS])) {
        cli_fail("%s: precomputed hashes give different answers", who->candidate.name);
        return false;
    }
    if (who->peer)
        return true;
    /* One more than the band: even if less than one is expected, one may occur. */
    double p = report->filters[i].facts.predicted_error, expected = (double)items * p;
    double away = fabs((double)found[PHASE_MISS] - expected);
    if (away <= 5 * sqrt(expected * (1 - p)) + 1)
        return true;
    cli_fail("%s: %llu false positives where %.1f are expected", who->candidate.name,
             (unsigned long long)found[PHASE_MISS], expected);
    return false;
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
            results[i].found[PHASE_MISS] != results[i - 1].found[PHASE_MISS]) {
            cli_fail("batches and single look-ups give different answers");
            return false;
        }
    return true;
}

bool bench_filters(const bench_settings *settings, bool compare, filter_report *report)
{
    *report = (filter_report){.settings = *settings, .compared = compare};
    filter_work work;
    bool good = prepare_filter_work(settings, &work) && choose_filters(&work, report) &&
                measure_filters(&work, report);
    free_filter_work(&work);
    return good;
}
