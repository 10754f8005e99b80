/* Size and statistics of a map. */
#include "common/struct_size.h"
#include "map/map_object.h"

uint64_t bry_map_items(const bry_map *map)
{
    return map->engine->items(map->keys);
}

uint64_t bry_map_bytes(const bry_map *map)
{
    uint64_t bytes = sizeof *map + map->engine->bytes(map->keys);
    if (bry__map_has_dictionary(map))
        bytes += sizeof *map->dictionary + bry__dictionary_bytes(map->dictionary);
    return bytes;
}

bry_status bry_map_get_stats_sized(const bry_map *map, bry_map_stats *stats, size_t size)
{
    const bry__dictionary *dictionary = map->dictionary;
    bry_map_stats now = {
        .engine = map->options.engine,
        .seed = map->options.seed,
        .capacity = bry_map_capacity(map),
        .promised_error = map->options.error,
        .planned = map->promised,
        .bytes = bry_map_bytes(map),
        .bytes_keys = map->engine->bytes(map->keys),
        .kbf.refused_unsure = map->refused_unsure,
        .refused_full = map->refused_full,
    };
    map->engine->stats(map->keys, bry__map_codes(map), &now);
    now.kbf.ghosts = map->ghosts < now.items ? map->ghosts : now.items;
    if (bry__map_has_dictionary(map)) {
        now.values = bry__dictionary_count(dictionary);
        now.values_left = dictionary->most - now.values;
        now.bytes_values = sizeof *dictionary + bry__dictionary_bytes(dictionary);
    }
    return bry__struct_write(stats, size, &now, sizeof now);
}
