/*
 * The obvious window: a ring of plain Bloom filters, one for each period of a fixed length. An
 * element goes into the filter of its period only; it is found if any filter has it; when a period
 * begins, the oldest filter is cleared and reused for it. With n filters the last n - 1 whole
 * periods are remembered. The errors of all filters add up, so each filter's error must be n times
 * smaller than the promised one.
 */
#ifndef BLOOMERY_BENCH_FILTER_RING_H
#define BLOOMERY_BENCH_FILTER_RING_H

#include "bloom/bloom_standard.h"

typedef struct bry__filter_ring {
    unsigned filters;
    uint64_t length; /* of a period, in ms */
    uint64_t period; /* the current one; its filter is number period mod filters */
    bry__bloom *filter;
} bry__filter_ring;

/* BRY_E_RANGE: fewer than two filters, or a size of 0. BRY_E_NOMEM. */
bry_status bry__filter_ring_init(bry__filter_ring *ring, unsigned filters, uint64_t length,
                                 uint64_t bits, unsigned hashes, const bry_allocator *allocator);
void bry__filter_ring_free(bry__filter_ring *ring, const bry_allocator *allocator);

/* Advances time; an earlier time is ignored. */
void bry__filter_ring_advance(bry__filter_ring *ring, uint64_t now, const bry_allocator *allocator);

bool bry__filter_ring_has(const bry__filter_ring *ring, bry_hash hash);

/* Advances time and adds the element if it is absent; *was: it was present. BRY_E_NOMEM. */
bry_status bry__filter_ring_add(bry__filter_ring *ring, bry_hash hash, uint64_t now,
                                bry_answer *was, const bry_allocator *allocator);

uint64_t bry__filter_ring_bytes(const bry__filter_ring *ring);

#endif
