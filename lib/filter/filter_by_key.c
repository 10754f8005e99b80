/* Calls that take a key instead of its hash. */
#include <bloomery/filter.h>

bry_hash bry_filter_hash(const bry_filter *filter, const void *key, size_t len)
{
    return bry_hash_key(bry_filter_seed(filter), key, len);
}

bry_status bry_filter_add_key(bry_filter *filter, const void *key, size_t len, bry_answer *was)
{
    return bry_filter_add(filter, bry_filter_hash(filter, key, len), was);
}

bry_status bry_filter_del_key(bry_filter *filter, const void *key, size_t len, bry_answer *was)
{
    return bry_filter_del(filter, bry_filter_hash(filter, key, len), was);
}

bry_answer bry_filter_has_key(const bry_filter *filter, const void *key, size_t len)
{
    return bry_filter_has(filter, bry_filter_hash(filter, key, len));
}
