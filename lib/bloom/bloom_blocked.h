/* The bits of a blocked Bloom filter. The filter above decides how many keys may be added. */
#ifndef BRY_BLOOM_BLOOM_BLOCKED_H
#define BRY_BLOOM_BLOOM_BLOCKED_H

#include "common/pieces.h"

#include <bloomery/hash.h>

#define BRY__BLOCK_BYTES 64u

typedef struct bry__blocked {
    uint64_t blocks;
    unsigned hashes; /* positions per key, 1 to BRY__BLOCKED_MAX_HASHES */
    bry__pieces table;
} bry__blocked;

/* blocks is at least 1 and blocks · 64 fits 63 bits. BRY_E_NOMEM. */
bry_status bry__blocked_init(bry__blocked *bloom, uint64_t blocks, unsigned hashes,
                             const bry_allocator *allocator);
void bry__blocked_free(bry__blocked *bloom, const bry_allocator *allocator);
void bry__blocked_clear(bry__blocked *bloom, const bry_allocator *allocator);

/* *copy is overwritten; on BRY_E_NOMEM nothing is left allocated. */
bry_status bry__blocked_clone(const bry__blocked *bloom, bry__blocked *copy,
                              const bry_allocator *allocator);

/* Allocates the blocks of these keys, so that adding the keys cannot fail. BRY_E_NOMEM. */
bry_status bry__blocked_reach(bry__blocked *bloom, const bry_hash *hashes, size_t n,
                              const bry_allocator *allocator);

/* Whether all blocks are allocated. */
static inline bool bry__blocked_is_whole(const bry__blocked *bloom)
{
    return bloom->table.present == bloom->table.count;
}

/* Sets the key's bits; its block must be allocated. Returns whether any bit was clear before. */
bool bry__blocked_add(bry__blocked *bloom, bry_hash hash);

/* The same for n keys; was[i] = 1 if key i was there already; was may be NULL. Returns how many
 * were not. */
size_t bry__blocked_add_n(bry__blocked *bloom, const bry_hash *hashes, size_t n, uint8_t *was);

bool bry__blocked_has(const bry__blocked *bloom, bry_hash hash);
void bry__blocked_has_n(const bry__blocked *bloom, const bry_hash *hashes, size_t n,
                        uint8_t *answers);

/* For two filters of the same shape: the number of bits set in either of them; and the union, which
 * allocates first and so changes nothing if it fails (BRY_E_NOMEM). */
uint64_t bry__blocked_count_union(const bry__blocked *a, const bry__blocked *b);
bry_status bry__blocked_unite(bry__blocked *into, const bry__blocked *from,
                              const bry_allocator *allocator);

uint64_t bry__blocked_count_bits(const bry__blocked *bloom);

/* The current error for a uniform absent key, computed from the bits: the mean over the blocks of
 * (bits set / 512)^k, exact because positions are drawn with repetition. */
double bry__blocked_error_now(const bry__blocked *bloom);

#endif
