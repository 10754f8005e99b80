/* The map's inside, shared by map.c (operations) and map_save.c (frames). */
#ifndef BRY_MAP_MAP_OBJECT_H
#define BRY_MAP_MAP_OBJECT_H

#include "map/dictionary.h"

struct bry_map {
    bry_allocator allocator;
    bry_map_options options; /* as created with, defaults filled in; without the allocator */
    const bry__map_engine *engine;
    void *keys; /* the engine's instance: hash → code */
    bry__dictionary dictionary; /* of byte strings; unused in a map of integers */
    uint64_t refused_unsure, refused_full;
    uint64_t ghosts; /* kbf: deletions refused as unsure */
    bry_map_errors promised; /* what the options give: planning takes longer than all other stats */
};

static inline bool bry__map_has_dictionary(const bry_map *map)
{
    return map->options.value_bits == 0;
}

/* Codes that keys may carry: 0 up to one less. */
static inline uint64_t bry__map_codes(const bry_map *map)
{
    return map->options.value_bits ? (uint64_t)1 << map->options.value_bits : map->dictionary.codes;
}

static inline bry_map_value bry__map_value_of(const bry_map *map, uint32_t code)
{
    return bry__map_has_dictionary(map) ? bry__dictionary_value(&map->dictionary, code)
                                        : bry_map_value_number(code);
}

/* BRY_OK where each of these can be a value of the map; else BRY_E_TOOLONG or BRY_E_RANGE. */
bry_status bry__map_check_values(const bry_map *map, const bry_map_value *values, size_t n);

/* From now on values go with the last key that has them, where the engine can tell. For a map that
 * was just made or loaded, keys counted by bry__map_recount() where there are any. */
void bry__map_watch(bry_map *map);

/* Counts the keys of every value anew, and takes back the codes that none carries; where the engine
 * cannot tell, all of them in an empty map. */
void bry__map_recount(bry_map *map);

/* ---- changing values (map.c), for map_sweep.c --------------------------------------------- */

/* A code for each of these values, which are valid; none is new where this fails. *before is how
 * many codes there were. When the codes of kbf run out, they may come back. */
bry_status bry__map_give_codes(bry_map *map, const bry_map_value *values, size_t n, uint32_t *codes,
                               uint64_t *before);

/* What the engine said of n keys with these codes; after a failure no new value has one. There were
 * `before` codes. */
bry_status bry__map_end_change(bry_map *map, uint64_t before, const uint32_t *codes, size_t n,
                               bry_status status);

/* Counts a change that was refused; returns the status. */
bry_status bry__map_count_refused(bry_map *map, bry_status status);

/*
 * Options as this version knows them, with their defaults, the engine that they name, and what it
 * makes of them; the shape's bytes are those of the whole map. What bry_map_plan() returns.
 */
bry_status bry__map_read_options(const bry_map_options *given, bry_map_options *options,
                                 const bry__map_engine **engine, bry_map_shape *shape);

/* Options that make one like this. */
bry_map_options bry__map_like(const bry_map *other);

#endif
