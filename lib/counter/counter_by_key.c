/* Calls that take an id's bytes instead of its hash. */
#include "counter/counter_object.h"

bry_hash bry_counter_hash(const bry_counter *counters, const void *id, size_t len)
{
    return bry_hash_key(bry_counter_seed(counters), id, len);
}

bry_hash bry_counter_hash_for(const bry_counter *counters, const void *name, size_t name_len,
                              const void *id, size_t id_len)
{
    bry_hash hash = bry_hash_key(bry_counter_seed(counters), name, name_len);
    bry__counter_names_fetch_bucket(&counters->names, hash.lo);
    return bry_hash_key(hash.lo, id, id_len);
}

bry_status bry_counter_apply_key(bry_counter *counters, const void *id, size_t id_len,
                                 const void *name, size_t name_len, int64_t delta, uint64_t now,
                                 bry_counter_outcome *outcome, int64_t *value)
{
    return bry_counter_apply(counters, bry_counter_hash(counters, id, id_len), name, name_len,
                             delta, now, outcome, value);
}

bry_answer bry_counter_has_key(const bry_counter *counters, const void *id, size_t len,
                               uint64_t now)
{
    return bry_counter_has(counters, bry_counter_hash(counters, id, len), now);
}
