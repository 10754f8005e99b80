/*
 * A large table in pieces of at most 4 MiB, each allocated and zeroed when it is first written.
 * Creating a huge table costs nothing, and no single operation zeroes more than one piece. A piece
 * that is not allocated reads as zeros.
 */
#ifndef BRY_COMMON_PIECES_H
#define BRY_COMMON_PIECES_H

#include "common/allocator.h"

#define BRY__PIECE_SHIFT 22
#define BRY__PIECE_BYTES ((size_t)1 << BRY__PIECE_SHIFT)

typedef struct bry__pieces {
    uint64_t bytes; /* of the whole table */
    unsigned shift; /* pieces have 2^shift bytes: BRY__PIECE_BYTES by default */
    size_t count; /* of pieces; only the last may be smaller */
    size_t present; /* pieces that are allocated */
    unsigned char **piece; /* NULL: not allocated yet */
} bry__pieces;

/* Bytes of the directory, and of the directory and all pieces. */
uint64_t bry__pieces_bytes_empty(uint64_t bytes);
uint64_t bry__pieces_bytes_full(uint64_t bytes);

/* Allocates only the directory. BRY_E_NOMEM, also for sizes that this machine cannot address. */
bry_status bry__pieces_init(bry__pieces *pieces, uint64_t bytes, const bry_allocator *allocator);
/* The same with pieces of 2^shift bytes, for tables where one operation writes to many of them. */
uint64_t bry__pieces_bytes_empty_of(uint64_t bytes, unsigned shift);
uint64_t bry__pieces_bytes_full_of(uint64_t bytes, unsigned shift);
bry_status bry__pieces_init_of(bry__pieces *pieces, uint64_t bytes, unsigned shift,
                               const bry_allocator *allocator);
void bry__pieces_free(bry__pieces *pieces, const bry_allocator *allocator);

/* Frees all pieces and keeps the directory: the table is all zeros again. */
void bry__pieces_clear(bry__pieces *pieces, const bry_allocator *allocator);
/* The same in steps: frees at most `most` pieces and returns how many. */
size_t bry__pieces_clear_some(bry__pieces *pieces, size_t most, const bry_allocator *allocator);

size_t bry__piece_size(const bry__pieces *pieces, size_t index);

/* Allocates piece `index` unless it is there. BRY_E_NOMEM. */
bry_status bry__piece_reach(bry__pieces *pieces, size_t index, const bry_allocator *allocator);
/* Allocates piece `index`, which must not be there, without zeroing it. BRY_E_NOMEM. */
bry_status bry__piece_alloc_uninit(bry__pieces *pieces, size_t index,
                                   const bry_allocator *allocator);

/* Copies `from` to `to`, a table of the same size without pieces. After BRY_E_NOMEM some pieces may
 * have been copied. */
bry_status bry__pieces_copy(bry__pieces *to, const bry__pieces *from,
                            const bry_allocator *allocator);

/* Bytes allocated now, including the directory. Constant time. */
uint64_t bry__pieces_bytes_now(const bry__pieces *pieces);

#endif
