#include "bloom/bloom_standard.h"

#include "hash/derive.h"
#include "kernel/kernel.h"

#define BATCH 32u
#define PREFETCHED 4u /* positions to prefetch: an absent key rarely needs more */
#define LINE_BITS ((uint64_t)BRY__LINE * 8)

bry_status bry__bloom_init(bry__bloom *bloom, uint64_t bits, unsigned hashes,
                           const bry_allocator *allocator)
{
    bry__bloom made = {.bits = bits, .hashes = hashes};
    /* Whole cache lines, so that the kernels can count them; bits past m stay clear. */
    uint64_t bytes = (bits / LINE_BITS + (bits % LINE_BITS != 0)) * BRY__LINE;
    bry_status status = bry__pieces_init_of(&made.table, bytes, BRY__BLOOM_PIECE_SHIFT, allocator);
    if (status == BRY_OK)
        *bloom = made;
    return status;
}

void bry__bloom_free(bry__bloom *bloom, const bry_allocator *allocator)
{
    bry__pieces_free(&bloom->table, allocator);
}

void bry__bloom_clear(bry__bloom *bloom, const bry_allocator *allocator)
{
    bry__pieces_clear(&bloom->table, allocator);
}

static size_t bloom_piece_of(uint64_t position)
{
    return (size_t)(position >> (BRY__BLOOM_PIECE_SHIFT + 3));
}

static size_t bloom_byte_of(uint64_t position)
{
    return (size_t)(position >> 3) & (BRY__BLOOM_PIECE_BYTES - 1);
}

bry_status bry__bloom_add(bry__bloom *bloom, bry_hash hash, const bry_allocator *allocator)
{
    for (unsigned i = 0; i < bloom->hashes; i++) {
        uint64_t position = bry__position(hash, i, bloom->bits);
        bry_status status = bry__piece_reach(&bloom->table, bloom_piece_of(position), allocator);
        if (status != BRY_OK)
            return status;
    }
    for (unsigned i = 0; i < bloom->hashes; i++) {
        uint64_t position = bry__position(hash, i, bloom->bits);
        bloom->table.piece[bloom_piece_of(position)][bloom_byte_of(position)] |=
            (unsigned char)(1u << (position & 7));
    }
    return BRY_OK;
}

bool bry__bloom_has(const bry__bloom *bloom, bry_hash hash)
{
    for (unsigned i = 0; i < bloom->hashes; i++) {
        uint64_t position = bry__position(hash, i, bloom->bits);
        const unsigned char *piece = bloom->table.piece[bloom_piece_of(position)];
        if (!piece || !(piece[bloom_byte_of(position)] >> (position & 7) & 1))
            return false;
    }
    return true;
}

void bry__bloom_has_n(const bry__bloom *bloom, const bry_hash *hashes, size_t n, uint8_t *answers)
{
    unsigned ahead = bloom->hashes < PREFETCHED ? bloom->hashes : PREFETCHED;
    for (size_t done = 0; done < n; done += BATCH) {
        size_t here = n - done < BATCH ? n - done : BATCH;
        for (size_t i = 0; i < here; i++) {
            for (unsigned j = 0; j < ahead; j++) {
                uint64_t position = bry__position(hashes[done + i], j, bloom->bits);
                const unsigned char *piece = bloom->table.piece[bloom_piece_of(position)];
                if (piece)
                    __builtin_prefetch(piece + bloom_byte_of(position));
            }
        }
        for (size_t i = 0; i < here; i++)
            answers[done + i] = bry__bloom_has(bloom, hashes[done + i]);
    }
}

uint64_t bry__bloom_bits_set(const bry__bloom *bloom)
{
    uint64_t set = 0;
    for (size_t i = 0; i < bloom->table.count; i++)
        if (bloom->table.piece[i])
            set +=
                bry__kernels()->popcount(bloom->table.piece[i], bry__piece_size(&bloom->table, i));
    return set;
}
