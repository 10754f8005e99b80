/*
 * RBF, the recyclable Bloom filter that the forgetful one is compared with (in "Idempotent
 * Distributed Counters using a Forgetful Bloom Filter"): one Bloom filter, cleared as a whole when
 * the error predicted by Eq. 4.1 exceeds a target. Elements added just before are forgotten with
 * the rest, whatever the window.
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

/* BRY_E_RANGE: no bits, no hashes, or an invalid target. BRY_E_NOMEM. */
bry_status bry__rbf_init(bry__rbf *rbf, uint64_t bits, unsigned hashes, double target,
                         const bry_allocator *allocator);
void bry__rbf_free(bry__rbf *rbf, const bry_allocator *allocator);

bool bry__rbf_has(const bry__rbf *rbf, bry_hash hash);

/* Adds the element if it is absent; *was says whether it was there. BRY_E_NOMEM. */
bry_status bry__rbf_add(bry__rbf *rbf, bry_hash hash, bry_answer *was,
                        const bry_allocator *allocator);

/* Eq. 4.1 for the current number of items. */
double bry__rbf_predicted(const bry__rbf *rbf);

/* The filter's memory. */
uint64_t bry__rbf_bytes(const bry__rbf *rbf);

#endif
