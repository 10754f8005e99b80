/*
 * The maplet and an exact hash table as candidates. Both get the same precomputed hashes and do the
 * same work. Every answer is checked while it is measured; an unexpected one is recorded and must
 * be explained by another key with the same fingerprint.
 */
#ifndef BLOOMERY_BENCH_MAPLET_CANDIDATES_H
#define BLOOMERY_BENCH_MAPLET_CANDIDATES_H

#include "bench/harness/keys.h"
#include "bench/harness/measure.h"
#include "maplet/maplet.h"

enum maplet_phase {
    MAPLET_INSERT, /* adds all keys to an empty table */
    MAPLET_HIT, /* all keys, in another order */
    MAPLET_MISS, /* the same number of absent keys */
    MAPLET_HIT_BATCH,
    MAPLET_MISS_BATCH,
    MAPLET_DELETE, /* deletes `churn` keys from the full table … */
    MAPLET_INSERT_FULL, /* … and adds them again */
    MAPLET_UPSERT, /* another value for each key */
    MAPLET_PHASES
};

/* Positions of keys with unexpected answers. */
typedef struct maplet_notes {
    uint64_t count; /* may exceed the room; then there are too many, and the rest is not stored */
    uint64_t room;
    uint64_t *place;
} maplet_notes;

typedef struct maplet_work {
    bry__maplet_options options;
    bench_keys keys;
    const bry_hash *added, *hits, *misses; /* the keys' 16 bytes, taken as hashes */
    uint64_t count, churn; /* the first `churn` of `hits` are deleted and added again */
    uint64_t removed; /* entries deleted with them because they share a fingerprint */
    uint64_t range; /* of fingerprints */
    uint64_t *fingerprints; /* of all keys added, sorted */
    size_t batch;
    uint32_t *values; /* room for a batch */
    uint8_t *answers;
    maplet_notes *notes;
} maplet_work;

extern const bench_candidate candidate_maplet, candidate_exact;

/* The first value of a key. */
uint32_t maplet_first_value(const maplet_work *work, bry_hash hash);

/* The number of added keys with this fingerprint. */
uint64_t maplet_sharers(const maplet_work *work, uint64_t fingerprint);

/* Adds all keys to a fresh table and returns its bytes, or 0 if it cannot be created. */
uint64_t exact_bytes(const maplet_work *work);

#endif
