#include "bench/cases/filter/filter_candidates.h"

#include "bloom/bloom_standard.h"
#include "common/allocator.h"
#include "common/sizing.h"

#include <bloomery/filter.h>
#include <math.h>
#include <stdlib.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

size_t bench_chunk(size_t batch)
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

static bry_filter_options own_options(const filter_work *work, bry_engine engine)
{
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.engine = engine;
    options.capacity = work->keys.count;
    options.error = work->error;
    options.seed = BENCH_SEED;
    options.fixed = true; /* planned for all keys */
    return options;
}

static void *own_make(const void *work, bry_engine engine)
{
    bry_filter_options options = own_options(work, engine);
    bry_filter *filter;
    return bry_filter_create(&options, &filter) == BRY_OK ? filter : NULL;
}

static void *blocked_make(const void *work)
{
    return own_make(work, BRY_ENGINE_BLOOM);
}

static void *compact_make(const void *work)
{
    return own_make(work, BRY_ENGINE_COMPACT);
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

static bool own_facts(const filter_work *work, bry_engine engine, filter_facts *facts)
{
    bry_filter_options options = own_options(work, engine);
    bry_filter_shape shape = {0};
    if (bry_filter_plan(&options, &shape) != BRY_OK)
        return false;
    *facts = (filter_facts){
        .bytes = shape.bytes,
        .bits_per_item = (double)shape.bits / (double)work->keys.count,
        .predicted_error = shape.error,
    };
    return true;
}

static bool blocked_facts(const filter_work *work, filter_facts *facts)
{
    return own_facts(work, BRY_ENGINE_BLOOM, facts);
}

/* The plan counts keys; two keys may share a fingerprint. */
static bool compact_facts(const filter_work *work, filter_facts *facts)
{
    bool good = own_facts(work, BRY_ENGINE_COMPACT, facts);
    if (good)
        facts->predicted_error = -expm1(-facts->predicted_error);
    return good;
}

const filter_candidate filter_blocked = {
    .candidate = {"blocked Bloom", blocked_make, own_drop, own_run, 0},
    .id = "blocked",
    .facts = blocked_facts,
};
const filter_candidate filter_blocked_batch = {
    .candidate = {"blocked Bloom, batch", blocked_make, own_drop, own_batch_run, 0},
    .id = "blocked_batch",
    .batched = true,
    .facts = blocked_facts,
};
const filter_candidate filter_compact = {
    .candidate = {"compact", compact_make, own_drop, own_run, 0},
    .id = "compact",
    .facts = compact_facts,
};
const filter_candidate filter_compact_batch = {
    .candidate = {"compact, batch", compact_make, own_drop, own_batch_run, 0},
    .id = "compact_batch",
    .batched = true,
    .facts = compact_facts,
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

const filter_candidate filter_standard = {
    .candidate = {"standard Bloom", standard_make, standard_drop, standard_run, 0},
    .id = "standard",
    .facts = standard_facts,
};
const filter_candidate filter_standard_batch = {
    .candidate = {"standard Bloom, batch", standard_make, standard_drop, standard_batch_run, 0},
    .id = "standard_batch",
    .batched = true,
    .facts = standard_facts,
};
