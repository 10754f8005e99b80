/*
 * A Bloom filter in blocks of one cache line.
 *
 *   hash.hi  →  block   = hi · blocks / 2^64          one of `blocks`, 64 bytes each
 *   hash.lo  →  k positions of 9 bits in the block    kernel/block.h
 *
 * A look-up touches one cache line where a standard filter touches k. The price: keys do not spread
 * evenly over blocks, so the same error needs about 4 % more bits at 1 %, 9 % at 0.1 %.
 * common/sizing.c computes that exactly.
 *
 * The idea of blocking is from "Cache-, Hash- and Space-Efficient Bloom Filters" (Putze, Sanders,
 * Singler, 2007).
 */
#include "bloom/bloom_blocked.h"

#include "common/sizing.h"
#include "hash/derive.h"
#include "kernel/block.h"
#include "kernel/kernel.h"

#include <math.h>

/* Blocks of one piece, as a power of two. */
#define BLOCKS_SHIFT (BRY__PIECE_SHIFT - 6)
/* Enough look-ups in flight to hide memory, few enough to stay in the L1 cache. */
#define BATCH 64u

static const _Alignas(BRY__LINE) unsigned char zeros[BRY__BLOCK_BYTES];

static uint64_t blocked_block_of(const bry__blocked *bloom, bry_hash hash)
{
    return bry__scale(hash.hi, bloom->blocks);
}

static size_t blocked_piece_of(uint64_t block)
{
    return (size_t)(block >> BLOCKS_SHIFT);
}

static size_t blocked_offset_of(uint64_t block)
{
    return (size_t)(block & ((1u << BLOCKS_SHIFT) - 1)) * BRY__BLOCK_BYTES;
}

static const unsigned char *blocked_block_at(const bry__blocked *bloom, bry_hash hash)
{
    uint64_t block = blocked_block_of(bloom, hash);
    const unsigned char *piece = bloom->table.piece[blocked_piece_of(block)];
    return piece ? piece + blocked_offset_of(block) : zeros;
}

bry_status bry__blocked_init(bry__blocked *bloom, uint64_t blocks, unsigned hashes,
                             const bry_allocator *allocator)
{
    bry__blocked made = {.blocks = blocks, .hashes = hashes};
    bry_status status = bry__pieces_init(&made.table, blocks * BRY__BLOCK_BYTES, allocator);
    if (status == BRY_OK)
        *bloom = made;
    return status;
}

void bry__blocked_free(bry__blocked *bloom, const bry_allocator *allocator)
{
    bry__pieces_free(&bloom->table, allocator);
}

void bry__blocked_clear(bry__blocked *bloom, const bry_allocator *allocator)
{
    bry__pieces_clear(&bloom->table, allocator);
}

bry_status bry__blocked_clone(const bry__blocked *bloom, bry__blocked *copy,
                              const bry_allocator *allocator)
{
    bry__blocked made;
    bry_status status = bry__blocked_init(&made, bloom->blocks, bloom->hashes, allocator);
    if (status != BRY_OK)
        return status;
    status = bry__pieces_copy(&made.table, &bloom->table, allocator);
    if (status == BRY_OK)
        *copy = made;
    else
        bry__blocked_free(&made, allocator);
    return status;
}

bry_status bry__blocked_reach(bry__blocked *bloom, const bry_hash *hashes, size_t n,
                              const bry_allocator *allocator)
{
    for (size_t i = 0; i < n && !bry__blocked_is_whole(bloom); i++) {
        bry_status status = bry__piece_reach(
            &bloom->table, blocked_piece_of(blocked_block_of(bloom, hashes[i])), allocator);
        if (status != BRY_OK)
            return status;
    }
    return BRY_OK;
}

bool bry__blocked_add(bry__blocked *bloom, bry_hash hash)
{
    uint64_t block = blocked_block_of(bloom, hash);
    unsigned char *bytes = bloom->table.piece[blocked_piece_of(block)] + blocked_offset_of(block);
    return bry__kernels()->block_add(bytes, hash.lo, bloom->hashes);
}

size_t bry__blocked_add_n(bry__blocked *bloom, const bry_hash *hashes, size_t n, uint8_t *was)
{
    size_t fresh = 0;
    for (size_t done = 0; done < n; done += BATCH) {
        size_t here = n - done < BATCH ? n - done : BATCH;
        for (size_t i = 0; i < here; i++)
            __builtin_prefetch(blocked_block_at(bloom, hashes[done + i]), 1);
        for (size_t i = 0; i < here; i++) {
            bool is_new = bry__blocked_add(bloom, hashes[done + i]);
            fresh += is_new;
            if (was)
                was[done + i] = !is_new;
        }
    }
    return fresh;
}

bool bry__blocked_has(const bry__blocked *bloom, bry_hash hash)
{
    return bry__kernels()->block_has(blocked_block_at(bloom, hash), hash.lo, bloom->hashes);
}

void bry__blocked_has_n(const bry__blocked *bloom, const bry_hash *hashes, size_t n,
                        uint8_t *answers)
{
    const bry__kernel *kernel = bry__kernels();
    const unsigned char *blocks[BATCH];
    uint64_t halves[BATCH];
    for (size_t done = 0; done < n; done += BATCH) {
        size_t here = n - done < BATCH ? n - done : BATCH;
        for (size_t i = 0; i < here; i++) {
            blocks[i] = blocked_block_at(bloom, hashes[done + i]);
            __builtin_prefetch(blocks[i]);
            halves[i] = hashes[done + i].lo;
        }
        kernel->block_test(blocks, halves, here, bloom->hashes, answers + done);
    }
}

uint64_t bry__blocked_count_bits(const bry__blocked *bloom)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < bloom->table.count; i++)
        if (bloom->table.piece[i])
            bits +=
                bry__kernels()->popcount(bloom->table.piece[i], bry__piece_size(&bloom->table, i));
    return bits;
}

uint64_t bry__blocked_count_union(const bry__blocked *a, const bry__blocked *b)
{
    const bry__kernel *kernel = bry__kernels();
    uint64_t bits = 0;
    for (size_t i = 0; i < a->table.count; i++) {
        const unsigned char *in_a = a->table.piece[i], *in_b = b->table.piece[i];
        size_t size = bry__piece_size(&a->table, i);
        if (in_a && in_b)
            bits += kernel->popcount_or(in_a, in_b, size);
        else if (in_a || in_b)
            bits += kernel->popcount(in_a ? in_a : in_b, size);
    }
    return bits;
}

bry_status bry__blocked_unite(bry__blocked *into, const bry__blocked *from,
                              const bry_allocator *allocator)
{
    for (size_t i = 0; i < from->table.count; i++) {
        if (!from->table.piece[i])
            continue;
        bry_status status = bry__piece_reach(&into->table, i, allocator);
        if (status != BRY_OK)
            return status;
    }
    for (size_t i = 0; i < from->table.count; i++)
        if (from->table.piece[i])
            bry__kernels()->or_into(into->table.piece[i], from->table.piece[i],
                                    bry__piece_size(&into->table, i));
    return BRY_OK;
}

double bry__blocked_error_now(const bry__blocked *bloom)
{
    double error_at[BRY__BLOCK_BITS + 1];
    for (unsigned set = 0; set <= BRY__BLOCK_BITS; set++)
        error_at[set] = pow((double)set / BRY__BLOCK_BITS, bloom->hashes);

    const bry__kernel *kernel = bry__kernels();
    double sum = 0;
    for (size_t i = 0; i < bloom->table.count; i++) {
        const unsigned char *piece = bloom->table.piece[i];
        if (!piece)
            continue;
        for (size_t at = 0; at < bry__piece_size(&bloom->table, i); at += BRY__BLOCK_BYTES)
            sum += error_at[kernel->popcount(piece + at, BRY__BLOCK_BYTES)];
    }
    return sum / (double)bloom->blocks;
}
