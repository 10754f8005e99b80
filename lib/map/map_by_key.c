/* Calls that take a key instead of its hash. */
#include <bloomery/map.h>

bry_hash bry_map_hash(const bry_map *map, const void *key, size_t len)
{
    return bry_hash_key(bry_map_seed(map), key, len);
}

bry_answer bry_map_get_key(const bry_map *map, const void *key, size_t len, bry_map_value *value)
{
    return bry_map_get(map, bry_map_hash(map, key, len), value);
}

bry_status bry_map_set_key(bry_map *map, const void *key, size_t len, bry_map_value value,
                           bry_answer *was)
{
    return bry_map_set(map, bry_map_hash(map, key, len), value, was);
}

bry_status bry_map_update_key(bry_map *map, const void *key, size_t len, bry_map_value value,
                              bry_answer *was)
{
    return bry_map_update(map, bry_map_hash(map, key, len), value, was);
}

bry_status bry_map_del_key(bry_map *map, const void *key, size_t len, bry_answer *was)
{
    return bry_map_del(map, bry_map_hash(map, key, len), was);
}
