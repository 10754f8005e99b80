/*
 * The exact window, for comparison: a hash set of the elements' full hashes, and a queue of them in
 * order of arrival, so that expired ones are removed one by one. An element is remembered for
 * exactly `window` ms, and costs about forty bytes.
 */
#ifndef BLOOMERY_BENCH_EXACT_WINDOW_H
#define BLOOMERY_BENCH_EXACT_WINDOW_H

#include "common/allocator.h"

#include <bloomery/hash.h>

typedef struct bry__exact_entry {
    bry_hash hash;
    uint64_t time;
} bry__exact_entry;

typedef struct bry__exact_window {
    uint64_t window;
    bry__exact_entry *queue; /* a ring of `room`, a power of two */
    uint64_t room, first, items; /* items from first on */
    uint64_t *slot; /* twice as many: index of an entry in the queue plus 1, or 0; linear probing */
} bry__exact_window;

/* BRY_E_NOMEM. */
bry_status bry__exact_window_init(bry__exact_window *exact, uint64_t window,
                                  const bry_allocator *allocator);
void bry__exact_window_free(bry__exact_window *exact, const bry_allocator *allocator);

/* Drops elements that were added more than a window before now. */
void bry__exact_window_advance(bry__exact_window *exact, uint64_t now);

bool bry__exact_window_has(const bry__exact_window *exact, bry_hash hash);

/* Advances time, which must not go back, and adds the element if it is absent; *was: it was
 * present. BRY_E_NOMEM. */
bry_status bry__exact_window_add(bry__exact_window *exact, bry_hash hash, uint64_t now,
                                 bry_answer *was, const bry_allocator *allocator);

uint64_t bry__exact_window_bytes(const bry__exact_window *exact);

#endif
