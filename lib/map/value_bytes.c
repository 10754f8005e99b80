#include "map/value_bytes.h"

#include <string.h>

#define FIRST_PIECE ((size_t)256)

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
    bry__value_bytes made = {.room = values->room};
    if (made.room) {
        made.piece = bry__alloc(allocator, made.room * sizeof *made.piece);
        if (!made.piece)
            return BRY_E_NOMEM;
    }
    for (; made.piece && made.pieces < values->pieces; made.pieces++) {
        bry__value_piece piece = values->piece[made.pieces];
        unsigned char *bytes = bry__alloc(allocator, piece.room);
        if (!bytes) {
            bry__value_bytes_free(&made, allocator);
            return BRY_E_NOMEM;
        }
        memcpy(bytes, piece.bytes, piece.used);
        made.piece[made.pieces] = (bry__value_piece){bytes, piece.room, piece.used};
    }
    *copy = made;
    return BRY_OK;
}

uint64_t bry__value_bytes_allocated(const bry__value_bytes *values)
{
    uint64_t bytes = values->room * sizeof *values->piece;
    for (size_t i = 0; i < values->pieces; i++)
        bytes += values->piece[i].room;
    return bytes;
}

uint64_t bry__value_bytes_used(const bry__value_bytes *values)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < values->pieces; i++)
        bytes += values->piece[i].used;
    return bytes;
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

/* Doubles a piece until it has room for len more bytes, which are not too many for any. */
static bry_status grow(bry__value_piece *piece, size_t len, const bry_allocator *allocator)
{
    size_t room = piece->room;
    while (room < piece->used + len)
        room *= 2;
    unsigned char *grown = bry__alloc(allocator, room);
    if (!grown)
        return BRY_E_NOMEM;
    memcpy(grown, piece->bytes, piece->used);
    bry__free(allocator, piece->bytes, piece->room);
    piece->bytes = grown;
    piece->room = room;
    return BRY_OK;
}

bry_status bry__value_bytes_reserve(bry__value_bytes *values, size_t len,
                                    const bry_allocator *allocator)
{
    bry__value_piece *last = values->pieces ? &values->piece[values->pieces - 1] : NULL;
    if (last && len <= last->room - last->used)
        return BRY_OK;
    if (last && last->used + len <= BRY__VALUE_PIECE)
        return grow(last, len, allocator);

    bry__value_piece *piece = bry__reserve_element(values->piece, &values->room, values->pieces,
                                                   sizeof *piece, 4, allocator);
    if (!piece)
        return BRY_E_NOMEM;
    values->piece = piece;
    size_t room = values->pieces ? BRY__VALUE_PIECE : FIRST_PIECE;
    while (room < len)
        room *= 2;
    unsigned char *bytes = bry__alloc(allocator, room);
    if (!bytes)
        return BRY_E_NOMEM;
    values->piece[values->pieces++] = (bry__value_piece){bytes, room, 0};
    return BRY_OK;
}

uint64_t bry__value_bytes_put(bry__value_bytes *values, const void *bytes, size_t len)
{
    size_t i = values->pieces - 1;
    bry__value_piece *last = &values->piece[i];
    uint64_t place = (uint64_t)i << BRY__VALUE_PIECE_SHIFT | last->used;
    if (len)
        memcpy(last->bytes + last->used, bytes, len);
    last->used += len;
    return place;
}
