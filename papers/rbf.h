/*
 * RBF, the recyclable Bloom filter that the forgetful one is compared with (in "Idempotent
 * Distributed Counters using a Forgetful Bloom Filter"): one Bloom filter, cleared as a whole when
 * the error that Eq. 4.1 predicts for it passes a target. What was added just before is forgotten
 * with the rest, whatever window was meant.
 */
#ifndef BRY_PAPERS_RBF_H
#define BRY_PAPERS_RBF_H

#include "bloom/bloom_standard.h"

typedef struct bry__rbf {
    bry__bloom bloom;
    double target;
    uint64_t items; /* since the last clearing */
    uint64_t cleared; /* how often */
} bry__rbf;

/* BRY_E_RANGE: no bits, no hashes, or a target that is none. BRY_E_NOMEM. */
bry_status bry__rbf_init(bry__rbf *rbf, uint64_t bits, unsigned hashes, double target,
                         const bry_allocator *allocator);
void bry__rbf_free(bry__rbf *rbf, const bry_allocator *allocator);

bool bry__rbf_has(const bry__rbf *rbf, bry_hash hash);

/* Adds what is not there; *was says whether it was. BRY_E_NOMEM. */
bry_status bry__rbf_add(bry__rbf *rbf, bry_hash hash, bry_answer *was,
                        const bry_allocator *allocator);

/* Eq. 4.1 for what is in it now. */
double bry__rbf_predicted(const bry__rbf *rbf);

/* The filter's memory. */
uint64_t bry__rbf_bytes(const bry__rbf *rbf);

#endif
