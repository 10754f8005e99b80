/* Functions that visit all entries of a maplet: listing, sweeping, remapping. */
#include "maplet/maplet.h"

bool bry__maplet_next(const bry__maplet *maplet, bry__maplet_cursor *cursor, uint64_t *fingerprint,
                      uint32_t *value)
{
    for (; cursor->table < maplet->tables; cursor->table++) {
        if (bry__table_next(maplet->table[cursor->table], &cursor->in_table, fingerprint, value))
            return true;
        cursor->in_table = (bry__table_cursor){0};
    }
    return false;
}

void bry__maplet_tell_values(const bry__maplet *maplet, bry__tell_value *tell, void *context)
{
    for (unsigned i = 0; i < maplet->tables; i++)
        bry__table_tell_values(maplet->table[i], tell, context);
}

/* ---- sweeping ------------------------------------------------------------------------------ */

typedef struct shifted {
    bry__drop *drop;
    void *context;
    unsigned shift; /* converts fingerprints of this table to those of the first */
} shifted;

static bool maplet_drop_shifted(void *context, uint64_t fingerprint, uint32_t value)
{
    const shifted *to_first = context;
    return to_first->drop(to_first->context, fingerprint >> to_first->shift, value);
}

bry_status bry__maplet_sweep(bry__maplet *maplet, bry__drop *drop, void *context, uint64_t budget,
                             bool *done)
{
    /* One table after the other: those before the current one have finished this round. */
    unsigned i = 0;
    while (i < maplet->tables && !maplet->table[i]->sweeping)
        i++;
    if (i == maplet->tables)
        i = 0;
    shifted to_first = {drop, context, bry__chain_shift(&maplet->chain, i)};
    bool table_done = false;
    bry_status status = bry__table_sweep(maplet->table[i], maplet_drop_shifted, &to_first, budget,
                                         &table_done, &maplet->allocator);
    if (status != BRY_OK)
        return status;
    if (table_done && i + 1 < maplet->tables) {
        bry__table *next = maplet->table[i + 1];
        next->sweeping = true;
        next->sweep = next->sweep_fingerprint = next->sweep_value = 0;
        table_done = false;
    }
    *done = table_done;
    return BRY_OK;
}

/* ---- values -------------------------------------------------------------------------------- */

bry_status bry__maplet_remap(bry__maplet *maplet, bry__map_value *map, void *context)
{
    bry__maplet_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t value;
    while (bry__maplet_next(maplet, &cursor, &fingerprint, &value))
        if ((uint64_t)map(context, value) >> maplet->options.value_bits)
            return BRY_E_RANGE;
    if (maplet->tables == 1)
        return bry__table_remap(maplet->table[0], map, context, &maplet->allocator);

    /* With several tables, one may fail after another has changed: work on a copy. */
    bry__maplet copy;
    bry_status status = bry__maplet_clone(maplet, &copy, &maplet->allocator);
    if (status != BRY_OK)
        return status;
    for (unsigned i = 0; i < copy.tables && status == BRY_OK; i++)
        status = bry__table_remap(copy.table[i], map, context, &copy.allocator);
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
    maplet->options.value_bits = value_bits;
    for (unsigned i = 0; i < maplet->tables; i++)
        maplet->table[i]->value_bits = value_bits;
}

bry_status bry__maplet_widen(bry__maplet *maplet, unsigned value_bits)
{
    if (value_bits < maplet->options.value_bits || value_bits > 32)
        return BRY_E_RANGE;
    maplet_set_value_bits(maplet, value_bits);
    return BRY_OK;
}

void bry__maplet_narrow(bry__maplet *maplet, unsigned value_bits)
{
    maplet_set_value_bits(maplet, value_bits); /* wider segments stay so until they are rewritten */
}
