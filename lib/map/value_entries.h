/*
 * For each code of a dictionary a word and its count of keys, in pieces of 96 KiB, so that adding a
 * value never moves all of them. Only the first piece doubles until it has that size.
 *
 * The dictionary decides which codes are free; this file counts them, so that the smallest is found
 * without a list.
 */
#ifndef BRY_MAP_VALUE_ENTRIES_H
#define BRY_MAP_VALUE_ENTRIES_H

#include "common/allocator.h"

#define BRY__ENTRIES_SHIFT 13u
#define BRY__ENTRIES_PIECE ((size_t)1 << BRY__ENTRIES_SHIFT)
#define BRY__ENTRY_BYTES (sizeof(uint64_t) + sizeof(uint32_t))
#define BRY__ENTRY_FREE ((uint64_t)1 << 63) /* in the word */

typedef struct bry__entries_piece {
    uint64_t *word; /* one per code; the counts follow the last */
    uint32_t free; /* number of free codes */
    uint32_t from; /* no code before this one is free */
} bry__entries_piece;

typedef struct bry__value_entries {
    bry__entries_piece *piece;
    size_t pieces, piece_room; /* of the list */
    size_t room; /* entries */
    size_t lowest; /* no piece before this one has a free code */
} bry__value_entries;

static inline uint64_t *bry__value_entry(const bry__value_entries *entries, uint64_t code)
{
    return &entries->piece[code >> BRY__ENTRIES_SHIFT].word[code & (BRY__ENTRIES_PIECE - 1)];
}

/* The number of keys with the code; a count of UINT32_MAX stays there. */
static inline uint32_t *bry__value_uses(const bry__value_entries *entries, uint64_t code)
{
    size_t room = entries->pieces == 1 ? entries->room : BRY__ENTRIES_PIECE;
    uint64_t *word = entries->piece[code >> BRY__ENTRIES_SHIFT].word;
    return (uint32_t *)(void *)(word + room) + (code & (BRY__ENTRIES_PIECE - 1));
}

/* Makes room for at least one more than `used`; the first time, for exactly `exactly` if that is
 * less than a piece. BRY_E_NOMEM: unchanged. */
bry_status bry__value_entries_reserve(bry__value_entries *entries, size_t used, size_t exactly,
                                      const bry_allocator *allocator);

/* Frees memory that `used` entries do not need, except one piece. */
void bry__value_entries_trim(bry__value_entries *entries, size_t used,
                             const bry_allocator *allocator);

/* Sets the word to BRY__ENTRY_FREE and the count to 0. */
void bry__value_entry_free(bry__value_entries *entries, uint64_t code);

/* Marks the code as used; it was free, or beyond the last. The caller sets its word. */
void bry__value_entry_take(bry__value_entries *entries, uint64_t code);

/* The smallest free code; there must be one. */
uint64_t bry__value_entries_first_free(bry__value_entries *entries);

void bry__value_entries_free(bry__value_entries *entries, const bry_allocator *allocator);
uint64_t bry__value_entries_allocated(const bry__value_entries *entries);

#endif
