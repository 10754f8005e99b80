/*
 * The map job: options become an engine and a shape, values become codes, and what the engine does
 * with hashes and codes becomes what the header promises of keys and values.
 *
 * A change goes: look whether codes can be taken back; remember the dictionary's state; give codes
 * to values that have none; let the engine act; and, if it would not, go back to that state. The
 * engines' own calls are all or nothing, so every call here is.
 */
#include "map/map_object.h"

#include "common/allocator.h"
#include "common/random.h"

#include <string.h>

#define SMALL_BATCH 64u
#define FEW_BYTES ((uint64_t)1 << 16) /* of values, which may stay when nobody uses them */

/* ---- options ------------------------------------------------------------------------------- */

static const bry__map_engine *engine_of(bry_engine engine)
{
    switch (engine) {
    case BRY_ENGINE_COMPACT:
        return &bry__compact_map_engine;
    case BRY_ENGINE_KBF:
        return &bry__kbf_map_engine;
    default:
        return NULL;
    }
}

bry_status bry__map_read_options(const bry_map_options *given, bry_map_options *options,
                                 const bry__map_engine **engine, bry_map_shape *shape)
{
    *options = (bry_map_options)BRY_MAP_OPTIONS;
    if (given) {
        if (given->struct_size < sizeof given->struct_size || given->struct_size > sizeof *given)
            return BRY_E_RANGE;
        memcpy(options, given, given->struct_size);
        options->struct_size = sizeof *options;
    }
    if (options->engine == BRY_ENGINE_AUTO)
        options->engine = BRY_ENGINE_COMPACT;
    if (options->capacity == 0)
        options->capacity = 1000;
    if (options->error == 0)
        options->error = 0.001;
    if (options->values == 0)
        options->values = 1000;
    if (!bry_engine_name(options->engine) || options->capacity > BRY__MAP_MAX_CAPACITY ||
        !(options->error >= BRY__MAP_MIN_ERROR && options->error <= BRY__MAP_MAX_ERROR) ||
        (options->layout != BRY_MAP_TUNED && options->layout != BRY_MAP_PAPER) ||
        (options->cells == 0) != (options->hashes == 0))
        return BRY_E_RANGE;
    *engine = engine_of(options->engine);
    if (!*engine)
        return BRY_E_UNSUPPORTED;

    bry_status status = (*engine)->plan(options, shape);
    uint64_t dictionary_empty = 0, dictionary = 0;
    if (status == BRY_OK && options->value_bits == 0)
        status =
            bry__dictionary_plan(*engine, options, shape->values, &dictionary_empty, &dictionary);
    if (status == BRY_OK) {
        shape->bytes += sizeof(bry_map) + dictionary;
        shape->bytes_empty += sizeof(bry_map) + dictionary_empty;
    }
    return status;
}

bry_status bry_map_plan(const bry_map_options *given, bry_map_shape *shape)
{
    bry_map_options options;
    const bry__map_engine *engine;
    bry_map_shape planned;
    bry_status status = bry__map_read_options(given, &options, &engine, &planned);
    if (status == BRY_OK)
        *shape = planned;
    return status;
}

/* ---- making -------------------------------------------------------------------------------- */

bry_status bry_map_create(const bry_map_options *given, bry_map **map)
{
    bry_map_options options;
    const bry__map_engine *engine;
    bry_map_shape shape;
    bry_status status = bry__map_read_options(given, &options, &engine, &shape);
    if (status == BRY_OK && options.seed == 0)
        status = bry__random_seed(&options.seed);
    if (status != BRY_OK)
        return status;

    bry_allocator allocator = bry__allocator_or_default(options.allocator);
    options.allocator = NULL;
    bry_map *made = bry__alloc(&allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    *made = (bry_map){.allocator = allocator, .options = options, .engine = engine};
    status = engine->create(&options, &allocator, &made->keys);
    if (status == BRY_OK && bry__map_has_dictionary(made))
        status =
            bry__dictionary_init(&made->dictionary, engine, &options, shape.values, &allocator);
    if (status != BRY_OK) {
        bry_map_destroy(made);
        return status;
    }
    *map = made;
    return BRY_OK;
}

bry_map_options bry_map_options_like(const bry_map *other)
{
    bry_map_options options = other->options;
    other->engine->like(other->keys, &options);
    return options;
}

bry_status bry_map_create_like(const bry_map *other, bry_map **map)
{
    bry_map_options options = bry_map_options_like(other);
    options.allocator = &other->allocator;
    bry_map *made;
    bry_status status = bry_map_create(&options, &made);
    if (status != BRY_OK)
        return status;
    if (bry__map_has_dictionary(other)) {
        bry__dictionary copy;
        status = bry__dictionary_clone(&other->dictionary, &copy);
        if (status != BRY_OK) {
            bry_map_destroy(made);
            return status;
        }
        bry__dictionary_free(&made->dictionary);
        made->dictionary = copy;
    }
    *map = made;
    return BRY_OK;
}

void bry_map_destroy(bry_map *map)
{
    if (!map)
        return;
    bry_allocator allocator = map->allocator;
    if (map->keys)
        map->engine->destroy(map->keys);
    if (bry__map_has_dictionary(map) && map->dictionary.secondary)
        bry__dictionary_free(&map->dictionary);
    bry__free(&allocator, map, sizeof *map);
}

bry_status bry_map_clone(const bry_map *map, bry_map **copy)
{
    bry_map *made = bry__alloc(&map->allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    *made = *map;
    made->keys = NULL;
    made->dictionary.secondary = NULL;
    bry_status status = map->engine->clone(map->keys, &made->keys);
    if (status == BRY_OK && bry__map_has_dictionary(map))
        status = bry__dictionary_clone(&map->dictionary, &made->dictionary);
    if (status != BRY_OK) {
        bry_map_destroy(made);
        return status;
    }
    *copy = made;
    return BRY_OK;
}

void bry_map_clear(bry_map *map)
{
    map->engine->clear(map->keys);
    if (bry__map_has_dictionary(map))
        bry__dictionary_clear(&map->dictionary);
    map->refused_unsure = map->refused_full = 0;
}

uint64_t bry_map_seed(const bry_map *map)
{
    return map->options.seed;
}

/* ---- asking -------------------------------------------------------------------------------- */

bry_answer bry_map_get(const bry_map *map, bry_hash hash, bry_map_value *value)
{
    uint32_t code;
    bry_answer answer = map->engine->get(map->keys, hash, bry__map_codes(map), &code);
    if (answer == BRY_PRESENT && value)
        *value = bry__map_value_of(map, code);
    return answer;
}

void bry_map_get_n(const bry_map *map, const bry_hash *hashes, size_t n, bry_map_value *values,
                   uint8_t *answers)
{
    uint32_t codes[SMALL_BATCH];
    for (size_t done = 0; done < n; done += SMALL_BATCH) {
        size_t here = n - done < SMALL_BATCH ? n - done : SMALL_BATCH;
        map->engine->get_n(map->keys, hashes + done, here, bry__map_codes(map), codes,
                           answers + done);
        for (size_t i = 0; i < here && values; i++)
            if (answers[done + i] == BRY_PRESENT)
                values[done + i] = bry__map_value_of(map, codes[i]);
    }
}

/* ---- codes for values ---------------------------------------------------------------------- */

static bool is_valid(const bry_map *map, const bry_map_value *value)
{
    return bry__map_has_dictionary(map) ? value->len <= BRY_MAP_VALUE_MAX
                                        : value->number < bry__map_codes(map);
}

static bool are_valid(const bry_map *map, const bry_map_value *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_valid(map, &values[i]))
            return false;
    return true;
}

/* The code that a value has; false when it has none. */
static bool find_code(const bry_map *map, const bry_map_value *value, uint32_t *code)
{
    if (bry__map_has_dictionary(map))
        return bry__dictionary_find(&map->dictionary, value->bytes, value->len, code);
    *code = (uint32_t)value->number;
    return is_valid(map, value);
}

void bry__map_take_codes_back(bry_map *map)
{
    bry__dictionary *dictionary = &map->dictionary;
    if (!map->engine->recodes && map->engine->items(map->keys) > 0)
        return;
    if (dictionary->codes == 0) {
        dictionary->since_scan = dictionary->lost = 0;
        return;
    }
    size_t words = (size_t)(dictionary->codes + 63) / 64, any = 0;
    uint64_t *used = bry__alloc(&map->allocator, words * sizeof *used);
    if (!used)
        return; /* what is due stays due */
    if (map->engine->used(map->keys, dictionary->codes, used)) {
        for (size_t i = 0; i < words; i++)
            any += used[i] != 0;
        if (any)
            bry__dictionary_keep(dictionary, used);
        else
            bry__dictionary_clear(dictionary);
    } else {
        dictionary->since_scan = dictionary->lost = 0;
    }
    bry__free(&map->allocator, used, words * sizeof *used);
}

/*
 * Where values take many bytes, more than the list of their places, a scan for those that nobody
 * uses is also due when so many keys have lost theirs that half of the values may be without one.
 * Then it costs each of these keys as much as two values have bytes, where some are dropped; and
 * the reading of four others, unless all keys are few beside the values' bytes.
 */
static bool bytes_are_due(const bry_map *map)
{
    const bry__dictionary *dictionary = &map->dictionary;
    uint64_t bytes = dictionary->value_bytes, lost = dictionary->lost;
    return bytes >= FEW_BYTES && bytes >= dictionary->codes * sizeof(uint64_t) && lost > 0 &&
           lost >= bry__dictionary_count(dictionary) / 2 &&
           4 * lost + bytes / 256 >= map->engine->items(map->keys);
}

/*
 * Codes that no key carries any more come back after a scan of all keys. Each key that is deleted
 * or gets another code leaves at most one such code behind, so a scan is due when there were many
 * of these and also many codes were given since the last one: then it costs each of them the
 * reading of 64 keys, and values that nobody uses are at most a 64th of the keys, or as many as
 * were there before. A map that only grows is never scanned.
 */
static bool scan_is_due(const bry_map *map)
{
    const bry__dictionary *dictionary = &map->dictionary;
    uint64_t least =
        dictionary->since_scan < dictionary->lost ? dictionary->since_scan : dictionary->lost;
    return map->engine->recodes &&
           ((least >= 1024 && least >= map->engine->items(map->keys) / 64) || bytes_are_due(map));
}

/* What there was before a change. */
typedef struct change {
    bry__dictionary_mark mark;
    uint64_t items;
} change;

static uint64_t items_now(const bry_map *map)
{
    return map->engine->recodes ? map->engine->items(map->keys) : 0;
}

/* Before values that may be new and are valid: it may drop others, which a call that is refused for
 * its values must not. */
static change begin_change(bry_map *map)
{
    if (!bry__map_has_dictionary(map))
        return (change){.items = 0};
    if (scan_is_due(map))
        bry__map_take_codes_back(map);
    return (change){bry__dictionary_remember(&map->dictionary), items_now(map)};
}

void bry__map_count_lost(bry_map *map, uint64_t keys)
{
    uint64_t lost = map->dictionary.lost;
    map->dictionary.lost = keys < UINT32_MAX - lost ? lost + keys : UINT32_MAX;
}

/* What the engine said of so many keys; after a failure no new value has a code. */
static bry_status end_change(bry_map *map, const change *began, size_t n, bry_status status)
{
    if (status != BRY_OK && bry__map_has_dictionary(map))
        bry__dictionary_forget(&map->dictionary, &began->mark);
    else if (map->engine->recodes && bry__map_has_dictionary(map)) /* the others were there */
        bry__map_count_lost(map, n - (items_now(map) - began->items));
    map->refused_full += status == BRY_E_FULL;
    map->refused_unsure += status == BRY_E_UNSURE;
    return status;
}

/*
 * After keys were deleted. Codes of kbf come back when there is no key left, and where that is
 * worth it: maps that are joined have to agree on their values, also after one of them was empty.
 */
static void end_deletion(bry_map *map, uint64_t items_before)
{
    const bry__dictionary *dictionary = &map->dictionary;
    uint64_t items = map->engine->items(map->keys);
    bool due;
    if (!bry__map_has_dictionary(map))
        return;
    if (map->engine->recodes) {
        bry__map_count_lost(map, items_before - items);
        due = items < items_before && bytes_are_due(map);
    } else {
        due = items == 0 && items_before > 0 &&
              (dictionary->value_bytes >= FEW_BYTES || dictionary->codes > dictionary->most / 2);
    }
    if (due)
        bry__map_take_codes_back(map);
}

static bry_status intern_all(bry_map *map, const bry_map_value *values, size_t n, uint32_t *codes)
{
    bry_status status = BRY_OK;
    for (size_t i = 0; i < n && status == BRY_OK; i++)
        status =
            bry__dictionary_intern(&map->dictionary, values[i].bytes, values[i].len, &codes[i]);
    return status;
}

/* A code for each of these values, which are valid. When codes run out, some may come back. */
static bry_status give_codes(bry_map *map, change *began, const bry_map_value *values, size_t n,
                             uint32_t *codes)
{
    if (!bry__map_has_dictionary(map)) {
        for (size_t i = 0; i < n; i++)
            codes[i] = (uint32_t)values[i].number;
        return BRY_OK;
    }
    bry_status status = intern_all(map, values, n, codes);
    if (status != BRY_E_FULL)
        return status;
    bry__dictionary_forget(&map->dictionary, &began->mark);
    bry__map_take_codes_back(map);
    began->mark = bry__dictionary_remember(&map->dictionary);
    return intern_all(map, values, n, codes);
}

/* ---- changing ------------------------------------------------------------------------------ */

bry_status bry_map_set(bry_map *map, bry_hash hash, bry_map_value value, bry_answer *was)
{
    if (!is_valid(map, &value))
        return BRY_E_RANGE;
    change began = begin_change(map);
    uint32_t code;
    uint8_t answer;
    bry_status status = give_codes(map, &began, &value, 1, &code);
    if (status == BRY_OK)
        status = map->engine->set_n(map->keys, &hash, &code, 1, bry__map_codes(map), &answer);
    if (status == BRY_OK && answer == BRY_UNSURE)
        status = BRY_E_UNSURE;
    status = end_change(map, &began, 1, status);
    if (status == BRY_OK && was)
        *was = (bry_answer)answer;
    return status;
}

bry_status bry_map_update(bry_map *map, bry_hash hash, bry_map_value value, bry_answer *was)
{
    if (!is_valid(map, &value))
        return BRY_E_RANGE;
    uint32_t code;
    bry_answer answer = map->engine->get(map->keys, hash, bry__map_codes(map), &code);
    bry_status status = BRY_OK;
    if (answer != BRY_ABSENT) { /* an absent key gives no value a code */
        change began = begin_change(map);
        status = answer == BRY_UNSURE ? BRY_E_UNSURE : give_codes(map, &began, &value, 1, &code);
        if (status == BRY_OK)
            status = map->engine->update(map->keys, hash, code, bry__map_codes(map), &answer);
        status = end_change(map, &began, 1, status);
    }
    if (status == BRY_OK && was)
        *was = answer;
    return status;
}

bry_status bry_map_insert(bry_map *map, bry_hash hash, bry_map_value value)
{
    if (!is_valid(map, &value))
        return BRY_E_RANGE;
    change began = begin_change(map);
    uint32_t code;
    bry_status status = give_codes(map, &began, &value, 1, &code);
    if (status == BRY_OK)
        status = map->engine->insert_n(map->keys, &hash, &code, 1);
    return end_change(map, &began, 1, status);
}

bry_status bry_map_del(bry_map *map, bry_hash hash, bry_answer *was)
{
    uint8_t answer;
    uint64_t before = map->engine->items(map->keys);
    bry_status status = map->engine->del_n(map->keys, &hash, 1, bry__map_codes(map), &answer);
    end_deletion(map, before);
    if (status == BRY_OK && answer == BRY_UNSURE)
        status = BRY_E_UNSURE;
    map->refused_unsure += status == BRY_E_UNSURE;
    if (status == BRY_OK && was)
        *was = (bry_answer)answer;
    return status;
}

bry_status bry_map_remove(bry_map *map, bry_hash hash, bry_map_value value, bry_answer *was)
{
    uint32_t code;
    bry_answer answer = BRY_ABSENT;
    uint64_t before = map->engine->items(map->keys);
    if (find_code(map, &value, &code))
        answer = map->engine->remove(map->keys, hash, code, bry__map_codes(map));
    end_deletion(map, before);
    if (was)
        *was = answer;
    return BRY_OK;
}

/* ---- batches ------------------------------------------------------------------------------- */

static uint64_t count_unsure(const uint8_t *was, size_t n)
{
    uint64_t unsure = 0;
    for (size_t i = 0; was && i < n; i++)
        unsure += was[i] == BRY_UNSURE;
    return unsure;
}

/* set_n, or insert_n where `known_absent`. */
static bry_status change_n(bry_map *map, const bry_hash *hashes, const bry_map_value *values,
                           size_t n, bool known_absent, uint8_t *was)
{
    if (!are_valid(map, values, n))
        return BRY_E_RANGE;
    uint32_t small[SMALL_BATCH], *codes = small;
    if (n > SMALL_BATCH) {
        codes =
            n <= SIZE_MAX / sizeof *codes ? bry__alloc(&map->allocator, n * sizeof *codes) : NULL;
        if (!codes)
            return BRY_E_NOMEM;
    }
    change began = begin_change(map);
    bry_status status = give_codes(map, &began, values, n, codes);
    if (status == BRY_OK && n > 0)
        status = known_absent
                     ? map->engine->insert_n(map->keys, hashes, codes, n)
                     : map->engine->set_n(map->keys, hashes, codes, n, bry__map_codes(map), was);
    status = end_change(map, &began, n, status);
    if (n > SMALL_BATCH)
        bry__free(&map->allocator, codes, n * sizeof *codes);
    if (status == BRY_OK)
        map->refused_unsure += count_unsure(was, n);
    return status;
}

bry_status bry_map_set_n(bry_map *map, const bry_hash *hashes, const bry_map_value *values,
                         size_t n, uint8_t *was)
{
    return change_n(map, hashes, values, n, false, was);
}

bry_status bry_map_insert_n(bry_map *map, const bry_hash *hashes, const bry_map_value *values,
                            size_t n)
{
    return change_n(map, hashes, values, n, true, NULL);
}

bry_status bry_map_del_n(bry_map *map, const bry_hash *hashes, size_t n, uint8_t *was)
{
    uint64_t before = map->engine->items(map->keys);
    bry_status status =
        n > 0 ? map->engine->del_n(map->keys, hashes, n, bry__map_codes(map), was) : BRY_OK;
    end_deletion(map, before);
    map->refused_unsure +=
        status == BRY_OK ? count_unsure(was, n) : (uint64_t)(status == BRY_E_UNSURE);
    return status;
}
