/*
 * Values are byte strings of which many keys share a few. Each distinct one has a code, and only
 * codes are stored under keys.
 *
 *   value ──hash──► secondary ──► candidates ──compare with the bytes──► code
 *   code  ──► entry[code]: piece, place, length ──► bytes
 *
 * The secondary is an instance of the map's own engine, keyed by the value's hash. With kbf it is
 * the papers' s-kBF; with compact it is a maplet of the values' fingerprints. Its answer is only a
 * proposal: it counts if the bytes stored under the code are the value's. A secondary that has not
 * seen a value says so for certain in both engines. One that is not sure (kbf, about one value in a
 * million) is followed by a look at all entries of that length. So one value never stands for
 * another, and no value ever gets two codes.
 *
 *   entry   63   free
 *           62   about to be freed, within bry__dictionary_keep() alone
 *           16–61  place of the bytes (value_bytes.h)
 *           0–15   length
 *
 * Codes come back when the map finds that no key carries them (bry__dictionary_keep()). The bytes
 * are packed anew then.
 */
#include "map/dictionary.h"

#include "common/allocator.h"

#include <string.h>

#define FREE ((uint64_t)1 << 63)
#define LEAVING ((uint64_t)1 << 62)
#define LENGTH_BITS 16u

static size_t length_of(uint64_t entry)
{
    return (size_t)(entry & ((1u << LENGTH_BITS) - 1));
}

static const unsigned char *bytes_of(const bry__dictionary *dictionary, uint64_t entry)
{
    return bry__value_bytes_at(&dictionary->bytes, entry >> LENGTH_BITS);
}

static uint64_t entry_of(const bry__dictionary *dictionary, uint64_t code)
{
    return *bry__value_entry(&dictionary->entries, code);
}

static void set_entry(bry__dictionary *dictionary, uint64_t code, uint64_t entry)
{
    *bry__value_entry(&dictionary->entries, code) = entry;
}

static bry_hash hash_of(const bry__dictionary *dictionary, const void *bytes, size_t len)
{
    return bry_hash_key(dictionary->options.seed, bytes, len);
}

/* ---- making -------------------------------------------------------------------------------- */

static bry_map_options secondary_options(const bry__map_engine *engine,
                                         const bry_map_options *options, uint64_t values)
{
    return (bry_map_options){
        .struct_size = sizeof(bry_map_options),
        .engine = options->engine,
        .fixed = !engine->recodes, /* as many values as there can be, and never more */
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
        *bytes = shape.bytes + values * sizeof(uint64_t);
    }
    return status;
}

bry_status bry__dictionary_init(bry__dictionary *dictionary, const bry__map_engine *engine,
                                const bry_map_options *options, uint64_t values,
                                const bry_allocator *allocator)
{
    bry__dictionary made = {
        .allocator = *allocator,
        .engine = engine,
        .options = secondary_options(engine, options, values),
        .most = engine->recodes ? UINT32_MAX : values,
    };
    bry_status status = engine->create(&made.options, allocator, &made.secondary);
    if (status == BRY_OK)
        *dictionary = made;
    return status;
}

static void free_arrays(bry__dictionary *dictionary)
{
    const bry_allocator *allocator = &dictionary->allocator;
    bry__value_bytes_free(&dictionary->bytes, allocator);
    bry__value_entries_free(&dictionary->entries, allocator);
    bry__free(allocator, dictionary->free, dictionary->free_room * sizeof *dictionary->free);
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
    dictionary->engine->clear(dictionary->secondary);
    *dictionary = (bry__dictionary){
        .allocator = dictionary->allocator,
        .engine = dictionary->engine,
        .options = dictionary->options,
        .secondary = dictionary->secondary,
        .most = dictionary->most,
    };
}

static bry_status clone_entries(const bry__dictionary *dictionary, bry__value_entries *copy)
{
    bry_status status = BRY_OK;
    for (size_t code = 0; code < dictionary->codes && status == BRY_OK; code++) {
        status = bry__value_entries_reserve(copy, code, (size_t)dictionary->codes,
                                            &dictionary->allocator);
        if (status == BRY_OK)
            *bry__value_entry(copy, code) = entry_of(dictionary, code);
    }
    return status;
}

bry_status bry__dictionary_clone(const bry__dictionary *dictionary, bry__dictionary *copy)
{
    const bry_allocator *allocator = &dictionary->allocator;
    bry__dictionary made = *dictionary;
    made.secondary = NULL;
    made.bytes = (bry__value_bytes){0};
    made.entries = (bry__value_entries){0};
    made.free_room = dictionary->free_count;
    made.free = made.free_room ? bry__alloc(allocator, made.free_room * sizeof *made.free) : NULL;
    bry_status status = BRY_E_NOMEM;
    if (!made.free == !made.free_room)
        status = clone_entries(dictionary, &made.entries);
    if (status == BRY_OK)
        status = bry__value_bytes_clone(&dictionary->bytes, &made.bytes, allocator);
    if (status == BRY_OK)
        status = dictionary->engine->clone(dictionary->secondary, &made.secondary);
    if (status != BRY_OK) {
        bry__dictionary_free(&made);
        return status;
    }
    if (made.free_count)
        memcpy(made.free, dictionary->free, made.free_count * sizeof *made.free);
    *copy = made;
    return BRY_OK;
}

/* ---- asking -------------------------------------------------------------------------------- */

bool bry__dictionary_has(const bry__dictionary *dictionary, uint64_t code)
{
    return code < dictionary->codes && !(entry_of(dictionary, code) & FREE);
}

bry_map_value bry__dictionary_value(const bry__dictionary *dictionary, uint32_t code)
{
    uint64_t entry = entry_of(dictionary, code);
    return bry_map_bytes(bytes_of(dictionary, entry), length_of(entry));
}

typedef struct wanted {
    const bry__dictionary *dictionary;
    const void *bytes;
    size_t len;
} wanted;

static bool matches(void *context, uint32_t code)
{
    const wanted *value = context;
    const bry__dictionary *dictionary = value->dictionary;
    if (code >= dictionary->codes)
        return false;
    uint64_t entry = entry_of(dictionary, code);
    return !(entry & FREE) && length_of(entry) == value->len &&
           (value->len == 0 || memcmp(bytes_of(dictionary, entry), value->bytes, value->len) == 0);
}

static bool find_hashed(const bry__dictionary *dictionary, bry_hash hash, const void *bytes,
                        size_t len, uint32_t *code)
{
    wanted value = {dictionary, bytes, len};
    bry_answer answer = dictionary->engine->find(dictionary->secondary, hash, dictionary->codes,
                                                 matches, &value, code);
    if (answer != BRY_UNSURE)
        return answer == BRY_PRESENT;
    for (uint64_t c = 0; c < dictionary->codes; c++)
        if (matches(&value, (uint32_t)c)) {
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
    return find_hashed(dictionary, hash_of(dictionary, bytes, len), bytes, len, code);
}

/* ---- changing ------------------------------------------------------------------------------ */

/* Gives the value that code. What was reserved on the way may stay when this fails. */
static bry_status assign(bry__dictionary *dictionary, bry_hash hash, const void *bytes, size_t len,
                         uint32_t code)
{
    bry_status status = bry__value_bytes_reserve(&dictionary->bytes, len, &dictionary->allocator);
    if (status == BRY_OK)
        status = dictionary->engine->add(dictionary->secondary, hash, code);
    if (status != BRY_OK)
        return status;
    set_entry(dictionary, code,
              bry__value_bytes_put(&dictionary->bytes, bytes, len) << LENGTH_BITS | len);
    dictionary->value_bytes += len;
    dictionary->since_scan += dictionary->since_scan < UINT32_MAX;
    return BRY_OK;
}

static bry_status reserve_entry(bry__dictionary *dictionary)
{
    if (dictionary->codes >= dictionary->most)
        return BRY_E_FULL;
    return bry__value_entries_reserve(&dictionary->entries, (size_t)dictionary->codes, 0,
                                      &dictionary->allocator);
}

static bry_status append(bry__dictionary *dictionary, bry_hash hash, const void *bytes, size_t len)
{
    bry_status status = reserve_entry(dictionary);
    if (status == BRY_OK)
        status = assign(dictionary, hash, bytes, len, (uint32_t)dictionary->codes);
    if (status == BRY_OK)
        dictionary->codes++;
    return status;
}

bry_status bry__dictionary_append(bry__dictionary *dictionary, const void *bytes, size_t len)
{
    if (len > BRY_MAP_VALUE_MAX)
        return BRY_E_RANGE;
    return append(dictionary, hash_of(dictionary, bytes, len), bytes, len);
}

bry_status bry__dictionary_append_free(bry__dictionary *dictionary)
{
    bry_status status = reserve_entry(dictionary);
    if (status == BRY_OK)
        set_entry(dictionary, dictionary->codes++, FREE);
    return status;
}

bry_status bry__dictionary_intern(bry__dictionary *dictionary, const void *bytes, size_t len,
                                  uint32_t *code)
{
    if (len > BRY_MAP_VALUE_MAX)
        return BRY_E_RANGE;
    bry_hash hash = hash_of(dictionary, bytes, len);
    if (find_hashed(dictionary, hash, bytes, len, code))
        return BRY_OK;
    uint32_t given = (uint32_t)dictionary->codes;
    bry_status status;
    if (dictionary->free_count > 0) {
        given = dictionary->free[dictionary->free_count - 1];
        status = assign(dictionary, hash, bytes, len, given);
        if (status == BRY_OK)
            dictionary->free_count--;
    } else {
        status = append(dictionary, hash, bytes, len);
    }
    if (status == BRY_OK)
        *code = given;
    return status;
}

/* ---- going back ---------------------------------------------------------------------------- */

bry__dictionary_mark bry__dictionary_remember(const bry__dictionary *dictionary)
{
    const bry__value_bytes *bytes = &dictionary->bytes;
    return (bry__dictionary_mark){
        .codes = dictionary->codes,
        .since_scan = dictionary->since_scan,
        .free_count = dictionary->free_count,
        .pieces = bytes->pieces,
        .used = bytes->pieces ? bytes->piece[bytes->pieces - 1].used : 0,
    };
}

static void drop(bry__dictionary *dictionary, uint32_t code)
{
    uint64_t entry = entry_of(dictionary, code);
    bry_hash hash = hash_of(dictionary, bytes_of(dictionary, entry), length_of(entry));
    dictionary->engine->take(dictionary->secondary, hash, code, dictionary->codes);
    dictionary->value_bytes -= length_of(entry);
    set_entry(dictionary, code, FREE);
}

void bry__dictionary_forget(bry__dictionary *dictionary, const bry__dictionary_mark *mark)
{
    for (uint64_t code = dictionary->codes; code-- > mark->codes;)
        drop(dictionary, (uint32_t)code);
    /* Codes that were free are above what is left of the list, untouched. */
    while (dictionary->free_count < mark->free_count)
        drop(dictionary, dictionary->free[dictionary->free_count++]);
    dictionary->codes = mark->codes;
    bry__value_bytes *bytes = &dictionary->bytes;
    while (bytes->pieces > mark->pieces) {
        bry__value_piece *last = &bytes->piece[--bytes->pieces];
        bry__free(&dictionary->allocator, last->bytes, last->room);
    }
    if (mark->pieces)
        bytes->piece[mark->pieces - 1].used = mark->used;
    dictionary->since_scan = mark->since_scan;
}

/* ---- codes that nobody uses ---------------------------------------------------------------- */

bry_status bry__dictionary_list_free(bry__dictionary *dictionary)
{
    size_t count = 0, at = 0;
    for (uint64_t code = 0; code < dictionary->codes; code++)
        count += !bry__dictionary_has(dictionary, code);
    uint32_t *list = count ? bry__alloc(&dictionary->allocator, count * sizeof *list) : NULL;
    if (count && !list)
        return BRY_E_NOMEM;
    for (uint64_t code = dictionary->codes; code-- > 0;)
        if (!bry__dictionary_has(dictionary, code))
            list[at++] = (uint32_t)code;
    bry__free(&dictionary->allocator, dictionary->free,
              dictionary->free_room * sizeof *dictionary->free);
    dictionary->free = list;
    dictionary->free_count = dictionary->free_room = count;
    return BRY_OK;
}

/* Copies the values into new pieces without gaps; without memory for that, all stays. */
static void pack(bry__dictionary *dictionary)
{
    const bry_allocator *allocator = &dictionary->allocator;
    bry__value_bytes packed = {0};
    bry__value_entries entries = {0};
    bry_status status = clone_entries(dictionary, &entries);
    for (uint64_t code = 0; code < dictionary->codes && status == BRY_OK; code++) {
        uint64_t entry = entry_of(dictionary, code);
        size_t len = length_of(entry);
        if (entry & FREE)
            continue;
        status = bry__value_bytes_reserve(&packed, len, allocator);
        if (status == BRY_OK)
            *bry__value_entry(&entries, code) =
                bry__value_bytes_put(&packed, bytes_of(dictionary, entry), len) << LENGTH_BITS |
                len;
    }
    if (status != BRY_OK) {
        bry__value_bytes_free(&packed, allocator);
        bry__value_entries_free(&entries, allocator);
        return;
    }
    bry__value_bytes_free(&dictionary->bytes, allocator);
    bry__value_entries_free(&dictionary->entries, allocator);
    dictionary->bytes = packed;
    dictionary->entries = entries;
}

void bry__dictionary_keep(bry__dictionary *dictionary, const uint64_t *used)
{
    uint64_t before = dictionary->codes;
    for (uint64_t code = 0; code < dictionary->codes; code++)
        if (bry__dictionary_has(dictionary, code) && !(used[code / 64] >> (code % 64) & 1))
            set_entry(dictionary, code,
                      entry_of(dictionary, code) | FREE | LEAVING); /* still with its place */
    while (dictionary->codes > 0 && !bry__dictionary_has(dictionary, dictionary->codes - 1))
        dictionary->codes--;
    bool listed = bry__dictionary_list_free(dictionary) == BRY_OK;
    for (uint64_t code = 0; code < before; code++) {
        uint64_t entry = entry_of(dictionary, code);
        if (!(entry & LEAVING))
            continue;
        set_entry(dictionary, code, entry & ~(FREE | LEAVING));
        if (listed)
            drop(dictionary, (uint32_t)code);
    }
    if (!listed) {
        dictionary->codes = before;
        return;
    }
    dictionary->since_scan = dictionary->lost = 0;
    if (bry__value_bytes_used(&dictionary->bytes) > dictionary->value_bytes)
        pack(dictionary);
}

uint64_t bry__dictionary_bytes_secondary(const bry__dictionary *dictionary)
{
    bry_map_stats stats = {0};
    dictionary->engine->stats(dictionary->secondary, dictionary->codes, &stats);
    return stats.bytes_main;
}

uint64_t bry__dictionary_bytes(const bry__dictionary *dictionary)
{
    return bry__value_entries_allocated(&dictionary->entries) +
           dictionary->free_room * sizeof *dictionary->free +
           bry__value_bytes_allocated(&dictionary->bytes);
}
