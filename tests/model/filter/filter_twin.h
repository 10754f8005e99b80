/*
 * A simple filter: one array of bits, written from the description in the headers. It shares no
 * code with the library except for the hash of a key.
 */
#ifndef BRY_TESTS_FILTER_TWIN_H
#define BRY_TESTS_FILTER_TWIN_H

#include <bloomery/filter.h>

typedef struct filter_twin {
    uint64_t seed, capacity, items, blocks;
    unsigned hashes;
    unsigned char *bits; /* 64 bytes per block */
} filter_twin;

bool filter_twin_make(filter_twin *twin, const bry_filter_shape *shape, uint64_t seed);
void filter_twin_free(filter_twin *twin);
void filter_twin_clear(filter_twin *twin);

bool filter_twin_has(const filter_twin *twin, bry_hash hash);
/* As bry_filter_add() and _add_n(): BRY_OK or BRY_E_FULL. */
bry_status filter_twin_add(filter_twin *twin, bry_hash hash, uint8_t *was);
bry_status filter_twin_add_n(filter_twin *twin, const bry_hash *hashes, size_t n, uint8_t *was);

/*
 * The count of items after a merge: an estimate from the bits. Rounding may give either of two
 * numbers. Above the capacity they mean BRY_E_FULL.
 */
void filter_twin_merged_items(const filter_twin *a, const filter_twin *b, uint64_t *low,
                              uint64_t *high);
/* Sets the bits; the caller sets the items. */
void filter_twin_unite(filter_twin *into, const filter_twin *from);

uint64_t filter_twin_count(const filter_twin *twin);
double filter_twin_error(const filter_twin *twin);

#endif
