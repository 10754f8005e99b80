#include "counter/counter_object.h"

bry_hash bry_counter_hash_for(const bry_counter *counters, const void *name, size_t name_len,
                              const void *id, size_t id_len)
{
    bry_hash hash = bry_hash_key(bry_counter_seed(counters), name, name_len);
    bry__counter_names_fetch_bucket(&counters->names, hash.lo);
    return bry_hash_key(hash.lo, id, id_len);
}
