/*
 * The codes of a dictionary: an entry for each, in pieces of 96 KiB, so that adding a value never
 * moves all of them. Only the first piece doubles until it has that size.
 *
 * The dictionary decides which codes are free; this file counts them, so that the smallest is found
 * without a list.
 */
#ifndef BRY_MAP_CODE_TABLE_H
#define BRY_MAP_CODE_TABLE_H

#include "common/allocator.h"

#define BRY__CODES_SHIFT 13u
#define BRY__CODES_PIECE ((size_t)1 << BRY__CODES_SHIFT)

typedef struct bry__code_entry {
    uint32_t low, high; /* of the word, so that entries need no padding */
    uint32_t uses; /* number of keys with the code; a count of UINT32_MAX stays there */
} bry__code_entry;

typedef struct bry__code_piece {
    bry__code_entry *entry;
    uint32_t free; /* number of free codes */
    uint32_t from; /* no code before this one is free */
} bry__code_piece;

typedef struct bry__code_table {
    bry__code_piece *piece;
    size_t pieces, piece_room; /* of the list */
    size_t room; /* entries */
    size_t lowest; /* no piece before this one has a free code */
    uint64_t codes; /* 0 to codes - 1 are assigned or free */
    uint64_t free; /* number of free codes */
} bry__code_table;

static inline bry__code_entry *bry__code_entry_of(const bry__code_table *table, uint64_t code)
{
    return &table->piece[code >> BRY__CODES_SHIFT].entry[code & (BRY__CODES_PIECE - 1)];
}

/* Bits of the word; the dictionary explains it. */
#define BRY__CODE_FREE ((uint64_t)1 << 63)
#define BRY__CODE_NEW ((uint64_t)1 << 62)

static inline bool bry__code_is_free(const bry__code_entry *entry)
{
    return entry->high & (uint32_t)(BRY__CODE_FREE >> 32);
}

static inline void bry__code_confirm(bry__code_entry *entry)
{
    entry->high &= ~(uint32_t)(BRY__CODE_NEW >> 32);
}

static inline uint64_t bry__code_word(const bry__code_entry *entry)
{
    return (uint64_t)entry->high << 32 | entry->low;
}

static inline void bry__code_set_word(bry__code_entry *entry, uint64_t word)
{
    entry->low = (uint32_t)word;
    entry->high = (uint32_t)(word >> 32);
}

/* Makes room for one more code. BRY_E_NOMEM: unchanged. */
bry_status bry__code_table_reserve(bry__code_table *table, const bry_allocator *allocator);

/* Appends a code, for which there is room; it is free. */
void bry__code_table_append(bry__code_table *table);

/* Frees memory that the codes do not need, except two pieces. */
void bry__code_table_trim(bry__code_table *table, const bry_allocator *allocator);

/* The smallest free code; there must be one. */
uint32_t bry__code_table_first_free(bry__code_table *table);

/* Assigns a free code; frees a code and sets its count to 0. */
void bry__code_table_take(bry__code_table *table, uint64_t code, uint64_t word);
void bry__code_table_release(bry__code_table *table, uint64_t code);

/* `copy` is empty; on BRY_E_NOMEM it stays so. */
bry_status bry__code_table_clone(const bry__code_table *table, bry__code_table *copy,
                                 const bry_allocator *allocator);
void bry__code_table_free(bry__code_table *table, const bry_allocator *allocator);
uint64_t bry__code_table_bytes(const bry__code_table *table);

#endif
