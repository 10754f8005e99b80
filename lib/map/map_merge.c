/* Operations on whole maps: merging two, compressing one, rebuilding one from its keys. */
#include "common/allocator.h"
#include "map/map_object.h"

#include <string.h>

/* ---- merging ------------------------------------------------------------------------------- */

static bool same_value(const bry_map *a, const bry_map *b, uint32_t code)
{
    bry_map_value x = bry__map_value_of(a, code), y = bry__map_value_of(b, code);
    return x.len == y.len && memcmp(x.bytes, y.bytes, x.len) == 0;
}

/*
 * Codes of kbf cannot be changed without the keys. They are assigned in order and never freed one
 * by one, so two dictionaries agree if one is a prefix of the other.
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
        status = bry__dictionary_append_n(into->dictionary, &value, 1);
    }
    return status;
}

/* The values that keys of `from` have, and their codes there; how many. */
static size_t list_used(const bry_map *from, bry_map_value *values, uint32_t *codes)
{
    size_t n = 0;
    for (uint64_t code = 0; code < from->dictionary->table.codes; code++) {
        if (bry__dictionary_uses(from->dictionary, code) == 0)
            continue;
        codes[n] = (uint32_t)code;
        values[n++] = bry__map_value_of(from, (uint32_t)code);
    }
    return n;
}

/* recode[c]: the code in `into` of the value that has code c in `from`, if a key has it; else 0.
 * `given` are these codes of `into`, in order, and *n is how many there are. */
static bry_status match_codes(bry_map *into, const bry_map *from, uint32_t *recode, uint32_t *given,
                              size_t *n)
{
    const bry_allocator *allocator = &into->allocator;
    size_t codes = (size_t)from->dictionary->table.codes;
    bry_map_value *values = bry__alloc_buffer(allocator, codes * sizeof *values);
    uint32_t *old = bry__alloc_buffer(allocator, codes * sizeof *old);
    bry_status status = BRY_E_NOMEM;
    if (values && old) {
        size_t used = list_used(from, values, old);
        status = bry__dictionary_intern_n(into->dictionary, values, used, given, n);
        for (size_t i = 0; i < *n; i++)
            recode[old[i]] = given[i];
    }
    bry__free(allocator, values, codes * sizeof *values);
    bry__free(allocator, old, codes * sizeof *old);
    return status;
}

static bry_status merge_recoded(bry_map *into, const bry_map *from)
{
    const bry_allocator *allocator = &into->allocator;
    size_t codes = (size_t)from->dictionary->table.codes;
    uint64_t before = into->dictionary->table.codes;
    uint32_t *recode = bry__alloc(allocator, codes * sizeof *recode);
    uint32_t *given = bry__alloc_buffer(allocator, codes * sizeof *given);
    size_t n = 0;
    bry_status status = recode && given ? match_codes(into, from, recode, given, &n) : BRY_E_NOMEM;
    if (status == BRY_OK)
        status = into->engine->merge(into->keys, from->keys, recode, bry__map_codes(into));
    if (status == BRY_OK) /* one key may have had an entry on both sides */
        bry__map_recount(into);
    else if (given)
        bry__dictionary_forget(into->dictionary, before, given, n);
    bry__free(allocator, recode, codes * sizeof *recode);
    bry__free(allocator, given, codes * sizeof *given);
    return status;
}

static bry_status merge_extended(bry_map *into, const bry_map *from)
{
    uint64_t before = into->dictionary->table.codes;
    bry_status status = extend_codes(into, from);
    if (status == BRY_OK)
        status = into->engine->merge(into->keys, from->keys, NULL, bry__map_codes(into));
    if (status != BRY_OK)
        bry__dictionary_cut(into->dictionary, before);
    return status;
}

bry_status bry_map_merge(bry_map *into, const bry_map *from)
{
    if (into->engine != from->engine || into->options.seed != from->options.seed ||
        into->options.value_bits != from->options.value_bits)
        return BRY_E_MISMATCH;
    if (into == from) /* kbf: every encoding would cancel itself */
        return into->engine->recodes ? BRY_OK : BRY_E_RANGE;
    bry_status status;
    if (!bry__map_has_dictionary(into))
        status = into->engine->merge(into->keys, from->keys, NULL, bry__map_codes(into));
    else if (into->engine->recodes)
        status = merge_recoded(into, from);
    else
        status = merge_extended(into, from);
    if (status == BRY_OK)
        into->ghosts += from->ghosts;
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
        bry__map_recount(map);
    return status;
}

/* ---- rebuilding ---------------------------------------------------------------------------- */

/* Inserts all that the supplier has into an empty map. */
static bry_status insert_all(bry_map *map, const bry_map_supplier *supplier)
{
    enum { ROOM = 64 };
    bry_hash hashes[ROOM];
    bry_map_value values[ROOM];
    uint64_t done = 0;
    for (;;) {
        size_t got = 0;
        bry_status status = supplier->supply(supplier->opaque, done, hashes, values, ROOM, &got);
        if (status == BRY_OK && got > ROOM)
            status = BRY_E_RANGE;
        if (status == BRY_OK)
            status = bry_map_add_n(map, hashes, values, got);
        if (status != BRY_OK || got == 0)
            return status;
        done += got;
    }
}

bry_status bry_map_rebuild(bry_map *map, const bry_map_supplier *supplier)
{
    bry_map *made;
    bry_status status = bry_map_create_like(map, NULL, &made);
    if (status != BRY_OK)
        return status;
    status = insert_all(made, supplier);
    if (status == BRY_OK) {
        bry_map old = *map;
        map->options = made->options; /* with the shape, which compressing may have changed */
        map->promised = made->promised;
        map->keys = made->keys;
        map->dictionary = made->dictionary;
        map->ghosts = 0;
        bry__map_watch(map);
        made->keys = old.keys;
        made->dictionary = old.dictionary;
    }
    bry_map_destroy(made);
    return status;
}
