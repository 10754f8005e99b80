/*
 * A large table in pieces of at most 4 MiB, each allocated and cleared when something first reaches
 * it: creating a huge table costs nothing, and no single operation clears more than one piece.
 * A piece that is not there reads as zeros.
 */
#ifndef BRY_COMMON_PIECES_H
#define BRY_COMMON_PIECES_H

#include "common/allocator.h"

#define BRY__PIECE_SHIFT 22
#define BRY__PIECE_BYTES ((size_t)1 << BRY__PIECE_SHIFT)

typedef struct bry__pieces {
    uint64_t bytes; /* of the whole table */
    unsigned shift; /* pieces have 2^shift bytes: BRY__PIECE_BYTES, unless said otherwise */
    size_t count; /* of pieces: all have that size but the last */
    size_t present; /* pieces that are allocated */
    unsigned char **piece; /* NULL where not yet reached */
} bry__pieces;

/* What the directory costs, and what directory and all pieces cost. */
uint64_t bry__pieces_bytes_empty(uint64_t bytes);
uint64_t bry__pieces_bytes_full(uint64_t bytes);

/* Allocates the directory alone. BRY_E_NOMEM, also for sizes this machine cannot address. */
bry_status bry__pieces_init(bry__pieces *pieces, uint64_t bytes, const bry_allocator *allocator);
/* The same for pieces of 2^shift bytes, where one operation reaches many. */
uint64_t bry__pieces_bytes_empty_of(uint64_t bytes, unsigned shift);
uint64_t bry__pieces_bytes_full_of(uint64_t bytes, unsigned shift);
bry_status bry__pieces_init_of(bry__pieces *pieces, uint64_t bytes, unsigned shift,
                               const bry_allocator *allocator);
void bry__pieces_free(bry__pieces *pieces, const bry_allocator *allocator);

/* Frees all pieces, keeps the directory: the table is all zeros again. */
void bry__pieces_clear(bry__pieces *pieces, const bry_allocator *allocator);
/* The same in steps: frees at most `most` pieces, and returns how many. */
size_t bry__pieces_clear_some(bry__pieces *pieces, size_t most, const bry_allocator *allocator);

size_t bry__piece_size(const bry__pieces *pieces, size_t index);

/* Makes piece `index` present. BRY_E_NOMEM. */
bry_status bry__piece_reach(bry__pieces *pieces, size_t index, const bry_allocator *allocator);
/* The same, for a piece that is not there and that the caller clears. */
bry_status bry__piece_take(bry__pieces *pieces, size_t index, const bry_allocator *allocator);

/* Makes `to`, a table of the same size without pieces, the same as `from`. After BRY_E_NOMEM it has
 * some of them. */
bry_status bry__pieces_copy(bry__pieces *to, const bry__pieces *from,
                            const bry_allocator *allocator);

/* What is allocated now, the directory included. In constant time. */
uint64_t bry__pieces_bytes_now(const bry__pieces *pieces);

#endif
