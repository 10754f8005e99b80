/* A look inside a filter: its whole table as one array, and keys by the piece they are in. */
#ifndef BRY_TESTS_FILTER_BITS_H
#define BRY_TESTS_FILTER_BITS_H

#include "filter/filter_object.h"
#include "hash/derive.h"
#include "support/generator.h"

#include <stdlib.h>
#include <string.h>

/* Missing pieces are zeros. The caller frees the result. NULL: out of memory. */
static inline unsigned char *filter_bits(const bry_filter *filter)
{
    const bry__pieces *table = &filter->bloom.table;
    unsigned char *bytes = calloc(1, (size_t)table->bytes);
    for (size_t i = 0; bytes && i < table->count; i++)
        if (table->piece[i])
            memcpy(bytes + i * BRY__PIECE_BYTES, table->piece[i], bry__piece_size(table, i));
    return bytes;
}

/* Whether two filters have the same seed, shape, count and bits. */
static inline bool filter_same(const bry_filter *a, const bry_filter *b)
{
    unsigned char *bits_a = filter_bits(a), *bits_b = filter_bits(b);
    bool same = a->seed == b->seed && a->capacity == b->capacity && a->items == b->items &&
                a->error == b->error && a->bloom.blocks == b->bloom.blocks &&
                a->bloom.hashes == b->bloom.hashes &&
                memcmp(bits_a, bits_b, (size_t)a->bloom.table.bytes) == 0;
    free(bits_a);
    free(bits_b);
    return same;
}

/* A key whose block is in the given piece, which depends on the upper half of the hash. */
static inline bry_hash key_in_piece(const bry_filter *filter, size_t piece, uint64_t number)
{
    uint64_t blocks = filter->bloom.blocks;
    uint64_t block = (uint64_t)piece * (BRY__PIECE_BYTES / BRY__BLOCK_BYTES);
    uint64_t hi = (uint64_t)((((bry__u128)block << 64) + blocks - 1) / blocks);
    return (bry_hash){generator_next(&(generator){number}), hi};
}

#endif
