/* Merging compact windows. Entries keep their level, for a fingerprint cannot be made longer; of
 * two with the same fingerprint there the later generation stays. */
#include "window/compact_levels.h"

typedef struct merging {
    const bry__compact_window *into, *from;
} merging;

static bool keep_own(void *context, uint64_t fingerprint, uint32_t *number)
{
    const merging *merge = context;
    (void)fingerprint;
    return bry__window_is_live(merge->into, *number);
}

/* What both remember. */
static bool take_other(void *context, uint64_t fingerprint, uint32_t *number)
{
    const merging *merge = context;
    (void)fingerprint;
    if (!bry__window_is_live(merge->from, *number))
        return false;
    uint64_t generation = merge->from->newest - bry__window_age(merge->from, *number);
    *number = (uint32_t)(generation & (bry__window_slots(&merge->into->shape) - 1));
    return generation >= merge->into->oldest;
}

static bool is_later(void *context, uint32_t own, uint32_t other)
{
    const merging *merge = context;
    return bry__window_age(merge->into, other) < bry__window_age(merge->into, own);
}

static void count_again(bry__compact_window *into, bry__window_level *level)
{
    bry__table_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t number;
    for (uint64_t i = 0; i < bry__window_slots(&into->shape); i++)
        level->count[i] = 0;
    while (bry__table_next(&level->table, &cursor, &fingerprint, &number))
        level->count[number]++;
    level->live = level->table.n;
}

static bry_status merge_level(bry__compact_window *into, const bry__compact_window *from,
                              unsigned i)
{
    bry__window_level *level = into->level[i];
    merging merge = {into, from};
    bry__unite_calls calls = {{keep_own, take_other}, is_later, &merge};
    bry__table made;
    bry_status status = bry__table_unite(&made, &level->table, &from->level[i]->table,
                                         BRY__MERGE_PICK, &calls, &into->allocator);
    if (status != BRY_OK)
        return status;
    bry__table_free(&level->table, &into->allocator);
    level->table = made;
    count_again(into, level);
    return BRY_OK;
}

bry_status bry__levels_merge(bry__compact_window *into, const bry__compact_window *from)
{
    bry_status status = BRY_OK;
    for (unsigned i = 0; i < from->levels && status == BRY_OK; i++) {
        if (i == into->levels)
            status = bry__level_open(into);
        if (status == BRY_OK)
            status = merge_level(into, from, i);
    }
    if (into->least > into->oldest)
        into->least = into->oldest;
    into->allowance = 0;
    if (status == BRY_OK && from->past)
        status = bry__levels_merge(into, from->past);
    return status;
}
