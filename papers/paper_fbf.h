/*
 * The forgetful Bloom filter as published ("Idempotent Distributed Counters using a Forgetful Bloom
 * Filter", thesis, University of Illinois 2015): a row of equal Bloom filters that all use the same
 * positions, a refresh every t, and Algorithm 3, which adapts the row once a second. paper_fbf.c
 * says what the thesis leaves open. The engine fbf of lib/window is what Bloomery makes of it.
 */
#ifndef BRY_PAPERS_PAPER_FBF_H
#define BRY_PAPERS_PAPER_FBF_H

#include "bloom/bloom_standard.h"
#include "papers/check_error.h"

typedef struct bry__paper_fbf_options {
    bry__paper_check check;
    uint64_t window; /* ms that elements must be remembered */
    uint64_t capacity; /* elements within one window to plan for */
    double error;
    uint32_t generations; /* periods of a window at first; at least 2 are used */
    uint64_t bits; /* of a filter, and its hashes; both 0: planned from capacity and error */
    uint32_t hashes; /* at most 64 */
    bool fixed; /* without Algorithm 3 */
} bry__paper_fbf_options;

/* The row at its planned load. */
typedef struct bry__paper_fbf_plan {
    uint32_t filters;
    uint64_t length; /* ms: t at first */
    uint64_t bits; /* of a filter */
    uint32_t hashes;
    double error; /* Eq. 4.3 just before a refresh */
    uint64_t bytes;
} bry__paper_fbf_plan;

/*
 * Filter number j and period number j. The filter has the elements of periods j - 1 and j: it is
 * the future one during the former and the present one during the latter.
 */
typedef struct bry__paper_filter {
    struct bry__paper_filter *older, *newer;
    bry__bloom bloom;
    uint64_t begin; /* of period j; UINT64_MAX: not begun */
    uint64_t before, items; /* elements of period j - 1 and j */
} bry__paper_filter;

typedef struct bry__paper_fbf {
    bry__paper_fbf_options options;
    bry__paper_fbf_plan plan;
    uint32_t most_filters; /* limits of Algorithm 3 */
    uint64_t longest_period;
    uint64_t kept; /* ms after its end when a period is dropped, however many filters there are */
    bry__paper_filter *oldest, *present, *newest;
    uint64_t row; /* filters from oldest to newest */
    uint32_t count; /* filters that Algorithm 3 wants */
    uint64_t period, due; /* its t in ms, and the end of the present period */
    uint64_t second; /* the last one that Algorithm 3 has judged */
    uint64_t time;
    uint64_t items; /* in all periods that are still remembered */
    uint64_t resizes; /* by Algorithm 3 */
} bry__paper_fbf;

/* BRY_E_RANGE: window, capacity or generations is 0, the error is not between 0 and 1, or bits and
 * hashes do not make a filter. */
bry_status bry__paper_fbf_plan_row(const bry__paper_fbf_options *options,
                                   bry__paper_fbf_plan *plan);

/* An empty row at time 0. Errors: those of the plan; BRY_E_NOMEM. */
bry_status bry__paper_fbf_init(bry__paper_fbf *fbf, const bry__paper_fbf_options *options,
                               const bry_allocator *allocator);
void bry__paper_fbf_free(bry__paper_fbf *fbf, const bry_allocator *allocator);

/* Advances time; an earlier time is ignored. BRY_E_NOMEM: not to the end, but it may be repeated.
 */
bry_status bry__paper_fbf_advance(bry__paper_fbf *fbf, uint64_t now,
                                  const bry_allocator *allocator);

/* Whether the check finds the element at the row's time. */
bool bry__paper_fbf_has(const bry__paper_fbf *fbf, bry_hash hash);

/* Advances time and adds the element if it is absent; *was says whether it was there. BRY_E_NOMEM:
 * nothing is promised for the element, and time may have advanced. */
bry_status bry__paper_fbf_add(bry__paper_fbf *fbf, bry_hash hash, uint64_t now, bry_answer *was,
                              const bry_allocator *allocator);

/* Eq. 4.3 for the current numbers of elements, or its variant for the simple check. */
double bry__paper_fbf_predicted(const bry__paper_fbf *fbf);

/* Filters, with those that growth has appended and no refresh has reached yet. */
uint64_t bry__paper_fbf_filters(const bry__paper_fbf *fbf);

uint64_t bry__paper_fbf_bytes(const bry__paper_fbf *fbf);

#endif
