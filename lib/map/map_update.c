/* A batch of updates: collects the keys that are there and sets them. */
#include "common/allocator.h"
#include "map/map_object.h"

#define SMALL_BATCH 64u

/* The keys of a batch that have a value. */
typedef struct picked {
    bry_hash *hashes;
    bry_map_value *values;
    bry_answer *was;
    size_t n;
} picked;

static bool map_update_reserve(const bry_map *map, picked *keys, size_t n)
{
    if (n > SIZE_MAX / sizeof *keys->values)
        return false;
    keys->hashes = bry__alloc_buffer(&map->allocator, n * sizeof *keys->hashes);
    keys->values = bry__alloc_buffer(&map->allocator, n * sizeof *keys->values);
    keys->was = bry__alloc_buffer(&map->allocator, n);
    return keys->hashes && keys->values && keys->was;
}

static void map_update_release(const bry_map *map, picked *keys, size_t n)
{
    bry__free(&map->allocator, keys->hashes, n * sizeof *keys->hashes);
    bry__free(&map->allocator, keys->values, n * sizeof *keys->values);
    bry__free(&map->allocator, keys->was, n);
}

static bry_status update_present(bry_map *map, const bry_hash *hashes, const bry_map_value *values,
                                 size_t n, bry_answer *answers, bool tells, picked *keys)
{
    bry_map_get_n(map, hashes, n, NULL, answers);
    uint64_t unsure = 0;
    for (size_t i = 0; i < n; i++) {
        unsure += answers[i] == BRY_UNSURE;
        if (answers[i] != BRY_PRESENT)
            continue;
        keys->hashes[keys->n] = hashes[i];
        keys->values[keys->n++] = values[i];
    }
    if (unsure > 0 && !tells) {
        map->refused_unsure++;
        return BRY_E_UNSURE;
    }
    bry_status status =
        bry_map_set_n(map, keys->hashes, keys->values, keys->n, tells ? keys->was : NULL);
    if (status != BRY_OK)
        return status;
    map->refused_unsure += unsure;
    for (size_t i = 0, next = 0; i < n && tells; i++)
        if (answers[i] == BRY_PRESENT)
            answers[i] = keys->was[next++];
    return BRY_OK;
}

/* Integers are their own codes: no look-up is needed before. */
static bry_status update_numbers(bry_map *map, const bry_hash *hashes, const bry_map_value *values,
                                 size_t n, bry_answer *was)
{
    uint32_t small[SMALL_BATCH], *codes = small;
    if (n > SMALL_BATCH)
        codes = n <= SIZE_MAX / sizeof *codes
                    ? bry__alloc_buffer(&map->allocator, n * sizeof *codes)
                    : NULL;
    if (!codes)
        return BRY_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        codes[i] = (uint32_t)values[i].number;
    bry_status status =
        map->engine->update_n(map->keys, hashes, codes, n, bry__map_codes(map), was);
    if (n > SMALL_BATCH)
        bry__free(&map->allocator, codes, n * sizeof *codes);
    return status;
}

bry_status bry_map_update_n(bry_map *map, const bry_hash *hashes, const bry_map_value *values,
                            size_t n, bry_answer *was)
{
    bry_status status = bry__map_check_values(map, values, n);
    if (status != BRY_OK || n == 0)
        return status;
    if (map->engine->update_n && !bry__map_has_dictionary(map))
        return update_numbers(map, hashes, values, n, was);
    picked keys = {0};
    bry_answer *answers = bry__alloc_buffer(&map->allocator, n);
    status = BRY_E_NOMEM;
    if (map_update_reserve(map, &keys, n) && answers)
        status = update_present(map, hashes, values, n, answers, was != NULL, &keys);
    for (size_t i = 0; i < n && was && status == BRY_OK; i++)
        was[i] = answers[i];
    bry__free(&map->allocator, answers, n);
    map_update_release(map, &keys, n);
    return status;
}
