/* The map's internals, shared by map.c (operations) and map_save.c (frames). */
#ifndef BRY_MAP_MAP_OBJECT_H
#define BRY_MAP_MAP_OBJECT_H

#include "map/dictionary.h"
#include "map/map_engine.h"

struct bry_map {
    bry_allocator allocator;
    bry_map_options options; /* of creation, with defaults filled in; without the allocator */
    const bry__map_engine *engine;
    void *keys; /* the engine's instance: hash → code */
    bry__dictionary *dictionary; /* of byte strings; NULL in a map of integers */
    uint64_t refused_unsure, refused_full;
    uint64_t ghosts; /* kbf: deletions refused as unsure */
    bry_map_errors promised; /* from the options; kept because planning is slow */
};

static inline bool bry__map_has_dictionary(const bry_map *map)
{
    return map->options.value_bits == 0;
}

/* The number of codes that keys may have: 0 up to one less. */
static inline uint64_t bry__map_codes(const bry_map *map)
{
    return map->options.value_bits ? (uint64_t)1 << map->options.value_bits
                                   : map->dictionary->table.codes;
}

static inline bry_map_value bry__map_value_of(const bry_map *map, uint32_t code)
{
    return bry__map_has_dictionary(map) ? bry__dictionary_value(map->dictionary, code)
                                        : bry_map_value_number(code);
}

/* BRY_OK if each of these can be a value of the map; else BRY_E_TOOLONG or BRY_E_RANGE. */
bry_status bry__map_check_values(const bry_map *map, const bry_map_value *values, size_t n);

/* An empty dictionary, if values are byte strings; `values` are those of the map's shape.
 * BRY_E_NOMEM. */
bry_status bry__map_create_dictionary(bry_map *map, uint64_t values);

/* From now on values are freed with the last key that has them, if the engine can count keys. For a
 * map that was just created or loaded; bry__map_recount() counts existing keys. */
void bry__map_watch(bry_map *map);

/* Recounts the keys of every value and frees the codes that none uses; if the engine cannot count,
 * all of them if the map is empty. */
void bry__map_recount(bry_map *map);

/* ---- changing values (map.c), for map_sweep.c --------------------------------------------- */

/* Assigns a code to each of these valid values; no code is new if this fails. *before is how many
 * codes there were. If kbf runs out of codes, unused ones may be reused. */
bry_status bry__map_give_codes(bry_map *map, const bry_map_value *values, size_t n, uint32_t *codes,
                               uint64_t *before);

/* Ends a change of n keys with these codes, for which the engine returned a status; after a failure
 * no new value keeps its code. There were `before` codes. */
bry_status bry__map_end_change(bry_map *map, uint64_t before, const uint32_t *codes, size_t n,
                               bry_status status);

/* Counts a change that was refused; returns the status. */
bry_status bry__map_count_refused(bry_map *map, bry_status status);

/*
 * Reads the options, fills in their defaults, chooses the engine and plans; the shape's bytes are
 * those of the whole map. Returns what bry_map_plan() returns.
 */
bry_status bry__map_read_options(const bry_map_options *given, bry_map_options *options,
                                 const bry__map_engine **engine, bry_map_shape *shape);

/* Options that create a map like this one. */
bry_map_options bry__map_like(const bry_map *other);

#endif
