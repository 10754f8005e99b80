#include "map/value_bytes.h"

#include <assert.h>
#include <string.h>

#define FIRST_PIECE ((size_t)16)
#define FEW_BYTES ((size_t)1024)

void bry__value_bytes_free(bry__value_bytes *values, const bry_allocator *allocator)
{
    for (size_t i = 0; i < values->pieces; i++)
        bry__free(allocator, values->piece[i].bytes, values->piece[i].room);
    bry__free(allocator, values->piece, values->room * sizeof *values->piece);
    *values = (bry__value_bytes){0};
}

bry_status bry__value_bytes_clone(const bry__value_bytes *values, bry__value_bytes *copy,
                                  const bry_allocator *allocator)
{
    bry__value_bytes made = *values;
    made.pieces = 0;
    made.piece = NULL;
    if (made.room) {
        made.piece = bry__alloc(allocator, made.room * sizeof *made.piece);
        if (!made.piece)
            return BRY_E_NOMEM;
    }
    for (; made.piece && made.pieces < values->pieces; made.pieces++) {
        bry__value_piece piece = values->piece[made.pieces];
        if (piece.bytes) {
            unsigned char *bytes = bry__alloc(allocator, piece.room);
            if (!bytes) {
                bry__value_bytes_free(&made, allocator);
                return BRY_E_NOMEM;
            }
            memcpy(bytes, piece.bytes, piece.used);
            piece.bytes = bytes;
        }
        made.piece[made.pieces] = piece;
    }
    *copy = made;
    return BRY_OK;
}

uint64_t bry__value_bytes_allocated(const bry__value_bytes *values)
{
    return values->room * sizeof *values->piece + values->allocated;
}

void *bry__reserve_element(void *array, size_t *room, size_t used, size_t size, size_t least,
                           const bry_allocator *allocator)
{
    if (used < *room)
        return array;
    size_t more = *room ? 2 * *room : least;
    if (more < *room || more > SIZE_MAX / size)
        return NULL;
    void *grown = bry__alloc(allocator, more * size);
    if (!grown)
        return NULL;
    if (array)
        memcpy(grown, array, used * size);
    bry__free(allocator, array, *room * size);
    *room = more;
    return grown;
}

/* Doubles a piece until it has room for len more bytes, which always fit a piece. */
static bry_status value_bytes_grow(bry__value_bytes *values, bry__value_piece *piece, size_t len,
                                   const bry_allocator *allocator)
{
    size_t room = piece->room;
    while (room < piece->used + len)
        room *= 2;
    unsigned char *grown = bry__alloc(allocator, room);
    if (!grown)
        return BRY_E_NOMEM;
    memcpy(grown, piece->bytes, piece->used);
    bry__free(allocator, piece->bytes, piece->room);
    values->allocated += room - piece->room;
    piece->bytes = grown;
    piece->room = room;
    return BRY_OK;
}

/* Whether it should be emptied instead of enlarged. */
static bool value_bytes_has_gaps(const bry__value_piece *piece)
{
    return piece->used > FEW_BYTES && 2 * piece->live <= piece->used;
}

/* A number for a new piece: that of a freed one, or the next. */
static size_t value_bytes_free_number(const bry__value_bytes *values)
{
    assert(values->pieces == 0 || values->piece);
    size_t i = 0;
    while (i < values->pieces && values->piece[i].bytes)
        i++;
    return i;
}

static bry_status open_piece(bry__value_bytes *values, size_t len, const bry_allocator *allocator)
{
    size_t i = value_bytes_free_number(values);
    bry__value_piece *list =
        bry__reserve_element(values->piece, &values->room, i, sizeof *list, 1, allocator);
    if (!list)
        return BRY_E_NOMEM;
    values->piece = list;
    size_t room = FIRST_PIECE;
    while (room < len || (room < BRY__VALUE_PIECE && room < values->live))
        room *= 2;
    unsigned char *bytes = bry__alloc(allocator, room);
    if (!bytes)
        return BRY_E_NOMEM;
    values->piece[i] = (bry__value_piece){bytes, room, 0, 0};
    values->pieces += i == values->pieces;
    values->open = i;
    values->allocated += room;
    return BRY_OK;
}

void bry__value_bytes_leave(bry__value_bytes *values, const bry_allocator *allocator)
{
    const bry__value_piece *open = values->pieces ? &values->piece[values->open] : NULL;
    if (open && open->live > 0 && open->live < open->used)
        (void)open_piece(values, 0, allocator);
}

bry_status bry__value_bytes_reserve(bry__value_bytes *values, size_t len,
                                    const bry_allocator *allocator)
{
    bry__value_piece *open = values->pieces ? &values->piece[values->open] : NULL;
    if (open && len <= open->room - open->used)
        return BRY_OK;
    if (open && open->used + len <= BRY__VALUE_PIECE && !value_bytes_has_gaps(open))
        return value_bytes_grow(values, open, len, allocator);
    return open_piece(values, len, allocator);
}

uint64_t bry__value_bytes_put(bry__value_bytes *values, const void *bytes, size_t len)
{
    bry__value_piece *open = &values->piece[values->open];
    uint64_t place = (uint64_t)values->open << BRY__VALUE_PIECE_SHIFT | open->used;
    if (len)
        memcpy(open->bytes + open->used, bytes, len);
    open->used += len;
    open->live += len;
    values->used += len;
    values->live += len;
    return place;
}

void bry__value_bytes_drop(bry__value_bytes *values, uint64_t place, size_t len,
                           const bry_allocator *allocator)
{
    size_t i = (size_t)(place >> BRY__VALUE_PIECE_SHIFT), at = place & (BRY__VALUE_PIECE - 1);
    bry__value_piece *piece = &values->piece[i];
    piece->live -= len;
    values->live -= len;
    if (piece->live > 0 && at + len != piece->used)
        return;
    size_t used = piece->live > 0 ? at : 0; /* its last value was dropped, or all of them */
    values->used -= piece->used - used;
    piece->used = used;
    if (used > 0 || i == values->open)
        return;
    values->allocated -= piece->room;
    bry__free(allocator, piece->bytes, piece->room);
    *piece = (bry__value_piece){0};
}
