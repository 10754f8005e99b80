/* Merges compact maps, and folds one that has shrunk into its first table. */
#include "map/compact/compact_map.h"

bry_status bry__compact_map_merge(void *into, const void *from, const uint32_t *recode,
                                  uint64_t codes)
{
    bry__compact_map *to = into;
    const bry__compact_map *other = from;
    unsigned bits = to->maplet.value_bits;
    bry__compact_map_widen(to, codes);
    bry_status status = bry__maplet_merge(&to->maplet, &other->maplet, BRY__MERGE_REPLACE, recode);
    if (status != BRY_OK)
        bry__maplet_narrow(&to->maplet, bits);
    return status;
}

bry_status bry__compact_map_compress(void *self, double max_error, uint64_t codes)
{
    bry__maplet *maplet = &((bry__compact_map *)self)->maplet;
    (void)codes;
    uint64_t n = bry__maplet_count(maplet);
    double shared = (double)n / (double)maplet->chain.range; /* if all are in the first table */
    bool fits = n <= maplet->chain.first_capacity && 1.5 * shared <= max_error;
    bry_status status = fits ? bry__maplet_fold_all(maplet) : BRY_OK;
    if (status == BRY_OK)
        bry__maplet_trim(maplet);
    return status;
}
