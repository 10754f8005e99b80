#include "map/value_entries.h"

#include "map/value_bytes.h"

#include <string.h>

#define FIRST_ROOM ((size_t)16)

/* Of each piece: a first that is alone may be smaller. */
static size_t room_of(const bry__value_entries *entries)
{
    return entries->pieces == 1 ? entries->room : BRY__ENTRIES_PIECE;
}

static bry_status grow_first(bry__value_entries *entries, const bry_allocator *allocator)
{
    size_t room = 2 * entries->room;
    if (room > BRY__ENTRIES_PIECE)
        room = BRY__ENTRIES_PIECE;
    uint64_t *grown = bry__alloc(allocator, room * sizeof *grown);
    if (!grown)
        return BRY_E_NOMEM;
    memcpy(grown, entries->piece[0], entries->room * sizeof *grown);
    bry__free(allocator, entries->piece[0], entries->room * sizeof *grown);
    entries->piece[0] = grown;
    entries->room = room;
    return BRY_OK;
}

static bry_status add_piece(bry__value_entries *entries, size_t room,
                            const bry_allocator *allocator)
{
    uint64_t **list = bry__reserve_element(entries->piece, &entries->piece_room, entries->pieces,
                                           sizeof *list, 1, allocator);
    if (!list)
        return BRY_E_NOMEM;
    entries->piece = list;
    uint64_t *piece = bry__alloc(allocator, room * sizeof *piece);
    if (!piece)
        return BRY_E_NOMEM;
    entries->piece[entries->pieces++] = piece;
    entries->room += room;
    return BRY_OK;
}

bry_status bry__value_entries_reserve(bry__value_entries *entries, size_t used, size_t exactly,
                                      const bry_allocator *allocator)
{
    if (used < entries->room)
        return BRY_OK;
    if (entries->pieces == 1 && entries->room < BRY__ENTRIES_PIECE)
        return grow_first(entries, allocator);
    size_t first = exactly ? exactly : FIRST_ROOM;
    return add_piece(
        entries, entries->pieces == 0 && first < BRY__ENTRIES_PIECE ? first : BRY__ENTRIES_PIECE,
        allocator);
}

void bry__value_entries_free(bry__value_entries *entries, const bry_allocator *allocator)
{
    size_t room = room_of(entries);
    for (size_t i = 0; i < entries->pieces; i++)
        bry__free(allocator, entries->piece[i], room * sizeof **entries->piece);
    bry__free(allocator, entries->piece, entries->piece_room * sizeof *entries->piece);
    *entries = (bry__value_entries){0};
}

uint64_t bry__value_entries_allocated(const bry__value_entries *entries)
{
    return entries->room * sizeof **entries->piece + entries->piece_room * sizeof *entries->piece;
}
