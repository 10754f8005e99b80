/* Merging compact windows. Entries keep their level, for a fingerprint cannot be made longer; of
 * two with the same fingerprint there the later generation stays. */
#include "window/compact_levels.h"

typedef struct merging {
    const bry__compact_window *into, *from;
    uint64_t *count; /* of the level in hand, by generation: what was taken so far */
} merging;

/* NOLINTNEXTLINE(readability-non-const-parameter): the type of the callback */
static bool keep_own(void *context, uint64_t fingerprint, uint32_t *number)
{
    const merging *merge = context;
    (void)fingerprint;
    if (!bry__window_is_live(merge->into, *number))
        return false;
    merge->count[*number]++;
    return true;
}

/* What both remember. */
static bool take_other(void *context, uint64_t fingerprint, uint32_t *number)
{
    const merging *merge = context;
    (void)fingerprint;
    if (!bry__window_is_live(merge->from, *number))
        return false;
    uint64_t generation = merge->from->newest - bry__window_age(merge->from, *number);
    if (generation < merge->into->oldest)
        return false;
    *number = (uint32_t)(generation & (bry__window_slots(&merge->into->shape) - 1));
    merge->count[*number]++;
    return true;
}

static bool is_later(void *context, uint32_t own, uint32_t other)
{
    const merging *merge = context;
    bool later = bry__window_age(merge->into, other) < bry__window_age(merge->into, own);
    merge->count[later ? own : other]--;
    return later;
}

/* Whether `into` has most of it already, which its first entries tell: hashes are uniform. */
static bool knows_most(const bry__table *own, const bry__table *other)
{
    enum { LOOKED_AT = 256 };
    bry__table_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t number;
    unsigned unknown = 0, looked = 0;
    while (looked < LOOKED_AT && bry__table_next(other, &cursor, &fingerprint, &number)) {
        looked++;
        unknown += !bry__table_get(own, fingerprint, &number);
    }
    return own->n > 0 && unknown <= looked / 8;
}

/* Adds what is missing, and makes later what is to be later. */
static bry_status add_missing(merging *merge, bry__table *own, const bry__table *other,
                              const bry_allocator *allocator)
{
    bry__table_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t number, before;
    bry_status status = BRY_OK;
    while (status == BRY_OK && bry__table_next(other, &cursor, &fingerprint, &number)) {
        if (!take_other(merge, fingerprint, &number))
            continue;
        if (!bry__table_get(own, fingerprint, &before))
            status = bry__table_add(own, fingerprint, number, allocator);
        else if (is_later(merge, before, number))
            status = bry__table_replace(own, fingerprint, before, number, allocator);
    }
    return status;
}

static bry_status merge_level(bry__compact_window *into, const bry__compact_window *from,
                              unsigned i)
{
    bry__window_level *level = into->level[i];
    const bry__table *other = &from->level[i]->table;
    merging merge = {into, from, level->count};
    bry_status status;
    if (level->live == level->table.n && knows_most(&level->table, other)) {
        status = add_missing(&merge, &level->table, other, &into->allocator);
    } else {
        for (uint64_t j = 0; j < bry__window_slots(&into->shape); j++)
            level->count[j] = 0;
        bry__unite_calls calls = {{keep_own, take_other}, is_later, &merge};
        bry__table made;
        status = bry__table_unite(&made, &level->table, other, BRY__MERGE_PICK, &calls,
                                  &into->allocator);
        if (status != BRY_OK)
            return status;
        bry__table_free(&level->table, &into->allocator);
        level->table = made;
    }
    level->live = level->table.n;
    return status;
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
