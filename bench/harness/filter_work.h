/* The work of a filter candidate, and the interface of candidates: the library's and others. */
#ifndef BLOOMERY_BENCH_FILTER_WORK_H
#define BLOOMERY_BENCH_FILTER_WORK_H

#include "bench/harness/keys.h"
#include "bench/harness/measure.h"

#include <bloomery/base.h>
#include <bloomery/hash.h>

#define BENCH_MOST_BATCH 65536u

enum filter_phase {
    PHASE_ADD,
    PHASE_HIT,
    PHASE_MISS,
    PHASE_HIT_READY, /* like PHASE_HIT, with precomputed hashes */
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
    bry_engine engine; /* for the library's candidates */
} filter_work;

typedef struct filter_facts {
    uint64_t bytes;
    double bits_per_item;
    double predicted_error; /* NAN: only the requested error is known */
} filter_facts;

/* Planned size and error. False if it is not possible at this size. */
typedef bool filter_facts_of(const filter_work *work, filter_facts *facts);

typedef struct filter_candidate {
    bench_candidate candidate;
    const char *id; /* stable, for JSON */
    bool batched, peer;
    bry_engine engine; /* of the library's */
    filter_facts_of *facts;
} filter_candidate;

#endif
