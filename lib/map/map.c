/*
 * The map job: chooses engine and shape from the options, and translates between keys and values,
 * which the header speaks of, and hashes and codes, which the engine stores.
 *
 * A change assigns codes to values that have none, calls the engine, and takes these codes back if
 * the engine fails. The engines' own calls are all or nothing, so every call here is. An engine
 * that can count keys reports which codes keys get and lose (watch), and a value is freed with its
 * last key.
 */
#include "map/map_object.h"

#include "frame/job_row.h"

#define SMALL_BATCH 64u
#define FEW_BYTES ((uint64_t)1 << 16) /* of kbf's values, which may stay when the map is empty */

/* ---- options ------------------------------------------------------------------------------- */

const bry__engine_row bry__map_engines[] = {
    BRY__MAP_ENGINES(BRY__ENGINE_ROW){BRY_ENGINE_AUTO, NULL, NULL}};

bry_status bry__map_read_options(const bry_map_options *given, bry_map_options *options,
                                 const bry__map_engine **engine, bry_map_shape *shape)
{
    *options = (bry_map_options)BRY_MAP_OPTIONS;
    bry_status status = bry__struct_read(options, sizeof *options, given);
    if (status != BRY_OK)
        return status;
    if (options->engine == BRY_ENGINE_AUTO)
        options->engine = BRY_ENGINE_COMPACT;
    if (options->capacity == 0)
        options->capacity = 1000;
    if (options->error == 0)
        options->error = 0.001;
    if (options->values == 0)
        options->values = 1000;
    const bry_map_kbf *kbf = &options->kbf;
    if (options->engine == BRY_ENGINE_COMPACT &&
        (kbf->layout != BRY_MAP_TUNED || kbf->cells || kbf->hashes))
        return BRY_E_UNSUPPORTED;
    if (!bry_engine_name(options->engine) || options->fixed > 1 || options->reserved ||
        !bry__all_zero(kbf->reserved, sizeof kbf->reserved) ||
        options->capacity > BRY_CAPACITY_MAX ||
        !(options->error >= BRY_MAP_ERROR_MIN && options->error <= BRY_ERROR_MAX) ||
        (kbf->layout != BRY_MAP_TUNED && kbf->layout != BRY_MAP_PAPER) ||
        (kbf->cells == 0) != (kbf->hashes == 0))
        return BRY_E_RANGE;
    *engine = bry__engine_find(bry__map_engines, options->engine);
    if (!*engine)
        return BRY_E_UNSUPPORTED;

    status = (*engine)->plan(options, shape);
    if (status == BRY_OK) {
        uint64_t values = options->value_bits ? 0 : shape->values;
        size_t own = sizeof(bry_map) + (options->value_bits ? 0 : sizeof(bry__dictionary));
        shape->bytes += own + values * BRY__DICTIONARY_EACH;
        shape->bytes_empty += own;
    }
    return status;
}

/* ---- making -------------------------------------------------------------------------------- */

static void map_count_use(void *context, uint32_t code, bool got)
{
    bry_map *map = context;
    if (got)
        bry__dictionary_gain(map->dictionary, code);
    else
        bry__dictionary_lose(map->dictionary, code);
}

void bry__map_watch(bry_map *map)
{
    if (bry__map_has_dictionary(map) && map->engine->watch)
        map->engine->watch(map->keys, map_count_use, map);
}

bry_status bry__map_create_dictionary(bry_map *map, uint64_t values)
{
    if (!bry__map_has_dictionary(map))
        return BRY_OK;
    map->dictionary = bry__alloc(&map->allocator, sizeof *map->dictionary);
    if (!map->dictionary)
        return BRY_E_NOMEM;
    /* The index of values has no slot for one code more (dictionary_index.c). */
    uint64_t most = map->engine->recodes ? BRY_MAP_VALUES_MAX - 1 : values;
    bry__dictionary_init(map->dictionary, map->options.seed, most, &map->allocator);
    return BRY_OK;
}

/* Ends the making of a map. */
static bry_status map_done(bry_map *made, bry_status status, bry_map **map)
{
    if (status != BRY_OK) {
        bry_map_destroy(made);
        return status;
    }
    bry__map_watch(made);
    *map = made;
    return BRY_OK;
}

static bry_status map_make(const bry_map_options *options, const bry__map_engine *engine,
                           const bry_map_shape *shape, const bry_allocator *allocator,
                           bry_map **map)
{
    bry_map *made = bry__alloc(allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    *made = (bry_map){
        .allocator = *allocator, .options = *options, .engine = engine, .promised = shape->errors};
    bry_status status = bry__map_create_dictionary(made, shape->values);
    if (status == BRY_OK)
        status = engine->create(options, allocator, &made->keys);
    return map_done(made, status, map);
}

bry_map_options bry__map_like(const bry_map *other)
{
    bry_map_options options = other->options;
    other->engine->like(other->keys, &options);
    return options;
}

BRY__JOB_OPTIONS(map, bry__map_read_options, bry__map_like, map_make)

bry_status bry_map_create_like(const bry_map *other, const bry_allocator *allocator, bry_map **map)
{
    bry_map_options options = bry__map_like(other);
    options.allocator = allocator ? allocator : &other->allocator;
    bry_map *made;
    bry_status status = bry_map_create(&options, &made);
    if (status != BRY_OK)
        return status;
    if (bry__map_has_dictionary(other) && !other->engine->recodes) {
        bry__dictionary copy;
        status = bry__dictionary_clone(other->dictionary, options.allocator, &copy);
        if (status != BRY_OK) {
            bry_map_destroy(made);
            return status;
        }
        bry__dictionary_free(made->dictionary);
        *made->dictionary = copy;
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
    if (map->dictionary)
        bry__dictionary_free(map->dictionary);
    bry__free(&allocator, map->dictionary, sizeof *map->dictionary);
    bry__free(&allocator, map, sizeof *map);
}

bry_status bry_map_clone(const bry_map *map, const bry_allocator *given, bry_map **copy)
{
    bry_allocator allocator = given ? *given : map->allocator;
    bry_map *made = bry__alloc(&allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    *made = *map;
    made->allocator = allocator;
    made->keys = NULL;
    made->dictionary = NULL;
    bry_status status = bry__map_create_dictionary(made, 0);
    if (status == BRY_OK && made->dictionary)
        status = bry__dictionary_clone(map->dictionary, &allocator, made->dictionary);
    if (status == BRY_OK)
        status = map->engine->clone(map->keys, &allocator, &made->keys);
    return map_done(made, status, copy);
}

void bry_map_clear(bry_map *map)
{
    if (bry__map_has_dictionary(map))
        bry__dictionary_clear(map->dictionary);
    map->engine->clear(map->keys, bry__map_codes(map));
    map->refused_unsure = map->refused_full = map->ghosts = 0;
}

BRY__JOB_GETTERS(map, options.seed, engine->engine)

uint64_t bry_map_capacity(const bry_map *map)
{
    return bry__map_like(map).capacity;
}

uint32_t bry_map_value_bits(const bry_map *map)
{
    return map->options.value_bits;
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

bry_status bry_map_get_numbers_n(const bry_map *map, const bry_hash *hashes, size_t n,
                                 uint64_t *numbers, bry_answer *answers)
{
    if (bry__map_has_dictionary(map))
        return BRY_E_UNSUPPORTED;
    uint32_t codes[SMALL_BATCH];
    for (size_t done = 0; done < n; done += SMALL_BATCH) {
        size_t here = n - done < SMALL_BATCH ? n - done : SMALL_BATCH;
        map->engine->get_n(map->keys, hashes + done, here, bry__map_codes(map), codes,
                           answers + done);
        for (size_t i = 0; i < here && numbers; i++)
            if (answers[done + i] == BRY_PRESENT)
                numbers[done + i] = codes[i];
    }
    return BRY_OK;
}

/* ---- codes for values ---------------------------------------------------------------------- */

bry_status bry__map_check_values(const bry_map *map, const bry_map_value *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bry__map_has_dictionary(map)) {
            if (values[i].len > BRY_MAP_VALUE_MAX)
                return BRY_E_TOOLONG;
            if (values[i].number)
                return BRY_E_RANGE;
        } else if (values[i].number >= bry__map_codes(map) || values[i].bytes) {
            return BRY_E_RANGE;
        }
    }
    return BRY_OK;
}

/* The code of a value; false if it has none. */
static bool map_find_code(const bry_map *map, const bry_map_value *value, uint32_t *code)
{
    if (bry__map_has_dictionary(map))
        return bry__dictionary_find(map->dictionary, value->bytes, value->len, code);
    *code = (uint32_t)value->number;
    return bry__map_check_values(map, value, 1) == BRY_OK;
}

/* kbf: if no key is left, all codes can be reused. */
static void take_codes_back(bry_map *map)
{
    if (!map->engine->recodes && map->engine->is_blank(map->keys))
        bry__dictionary_clear(map->dictionary);
}

void bry__map_recount(bry_map *map)
{
    if (!map->engine->watch) {
        take_codes_back(map);
        return;
    }
    bry__dictionary_reset_counts(map->dictionary);
    map->engine->recount(map->keys);
    bry__dictionary_pack(map->dictionary);
}

bry_status bry__map_count_refused(bry_map *map, bry_status status)
{
    map->refused_full += status == BRY_E_FULL;
    map->refused_unsure += status == BRY_E_UNSURE;
    return status;
}

bry_status bry__map_end_change(bry_map *map, uint64_t before, const uint32_t *codes, size_t n,
                               bry_status status)
{
    if (bry__map_has_dictionary(map)) {
        if (status != BRY_OK)
            bry__dictionary_forget(map->dictionary, before, codes, n);
        else if (!map->engine->watch) /* else watch confirms them */
            bry__dictionary_confirm(map->dictionary, codes, n);
    }
    return bry__map_count_refused(map, status);
}

/* Number of keys before some are deleted, for end_deletion(). */
static uint64_t begin_deletion(const bry_map *map)
{
    return map->engine->recodes ? 0 : map->engine->items(map->keys);
}

/*
 * After keys were deleted. Codes of kbf can be reused when no key is left, but only if they take
 * much memory: maps that are merged have to agree on their codes, even after one of them was empty.
 */
static void end_deletion(bry_map *map, uint64_t items_before)
{
    if (map->engine->recodes)
        return;
    const bry__dictionary *dictionary = map->dictionary;
    uint64_t items = map->engine->items(map->keys);
    if (map->ghosts > items)
        map->ghosts = items;
    if (!bry__map_has_dictionary(map) || items_before == 0 || items > 0)
        return;
    if (dictionary->bytes.live >= FEW_BYTES || dictionary->table.codes > dictionary->most / 2)
        take_codes_back(map);
}

bry_status bry__map_give_codes(bry_map *map, const bry_map_value *values, size_t n, uint32_t *codes,
                               uint64_t *before)
{
    *before = 0;
    if (!bry__map_has_dictionary(map)) {
        for (size_t i = 0; i < n; i++)
            codes[i] = (uint32_t)values[i].number;
        return BRY_OK;
    }
    bry_status status = BRY_E_FULL;
    for (int tries = 0; tries < 2 && status == BRY_E_FULL; tries++) {
        size_t done;
        if (tries > 0)
            take_codes_back(map);
        *before = map->dictionary->table.codes;
        status = bry__dictionary_intern_n(map->dictionary, values, n, codes, &done);
        if (status != BRY_OK)
            bry__dictionary_forget(map->dictionary, *before, codes, done);
    }
    return status;
}

/* ---- changing ------------------------------------------------------------------------------ */

/* set_n, or add_n if `known_absent`. */
static bry_status map_put_codes(bry_map *map, const bry_hash *hashes, const uint32_t *codes,
                                size_t n, bool known_absent, uint8_t *was)
{
    if (n == 0)
        return BRY_OK;
    return known_absent && map->engine->add_n
               ? map->engine->add_n(map->keys, hashes, codes, n)
               : map->engine->set_n(map->keys, hashes, codes, n, bry__map_codes(map), was);
}

static bry_status map_put(bry_map *map, bry_hash hash, bry_map_value value, bool known_absent,
                          bry_answer *was)
{
    bry_status status = bry__map_check_values(map, &value, 1);
    if (status != BRY_OK)
        return status;
    uint32_t code;
    uint8_t answer = BRY_ABSENT;
    uint64_t before;
    status = bry__map_give_codes(map, &value, 1, &code, &before);
    if (status != BRY_OK)
        return bry__map_count_refused(map, status);
    status = map_put_codes(map, &hash, &code, 1, known_absent, &answer);
    if (status == BRY_OK && answer == BRY_UNSURE)
        status = BRY_E_UNSURE;
    status = bry__map_end_change(map, before, &code, 1, status);
    if (status == BRY_OK && was)
        *was = (bry_answer)answer;
    return status;
}

bry_status bry_map_set(bry_map *map, bry_hash hash, bry_map_value value, bry_answer *was)
{
    return map_put(map, hash, value, false, was);
}

bry_status bry_map_update(bry_map *map, bry_hash hash, bry_map_value value, bry_answer *was)
{
    bry_status status = bry__map_check_values(map, &value, 1);
    if (status != BRY_OK)
        return status;
    uint32_t code = (uint32_t)value.number;
    bry_answer answer;
    if (!bry__map_has_dictionary(map)) {
        status = map->engine->update(map->keys, hash, code, bry__map_codes(map), &answer);
        if (status == BRY_OK && was)
            *was = answer;
        return bry__map_count_refused(map, status);
    }
    answer = map->engine->get(map->keys, hash, bry__map_codes(map), &code);
    if (answer != BRY_ABSENT) { /* do not assign a code for an absent key */
        uint64_t before;
        status = answer == BRY_UNSURE ? BRY_E_UNSURE
                                      : bry__map_give_codes(map, &value, 1, &code, &before);
        if (status != BRY_OK)
            return bry__map_count_refused(map, status);
        status = map->engine->update(map->keys, hash, code, bry__map_codes(map), &answer);
        status = bry__map_end_change(map, before, &code, 1, status);
    }
    if (status == BRY_OK && was)
        *was = answer;
    return status;
}

bry_status bry_map_add(bry_map *map, bry_hash hash, bry_map_value value)
{
    return map_put(map, hash, value, true, NULL);
}

bry_status bry_map_del(bry_map *map, bry_hash hash, bry_answer *was)
{
    uint8_t answer;
    uint64_t before = begin_deletion(map);
    bry_status status = map->engine->del_n(map->keys, &hash, 1, bry__map_codes(map), &answer);
    if (status == BRY_OK && answer == BRY_UNSURE)
        status = BRY_E_UNSURE;
    map->refused_unsure += status == BRY_E_UNSURE;
    map->ghosts += status == BRY_E_UNSURE;
    end_deletion(map, before);
    if (status == BRY_OK && was)
        *was = (bry_answer)answer;
    return status;
}

bry_status bry_map_del_pair(bry_map *map, bry_hash hash, bry_map_value value, bry_answer *was)
{
    uint32_t code;
    bry_answer answer = BRY_ABSENT;
    uint64_t before = begin_deletion(map);
    if (map_find_code(map, &value, &code))
        answer = map->engine->del_pair(map->keys, hash, code, bry__map_codes(map));
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

static bry_status map_change_n(bry_map *map, const bry_hash *hashes, const bry_map_value *values,
                               size_t n, bool known_absent, uint8_t *was)
{
    bry_status status = bry__map_check_values(map, values, n);
    if (status != BRY_OK)
        return status;
    uint32_t small[SMALL_BATCH], *codes = small;
    if (n > SMALL_BATCH) {
        codes =
            n <= SIZE_MAX / sizeof *codes ? bry__alloc(&map->allocator, n * sizeof *codes) : NULL;
        if (!codes)
            return BRY_E_NOMEM;
    }
    uint64_t before;
    status = bry__map_give_codes(map, values, n, codes, &before);
    if (status != BRY_OK)
        bry__map_count_refused(map, status);
    else
        status = bry__map_end_change(map, before, codes, n,
                                     map_put_codes(map, hashes, codes, n, known_absent, was));
    if (n > SMALL_BATCH)
        bry__free(&map->allocator, codes, n * sizeof *codes);
    if (status == BRY_OK)
        map->refused_unsure += count_unsure(was, n);
    return status;
}

bry_status bry_map_set_n(bry_map *map, const bry_hash *hashes, const bry_map_value *values,
                         size_t n, uint8_t *was)
{
    return map_change_n(map, hashes, values, n, false, was);
}

bry_status bry_map_add_n(bry_map *map, const bry_hash *hashes, const bry_map_value *values,
                         size_t n)
{
    return map_change_n(map, hashes, values, n, true, NULL);
}

bry_status bry_map_del_n(bry_map *map, const bry_hash *hashes, size_t n, uint8_t *was)
{
    uint64_t before = begin_deletion(map);
    bry_status status =
        n > 0 ? map->engine->del_n(map->keys, hashes, n, bry__map_codes(map), was) : BRY_OK;
    uint64_t unsure = status == BRY_OK ? count_unsure(was, n) : 0;
    map->ghosts += unsure;
    map->refused_unsure += unsure + (status == BRY_E_UNSURE);
    end_deletion(map, before);
    return status;
}
