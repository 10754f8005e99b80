/*
 * Values are byte strings of which many keys share a few. Each distinct one has a code, and only
 * codes are stored under keys.
 *
 *   value ──hash──► index ──► code ──compare with the bytes──► code       dictionary_index.c
 *   code  ──► entry[code]: place, length ──► bytes         code_table.h, value_bytes.h
 *
 * With compact each code also has a reference count, and its value is freed with the last key that
 * uses it; with kbf keys cannot be counted, and codes are reused when the map is empty. The
 * smallest free code is assigned first, and free codes at the end are dropped, up to 64 for each
 * code that is freed: so a loaded map behaves exactly as the one that was saved.
 *
 * Freed values leave gaps. If the gaps are larger than the values, each value that is freed also
 * examines the next few codes, in turn, and moves those whose piece is mostly gaps to the end. No
 * step is long, and the gaps stay below about what the values and the list of their places take.
 */
#include "map/dictionary.h"

#include "hash/derive.h"
#include "map/dictionary_index.h"

#define FREE BRY__CODE_FREE
#define NEW BRY__CODE_NEW

/* The work done for each value that is freed, if the gaps are larger than the values plus
 * FEW_BYTES. */
enum { CUT = 64, LOOK = 16, LOOK_BYTES = 64, MOVE = 256, FEW_BYTES = 4096 };

enum { ROUND = BRY__DICTIONARY_ROUND };

/* ---- making -------------------------------------------------------------------------------- */

void bry__dictionary_init(bry__dictionary *dictionary, uint64_t seed, uint64_t most,
                          const bry_allocator *allocator)
{
    *dictionary = (bry__dictionary){.allocator = *allocator,
                                    .seed = seed,
                                    .secret = {bry__word(seed, 1), bry__word(seed, 2)},
                                    .most = most};
}

void bry__dictionary_free(bry__dictionary *dictionary)
{
    bry__value_bytes_free(&dictionary->bytes, &dictionary->allocator);
    bry__code_table_free(&dictionary->table, &dictionary->allocator);
    bry__value_index_free(dictionary);
}

void bry__dictionary_clear(bry__dictionary *dictionary)
{
    bry__dictionary_free(dictionary);
    dictionary->tidied = 0;
}

bry_status bry__dictionary_clone(const bry__dictionary *dictionary, const bry_allocator *allocator,
                                 bry__dictionary *copy)
{
    bry__dictionary made = *dictionary;
    made.allocator = *allocator;
    made.bytes = (bry__value_bytes){0};
    made.table = (bry__code_table){0};
    made.index = made.other = (bry__value_index){0};
    bry_status status = bry__code_table_clone(&dictionary->table, &made.table, allocator);
    if (status == BRY_OK)
        status = bry__value_bytes_clone(&dictionary->bytes, &made.bytes, allocator);
    if (status == BRY_OK)
        status = bry__value_index_clone(dictionary, &made);
    if (status == BRY_OK)
        *copy = made;
    else
        bry__dictionary_free(&made);
    return status;
}

uint64_t bry__dictionary_bytes(const bry__dictionary *dictionary)
{
    return bry__code_table_bytes(&dictionary->table) +
           bry__value_bytes_allocated(&dictionary->bytes) + bry__value_index_bytes(dictionary);
}

/* ---- asking -------------------------------------------------------------------------------- */

bry_map_value bry__dictionary_value(const bry__dictionary *dictionary, uint32_t code)
{
    uint64_t word = bry__dictionary_word(dictionary, code);
    size_t len = bry__word_length(word);
    return bry_map_value_bytes(len ? (const void *)bry__word_bytes(dictionary, word) : "", len);
}

bool bry__dictionary_find(const bry__dictionary *dictionary, const void *bytes, size_t len,
                          uint32_t *code)
{
    return len <= BRY_MAP_VALUE_MAX &&
           bry__value_index_find(dictionary, bry__value_index_hash(dictionary, bytes, len), bytes,
                                 len, code);
}

/* ---- changing ------------------------------------------------------------------------------ */

static bry_status reserve_code(bry__dictionary *dictionary)
{
    return dictionary->table.codes < dictionary->most
               ? bry__code_table_reserve(&dictionary->table, &dictionary->allocator)
               : BRY_E_FULL;
}

bry_status bry__dictionary_append_free(bry__dictionary *dictionary)
{
    bry_status status = reserve_code(dictionary);
    if (status == BRY_OK)
        bry__code_table_append(&dictionary->table);
    return status;
}

/* Gives a code to a value that has none: the next one if `append`, else the smallest free one, which
 * is marked as new. Memory that it reserved may stay reserved if it fails. */
static bry_status dictionary_give(bry__dictionary *dictionary, uint64_t hash,
                                  const bry_map_value *value, bool append, uint32_t *code)
{
    bry__code_table *table = &dictionary->table;
    uint64_t place = 0; /* the empty string needs none */
    bool next = append || table->free == 0;
    bry_status status = next ? reserve_code(dictionary) : BRY_OK;
    if (status == BRY_OK && value->len)
        status = bry__value_bytes_reserve(&dictionary->bytes, value->len, &dictionary->allocator);
    if (status == BRY_OK)
        status = bry__value_index_reserve(dictionary);
    if (status != BRY_OK)
        return status;
    *code = next ? (uint32_t)table->codes : bry__code_table_first_free(table);
    if (next)
        bry__code_table_append(&dictionary->table);
    if (value->len)
        place = bry__value_bytes_put(&dictionary->bytes, value->bytes, value->len);
    bry__code_table_take(table, *code, (append ? 0 : NEW) | place << BRY__LENGTH_BITS | value->len);
    bry__value_index_add(dictionary, *code, hash);
    return BRY_OK;
}

/* The codes of at most ROUND values, in order until one fails; *done is how many succeeded. */
static bry_status give_round(bry__dictionary *dictionary, const bry_map_value *values, size_t n,
                             bool append, uint32_t *codes, size_t *done)
{
    uint64_t hashes[ROUND];
    bry__value_index_prepare(dictionary, values, n, hashes);
    for (size_t i = 0; i < n; i++) {
        const bry_map_value *value = &values[i];
        bry_status status = BRY_OK;
        if (!bry__value_index_find(dictionary, hashes[i], value->bytes, value->len, &codes[i]))
            status = dictionary_give(dictionary, hashes[i], value, append, &codes[i]);
        else if (append)
            status = BRY_E_MISMATCH;
        if (status != BRY_OK) {
            *done = i;
            return status;
        }
    }
    *done = n;
    return BRY_OK;
}

bry_status bry__dictionary_intern_n(bry__dictionary *dictionary, const bry_map_value *values,
                                    size_t n, uint32_t *codes, size_t *done)
{
    bry_status status = BRY_OK;
    size_t got;
    for (*done = 0; *done < n && status == BRY_OK; *done += got)
        status = give_round(dictionary, values + *done, n - *done < ROUND ? n - *done : ROUND,
                            false, codes + *done, &got);
    return status;
}

bry_status bry__dictionary_append_n(bry__dictionary *dictionary, const bry_map_value *values,
                                    size_t n)
{
    uint32_t codes[ROUND];
    return give_round(dictionary, values, n, true, codes, &n);
}

/* ---- going back ---------------------------------------------------------------------------- */

/* Removes the value of a code, which is free then. */
static void dictionary_drop(bry__dictionary *dictionary, uint32_t code)
{
    uint64_t word = bry__dictionary_word(dictionary, code);
    bry__value_index_remove(dictionary, code);
    if (bry__word_length(word))
        bry__value_bytes_drop(&dictionary->bytes, bry__word_place(word), bry__word_length(word),
                              &dictionary->allocator);
    bry__code_table_release(&dictionary->table, code);
}

/* Drops free codes at the end, down to `least` codes and at most `most` of them. */
static void cut_free(bry__dictionary *dictionary, uint64_t least, uint64_t most)
{
    bry__code_table *table = &dictionary->table;
    while (table->codes > least && most-- > 0 && !bry__dictionary_has(dictionary, table->codes - 1))
        bry__code_table_take(table, --table->codes, 0);
    bry__value_index_shrink(dictionary);
    bry__code_table_trim(table, &dictionary->allocator);
}

void bry__dictionary_confirm(bry__dictionary *dictionary, const uint32_t *codes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bry__code_confirm(bry__code_entry_of(&dictionary->table, codes[i]));
}

void bry__dictionary_forget(bry__dictionary *dictionary, uint64_t before, const uint32_t *codes,
                            size_t n)
{
    while (n-- > 0) { /* in reverse order: the last one's bytes are at the end */
        uint64_t word =
            codes[n] < dictionary->table.codes ? bry__dictionary_word(dictionary, codes[n]) : 0;
        if (word & NEW)
            dictionary_drop(dictionary, codes[n]);
    }
    cut_free(dictionary, before, UINT64_MAX);
}

void bry__dictionary_cut(bry__dictionary *dictionary, uint64_t codes)
{
    for (uint64_t code = dictionary->table.codes; code-- > codes;)
        dictionary_drop(dictionary, (uint32_t)code);
    cut_free(dictionary, codes, UINT64_MAX);
}

/* ---- unused codes -------------------------------------------------------------------------- */

/* Moves the value to the end of the bytes. BRY_E_NOMEM. */
static bry_status dictionary_move(bry__dictionary *dictionary, uint64_t code)
{
    bry__value_bytes *bytes = &dictionary->bytes;
    bry__code_entry *entry = bry__code_entry_of(&dictionary->table, code);
    uint64_t word = bry__code_word(entry), from = bry__word_place(word);
    size_t len = bry__word_length(word);
    bry_status status = bry__value_bytes_reserve(bytes, len, &dictionary->allocator);
    if (status != BRY_OK)
        return status;
    uint64_t place = bry__value_bytes_put(bytes, bry__word_bytes(dictionary, word), len);
    bry__value_bytes_drop(bytes, from, len, &dictionary->allocator);
    bry__code_set_word(entry, word ^ (from ^ place) << BRY__LENGTH_BITS);
    return BRY_OK;
}

/* Examines the next `look` codes and moves values out of pieces of which 1/one_of or more is gaps,
 * until `most` bytes have been moved. */
static void dictionary_tidy(bry__dictionary *dictionary, unsigned one_of, uint64_t look,
                            uint64_t most)
{
    for (uint64_t moved = 0; look > 0 && moved < most; look--) {
        if (dictionary->tidied >= dictionary->table.codes)
            dictionary->tidied = 0;
        uint64_t code = dictionary->tidied++, word = bry__dictionary_word(dictionary, code);
        if ((word & FREE) || bry__word_length(word) == 0 ||
            !bry__value_bytes_sparse(&dictionary->bytes, bry__word_place(word), one_of))
            continue;
        moved += bry__word_length(word);
        if (dictionary_move(dictionary, code) != BRY_OK)
            return;
    }
}

void bry__dictionary_lose(bry__dictionary *dictionary, uint32_t code)
{
    bry__code_entry *entry = bry__code_entry_of(&dictionary->table, code);
    if (entry->uses == 0 || entry->uses == UINT32_MAX || --entry->uses > 0)
        return;
    size_t len = bry__word_length(bry__code_word(entry));
    dictionary_drop(dictionary, code);
    if (bry__dictionary_count(dictionary) == 0) {
        bry__dictionary_clear(dictionary);
        return;
    }
    cut_free(dictionary, 0, CUT);
    if (dictionary->bytes.used - dictionary->bytes.live > dictionary->bytes.live + FEW_BYTES)
        dictionary_tidy(dictionary, 2, LOOK + len / LOOK_BYTES, MOVE + 2 * len);
}

void bry__dictionary_reset_counts(bry__dictionary *dictionary)
{
    for (uint64_t code = 0; code < dictionary->table.codes; code++)
        bry__code_entry_of(&dictionary->table, code)->uses = 0;
}

void bry__dictionary_pack(bry__dictionary *dictionary)
{
    for (uint64_t code = dictionary->table.codes; code-- > 0;)
        if (bry__dictionary_has(dictionary, code) && bry__dictionary_uses(dictionary, code) == 0)
            dictionary_drop(dictionary, (uint32_t)code);
    if (bry__dictionary_count(dictionary) == 0) {
        bry__dictionary_clear(dictionary);
        return;
    }
    cut_free(dictionary, 0, UINT64_MAX);
    bry__value_bytes_leave(&dictionary->bytes, &dictionary->allocator);
    dictionary->tidied = 0;
    dictionary_tidy(dictionary, 8, dictionary->table.codes, UINT64_MAX);
}
