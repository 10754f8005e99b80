/*
 * Filters as candidates: the library's engines through their public functions, the standard one,
 * and libbloom if it is built in. All get the same keys in memory and hash them within the measured
 * time; the "ready" phases use precomputed hashes.
 */
#include "bench/cases/bench_cases.h"
#include "bench/harness/bench_fail.h"
#include "bench/peers/peer_libbloom.h"
#include "bloom/bloom_standard.h"
#include "common/allocator.h"
#include "common/sizing.h"

#include <bloomery/filter.h>
#include <math.h>
#include <stdlib.h>

#define BENCH_SEED UINT64_C(0x626c6f6f6d657279)
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Keys hashed in advance for a run of "ready" look-ups: whole batches, and enough of them to make
 * the cost of reading the clock negligible. */
static size_t bench_chunk(size_t batch)
{
    const size_t enough = 4096;
    return batch < enough ? enough / batch * batch : batch;
}

static bry_hash hash_of_filter_key(const unsigned char *keys, uint64_t i)
{
    return bry_hash_key(BENCH_SEED, keys + i * BENCH_KEY_BYTES, BENCH_KEY_BYTES);
}

/* Hashes the next keys, from number `done` on; returns how many. */
ALWAYS_INLINE size_t hash_next(const filter_work *work, const unsigned char *keys, uint64_t done,
                               size_t most)
{
    uint64_t left = work->keys.count - done;
    size_t here = left < most ? (size_t)left : most;
    for (size_t i = 0; i < here; i++)
        work->hashes[i] = hash_of_filter_key(keys, done + i);
    return here;
}

/* The loops below are written once and compiled for each filter: their function arguments are
 * constants after inlining. */
typedef bool add_one(void *state, bry_hash hash);
typedef bool add_many(void *state, const bry_hash *hashes, size_t n);
typedef bool has_one(const void *state, bry_hash hash);
typedef void has_many(const void *state, const bry_hash *hashes, size_t n, uint8_t *answers);

ALWAYS_INLINE bool add_singly(const filter_work *work, void *state, add_one *add,
                              bench_watch *watch)
{
    bool good = true;
    bench_start(watch);
    for (uint64_t i = 0; i < work->keys.count; i++)
        good &= add(state, hash_of_filter_key(work->keys.added, i));
    bench_stop(watch);
    return good;
}

ALWAYS_INLINE bool add_batched(const filter_work *work, void *state, add_many *add,
                               bench_watch *watch)
{
    bool good = true;
    bench_start(watch);
    for (uint64_t done = 0; done < work->keys.count; done += work->batch) {
        size_t here = hash_next(work, work->keys.added, done, work->batch);
        good &= add(state, work->hashes, here);
    }
    bench_stop(watch);
    return good;
}

ALWAYS_INLINE uint64_t look_singly(const filter_work *work, const void *state,
                                   const unsigned char *keys, has_one *has, bench_watch *watch)
{
    uint64_t found = 0;
    bench_start(watch);
    for (uint64_t i = 0; i < work->keys.count; i++)
        found += has(state, hash_of_filter_key(keys, i));
    bench_stop(watch);
    return found;
}

ALWAYS_INLINE uint64_t look_singly_ready(const filter_work *work, const void *state,
                                         const unsigned char *keys, has_one *has,
                                         bench_watch *watch)
{
    uint64_t found = 0;
    size_t chunk = bench_chunk(work->batch);
    for (uint64_t done = 0; done < work->keys.count; done += chunk) {
        size_t here = hash_next(work, keys, done, chunk);
        bench_start(watch);
        for (size_t i = 0; i < here; i++)
            found += has(state, work->hashes[i]);
        bench_stop(watch);
    }
    return found;
}

static uint64_t count_present(const uint8_t *answers, size_t n)
{
    uint64_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += answers[i];
    return found;
}

ALWAYS_INLINE uint64_t look_batched(const filter_work *work, const void *state,
                                    const unsigned char *keys, has_many *has, bench_watch *watch)
{
    uint64_t found = 0;
    bench_start(watch);
    for (uint64_t done = 0; done < work->keys.count; done += work->batch) {
        size_t here = hash_next(work, keys, done, work->batch);
        has(state, work->hashes, here, work->answers);
        found += count_present(work->answers, here);
    }
    bench_stop(watch);
    return found;
}

ALWAYS_INLINE uint64_t look_batched_ready(const filter_work *work, const void *state,
                                          const unsigned char *keys, has_many *has,
                                          bench_watch *watch)
{
    uint64_t found = 0;
    size_t chunk = bench_chunk(work->batch);
    for (uint64_t done = 0; done < work->keys.count; done += chunk) {
        size_t here = hash_next(work, keys, done, chunk);
        bench_start(watch);
        for (size_t at = 0; at < here; at += work->batch) {
            size_t now = here - at < work->batch ? here - at : work->batch;
            has(state, work->hashes + at, now, work->answers);
            found += count_present(work->answers, now);
        }
        bench_stop(watch);
    }
    return found;
}

ALWAYS_INLINE uint64_t look(const filter_work *work, const void *state, unsigned phase,
                            has_one *one, has_many *many, bench_watch *watch)
{
    bool hits = phase == PHASE_HIT || phase == PHASE_HIT_READY;
    bool ready = phase == PHASE_HIT_READY || phase == PHASE_MISS_READY;
    const unsigned char *keys = hits ? work->keys.hits : work->keys.misses;
    if (many)
        return ready ? look_batched_ready(work, state, keys, many, watch)
                     : look_batched(work, state, keys, many, watch);
    return ready ? look_singly_ready(work, state, keys, one, watch)
                 : look_singly(work, state, keys, one, watch);
}

/* A candidate, compiled for its functions: the times include no calls through pointers. */
#define RUN_FILTER(kind, adds, add, one, many)                                                     \
    static bool kind##_run(const void *work, void *state, unsigned phase, bench_watch *watch,      \
                           uint64_t *found)                                                        \
    {                                                                                              \
        if (phase == PHASE_ADD)                                                                    \
            return adds(work, state, add, watch);                                                  \
        *found = look(work, state, phase, one, many, watch);                                       \
        return true;                                                                               \
    }

/* ---- the library's filter, as its users call it -------------------------------------------- */

static bry_filter_options own_options(const filter_work *work)
{
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.engine = work->engine;
    options.capacity = work->keys.count;
    options.error = work->error;
    options.seed = BENCH_SEED;
    options.fixed = true; /* planned for all keys */
    return options;
}

static void *own_make(const void *work)
{
    bry_filter_options options = own_options(work);
    bry_filter *filter;
    return bry_filter_create(&options, &filter) == BRY_OK ? filter : NULL;
}

static void own_drop(void *state)
{
    bry_filter_destroy(state);
}

static bool own_add(void *state, bry_hash hash)
{
    return bry_filter_add(state, hash, NULL) == BRY_OK;
}

static bool own_add_n(void *state, const bry_hash *hashes, size_t n)
{
    return bry_filter_add_n(state, hashes, n, NULL) == BRY_OK;
}

static bool own_has(const void *state, bry_hash hash)
{
    return bry_filter_has(state, hash) == BRY_PRESENT;
}

static void own_has_n(const void *state, const bry_hash *hashes, size_t n, uint8_t *answers)
{
    bry_filter_has_n(state, hashes, n, answers);
}

RUN_FILTER(own, add_singly, own_add, own_has, NULL)
RUN_FILTER(own_batch, add_batched, own_add_n, NULL, own_has_n)

static bool own_facts(const filter_work *work, filter_facts *facts)
{
    bry_filter_options options = own_options(work);
    bry_filter_shape shape = {0};
    if (bry_filter_plan(&options, &shape) != BRY_OK)
        return false;
    /* The plan counts keys; of a compact filter, two keys may share a fingerprint. */
    bool compact = work->engine == BRY_ENGINE_COMPACT;
    *facts = (filter_facts){
        .bytes = shape.bytes,
        .bits_per_item = (double)shape.bits / (double)work->keys.count,
        .predicted_error = compact ? -expm1(-shape.error) : shape.error,
    };
    return true;
}

static const filter_candidate filter_blocked[] = {
    {.candidate = {"blocked Bloom", own_make, own_drop, own_run, 0},
     .id = "blocked",
     .engine = BRY_ENGINE_BLOOM,
     .facts = own_facts},
    {.candidate = {"blocked Bloom, batch", own_make, own_drop, own_batch_run, 0},
     .id = "blocked_batch",
     .batched = true,
     .engine = BRY_ENGINE_BLOOM,
     .facts = own_facts},
};
static const filter_candidate filter_compact[] = {
    {.candidate = {"compact", own_make, own_drop, own_run, 0},
     .id = "compact",
     .engine = BRY_ENGINE_COMPACT,
     .facts = own_facts},
    {.candidate = {"compact, batch", own_make, own_drop, own_batch_run, 0},
     .id = "compact_batch",
     .batched = true,
     .engine = BRY_ENGINE_COMPACT,
     .facts = own_facts},
};

/* ---- the standard filter ------------------------------------------------------------------- */

typedef struct standard {
    bry_allocator allocator;
    bry__bloom bloom;
} standard;

static void *standard_make(const void *opaque)
{
    const filter_work *work = opaque;
    standard *made = malloc(sizeof *made);
    if (!made)
        return NULL;
    made->allocator = bry__allocator_or_default(NULL);
    double bits = bry__bloom_bits((double)work->keys.count, work->error);
    if (bry__bloom_init(&made->bloom, (uint64_t)bits, bry__bloom_hashes_for_error(work->error),
                        &made->allocator) != BRY_OK) {
        free(made);
        return NULL;
    }
    return made;
}

static void standard_drop(void *state)
{
    standard *filter = state;
    bry__bloom_free(&filter->bloom, &filter->allocator);
    free(filter);
}

static bool standard_add(void *state, bry_hash hash)
{
    standard *filter = state;
    return bry__bloom_add(&filter->bloom, hash, &filter->allocator) == BRY_OK;
}

static bool standard_has(const void *state, bry_hash hash)
{
    return bry__bloom_has(&((const standard *)state)->bloom, hash);
}

static void standard_has_n(const void *state, const bry_hash *hashes, size_t n, uint8_t *answers)
{
    bry__bloom_has_n(&((const standard *)state)->bloom, hashes, n, answers);
}

RUN_FILTER(standard, add_singly, standard_add, standard_has, NULL)
/* It has no batch form of add. */
RUN_FILTER(standard_batch, add_singly, standard_add, NULL, standard_has_n)

static bool standard_facts(const filter_work *work, filter_facts *facts)
{
    double n = (double)work->keys.count, bits = bry__bloom_bits(n, work->error);
    *facts = (filter_facts){
        .bytes = (uint64_t)bits / 8 + 1,
        .bits_per_item = bits / n,
        .predicted_error = bry__bloom_error(bits, bry__bloom_hashes_for_error(work->error), n),
    };
    return true;
}

static const filter_candidate filter_standard[] = {
    {.candidate = {"standard Bloom", standard_make, standard_drop, standard_run, 0},
     .id = "standard",
     .facts = standard_facts},
    {.candidate = {"standard Bloom, batch", standard_make, standard_drop, standard_batch_run, 0},
     .id = "standard_batch",
     .batched = true,
     .facts = standard_facts},
};

/* ---- the cases ----------------------------------------------------------------------------- */

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
    return (work->hashes && work->answers && bench_keys_make(&work->keys, settings->items)) ||
           bench_fail("%llu keys do not fit in memory", (unsigned long long)settings->items);
}

static void free_filter_work(filter_work *work)
{
    bench_keys_free(&work->keys);
    free(work->hashes);
    free(work->answers);
}

static filter_work filter_work_of(const filter_work *work, const filter_candidate *who)
{
    filter_work its = *work;
    its.engine = who->engine;
    return its;
}

/* Selects the candidates that are possible at this size. False if one of the library's is not. */
static bool choose_filters(const filter_work *work, filter_report *report)
{
    const filter_candidate *own =
        report->settings.filter_engine == BRY_ENGINE_COMPACT ? filter_compact : filter_blocked;
    const filter_candidate *all[MOST_FILTERS] = {&own[0],
                                                 &own[1],
                                                 &filter_compact[0],
                                                 &filter_compact[1],
                                                 &filter_standard[0],
                                                 &filter_standard[1],
                                                 filter_libbloom()};
    for (size_t i = 0; i < (report->compared ? MOST_FILTERS : 2); i++) {
        filter_facts facts;
        if (!all[i])
            continue;
        filter_work its = filter_work_of(work, all[i]);
        if (all[i]->facts(&its, &facts)) {
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
    return away <= 5 * sqrt(expected * (1 - p)) + 1 ||
           bench_fail("%s: %llu false positives where %.1f are expected", who->candidate.name,
                      (unsigned long long)found[PHASE_MISS], expected);
}

static bool measure_filters(const filter_work *work, filter_report *report)
{
    bench_candidate candidates[MOST_FILTERS];
    bench_result results[MOST_FILTERS] = {0};
    filter_work works[MOST_FILTERS];
    const void *given[MOST_FILTERS];
    for (size_t i = 0; i < report->count; i++) {
        candidates[i] = report->filters[i].who->candidate;
        works[i] = filter_work_of(work, report->filters[i].who);
        given[i] = &works[i];
    }
    const bench_plan plan = {
        .candidates = candidates,
        .works = given,
        .count = report->count,
        .phases = FILTER_PHASES,
        .operations = report->settings.items,
        .rounds = report->settings.rounds,
    };
    if (!bench_measure(&plan, NULL, results))
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
