/* Calls that take a key instead of its hash. */
#include <bloomery/index.h>

bry_hash bry_index_hash(const bry_index *index, const void *key, size_t len)
{
    return bry_hash_key(bry_index_seed(index), key, len);
}

bry_status bry_index_add_key(bry_index *index, const void *key, size_t len, uint32_t unit,
                             uint32_t *went, bry_answer *was)
{
    return bry_index_add(index, bry_index_hash(index, key, len), unit, went, was);
}

bry_status bry_index_del_key(bry_index *index, const void *key, size_t len, uint32_t unit,
                             bry_answer *was)
{
    return bry_index_del(index, bry_index_hash(index, key, len), unit, was);
}

bry_answer bry_index_has_key(const bry_index *index, const void *key, size_t len)
{
    return bry_index_has(index, bry_index_hash(index, key, len));
}

size_t bry_index_locate_key(const bry_index *index, const void *key, size_t len, uint32_t *units,
                            size_t room)
{
    return bry_index_locate(index, bry_index_hash(index, key, len), units, room);
}
