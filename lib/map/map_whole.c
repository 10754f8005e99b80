/* What is done with whole maps: joining two, compressing one, and telling what it is like. */
#include "common/allocator.h"
#include "map/map_object.h"

#include <string.h>

/* ---- joining ------------------------------------------------------------------------------- */

static bool same_value(const bry_map *a, const bry_map *b, uint32_t code)
{
    bry_map_value x = bry__map_value_of(a, code), y = bry__map_value_of(b, code);
    return x.len == y.len && memcmp(x.bytes, y.bytes, x.len) == 0;
}

/*
 * Codes of kbf cannot be changed without the keys. They are given in order and never taken back
 * one by one, so two dictionaries agree when one begins with the other.
 */
static bry_status extend_codes(bry_map *into, const bry_map *from)
{
    uint64_t common = bry__map_codes(into), all = bry__map_codes(from);
    if (common > all)
        common = all;
    for (uint64_t code = 0; code < common; code++)
        if (!same_value(into, from, (uint32_t)code))
            return BRY_E_MISMATCH;
    bry_status status = BRY_OK;
    for (uint64_t code = common; code < all && status == BRY_OK; code++) {
        bry_map_value value = bry__map_value_of(from, (uint32_t)code);
        status = bry__dictionary_append(&into->dictionary, value.bytes, value.len);
    }
    return status;
}

/* recode[c]: the code in `into` of the value that is c in `from`, where a key has it. */
static bry_status match_codes(bry_map *into, const bry_map *from, uint32_t *recode, uint64_t *used)
{
    bry_status status = BRY_OK;
    from->engine->used(from->keys, from->dictionary.codes, used);
    for (uint64_t code = 0; code < from->dictionary.codes && status == BRY_OK; code++) {
        if (!(used[code / 64] >> (code % 64) & 1))
            continue;
        bry_map_value value = bry__map_value_of(from, (uint32_t)code);
        status = bry__dictionary_intern(&into->dictionary, value.bytes, value.len, &recode[code]);
    }
    return status;
}

static bry_status join_recoded(bry_map *into, const bry_map *from)
{
    const bry_allocator *allocator = &into->allocator;
    size_t codes = (size_t)from->dictionary.codes, words = (codes + 63) / 64;
    uint32_t *recode = bry__alloc(allocator, codes * sizeof *recode);
    uint64_t *used = bry__alloc(allocator, words * sizeof *used);
    uint64_t sum = into->engine->items(into->keys) + from->engine->items(from->keys);
    bry_status status = recode && used ? match_codes(into, from, recode, used) : BRY_E_NOMEM;
    if (status == BRY_OK)
        status = into->engine->join(into->keys, from->keys, recode, bry__map_codes(into));
    if (status == BRY_OK) /* keys of both have the code of one */
        bry__map_count_lost(into, sum - into->engine->items(into->keys));
    bry__free(allocator, used, words * sizeof *used);
    bry__free(allocator, recode, codes * sizeof *recode);
    return status;
}

static bry_status join_extended(bry_map *into, const bry_map *from)
{
    bry_status status = extend_codes(into, from);
    if (status == BRY_OK)
        status = into->engine->join(into->keys, from->keys, NULL, bry__map_codes(into));
    return status;
}

bry_status bry_map_join(bry_map *into, const bry_map *from)
{
    if (into->engine != from->engine || into->options.seed != from->options.seed ||
        into->options.value_bits != from->options.value_bits)
        return BRY_E_MISMATCH;
    if (into == from) /* kbf: every encoding would cancel itself */
        return into->engine->recodes ? BRY_OK : BRY_E_RANGE;
    bry_status status;
    if (bry__map_has_dictionary(into)) {
        bry__dictionary_mark mark = bry__dictionary_remember(&into->dictionary);
        status = into->engine->recodes ? join_recoded(into, from) : join_extended(into, from);
        if (status != BRY_OK)
            bry__dictionary_forget(&into->dictionary, &mark);
    } else {
        status = into->engine->join(into->keys, from->keys, NULL, bry__map_codes(into));
    }
    into->refused_full += status == BRY_E_FULL;
    return status;
}

bry_status bry_map_compress(bry_map *map, double max_error)
{
    if (max_error == 0)
        max_error = map->options.error;
    if (!(max_error > 0 && max_error <= 1))
        return BRY_E_RANGE;
    bry_status status = map->engine->compress(map->keys, max_error, bry__map_codes(map));
    if (status == BRY_OK && bry__map_has_dictionary(map))
        bry__map_take_codes_back(map);
    return status;
}

void bry_map_get_stats(const bry_map *map, bry_map_stats *stats)
{
    const bry__dictionary *dictionary = &map->dictionary;
    bry_map_shape shape = {.capacity = 0};
    map->engine->plan(&map->options, &shape);
    *stats = (bry_map_stats){
        .engine = map->options.engine,
        .seed = map->options.seed,
        .capacity = bry_map_options_like(map).capacity,
        .promised = shape.errors,
        .refused_unsure = map->refused_unsure,
        .refused_full = map->refused_full,
    };
    map->engine->stats(map->keys, bry__map_codes(map), stats);
    if (bry__map_has_dictionary(map)) {
        stats->values = bry__dictionary_count(dictionary);
        stats->values_left = dictionary->most - stats->values;
        stats->bytes_secondary = bry__dictionary_bytes_secondary(dictionary);
        stats->bytes_dictionary = bry__dictionary_bytes(dictionary);
    }
    stats->bytes =
        sizeof *map + stats->bytes_main + stats->bytes_secondary + stats->bytes_dictionary;
}
