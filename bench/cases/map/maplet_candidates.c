#include "bench/cases/map/maplet_candidates.h"

#include "bench/peers/exact_table.h"
#include "common/allocator.h"
#include "hash/derive.h"

#include <stdlib.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Fingerprints come from the upper half of a hash, so values from the lower half are independent of
 * them. */
static uint32_t mask_of(const maplet_work *work)
{
    return (uint32_t)(((uint64_t)1 << work->options.value_bits) - 1);
}

uint32_t maplet_first_value(const maplet_work *work, bry_hash hash)
{
    return (uint32_t)hash.lo & mask_of(work);
}

/* The one that upserts write. */
static uint32_t maplet_second_value(const maplet_work *work, bry_hash hash)
{
    return (uint32_t)(hash.lo >> 32) & mask_of(work);
}

/* The index of the first fingerprint that is not less. */
static uint64_t lower_bound(const maplet_work *work, uint64_t fingerprint)
{
    uint64_t low = 0, high = work->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (work->fingerprints[middle] < fingerprint)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t maplet_sharers(const maplet_work *work, uint64_t fingerprint)
{
    uint64_t first = lower_bound(work, fingerprint), i = first;
    while (i < work->count && work->fingerprints[i] == fingerprint)
        i++;
    return i - first;
}

/* ---- the work, written once and compiled for each table ------------------------------------- */

typedef struct table_calls {
    bool (*insert)(void *state, bry_hash hash, uint32_t value);
    bool (*upsert)(void *state, bry_hash hash, uint32_t value, bool *was);
    uint64_t (*remove)(void *state, bry_hash hash);
    bool (*get)(const void *state, bry_hash hash, uint32_t *value);
    void (*get_n)(const void *state, const bry_hash *hashes, size_t n, uint32_t *values,
                  uint8_t *answers);
} table_calls;

/* The expected results of look-ups. */
enum expected { NOTHING, FIRST_VALUE, SECOND_VALUE };

ALWAYS_INLINE void judge(const maplet_work *work, enum expected expected, uint64_t i, bry_hash hash,
                         bool found, uint32_t value)
{
    bool good = expected == NOTHING ? !found
                : !found            ? false
                         : value == (expected == FIRST_VALUE ? maplet_first_value(work, hash)
                                                             : maplet_second_value(work, hash));
    if (__builtin_expect(good, true))
        return;
    maplet_notes *notes = work->notes;
    if (notes->count < notes->room)
        notes->place[notes->count] = i;
    notes->count++;
}

ALWAYS_INLINE uint64_t look_singly(const maplet_work *work, const void *state, table_calls calls,
                                   const bry_hash *keys, uint64_t count, enum expected expected,
                                   bench_watch *watch)
{
    uint64_t found = 0;
    work->notes->count = 0;
    bench_start(watch);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t value = 0;
        bool there = calls.get(state, keys[i], &value);
        found += there;
        judge(work, expected, i, keys[i], there, value);
    }
    bench_stop(watch);
    return found;
}

ALWAYS_INLINE uint64_t look_batched(const maplet_work *work, const void *state, table_calls calls,
                                    const bry_hash *keys, enum expected expected,
                                    bench_watch *watch)
{
    uint64_t found = 0;
    work->notes->count = 0;
    bench_start(watch);
    for (uint64_t done = 0; done < work->count; done += work->batch) {
        uint64_t left = work->count - done;
        size_t here = left < work->batch ? (size_t)left : work->batch;
        calls.get_n(state, keys + done, here, work->values, work->answers);
        for (size_t i = 0; i < here; i++) {
            found += work->answers[i];
            judge(work, expected, done + i, keys[done + i], work->answers[i], work->values[i]);
        }
    }
    bench_stop(watch);
    return found;
}

ALWAYS_INLINE bool put_in(const maplet_work *work, void *state, table_calls calls,
                          const bry_hash *keys, uint64_t count, bench_watch *watch)
{
    bool good = true;
    bench_start(watch);
    for (uint64_t i = 0; i < count; i++)
        good &= calls.insert(state, keys[i], maplet_first_value(work, keys[i]));
    bench_stop(watch);
    return good;
}

/* Afterwards none of them may be found: entries with the same fingerprint were deleted with
 * them. */
ALWAYS_INLINE bool take_out(const maplet_work *work, void *state, table_calls calls,
                            bench_watch *watch, uint64_t *removed)
{
    bench_start(watch);
    for (uint64_t i = 0; i < work->churn; i++)
        *removed += calls.remove(state, work->hits[i]);
    bench_stop(watch);
    bench_watch unused = {0};
    return look_singly(work, state, calls, work->hits, work->churn, NOTHING, &unused) == 0;
}

/* Afterwards, outside the measured time, all must have their new values. */
ALWAYS_INLINE bool put_into_new(const maplet_work *work, void *state, table_calls calls,
                                bench_watch *watch, uint64_t *replaced)
{
    bool good = true;
    bench_start(watch);
    for (uint64_t i = 0; i < work->count; i++) {
        bry_hash hash = work->hits[i];
        bool was = false;
        good &= calls.upsert(state, hash, maplet_second_value(work, hash), &was);
        *replaced += was;
    }
    bench_stop(watch);
    bench_watch unused = {0};
    return good && look_singly(work, state, calls, work->hits, work->count, SECOND_VALUE,
                               &unused) == work->count;
}

ALWAYS_INLINE bool run(const maplet_work *work, void *state, table_calls calls, unsigned phase,
                       bench_watch *watch, uint64_t *found)
{
    work->notes->count = 0;
    switch (phase) {
    case MAPLET_INSERT:
        return put_in(work, state, calls, work->added, work->count, watch);
    case MAPLET_HIT:
        *found = look_singly(work, state, calls, work->hits, work->count, FIRST_VALUE, watch);
        return true;
    case MAPLET_MISS:
        *found = look_singly(work, state, calls, work->misses, work->count, NOTHING, watch);
        return true;
    case MAPLET_HIT_BATCH:
        *found = look_batched(work, state, calls, work->hits, FIRST_VALUE, watch);
        return true;
    case MAPLET_MISS_BATCH:
        *found = look_batched(work, state, calls, work->misses, NOTHING, watch);
        return true;
    case MAPLET_DELETE:
        return take_out(work, state, calls, watch, found);
    case MAPLET_INSERT_FULL:
        return put_in(work, state, calls, work->hits, work->churn, watch);
    default:
        return put_into_new(work, state, calls, watch, found);
    }
}

/* ---- the maplet ---------------------------------------------------------------------------- */

static void *maplet_make(const void *work)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__maplet *maplet = malloc(sizeof *maplet);
    if (maplet && !bry__maplet_init(maplet, &((const maplet_work *)work)->options, &allocator)) {
        free(maplet);
        maplet = NULL;
    }
    return maplet;
}

static void maplet_drop(void *state)
{
    bry__maplet_free(state);
    free(state);
}

static bool maplet_insert(void *state, bry_hash hash, uint32_t value)
{
    return bry__maplet_add(state, hash, value) == BRY_OK;
}

static bool maplet_upsert(void *state, bry_hash hash, uint32_t value, bool *was)
{
    bry_answer answer = BRY_ABSENT;
    bool good = bry__maplet_upsert(state, hash, value, &answer, NULL) == BRY_OK;
    *was = answer == BRY_PRESENT;
    return good;
}

static uint64_t maplet_remove(void *state, bry_hash hash)
{
    return bry__maplet_del(state, hash);
}

static bool maplet_get(const void *state, bry_hash hash, uint32_t *value)
{
    return bry__maplet_get(state, hash, value) == BRY_PRESENT;
}

static void maplet_get_n(const void *state, const bry_hash *hashes, size_t n, uint32_t *values,
                         uint8_t *answers)
{
    bry__maplet_get_n(state, hashes, n, values, answers);
}

/* Every unexpected answer must be explained by a collision: an added key shares its fingerprint
 * with another one, an absent key with any. */
static bool all_excused(const maplet_work *work, unsigned phase)
{
    bool missing = phase == MAPLET_MISS || phase == MAPLET_MISS_BATCH;
    const bry_hash *keys = missing ? work->misses : work->hits;
    const maplet_notes *notes = work->notes;
    if (notes->count > notes->room)
        return false;
    for (uint64_t i = 0; i < notes->count; i++) {
        uint64_t fingerprint = bry__fingerprint(keys[notes->place[i]], work->range);
        if (maplet_sharers(work, fingerprint) < (missing ? 1 : 2))
            return false;
    }
    return true;
}

static bool maplet_run(const void *work, void *state, unsigned phase, bench_watch *watch,
                       uint64_t *found)
{
    static const table_calls calls = {
        maplet_insert, maplet_upsert, maplet_remove, maplet_get, maplet_get_n,
    };
    return run(work, state, calls, phase, watch, found) && all_excused(work, phase);
}

const bench_candidate candidate_maplet = {"maplet", maplet_make, maplet_drop, maplet_run, 0};

/* ---- the exact table: keys are the halves of the hash that fingerprints come from */

static void *make_exact_table(const void *opaque)
{
    const maplet_work *work = opaque;
    return exact_table_new(work->options.fixed ? work->count : 1);
}

static bool exact_insert(void *state, bry_hash hash, uint32_t value)
{
    bool was;
    return exact_table_put(state, hash.hi, value, &was) && !was;
}

static bool exact_upsert(void *state, bry_hash hash, uint32_t value, bool *was)
{
    return exact_table_put(state, hash.hi, value, was);
}

static uint64_t exact_remove(void *state, bry_hash hash)
{
    return exact_table_remove(state, hash.hi);
}

static bool exact_get(const void *state, bry_hash hash, uint32_t *value)
{
    return exact_table_get(state, hash.hi, value);
}

static void exact_get_n(const void *state, const bry_hash *hashes, size_t n, uint32_t *values,
                        uint8_t *answers)
{
    enum { AHEAD = 64 }; /* more than are fetched at once, few enough for the cache */
    for (size_t done = 0; done < n; done += AHEAD) {
        size_t end = n - done < AHEAD ? n : done + AHEAD;
        for (size_t i = done; i < end; i++)
            exact_table_prefetch(state, hashes[i].hi);
        for (size_t i = done; i < end; i++)
            answers[i] = exact_table_get(state, hashes[i].hi, &values[i]);
    }
}

static bool exact_run(const void *opaque, void *state, unsigned phase, bench_watch *watch,
                      uint64_t *found)
{
    static const table_calls calls = {
        exact_insert, exact_upsert, exact_remove, exact_get, exact_get_n,
    };
    const maplet_work *work = opaque;
    return run(work, state, calls, phase, watch, found) && work->notes->count == 0;
}

const bench_candidate candidate_exact = {"exact hash table", make_exact_table, exact_table_delete,
                                         exact_run, 0};

uint64_t exact_bytes(const maplet_work *work)
{
    uint64_t bytes = 0;
    exact_table *table = make_exact_table(work);
    bench_watch unused = {0};
    uint64_t found = 0;
    if (table && exact_run(work, table, MAPLET_INSERT, &unused, &found))
        bytes = exact_table_bytes(table);
    if (table)
        exact_table_delete(table);
    return bytes;
}
