/*
 * For each code of a dictionary a word and how many keys carry it, in pieces of 96 KiB, so that no
 * single value pays for the moving of all. A first piece alone doubles until it has that size.
 *
 * Which codes are free is the dictionary's to say and counted here, so that the smallest is found
 * without a list of them.
 */
#ifndef BRY_MAP_VALUE_ENTRIES_H
#define BRY_MAP_VALUE_ENTRIES_H

#include "common/allocator.h"

#define BRY__ENTRIES_SHIFT 13u
#define BRY__ENTRIES_PIECE ((size_t)1 << BRY__ENTRIES_SHIFT)
#define BRY__ENTRY_BYTES (sizeof(uint64_t) + sizeof(uint32_t))
#define BRY__ENTRY_FREE ((uint64_t)1 << 63) /* in the word */

typedef struct bry__entries_piece {
    uint64_t *word; /* of each code; the counts stand behind the last */
    uint32_t free; /* codes that are */
    uint32_t from; /* none before this one is */
} bry__entries_piece;

typedef struct bry__value_entries {
    bry__entries_piece *piece;
    size_t pieces, piece_room; /* of the list */
    size_t room; /* entries */
    size_t lowest; /* piece before which none has a free code */
} bry__value_entries;

static inline uint64_t *bry__value_entry(const bry__value_entries *entries, uint64_t code)
{
    return &entries->piece[code >> BRY__ENTRIES_SHIFT].word[code & (BRY__ENTRIES_PIECE - 1)];
}

/* Keys that carry the code; a count of UINT32_MAX has ended counting. */
static inline uint32_t *bry__value_uses(const bry__value_entries *entries, uint64_t code)
{
    size_t room = entries->pieces == 1 ? entries->room : BRY__ENTRIES_PIECE;
    uint64_t *word = entries->piece[code >> BRY__ENTRIES_SHIFT].word;
    return (uint32_t *)(void *)(word + room) + (code & (BRY__ENTRIES_PIECE - 1));
}

/* Makes room for at least one more than `used`; or, from nothing, for exactly so many where that is
 * less than a piece. BRY_E_NOMEM: as it was. */
bry_status bry__value_entries_reserve(bry__value_entries *entries, size_t used, size_t exactly,
                                      const bry_allocator *allocator);

/* Gives memory back that `used` entries do not need, but for one piece. */
void bry__value_entries_trim(bry__value_entries *entries, size_t used,
                             const bry_allocator *allocator);

/* The word becomes BRY__ENTRY_FREE and its count 0. */
void bry__value_entry_free(bry__value_entries *entries, uint64_t code);

/* The code is not free any more, or beyond the last: the caller sets its word. */
void bry__value_entry_take(bry__value_entries *entries, uint64_t code);

/* The smallest free code; there is one. */
uint64_t bry__value_entries_first_free(bry__value_entries *entries);

void bry__value_entries_free(bry__value_entries *entries, const bry_allocator *allocator);
uint64_t bry__value_entries_allocated(const bry__value_entries *entries);

#endif
