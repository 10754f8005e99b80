/*
 * Filters as candidates: the library's engines through their public functions, the standard
 * one, and libbloom where it is built in. All get the same keys as bytes in memory and hash them
 * inside the measured time; the "ready" phases leave the hashing out.
 */
#ifndef BLOOMERY_BENCH_FILTER_CANDIDATES_H
#define BLOOMERY_BENCH_FILTER_CANDIDATES_H

#include "bench/harness/keys.h"
#include "bench/harness/measure.h"

#include <bloomery/hash.h>

#define BENCH_SEED UINT64_C(0x626c6f6f6d657279)
#define BENCH_MOST_BATCH 65536u

enum filter_phase {
    PHASE_ADD,
    PHASE_HIT,
    PHASE_MISS,
    PHASE_HIT_READY, /* as PHASE_HIT, from hashes made before */
    PHASE_MISS_READY,
    FILTER_PHASES
};
#define BENCH_NO_READY ((1u << PHASE_HIT_READY) | (1u << PHASE_MISS_READY))

typedef struct filter_work {
    bench_keys keys;
    double error;
    size_t batch; /* keys in one call of the batch forms, 1 to BENCH_MOST_BATCH */
    bry_hash *hashes; /* room for bench_chunk(batch) */
    uint8_t *answers;
} filter_work;

/* Keys that are hashed at once before a stretch of "ready" look-ups: whole batches, and enough of
 * them that reading the clock does not count. */
size_t bench_chunk(size_t batch);

typedef struct filter_facts {
    uint64_t bytes;
    double bits_per_item;
    double predicted_error; /* NAN when nothing better than what was asked for is known */
} filter_facts;

/* Size and error by plan. False when it cannot be made at this size. */
typedef bool filter_facts_of(const filter_work *work, filter_facts *facts);

typedef struct filter_candidate {
    bench_candidate candidate;
    const char *id; /* stable, for JSON */
    bool batched, peer;
    filter_facts_of *facts;
} filter_candidate;

extern const filter_candidate filter_blocked, filter_blocked_batch;
extern const filter_candidate filter_compact, filter_compact_batch;
extern const filter_candidate filter_standard, filter_standard_batch;

/* peer_libbloom.c: the candidate, and the version it is measured in; NULL when not built in. */
const filter_candidate *filter_libbloom(void);
const char *filter_libbloom_version(void);

#endif
