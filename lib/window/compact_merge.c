/* Merging compact windows. Entries keep their level, for a fingerprint cannot be made longer; of
 * two with the same fingerprint there the later generation stays. */
#include "window/compact_levels.h"

static bry_status merge_entry(bry__compact_window *into, unsigned level, uint64_t fingerprint,
                              uint64_t generation)
{
    bry__table *table = &into->level[level]->table;
    uint32_t number = (uint32_t)(generation & (bry__window_slots(&into->shape) - 1)), before = 0;
    bool found = bry__table_get(table, fingerprint, &before);
    bool live = found && bry__window_is_live(into, before);
    if (live && into->newest - bry__window_age(into, before) >= generation)
        return BRY_OK;
    bry_status status =
        found ? bry__table_replace(table, fingerprint, before, number, &into->allocator)
              : bry__table_add(table, fingerprint, number, &into->allocator);
    if (status != BRY_OK)
        return status;
    ++*bry__window_count(into, level, generation);
    if (live)
        --*bry__window_count(into, level, before);
    else
        into->level[level]->live++;
    return BRY_OK;
}

bry_status bry__levels_merge(bry__compact_window *into, const bry__compact_window *from)
{
    bry_status status = BRY_OK;
    for (unsigned i = 0; i < from->levels && status == BRY_OK; i++) {
        if (i == into->levels)
            status = bry__level_open(into);
        bry__table_cursor cursor = {0};
        uint64_t fingerprint;
        uint32_t number;
        while (status == BRY_OK &&
               bry__table_next(&from->level[i]->table, &cursor, &fingerprint, &number)) {
            uint64_t generation = from->newest - bry__window_age(from, number);
            if (bry__window_is_live(from, number) && generation >= into->oldest)
                status = merge_entry(into, i, fingerprint, generation);
        }
    }
    if (into->least > into->oldest)
        into->least = into->oldest;
    into->allowance = 0;
    if (status == BRY_OK && from->past)
        status = bry__levels_merge(into, from->past);
    return status;
}
