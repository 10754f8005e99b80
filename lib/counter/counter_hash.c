#include "counter/counter_object.h"

bry_hash bry_counters_prepare(const bry_counters *counters, const void *name, size_t name_len,
                              const void *id, size_t id_len)
{
    bry_hash hash = bry_hash_key(bry_counters_seed(counters), name, name_len);
    bry__counter_names_fetch_bucket(&counters->names, hash.lo);
    return bry_hash_key(hash.lo, id, id_len);
}
