/*
 * Values are byte strings of which many keys share a few. Each distinct one has a code, and only
 * codes are stored under keys.
 *
 *   value ──hash──► secondary ──► candidates ──compare with the bytes──► code
 *   code  ──► entry[code]: piece, place, length ──► bytes
 *
 * The secondary is an instance of the map's own engine, keyed by the value's hash. With kbf it is
 * the papers' s-kBF; with compact it is a maplet of the values' fingerprints. Its answer is only a
 * proposal: it counts if the bytes stored under the code are the value's. If the secondary says
 * that it has not seen a value, that is certain in both engines. If it is unsure (kbf, about one
 * value in a million), all entries of that length are compared. So one value is never mistaken for
 * another, and no value ever gets two codes.
 *
 *   entry   63   free
 *           62   new: assigned by a call that is still running
 *           16–61  place of the bytes (value_bytes.h)
 *           0–15   length
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

#include "common/allocator.h"

#include <string.h>

#define FREE BRY__ENTRY_FREE
#define NEW ((uint64_t)1 << 62)
#define LENGTH_BITS 16u
#define PLACE_BITS 46u

/* The work done for each value that is freed, if the gaps are larger than the values plus
 * FEW_BYTES. */
enum { CUT = 64, LOOK = 16, LOOK_BYTES = 64, MOVE = 256, FEW_BYTES = 4096 };

static size_t dictionary_length_of(uint64_t entry)
{
    return (size_t)(entry & ((1u << LENGTH_BITS) - 1));
}

static uint64_t dictionary_place_of(uint64_t entry)
{
    return entry >> LENGTH_BITS & (((uint64_t)1 << PLACE_BITS) - 1);
}

static const unsigned char *dictionary_bytes_of(const bry__dictionary *dictionary, uint64_t entry)
{
    return bry__value_bytes_at(&dictionary->bytes, dictionary_place_of(entry));
}

static uint64_t dictionary_entry_of(const bry__dictionary *dictionary, uint64_t code)
{
    return *bry__value_entry(&dictionary->entries, code);
}

static void dictionary_set_entry(bry__dictionary *dictionary, uint64_t code, uint64_t entry)
{
    *bry__value_entry(&dictionary->entries, code) = entry;
}

static bry_hash dictionary_hash_of(const bry__dictionary *dictionary, const void *bytes, size_t len)
{
    return bry_hash_key(dictionary->seed, bytes, len);
}

/* ---- making -------------------------------------------------------------------------------- */

static bry_map_options secondary_options(const bry__map_engine *engine,
                                         const bry_map_options *options, uint64_t values)
{
    return (bry_map_options){
        .struct_size = sizeof(bry_map_options),
        .engine = options->engine,
        .fixed = !engine->recodes, /* never more values than the map may have */
        .capacity = values,
        .error = BRY__MAP_SECONDARY_ERROR,
        .values = values,
        .seed = options->seed,
    };
}

bry_status bry__dictionary_plan(const bry__map_engine *engine, const bry_map_options *options,
                                uint64_t values, uint64_t *bytes_empty, uint64_t *bytes)
{
    bry_map_options secondary = secondary_options(engine, options, values);
    bry_map_shape shape;
    bry_status status = engine->plan(&secondary, &shape);
    if (status == BRY_OK) {
        *bytes_empty = shape.bytes_empty;
        *bytes = shape.bytes + values * BRY__ENTRY_BYTES;
    }
    return status;
}

bry_status bry__dictionary_init(bry__dictionary *dictionary, const bry__map_engine *engine,
                                const bry_map_options *options, uint64_t values,
                                const bry_allocator *allocator)
{
    bry_map_options secondary = secondary_options(engine, options, values);
    bry__dictionary made = {
        .allocator = *allocator,
        .engine = engine,
        .seed = secondary.seed,
        .most = engine->recodes ? BRY_MAP_VALUES_MAX : values,
    };
    bry_status status = engine->create(&secondary, allocator, &made.secondary);
    if (status == BRY_OK)
        *dictionary = made;
    return status;
}

static void free_arrays(bry__dictionary *dictionary)
{
    const bry_allocator *allocator = &dictionary->allocator;
    bry__value_bytes_free(&dictionary->bytes, allocator);
    bry__value_entries_free(&dictionary->entries, allocator);
}

void bry__dictionary_free(bry__dictionary *dictionary)
{
    free_arrays(dictionary);
    if (dictionary->secondary)
        dictionary->engine->destroy(dictionary->secondary);
    dictionary->secondary = NULL;
}

void bry__dictionary_clear(bry__dictionary *dictionary)
{
    free_arrays(dictionary);
    dictionary->engine->clear(dictionary->secondary, 0);
    *dictionary = (bry__dictionary){
        .allocator = dictionary->allocator,
        .engine = dictionary->engine,
        .seed = dictionary->seed,
        .secondary = dictionary->secondary,
        .most = dictionary->most,
    };
}

static bry_status clone_entries(const bry__dictionary *dictionary, const bry_allocator *allocator,
                                bry__value_entries *copy)
{
    const bry__value_entries *entries = &dictionary->entries;
    bry_status status = BRY_OK;
    for (size_t code = 0; code < dictionary->codes && status == BRY_OK; code++) {
        status = bry__value_entries_reserve(copy, code, (size_t)dictionary->codes, allocator);
        if (status != BRY_OK)
            break;
        *bry__value_entry(copy, code) = *bry__value_entry(entries, code);
        *bry__value_uses(copy, code) = *bry__value_uses(entries, code);
        bry__entries_piece *piece = &copy->piece[code >> BRY__ENTRIES_SHIFT];
        piece->free = entries->piece[code >> BRY__ENTRIES_SHIFT].free;
        piece->from = entries->piece[code >> BRY__ENTRIES_SHIFT].from;
    }
    copy->lowest = entries->lowest;
    return status;
}

bry_status bry__dictionary_clone(const bry__dictionary *dictionary, const bry_allocator *allocator,
                                 bry__dictionary *copy)
{
    bry__dictionary made = *dictionary;
    made.allocator = *allocator;
    made.secondary = NULL;
    made.bytes = (bry__value_bytes){0};
    made.entries = (bry__value_entries){0};
    bry_status status = clone_entries(dictionary, allocator, &made.entries);
    if (status == BRY_OK)
        status = bry__value_bytes_clone(&dictionary->bytes, &made.bytes, allocator);
    if (status == BRY_OK)
        status = dictionary->engine->clone(dictionary->secondary, allocator, &made.secondary);
    if (status != BRY_OK) {
        bry__dictionary_free(&made);
        return status;
    }
    *copy = made;
    return BRY_OK;
}

/* ---- asking -------------------------------------------------------------------------------- */

bool bry__dictionary_has(const bry__dictionary *dictionary, uint64_t code)
{
    return code < dictionary->codes && !(dictionary_entry_of(dictionary, code) & FREE);
}

bry_map_value bry__dictionary_value(const bry__dictionary *dictionary, uint32_t code)
{
    uint64_t entry = dictionary_entry_of(dictionary, code);
    size_t len = dictionary_length_of(entry);
    return bry_map_value_bytes(len ? (const void *)dictionary_bytes_of(dictionary, entry) : "",
                               len);
}

typedef struct wanted {
    const bry__dictionary *dictionary;
    const void *bytes;
    size_t len;
} wanted;

bool bry__dictionary_is(const bry__dictionary *dictionary, uint32_t code, const void *bytes,
                        size_t len)
{
    if (code >= dictionary->codes)
        return false;
    uint64_t entry = dictionary_entry_of(dictionary, code);
    return !(entry & FREE) && dictionary_length_of(entry) == len &&
           (len == 0 || memcmp(dictionary_bytes_of(dictionary, entry), bytes, len) == 0);
}

static bool dictionary_matches(void *context, uint32_t code)
{
    const wanted *value = context;
    return bry__dictionary_is(value->dictionary, code, value->bytes, value->len);
}

static bool find_hashed(const bry__dictionary *dictionary, bry_hash hash, const void *bytes,
                        size_t len, uint32_t *code)
{
    wanted value = {dictionary, bytes, len};
    bry_answer answer = dictionary->engine->find(dictionary->secondary, hash, dictionary->codes,
                                                 dictionary_matches, &value, code);
    if (answer != BRY_UNSURE)
        return answer == BRY_PRESENT;
    for (uint64_t c = 0; c < dictionary->codes; c++)
        if (dictionary_matches(&value, (uint32_t)c)) {
            *code = (uint32_t)c;
            return true;
        }
    return false;
}

bool bry__dictionary_find(const bry__dictionary *dictionary, const void *bytes, size_t len,
                          uint32_t *code)
{
    if (len > BRY_MAP_VALUE_MAX)
        return false;
    return find_hashed(dictionary, dictionary_hash_of(dictionary, bytes, len), bytes, len, code);
}

/* ---- changing ------------------------------------------------------------------------------ */

/* Assigns that code to the value, without looking at its entry. hash NULL: the secondary does not
 * get it. Memory that it reserved may stay reserved if it fails. */
static bry_status dictionary_assign(bry__dictionary *dictionary, const bry_hash *hash,
                                    const void *bytes, size_t len, uint32_t code)
{
    bry_status status = BRY_OK;
    uint64_t place = 0; /* the empty string needs none */
    if (len)
        status = bry__value_bytes_reserve(&dictionary->bytes, len, &dictionary->allocator);
    if (status == BRY_OK && hash)
        status = dictionary->engine->add_beside(dictionary->secondary, *hash, code);
    if (status != BRY_OK)
        return status;
    if (len)
        place = bry__value_bytes_put(&dictionary->bytes, bytes, len);
    dictionary_set_entry(dictionary, code, place << LENGTH_BITS | len);
    return BRY_OK;
}

static bry_status reserve_entry(bry__dictionary *dictionary)
{
    if (dictionary->codes >= dictionary->most)
        return BRY_E_FULL;
    return bry__value_entries_reserve(&dictionary->entries, (size_t)dictionary->codes, 0,
                                      &dictionary->allocator);
}

static bry_status dictionary_append(bry__dictionary *dictionary, const bry_hash *hash,
                                    const void *bytes, size_t len)
{
    bry_status status = reserve_entry(dictionary);
    if (status == BRY_OK)
        status = dictionary_assign(dictionary, hash, bytes, len, (uint32_t)dictionary->codes);
    if (status == BRY_OK)
        dictionary->codes++;
    return status;
}

bry_status bry__dictionary_append(bry__dictionary *dictionary, const void *bytes, size_t len)
{
    if (len > BRY_MAP_VALUE_MAX)
        return BRY_E_RANGE;
    bry_hash hash = dictionary_hash_of(dictionary, bytes, len);
    return dictionary_append(dictionary, &hash, bytes, len);
}

bry_status bry__dictionary_append_free(bry__dictionary *dictionary)
{
    bry_status status = reserve_entry(dictionary);
    if (status == BRY_OK) {
        bry__value_entry_free(&dictionary->entries, dictionary->codes++);
        dictionary->free_count++;
    }
    return status;
}

/* Gives a code to a value that has none; hash as above. append: as bry__dictionary_append(). */
static bry_status dictionary_give(bry__dictionary *dictionary, const bry_hash *hash,
                                  const void *bytes, size_t len, bool append, uint32_t *code)
{
    uint32_t given = (uint32_t)dictionary->codes;
    bry_status status;
    if (dictionary->free_count > 0 && !append) {
        given = (uint32_t)bry__value_entries_first_free(&dictionary->entries);
        status = dictionary_assign(dictionary, hash, bytes, len, given);
        if (status == BRY_OK) {
            bry__value_entry_take(&dictionary->entries, given);
            dictionary->free_count--;
        }
    } else {
        status = dictionary_append(dictionary, hash, bytes, len);
    }
    if (status == BRY_OK) {
        if (!append)
            dictionary_set_entry(dictionary, given, dictionary_entry_of(dictionary, given) | NEW);
        *code = given;
    }
    return status;
}

bry_status bry__dictionary_intern(bry__dictionary *dictionary, const void *bytes, size_t len,
                                  uint32_t *code)
{
    if (len > BRY_MAP_VALUE_MAX)
        return BRY_E_RANGE;
    bry_hash hash = dictionary_hash_of(dictionary, bytes, len);
    if (find_hashed(dictionary, hash, bytes, len, code))
        return BRY_OK;
    return dictionary_give(dictionary, &hash, bytes, len, false, code);
}

bry_status bry__dictionary_give_later(bry__dictionary *dictionary, const void *bytes, size_t len,
                                      bool append, uint32_t *code)
{
    return dictionary_give(dictionary, NULL, bytes, len, append, code);
}

/* ---- going back ---------------------------------------------------------------------------- */

/* Removes the value of a code, which is free then. */
static void dictionary_drop(bry__dictionary *dictionary, uint32_t code)
{
    bry_map_value value = bry__dictionary_value(dictionary, code);
    bry_hash hash = dictionary_hash_of(dictionary, value.bytes, value.len);
    dictionary->engine->del_beside(dictionary->secondary, hash, code, dictionary->codes);
    if (value.len)
        bry__value_bytes_drop(&dictionary->bytes,
                              dictionary_place_of(dictionary_entry_of(dictionary, code)), value.len,
                              &dictionary->allocator);
    bry__value_entry_free(&dictionary->entries, code);
    dictionary->free_count++;
}

/* Drops free codes at the end, down to `least` codes and at most `most` of them. */
static void dictionary_cut(bry__dictionary *dictionary, uint64_t least, uint64_t most)
{
    while (dictionary->codes > least && most-- > 0 &&
           !bry__dictionary_has(dictionary, dictionary->codes - 1)) {
        bry__value_entry_take(&dictionary->entries, --dictionary->codes);
        dictionary->free_count--;
    }
    bry__value_entries_trim(&dictionary->entries, (size_t)dictionary->codes,
                            &dictionary->allocator);
}

void bry__dictionary_confirm(bry__dictionary *dictionary, const uint32_t *codes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *bry__value_entry(&dictionary->entries, codes[i]) &= ~NEW;
}

void bry__dictionary_forget(bry__dictionary *dictionary, uint64_t before, const uint32_t *codes,
                            size_t n)
{
    while (n-- > 0) { /* in reverse order: the last one's bytes are at the end */
        uint64_t entry =
            codes[n] < dictionary->codes ? dictionary_entry_of(dictionary, codes[n]) : 0;
        if (entry & NEW)
            dictionary_drop(dictionary, codes[n]);
    }
    dictionary_cut(dictionary, before, UINT64_MAX);
}

void bry__dictionary_cut(bry__dictionary *dictionary, uint64_t codes)
{
    for (uint64_t code = dictionary->codes; code-- > codes;)
        dictionary_drop(dictionary, (uint32_t)code);
    dictionary_cut(dictionary, codes, UINT64_MAX);
}

/* ---- unused codes -------------------------------------------------------------------------- */

void bry__dictionary_gain(bry__dictionary *dictionary, uint32_t code)
{
    uint32_t *uses = bry__value_uses(&dictionary->entries, code);
    *uses += *uses < UINT32_MAX;
    *bry__value_entry(&dictionary->entries, code) &= ~NEW;
}

/* Moves the value to the end of the bytes. BRY_E_NOMEM. */
static bry_status dictionary_move(bry__dictionary *dictionary, uint64_t code)
{
    bry__value_bytes *bytes = &dictionary->bytes;
    uint64_t entry = dictionary_entry_of(dictionary, code);
    size_t len = dictionary_length_of(entry);
    bry_status status = bry__value_bytes_reserve(bytes, len, &dictionary->allocator);
    if (status != BRY_OK)
        return status;
    uint64_t place = bry__value_bytes_put(bytes, dictionary_bytes_of(dictionary, entry), len);
    bry__value_bytes_drop(bytes, dictionary_place_of(entry), len, &dictionary->allocator);
    dictionary_set_entry(dictionary, code, place << LENGTH_BITS | len);
    return BRY_OK;
}

/* Examines the next `look` codes and moves values out of pieces of which 1/one_of or more is gaps,
 * until `most` bytes have been moved. */
static void dictionary_tidy(bry__dictionary *dictionary, unsigned one_of, uint64_t look,
                            uint64_t most)
{
    for (uint64_t moved = 0; look > 0 && moved < most; look--) {
        if (dictionary->tidied >= dictionary->codes)
            dictionary->tidied = 0;
        uint64_t code = dictionary->tidied++, entry = dictionary_entry_of(dictionary, code);
        if ((entry & FREE) || dictionary_length_of(entry) == 0 ||
            !bry__value_bytes_sparse(&dictionary->bytes, dictionary_place_of(entry), one_of))
            continue;
        moved += dictionary_length_of(entry);
        if (dictionary_move(dictionary, code) != BRY_OK)
            return;
    }
}

void bry__dictionary_lose(bry__dictionary *dictionary, uint32_t code)
{
    uint32_t *uses = bry__value_uses(&dictionary->entries, code);
    if (*uses == 0 || *uses == UINT32_MAX || --*uses > 0)
        return;
    size_t len = dictionary_length_of(dictionary_entry_of(dictionary, code));
    dictionary_drop(dictionary, code);
    if (bry__dictionary_count(dictionary) == 0) {
        bry__dictionary_clear(dictionary);
        return;
    }
    dictionary_cut(dictionary, 0, CUT);
    if (dictionary->bytes.used - dictionary->bytes.live > dictionary->bytes.live + FEW_BYTES)
        dictionary_tidy(dictionary, 2, LOOK + len / LOOK_BYTES, MOVE + 2 * len);
}

void bry__dictionary_reset_counts(bry__dictionary *dictionary)
{
    for (uint64_t code = 0; code < dictionary->codes; code++)
        *bry__value_uses(&dictionary->entries, code) = 0;
}

void bry__dictionary_pack(bry__dictionary *dictionary)
{
    for (uint64_t code = dictionary->codes; code-- > 0;)
        if (bry__dictionary_has(dictionary, code) && bry__dictionary_uses(dictionary, code) == 0)
            dictionary_drop(dictionary, (uint32_t)code);
    if (bry__dictionary_count(dictionary) == 0) {
        bry__dictionary_clear(dictionary);
        return;
    }
    dictionary_cut(dictionary, 0, UINT64_MAX);
    bry__value_bytes_leave(&dictionary->bytes, &dictionary->allocator);
    dictionary->tidied = 0;
    dictionary_tidy(dictionary, 8, dictionary->codes, UINT64_MAX);
}

/* ---- memory -------------------------------------------------------------------------------- */

uint64_t bry__dictionary_bytes_secondary(const bry__dictionary *dictionary)
{
    return dictionary->engine->bytes(dictionary->secondary);
}

uint64_t bry__dictionary_bytes(const bry__dictionary *dictionary)
{
    return bry__value_entries_allocated(&dictionary->entries) +
           bry__value_bytes_allocated(&dictionary->bytes);
}
