/*
 * The dictionary's hash table: value → code. dictionary_index.c explains.
 *
 *   word of an entry   63     free
 *                      62     new: assigned by a call that is still running
 *                      61     which of two indexes has the code
 *                      16–60  place of the bytes
 *                      0–15   length
 */
#ifndef BRY_MAP_DICTIONARY_INDEX_H
#define BRY_MAP_DICTIONARY_INDEX_H

#include "map/dictionary.h"

#include <string.h>

#define BRY__LENGTH_BITS 16u
#define BRY__LENGTH_MASK (((uint64_t)1 << BRY__LENGTH_BITS) - 1)
#define BRY__PLACE_BITS 45u

static inline size_t bry__word_length(uint64_t word)
{
    return (size_t)(word & BRY__LENGTH_MASK);
}

static inline uint64_t bry__word_place(uint64_t word)
{
    return word >> BRY__LENGTH_BITS & (((uint64_t)1 << BRY__PLACE_BITS) - 1);
}

static inline const unsigned char *bry__word_bytes(const bry__dictionary *dictionary, uint64_t word)
{
    return bry__value_bytes_at(&dictionary->bytes, bry__word_place(word));
}

static inline uint64_t bry__dictionary_word(const bry__dictionary *dictionary, uint64_t code)
{
    return bry__code_word(bry__code_entry_of(&dictionary->table, code));
}

uint64_t bry__value_index_hash(const bry__dictionary *dictionary, const void *bytes, size_t len);

/* The hashes of at most BRY__DICTIONARY_ROUND values; prefetches what their look-ups will read. */
void bry__value_index_prepare(const bry__dictionary *dictionary, const bry_map_value *values,
                              size_t n, uint64_t *hashes);

/* ---- asking -------------------------------------------------------------------------------- */

#define BRY__NO_CODE UINT32_MAX
#define BRY__INDEX_PIECE_SHIFT 16u

static inline uint64_t bry__value_index_last(const bry__value_index *index)
{
    return ((uint64_t)1 << index->bits) - 1;
}

static inline uint64_t bry__value_index_home(const bry__value_index *index, uint64_t hash)
{
    return hash >> (64 - index->bits);
}

/* The slot without the code. */
static inline uint32_t bry__value_index_tag(const bry__value_index *index, uint64_t hash)
{
    return (uint32_t)hash & ~(uint32_t)bry__value_index_last(index);
}

static inline uint32_t *bry__value_index_slot(const bry__value_index *index, uint64_t slot)
{
    unsigned char *piece = index->slots.piece[slot >> (BRY__INDEX_PIECE_SHIFT - 2)];
    return (uint32_t *)(void *)piece + (slot & ((1u << (BRY__INDEX_PIECE_SHIFT - 2)) - 1));
}

/* The next code, from place *at on, that may have the hash; BRY__NO_CODE: no other has. */
static inline uint32_t bry__value_index_next(const bry__value_index *index, uint64_t *at,
                                             uint64_t hash)
{
    uint32_t last = (uint32_t)bry__value_index_last(index), tag = bry__value_index_tag(index, hash);
    for (;;) {
        const uint32_t *slot = bry__value_index_slot(index, *at);
        if (*slot == 0)
            return BRY__NO_CODE;
        *at = (*at + 1) & last;
        if ((*slot & ~last) == tag)
            return (*slot & last) - 1;
    }
}

static inline bool bry__value_index_find_in(const bry__dictionary *dictionary,
                                            const bry__value_index *index, uint64_t hash,
                                            const void *bytes, size_t len, uint32_t *code)
{
    uint64_t at = bry__value_index_home(index, hash);
    for (uint32_t found; (found = bry__value_index_next(index, &at, hash)) != BRY__NO_CODE;) {
        uint64_t word = found < dictionary->table.codes ? bry__dictionary_word(dictionary, found)
                                                        : BRY__CODE_FREE;
        if (((word ^ len) & (BRY__CODE_FREE | BRY__LENGTH_MASK)) == 0 &&
            (len == 0 || memcmp(bry__word_bytes(dictionary, word), bytes, len) == 0)) {
            *code = found;
            return true;
        }
    }
    return false;
}

/* The code of the value with this hash; false if it has none. */
static inline bool bry__value_index_find(const bry__dictionary *dictionary, uint64_t hash,
                                         const void *bytes, size_t len, uint32_t *code)
{
    return (dictionary->index.bits &&
            bry__value_index_find_in(dictionary, &dictionary->index, hash, bytes, len, code)) ||
           (dictionary->moves &&
            bry__value_index_find_in(dictionary, &dictionary->other, hash, bytes, len, code));
}

/* ---- changing ------------------------------------------------------------------------------ */

/* Makes room for one more code. BRY_E_NOMEM. */
bry_status bry__value_index_reserve(bry__dictionary *dictionary);

/* Adds a code with this hash, for which there is room; removes one, whose value is still there. */
void bry__value_index_add(bry__dictionary *dictionary, uint32_t code, uint64_t hash);
void bry__value_index_remove(bry__dictionary *dictionary, uint32_t code);

/* Begins a smaller index if there are few codes, unless memory is short. */
void bry__value_index_shrink(bry__dictionary *dictionary);

/* `copy` has no index and its own allocator. BRY_E_NOMEM. */
bry_status bry__value_index_clone(const bry__dictionary *dictionary, bry__dictionary *copy);
void bry__value_index_free(bry__dictionary *dictionary);
uint64_t bry__value_index_bytes(const bry__dictionary *dictionary);

#endif
