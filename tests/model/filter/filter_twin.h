/*
 * A simple filter: one array of bits, written from the description in the headers. It shares no
 * code with the library except for the hash of a key.
 *
 * For engine compact the keys are of TWIN_CLASSES classes, by the upper bits of their hashes; the
 * keys of a class share all fingerprints, and a bit says whether the class is there.
 */
#ifndef BRY_TESTS_FILTER_TWIN_H
#define BRY_TESTS_FILTER_TWIN_H

#include <bloomery/filter.h>

enum { TWIN_CLASSES = 512 };

typedef struct filter_twin {
    bool compact;
    uint64_t seed, capacity, items, blocks; /* capacity: UINT64_MAX if it grows */
    unsigned hashes;
    unsigned char *bits; /* 64 bytes per block */
} filter_twin;

bool filter_twin_make(filter_twin *twin, const bry_filter_shape *shape, uint64_t seed);
void filter_twin_free(filter_twin *twin);
void filter_twin_clear(filter_twin *twin);

/* The hash of a key, with engine compact: the same upper half for all of a class. */
bry_hash filter_twin_class_key(unsigned number);

bool filter_twin_has(const filter_twin *twin, bry_hash hash);
/* As bry_filter_add() and _add_n(): BRY_OK or BRY_E_FULL. */
bry_status filter_twin_add(filter_twin *twin, bry_hash hash, uint8_t *was);
bry_status filter_twin_add_n(filter_twin *twin, const bry_hash *hashes, size_t n, uint8_t *was);
/* Only with engine compact. */
void filter_twin_del(filter_twin *twin, bry_hash hash);

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
