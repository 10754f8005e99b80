/*
 * A standard Bloom filter: k bits anywhere in m. Internal: the papers' engines are built from it
 * and the bench compares with it; users get the blocked one.
 */
#ifndef BRY_BLOOM_BLOOM_STANDARD_H
#define BRY_BLOOM_BLOOM_STANDARD_H

#include "common/pieces.h"

#include <bloomery/hash.h>

/* Its table has pieces of 8 KiB: an add writes to as many pieces as there are hashes, and may have
 * to zero each of them. */
#define BRY__BLOOM_PIECE_SHIFT 13
#define BRY__BLOOM_PIECE_BYTES ((size_t)1 << BRY__BLOOM_PIECE_SHIFT)

typedef struct bry__bloom {
    uint64_t bits;
    unsigned hashes;
    bry__pieces table;
} bry__bloom;

/* bits and hashes are at least 1. BRY_E_NOMEM. */
bry_status bry__bloom_init(bry__bloom *bloom, uint64_t bits, unsigned hashes,
                           const bry_allocator *allocator);
void bry__bloom_free(bry__bloom *bloom, const bry_allocator *allocator);
void bry__bloom_clear(bry__bloom *bloom, const bry_allocator *allocator);

/* Sets the key's bits. BRY_E_NOMEM: a piece could not be allocated, and no bit was set. */
bry_status bry__bloom_add(bry__bloom *bloom, bry_hash hash, const bry_allocator *allocator);
bool bry__bloom_has(const bry__bloom *bloom, bry_hash hash);
void bry__bloom_has_n(const bry__bloom *bloom, const bry_hash *hashes, size_t n, uint8_t *answers);

uint64_t bry__bloom_bits_set(const bry__bloom *bloom);

/* The share of bits that are set. */
static inline double bry__bloom_fill_now(const bry__bloom *bloom)
{
    return (double)bry__bloom_bits_set(bloom) / (double)bloom->bits;
}

#endif
