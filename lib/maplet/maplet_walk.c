/* Functions that visit all entries of a maplet: listing, remapping. */
#include "maplet/maplet.h"

bool bry__maplet_next(const bry__maplet *maplet, bry__maplet_cursor *cursor, uint64_t *fingerprint,
                      uint32_t *value)
{
    for (; cursor->table < maplet->tables; cursor->table++) {
        if (bry__table_next(&maplet->table[cursor->table], &cursor->in_table, fingerprint, value))
            return true;
        cursor->in_table = (bry__table_cursor){0};
    }
    return false;
}

void bry__maplet_tell_values(const bry__maplet *maplet, bry__tell_value *tell, void *context)
{
    for (unsigned i = 0; i < maplet->tables; i++)
        bry__table_tell_values(&maplet->table[i], tell, context);
}

/* ---- values -------------------------------------------------------------------------------- */

bry_status bry__maplet_remap(bry__maplet *maplet, bry__map_value *map, void *context)
{
    bry__maplet_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t value;
    while (bry__maplet_next(maplet, &cursor, &fingerprint, &value))
        if ((uint64_t)map(context, value) >> maplet->value_bits)
            return BRY_E_RANGE;
    if (maplet->tables == 0)
        return BRY_OK;
    if (maplet->tables == 1)
        return bry__table_remap(&maplet->table[0], map, context, &maplet->allocator);

    /* With several tables, one may fail after another has changed: work on a copy. */
    bry__maplet copy;
    bry_status status = bry__maplet_clone(maplet, &copy, &maplet->allocator);
    if (status != BRY_OK)
        return status;
    for (unsigned i = 0; i < copy.tables && status == BRY_OK; i++)
        status = bry__table_remap(&copy.table[i], map, context, &copy.allocator);
    if (status != BRY_OK) {
        bry__maplet_free(&copy);
        return status;
    }
    bry__maplet_free(maplet);
    *maplet = copy;
    return BRY_OK;
}

static void maplet_set_value_bits(bry__maplet *maplet, unsigned value_bits)
{
    maplet->value_bits = (uint8_t)value_bits;
    for (unsigned i = 0; i < maplet->tables; i++)
        maplet->table[i].value_bits = (uint8_t)value_bits;
}

bry_status bry__maplet_widen(bry__maplet *maplet, unsigned value_bits)
{
    if (value_bits < maplet->value_bits || value_bits > 32)
        return BRY_E_RANGE;
    maplet_set_value_bits(maplet, value_bits);
    return BRY_OK;
}

void bry__maplet_narrow(bry__maplet *maplet, unsigned value_bits)
{
    maplet_set_value_bits(maplet, value_bits); /* wider segments stay so until they are rewritten */
}
