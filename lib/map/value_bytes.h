/*
 * The bytes of a dictionary's values, one after the other in pieces of 128 KiB, so that the longest
 * value fits and large dictionaries never move; if the values take less than that, pieces are
 * smaller and double as they fill. No value straddles two pieces.
 *
 * New values go to one piece, the open one. A piece whose values are all gone is freed; the
 * dictionary empties pieces that are mostly gaps, a few values at a time.
 */
#ifndef BRY_MAP_VALUE_BYTES_H
#define BRY_MAP_VALUE_BYTES_H

#include "common/allocator.h"

#define BRY__VALUE_PIECE_SHIFT 17u
#define BRY__VALUE_PIECE ((size_t)1 << BRY__VALUE_PIECE_SHIFT)

typedef struct bry__value_piece {
    unsigned char *bytes; /* NULL: freed */
    size_t room, used;
    size_t live; /* of the used ones */
} bry__value_piece;

typedef struct bry__value_bytes {
    bry__value_piece *piece;
    size_t pieces, room; /* room: for pieces */
    size_t open; /* where the next value goes, if there are pieces */
    uint64_t allocated, used, live; /* of all pieces */
} bry__value_bytes;

void bry__value_bytes_free(bry__value_bytes *values, const bry_allocator *allocator);
bry_status bry__value_bytes_clone(const bry__value_bytes *values, bry__value_bytes *copy,
                                  const bry_allocator *allocator);
uint64_t bry__value_bytes_allocated(const bry__value_bytes *values);

/* Makes room for len more bytes, at most BRY__VALUE_PIECE. BRY_E_NOMEM. */
bry_status bry__value_bytes_reserve(bry__value_bytes *values, size_t len,
                                    const bry_allocator *allocator);

/* Opens another piece if the open one has gaps, so that it can be emptied too; not if memory is
 * short. */
void bry__value_bytes_leave(bry__value_bytes *values, const bry_allocator *allocator);

/* Appends len bytes, for which there is room; returns their place. */
uint64_t bry__value_bytes_put(bry__value_bytes *values, const void *bytes, size_t len);

/* Drops the bytes at this place. */
void bry__value_bytes_drop(bry__value_bytes *values, uint64_t place, size_t len,
                           const bry_allocator *allocator);

static inline const unsigned char *bry__value_bytes_at(const bry__value_bytes *values,
                                                       uint64_t place)
{
    return values->piece[place >> BRY__VALUE_PIECE_SHIFT].bytes + (place & (BRY__VALUE_PIECE - 1));
}

/* Whether 1/one_of or more of the piece of this place is gaps; false for the open piece. */
static inline bool bry__value_bytes_sparse(const bry__value_bytes *values, uint64_t place,
                                           unsigned one_of)
{
    size_t i = (size_t)(place >> BRY__VALUE_PIECE_SHIFT);
    const bry__value_piece *piece = &values->piece[i];
    return i != values->open && one_of * (piece->used - piece->live) >= piece->used;
}

/* The array with room for one more element, doubled if needed; NULL if out of memory, and the array
 * is unchanged. */
void *bry__reserve_element(void *array, size_t *room, size_t used, size_t size, size_t least,
                           const bry_allocator *allocator);

#endif
