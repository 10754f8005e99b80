/*
 * A hash table with open addressing and linear probing. A slot has the number of a code plus one,
 * and above it as many bits of the value's hash as there is room for. It only proposes a code: that
 * counts if the bytes are the value's. So slots may be out of date.
 *
 *   slot   0: empty      else   | bits of the hash | code + 1 |     removed: all ones
 *                                 32 - bits          bits
 *
 * Growing and shrinking never takes long. Another index, of at least twice as many slots as there
 * are codes, gets one piece of 64 KiB with each value that is added or removed. Once it is complete
 * it replaces the first one, and each value moves up to 64 codes to it.
 */
#include "map/dictionary_index.h"

#include "common/endian.h"
#include "hash/derive.h"

#define REMOVED UINT32_MAX
#define WHICH ((uint64_t)1 << 61)

/* Smaller indexes than PREFETCHED are in the cache. */
enum { BITS_LEAST = 3, BITS_MOST = 32, MOVE = 64, PREFETCHED = 13, SHRINK = 8 };

/* ---- hashes -------------------------------------------------------------------------------- */

/* No file has this hash, so short values take a faster one. */
static inline uint64_t index_hash(const bry__dictionary *dictionary, const void *value, size_t len)
{
    const unsigned char *bytes = value;
    uint64_t head = 0, tail = 0;
    if (len > 16)
        return bry_hash_key(dictionary->seed, bytes, len).lo;
    if (len >= 8) {
        head = bry__load64(bytes);
        tail = bry__load64(bytes + len - 8);
    } else if (len >= 4) {
        head = bry__load32(bytes);
        tail = bry__load32(bytes + len - 4);
    } else if (len > 0) {
        head = (uint64_t)bytes[0] << 16 | (uint64_t)bytes[len / 2] << 8 | bytes[len - 1];
    }
    bry__u128 product =
        (bry__u128)(head ^ dictionary->secret[0]) * ((tail ^ dictionary->secret[1]) + len);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t bry__value_index_hash(const bry__dictionary *dictionary, const void *bytes, size_t len)
{
    return index_hash(dictionary, bytes, len);
}

static uint64_t hash_of_code(const bry__dictionary *dictionary, uint64_t code)
{
    bry_map_value value = bry__dictionary_value(dictionary, (uint32_t)code);
    return index_hash(dictionary, value.bytes, value.len);
}

/* ---- asking -------------------------------------------------------------------------------- */

/* Prefetches what the look-ups of these hashes will read. */
static void prefetch_round(const bry__dictionary *dictionary, const uint64_t *hashes, size_t n)
{
    const bry__value_index *index = &dictionary->index;
    uint32_t found[BRY__DICTIONARY_ROUND];
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(bry__value_index_slot(index, bry__value_index_home(index, hashes[i])));
    for (size_t i = 0; i < n; i++) {
        uint64_t at = bry__value_index_home(index, hashes[i]);
        found[i] = bry__value_index_next(index, &at, hashes[i]);
        if (found[i] < dictionary->table.codes)
            __builtin_prefetch(bry__code_entry_of(&dictionary->table, found[i]));
    }
    for (size_t i = 0; i < n; i++)
        if (bry__dictionary_has(dictionary, found[i]))
            __builtin_prefetch(bry__dictionary_value(dictionary, found[i]).bytes);
}

void bry__value_index_prepare(const bry__dictionary *dictionary, const bry_map_value *values,
                              size_t n, uint64_t *hashes)
{
    for (size_t i = 0; i < n; i++)
        hashes[i] = index_hash(dictionary, values[i].bytes, values[i].len);
    if (dictionary->index.bits >= PREFETCHED)
        prefetch_round(dictionary, hashes, n);
}

/* ---- changing ------------------------------------------------------------------------------ */

void bry__value_index_add(bry__dictionary *dictionary, uint32_t code, uint64_t hash)
{
    bry__value_index *index = &dictionary->index;
    bry__code_entry *entry = bry__code_entry_of(&dictionary->table, code);
    uint64_t at = bry__value_index_home(index, hash);
    uint32_t *slot = bry__value_index_slot(index, at);
    while (*slot != 0 && *slot != REMOVED)
        slot = bry__value_index_slot(index, at = (at + 1) & bry__value_index_last(index));
    index->used += *slot == 0;
    *slot = bry__value_index_tag(index, hash) | (code + 1);
    bry__code_set_word(entry, (bry__code_word(entry) & ~WHICH) | index->which);
}

/* Removes the slot, unless others may be found behind it. */
static void clear_slot(bry__value_index *index, uint64_t at)
{
    bool ends = *bry__value_index_slot(index, (at + 1) & bry__value_index_last(index)) == 0;
    *bry__value_index_slot(index, at) = ends ? 0 : REMOVED;
    index->used -= ends;
}

void bry__value_index_remove(bry__dictionary *dictionary, uint32_t code)
{
    bool new = (bry__dictionary_word(dictionary, code) & WHICH) == dictionary->index.which;
    bry__value_index *index = new ? &dictionary->index : &dictionary->other;
    uint64_t hash = hash_of_code(dictionary, code), at = bry__value_index_home(index, hash);
    uint32_t wanted = bry__value_index_tag(index, hash) | (code + 1);
    while (*bry__value_index_slot(index, at) != wanted)
        at = (at + 1) & bry__value_index_last(index);
    clear_slot(index, at);
}

/* ---- growing and shrinking ----------------------------------------------------------------- */

/* Begins an index for all codes and one more. */
static bry_status index_begin(bry__dictionary *dictionary)
{
    bry__value_index made = {.bits = BITS_LEAST, .which = dictionary->index.which ^ WHICH};
    while (made.bits < BITS_MOST &&
           bry__value_index_last(&made) < 2 * (dictionary->table.codes + 1))
        made.bits++;
    bry_status status =
        bry__pieces_init_of(&made.slots, (bry__value_index_last(&made) + 1) * sizeof(uint32_t),
                            BRY__INDEX_PIECE_SHIFT, &dictionary->allocator);
    if (status == BRY_OK)
        dictionary->other = made;
    return status;
}

/* One piece more, after the last of which it replaces the index. BRY_E_NOMEM: unchanged. */
static bry_status index_continue(bry__dictionary *dictionary)
{
    bry__value_index *other = &dictionary->other, old = dictionary->index;
    bry_status status = other->bits ? BRY_OK : index_begin(dictionary);
    if (status == BRY_OK)
        status = bry__piece_reach(&other->slots, other->slots.present, &dictionary->allocator);
    if (status == BRY_OK && other->slots.present == other->slots.count) {
        dictionary->index = *other;
        *other = old;
        dictionary->moves = old.bits > 0;
        dictionary->moving = 0;
    }
    return status;
}

/* Moves up to MOVE codes from the other index, and frees it after the last one. */
static void move_some(bry__dictionary *dictionary)
{
    const bry__value_index *index = &dictionary->index;
    uint64_t hashes[MOVE], codes = dictionary->table.codes, first = dictionary->moving;
    uint64_t end = first + MOVE < codes ? first + MOVE : codes;
    for (uint64_t code = first; code < end; code++)
        if (bry__dictionary_has(dictionary, code)) {
            uint64_t hash = hashes[code - first] = hash_of_code(dictionary, code);
            __builtin_prefetch(bry__value_index_slot(index, bry__value_index_home(index, hash)));
        }
    for (uint64_t code = first; code < end; code++) {
        uint64_t word = bry__dictionary_word(dictionary, code);
        if (!(word & BRY__CODE_FREE) && (word & WHICH) != index->which)
            /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): set above, for those in use */
            bry__value_index_add(dictionary, (uint32_t)code, hashes[code - first]);
    }
    dictionary->moving = end;
    if (end == codes) {
        bry__pieces_free(&dictionary->other.slots, &dictionary->allocator);
        dictionary->other = (bry__value_index){0};
        dictionary->moves = false;
    }
}

/* Whether the index has no room for a value more, if only `eighths` of it may be used. */
static bool index_is_full(const bry__dictionary *dictionary, unsigned eighths)
{
    const bry__value_index *index = &dictionary->index;
    uint64_t codes = dictionary->table.codes, used = index->used > codes ? index->used : codes;
    return index->bits == 0 || (index->bits < BITS_MOST &&
                                8 * (used + 1) > eighths * (bry__value_index_last(index) + 1));
}

bry_status bry__value_index_reserve(bry__dictionary *dictionary)
{
    bry_status status = BRY_OK;
    if (dictionary->moves)
        move_some(dictionary);
    else if (dictionary->other.bits || index_is_full(dictionary, 5))
        status = index_continue(dictionary);
    while (index_is_full(dictionary, 6)) { /* also after many free codes were loaded */
        if (status != BRY_OK)
            return status;
        if (dictionary->moves)
            move_some(dictionary);
        else
            status = index_continue(dictionary);
    }
    return BRY_OK;
}

void bry__value_index_shrink(bry__dictionary *dictionary)
{
    const bry__value_index *index = &dictionary->index;
    if (dictionary->moves)
        move_some(dictionary);
    else if (dictionary->other.bits ||
             (index->bits > BITS_LEAST &&
              SHRINK * dictionary->table.codes < bry__value_index_last(index)))
        (void)index_continue(dictionary);
}

/* ---- memory -------------------------------------------------------------------------------- */

static bry_status clone_index(const bry__value_index *index, bry__value_index *copy,
                              const bry_allocator *allocator)
{
    if (index->bits == 0)
        return BRY_OK;
    *copy = *index;
    copy->slots = (bry__pieces){0};
    bry_status status =
        bry__pieces_init_of(&copy->slots, index->slots.bytes, BRY__INDEX_PIECE_SHIFT, allocator);
    return status == BRY_OK ? bry__pieces_copy(&copy->slots, &index->slots, allocator) : status;
}

bry_status bry__value_index_clone(const bry__dictionary *dictionary, bry__dictionary *copy)
{
    bry_status status = clone_index(&dictionary->index, &copy->index, &copy->allocator);
    return status == BRY_OK ? clone_index(&dictionary->other, &copy->other, &copy->allocator)
                            : status;
}

void bry__value_index_free(bry__dictionary *dictionary)
{
    bry__pieces_free(&dictionary->index.slots, &dictionary->allocator);
    bry__pieces_free(&dictionary->other.slots, &dictionary->allocator);
    dictionary->index = dictionary->other = (bry__value_index){0};
    dictionary->moves = false;
}

uint64_t bry__value_index_bytes(const bry__dictionary *dictionary)
{
    uint64_t bytes = dictionary->index.bits ? bry__pieces_bytes_now(&dictionary->index.slots) : 0;
    return dictionary->other.bits ? bytes + bry__pieces_bytes_now(&dictionary->other.slots) : bytes;
}
