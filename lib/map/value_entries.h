/*
 * A word for each code of a dictionary, in pieces of 64 KiB, so that no single value pays for the
 * moving of all. A first piece alone doubles until it has that size.
 */
#ifndef BRY_MAP_VALUE_ENTRIES_H
#define BRY_MAP_VALUE_ENTRIES_H

#include "common/allocator.h"

#define BRY__ENTRIES_SHIFT 13u
#define BRY__ENTRIES_PIECE ((size_t)1 << BRY__ENTRIES_SHIFT)

typedef struct bry__value_entries {
    uint64_t **piece;
    size_t pieces, piece_room; /* of the list */
    size_t room; /* entries */
} bry__value_entries;

static inline uint64_t *bry__value_entry(const bry__value_entries *entries, uint64_t code)
{
    return &entries->piece[code >> BRY__ENTRIES_SHIFT][code & (BRY__ENTRIES_PIECE - 1)];
}

/* Makes room for at least one more than `used`; or, from nothing, for exactly so many where that is
 * less than a piece. BRY_E_NOMEM: as it was. */
bry_status bry__value_entries_reserve(bry__value_entries *entries, size_t used, size_t exactly,
                                      const bry_allocator *allocator);

void bry__value_entries_free(bry__value_entries *entries, const bry_allocator *allocator);
uint64_t bry__value_entries_allocated(const bry__value_entries *entries);

#endif
