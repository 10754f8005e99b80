/*
 * Folding moves the entries of the newest table into an earlier one that has room for all of them,
 * so that look-ups ask fewer tables.
 *
 * It works in steps. Which entries a step moves depends on the entries alone, not on the segments
 * that they are in: copies of a maplet that take the same steps stay equal. The newest table is
 * divided into groups of some hundred entries by the last bits of the fingerprints, and a step
 * takes the first groups that are not empty.
 */
#include "maplet/maplet_values.h"

/* The table that the newest one can be folded into; `newest` itself: none. If a merge has
 * brought a table above its capacity, nothing is folded: the error that long fingerprints save is
 * needed there. */
static unsigned fold_target(const bry__maplet *maplet, unsigned newest)
{
    unsigned to = 0;
    for (unsigned i = 0; i <= newest; i++)
        if (bry__maplet_live(maplet, i) > bry__chain_capacity(&maplet->chain, i))
            return newest;
    while (to < newest && bry__maplet_live(maplet, to) + bry__maplet_live(maplet, newest) >
                              bry__chain_capacity(&maplet->chain, to))
        to++;
    return to;
}

uint64_t bry__maplet_foldable(const bry__maplet *maplet)
{
    unsigned tables = bry__maplet_live_tables(maplet), newest = tables - 1;
    return tables > 1 && fold_target(maplet, newest) < newest ? bry__maplet_live(maplet, newest)
                                                              : 0;
}

void bry__maplet_close_empty(bry__maplet *maplet)
{
    while (maplet->tables > 0 && maplet->table[maplet->tables - 1].n == 0)
        bry__maplet_close_table(maplet);
}

/* ---- a step -------------------------------------------------------------------------------- */

typedef struct fold_state {
    bry__maplet *maplet;
    unsigned from, to;
    bry__table_entry *entry;
    uint64_t n;
} fold_state;

static bool fold_is_dead(void *context, uint64_t fingerprint, uint32_t value)
{
    const fold_state *fold = context;
    (void)fingerprint;
    const bry__values *values = fold->maplet->values;
    return values && values->name[value - values->first] == BRY__NO_NAME;
}

static void fold_note_gone(void *context, uint64_t fingerprint, uint32_t value)
{
    const fold_state *fold = context;
    (void)fingerprint;
    if (fold->maplet->values)
        bry__values_note_gone(fold->maplet, fold->from, value);
}

/* The first groups that are not empty, with about `most` entries altogether. */
static bry__groups fold_first_groups(fold_state *fold, uint64_t most)
{
    const uint64_t least = 512; /* average entries per group: from this to twice as many */
    const bry__table *newest = &fold->maplet->table[fold->from];
    uint64_t n = bry__maplet_live(fold->maplet, fold->from), count;
    bry__groups groups = {.bits = 0};
    while (n >> groups.bits >= 2 * least)
        groups.bits++;
    groups.first = bry__table_first_group(newest, groups.bits, fold_is_dead, fold);
    count = most / (n >> groups.bits);
    groups.end = groups.first + (count > 1 ? count : 1);
    if (groups.end > (uint64_t)1 << groups.bits)
        groups.end = (uint64_t)1 << groups.bits;
    return groups;
}

/* Adds all entries to the earlier table, or none if memory is short. */
static bry_status fold_put_all(const fold_state *fold)
{
    bry__maplet *maplet = fold->maplet;
    bry__table *to = &maplet->table[fold->to];
    bry_status status = BRY_OK;
    uint64_t i = 0;
    for (; i < fold->n && status == BRY_OK; i += status == BRY_OK)
        status = bry__table_add(
            to,
            bry__chain_shorten(&maplet->chain, fold->entry[i].fingerprint, fold->from, fold->to),
            fold->entry[i].value, &maplet->allocator);
    while (status != BRY_OK && i-- > 0)
        bry__table_del(
            to,
            bry__chain_shorten(&maplet->chain, fold->entry[i].fingerprint, fold->from, fold->to),
            fold->entry[i].value, &maplet->allocator);
    for (i = 0; i < fold->n && status == BRY_OK; i++)
        bry__values_note(maplet, fold->to, fold->entry[i].value, true);
    return status;
}

bry_status bry__maplet_fold(bry__maplet *maplet, uint64_t most)
{
    bry__maplet_close_empty(maplet);
    if (most == 0 || bry__maplet_foldable(maplet) == 0)
        return BRY_OK;
    fold_state fold = {.maplet = maplet, .from = bry__maplet_live_tables(maplet) - 1};
    bry__table *from = &maplet->table[fold.from];
    fold.to = fold_target(maplet, fold.from);
    bry__groups groups = fold_first_groups(&fold, most);
    uint64_t n = bry__table_gather(from, &groups, fold_is_dead, &fold, NULL);
    fold.entry = bry__alloc(&maplet->allocator, n * sizeof *fold.entry);
    if (!fold.entry)
        return BRY_E_NOMEM;
    fold.n = bry__table_gather(from, &groups, fold_is_dead, &fold, fold.entry);
    bry_status status = fold_put_all(&fold);
    if (status == BRY_OK)
        bry__table_clear_groups(from, &groups, fold.entry, fold.n, fold_note_gone, &fold,
                                &maplet->allocator);
    bry__free(&maplet->allocator, fold.entry, n * sizeof *fold.entry);
    bry__maplet_close_empty(maplet);
    return status;
}
