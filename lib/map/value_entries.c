#include "map/value_entries.h"

#include "map/value_bytes.h"

#include <string.h>

#define FIRST_ROOM ((size_t)2)

/* Entries per piece: a single first piece may be smaller. */
static size_t value_entries_room_of(const bry__value_entries *entries)
{
    return entries->pieces == 1 ? entries->room : BRY__ENTRIES_PIECE;
}

static bry_status grow_first(bry__value_entries *entries, const bry_allocator *allocator)
{
    size_t room = 2 * entries->room;
    if (room > BRY__ENTRIES_PIECE)
        room = BRY__ENTRIES_PIECE;
    uint64_t *grown = bry__alloc(allocator, room * BRY__ENTRY_BYTES);
    if (!grown)
        return BRY_E_NOMEM;
    uint64_t *old = entries->piece[0].word;
    memcpy(grown, old, entries->room * sizeof *grown);
    memcpy(grown + room, old + entries->room, entries->room * sizeof(uint32_t));
    bry__free(allocator, old, entries->room * BRY__ENTRY_BYTES);
    entries->piece[0].word = grown;
    entries->room = room;
    return BRY_OK;
}

static bry_status value_entries_add_piece(bry__value_entries *entries, size_t room,
                                          const bry_allocator *allocator)
{
    bry__entries_piece *list = bry__reserve_element(entries->piece, &entries->piece_room,
                                                    entries->pieces, sizeof *list, 1, allocator);
    if (!list)
        return BRY_E_NOMEM;
    entries->piece = list;
    uint64_t *word = bry__alloc(allocator, room * BRY__ENTRY_BYTES);
    if (!word)
        return BRY_E_NOMEM;
    entries->piece[entries->pieces++] =
        (bry__entries_piece){.word = word, .from = BRY__ENTRIES_PIECE};
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
    return value_entries_add_piece(
        entries, entries->pieces == 0 && first < BRY__ENTRIES_PIECE ? first : BRY__ENTRIES_PIECE,
        allocator);
}

void bry__value_entries_trim(bry__value_entries *entries, size_t used,
                             const bry_allocator *allocator)
{
    while (entries->pieces > 2 && used + 2 * BRY__ENTRIES_PIECE <= entries->room) {
        bry__free(allocator, entries->piece[--entries->pieces].word,
                  BRY__ENTRIES_PIECE * BRY__ENTRY_BYTES);
        entries->room -= BRY__ENTRIES_PIECE;
    }
}

/* ---- free codes ---------------------------------------------------------------------------- */

void bry__value_entry_free(bry__value_entries *entries, uint64_t code)
{
    size_t i = (size_t)(code >> BRY__ENTRIES_SHIFT);
    uint32_t at = (uint32_t)(code & (BRY__ENTRIES_PIECE - 1));
    bry__entries_piece *piece = &entries->piece[i];
    piece->word[at] = BRY__ENTRY_FREE;
    *bry__value_uses(entries, code) = 0;
    piece->free++;
    if (at < piece->from)
        piece->from = at;
    if (i < entries->lowest)
        entries->lowest = i;
}

void bry__value_entry_take(bry__value_entries *entries, uint64_t code)
{
    entries->piece[code >> BRY__ENTRIES_SHIFT].free--;
}

uint64_t bry__value_entries_first_free(bry__value_entries *entries)
{
    size_t i = entries->lowest;
    while (entries->piece[i].free == 0)
        i++;
    entries->lowest = i;
    bry__entries_piece *piece = &entries->piece[i];
    while (!(piece->word[piece->from] & BRY__ENTRY_FREE))
        piece->from++;
    return (uint64_t)i << BRY__ENTRIES_SHIFT | piece->from;
}

/* ---- memory -------------------------------------------------------------------------------- */

void bry__value_entries_free(bry__value_entries *entries, const bry_allocator *allocator)
{
    size_t room = value_entries_room_of(entries);
    for (size_t i = 0; i < entries->pieces; i++)
        bry__free(allocator, entries->piece[i].word, room * BRY__ENTRY_BYTES);
    bry__free(allocator, entries->piece, entries->piece_room * sizeof *entries->piece);
    *entries = (bry__value_entries){0};
}

uint64_t bry__value_entries_allocated(const bry__value_entries *entries)
{
    return entries->room * BRY__ENTRY_BYTES + entries->piece_room * sizeof *entries->piece;
}
