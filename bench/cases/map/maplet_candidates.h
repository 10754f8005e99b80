/*
 * The maplet and an exact hash table as candidates. Both get the same hashes, made before, and do
 * the same work; every answer is checked while it is measured, and what is not as put in is noted
 * and must have its reason: another key with the same fingerprint.
 */
#ifndef BLOOMERY_BENCH_MAPLET_CANDIDATES_H
#define BLOOMERY_BENCH_MAPLET_CANDIDATES_H

#include "bench/harness/keys.h"
#include "bench/harness/measure.h"
#include "maplet/maplet.h"

enum maplet_phase {
    MAPLET_INSERT, /* all keys, from nothing */
    MAPLET_HIT, /* all keys, in another order */
    MAPLET_MISS, /* as many that are not there */
    MAPLET_HIT_BATCH,
    MAPLET_MISS_BATCH,
    MAPLET_DELETE, /* some keys, `churn` of them, out of the full table … */
    MAPLET_INSERT_FULL, /* … and in again */
    MAPLET_UPSERT, /* another value for each key there is */
    MAPLET_PHASES
};

/* Places of keys whose answer needs a reason. */
typedef struct maplet_notes {
    uint64_t count; /* may pass the room: then there are too many, and the rest is not stored */
    uint64_t room;
    uint64_t *place;
} maplet_notes;

typedef struct maplet_work {
    bry__maplet_options options;
    bench_keys keys;
    const bry_hash *added, *hits, *misses; /* the keys' 16 bytes, taken as hashes */
    uint64_t count, churn; /* the first `churn` of `hits` are deleted and put back */
    uint64_t removed; /* entries that go with them, since some share a fingerprint */
    uint64_t range; /* of fingerprints */
    uint64_t *fingerprints; /* of all keys added, sorted */
    size_t batch;
    uint32_t *values; /* room for a batch */
    uint8_t *answers;
    maplet_notes *notes;
} maplet_work;

extern const bench_candidate candidate_maplet, candidate_exact;

/* The value that is put in with a key, and the one that upserts write. */
uint32_t maplet_first_value(const maplet_work *work, bry_hash hash);
uint32_t maplet_second_value(const maplet_work *work, bry_hash hash);

/* How many of the keys added have this fingerprint. */
uint64_t maplet_sharers(const maplet_work *work, uint64_t fingerprint);

/* All keys put into a fresh table; bytes that it takes then, or 0 when it cannot be made. */
uint64_t exact_bytes(const maplet_work *work);

#endif
