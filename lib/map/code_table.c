#include "map/code_table.h"

#include "map/value_bytes.h"

#include <string.h>

#define FIRST_ROOM ((size_t)2)

/* ---- pieces -------------------------------------------------------------------------------- */

/* Entries of a piece: a single first piece may be smaller. */
static size_t code_piece_room(const bry__code_table *table)
{
    return table->pieces == 1 ? table->room : BRY__CODES_PIECE;
}

bry_status bry__code_table_reserve(bry__code_table *table, const bry_allocator *allocator)
{
    if (table->codes < table->room)
        return BRY_OK;
    if (table->pieces == 1 && table->room < BRY__CODES_PIECE) {
        bry__code_entry *grown = bry__reserve_element(
            table->piece[0].entry, &table->room, table->room, sizeof *grown, FIRST_ROOM, allocator);
        if (grown)
            table->piece[0].entry = grown;
        return grown ? BRY_OK : BRY_E_NOMEM;
    }
    bry__code_piece *list = bry__reserve_element(table->piece, &table->piece_room, table->pieces,
                                                 sizeof *list, 1, allocator);
    if (!list)
        return BRY_E_NOMEM;
    table->piece = list;
    size_t room = table->pieces == 0 ? FIRST_ROOM : BRY__CODES_PIECE;
    bry__code_entry *entry = bry__alloc(allocator, room * sizeof *entry);
    if (!entry)
        return BRY_E_NOMEM;
    list[table->pieces++] = (bry__code_piece){.entry = entry, .from = BRY__CODES_PIECE};
    table->room += room;
    return BRY_OK;
}

bry_status bry__code_table_clone(const bry__code_table *table, bry__code_table *copy,
                                 const bry_allocator *allocator)
{
    bry__code_table made = *table;
    size_t size = code_piece_room(table) * sizeof(bry__code_entry);
    made.pieces = 0;
    made.piece = NULL;
    if (table->pieces == 0)
        return BRY_OK;
    made.piece = bry__alloc(allocator, made.piece_room * sizeof *made.piece);
    if (!made.piece)
        return BRY_E_NOMEM;
    for (; made.pieces < table->pieces; made.pieces++) {
        made.piece[made.pieces] = table->piece[made.pieces];
        bry__code_entry *entry = bry__alloc_buffer(allocator, size);
        if (!entry) {
            made.room = made.pieces * (size / sizeof *entry);
            bry__code_table_free(&made, allocator);
            return BRY_E_NOMEM;
        }
        made.piece[made.pieces].entry = memcpy(entry, table->piece[made.pieces].entry, size);
    }
    *copy = made;
    return BRY_OK;
}

void bry__code_table_free(bry__code_table *table, const bry_allocator *allocator)
{
    size_t size = code_piece_room(table) * sizeof(bry__code_entry);
    for (size_t i = 0; i < table->pieces; i++)
        bry__free(allocator, table->piece[i].entry, size);
    bry__free(allocator, table->piece, table->piece_room * sizeof *table->piece);
    *table = (bry__code_table){0};
}

uint64_t bry__code_table_bytes(const bry__code_table *table)
{
    return table->room * sizeof(bry__code_entry) + table->piece_room * sizeof *table->piece;
}

/* ---- free codes ---------------------------------------------------------------------------- */

void bry__code_table_release(bry__code_table *table, uint64_t code)
{
    size_t i = (size_t)(code >> BRY__CODES_SHIFT);
    uint32_t at = (uint32_t)(code & (BRY__CODES_PIECE - 1));
    bry__code_piece *piece = &table->piece[i];
    bry__code_set_word(&piece->entry[at], BRY__CODE_FREE);
    piece->entry[at].uses = 0;
    piece->free++;
    table->free++;
    if (at < piece->from)
        piece->from = at;
    if (i < table->lowest)
        table->lowest = i;
}

void bry__code_table_take(bry__code_table *table, uint64_t code, uint64_t word)
{
    bry__code_set_word(bry__code_entry_of(table, code), word);
    table->piece[code >> BRY__CODES_SHIFT].free--;
    table->free--;
}

void bry__code_table_append(bry__code_table *table)
{
    bry__code_table_release(table, table->codes++);
}

void bry__code_table_trim(bry__code_table *table, const bry_allocator *allocator)
{
    while (table->pieces > 2 && table->codes + 2 * BRY__CODES_PIECE <= table->room) {
        bry__free(allocator, table->piece[--table->pieces].entry,
                  BRY__CODES_PIECE * sizeof(bry__code_entry));
        table->room -= BRY__CODES_PIECE;
    }
}

uint32_t bry__code_table_first_free(bry__code_table *table)
{
    while (table->piece[table->lowest].free == 0)
        table->lowest++;
    bry__code_piece *piece = &table->piece[table->lowest];
    while (!bry__code_is_free(&piece->entry[piece->from]))
        piece->from++;
    return (uint32_t)(table->lowest << BRY__CODES_SHIFT | piece->from);
}
