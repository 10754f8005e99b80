/*
 * The forgetful Bloom filter of the thesis to the letter, to show what its adaptation does
 * (Algorithm 3, Fig. 6.6). Once a second Eq. 4.3 is compared with a target. From 0.9 of it up, the
 * number of filters doubles, by empty ones behind the oldest, and t is a second shorter; from 0.1
 * of it down, the oldest filter is dropped and t is a second longer. The check asks whichever
 * filter is last alone, also an empty one, as the text and Eq. 4.3 say (Algorithm 2 never does).
 *
 * So elements are forgotten early: doubling ends the question to the filter that has elements
 * which no other has, and that is what lowers the error. paper_fbf.h is the same without this.
 */
#ifndef BRY_PAPERS_LITERAL_FBF_H
#define BRY_PAPERS_LITERAL_FBF_H

#include "bloom/bloom_standard.h"

typedef struct bry__literal_filter {
    bry__bloom bloom;
    uint64_t items;
} bry__literal_filter;

typedef struct bry__literal_options {
    uint64_t bits; /* of a filter */
    unsigned hashes;
    uint64_t period; /* ms: t at first, at least a second */
    double target;
    uint32_t most; /* filters, at least 3; the thesis has no limit */
} bry__literal_options;

typedef struct bry__literal_fbf {
    bry__literal_options options;
    bry__literal_filter *filter; /* room for the most; future, present, then past, newest first */
    uint32_t count;
    uint64_t period; /* t now */
    uint64_t refreshed, judged; /* ms: the last refresh, and the last second */
} bry__literal_fbf;

/* Three empty filters at time 0. BRY_E_RANGE, BRY_E_NOMEM. */
bry_status bry__literal_fbf_init(bry__literal_fbf *fbf, const bry__literal_options *options,
                                 const bry_allocator *allocator);
void bry__literal_fbf_free(bry__literal_fbf *fbf, const bry_allocator *allocator);

/* Refreshes and adapts up to now; what is due at the same time in this order. BRY_E_NOMEM: not to
 * the end, but it may be repeated. */
bry_status bry__literal_fbf_advance(bry__literal_fbf *fbf, uint64_t now,
                                    const bry_allocator *allocator);

bool bry__literal_fbf_has(const bry__literal_fbf *fbf, bry_hash hash);

/* Advances time and adds the element if it is absent; *was says whether it was there.
 * BRY_E_NOMEM. */
bry_status bry__literal_fbf_add(bry__literal_fbf *fbf, bry_hash hash, uint64_t now, bry_answer *was,
                                const bry_allocator *allocator);

/* Eq. 4.3. */
double bry__literal_fbf_predicted(const bry__literal_fbf *fbf);

#endif
