/*
 * How entries of dropped units go: in a sweep over the maplet, which drops every entry whose slot
 * is dead, a few segments at a time. Slots that were dead when it began are free when it ends;
 * those that died meanwhile wait for the next.
 */
#include "index/compact_index.h"

static bool is_dead(void *context, uint64_t fingerprint, uint32_t value)
{
    const bry__compact_index *index = context;
    (void)fingerprint;
    return index->state[value] >= BRY__SLOT_DEAD;
}

static void begin_sweep(bry__compact_index *index)
{
    for (uint32_t i = 0; i < index->room; i++)
        if (index->state[i] == BRY__SLOT_DEAD)
            index->state[i] = BRY__SLOT_SWEPT;
    index->swept = index->dead;
}

static void end_sweep(bry__compact_index *index)
{
    for (uint32_t i = 0; i < index->room; i++) {
        if (index->state[i] != BRY__SLOT_SWEPT)
            continue;
        index->state[i] = BRY__SLOT_FREE;
        if (i < index->lowest)
            index->lowest = i;
    }
    index->dead -= index->swept;
    index->swept = 0;
    if (index->dead == 0)
        index->since_sweep = 0;
}

bry_status bry__compact_index_sweep(bry__compact_index *index, uint64_t budget)
{
    if (index->swept == 0)
        begin_sweep(index);
    uint64_t before = bry__maplet_count(&index->maplet);
    bool done = false;
    bry_status status = bry__maplet_sweep(&index->maplet, is_dead, index, budget, &done);
    index->dead_entries -= before - bry__maplet_count(&index->maplet);
    if (status == BRY_OK && done)
        end_sweep(index);
    return status;
}

/*
 * With every so many changes a segment is swept, and twice as often while the first table is nearly
 * full, so that dead entries do not pile up. A change pays for a dozen entries that are looked at:
 * in the long run an eighth of all may be dead, and some in a further table for it. When memory is
 * short it is done later.
 */
static void sweep_along(bry__compact_index *index)
{
    const bry__maplet *maplet = &index->maplet;
    uint64_t capacity = maplet->options.capacity;
    if (index->dead == 0)
        return;
    uint32_t changes = BRY__CHANGES_A_SWEEP;
    if (maplet->table[0]->n >= capacity - capacity / 16)
        changes /= 2;
    if (++index->since_sweep >= changes) {
        index->since_sweep = 0;
        bry__compact_index_sweep(index, 1);
    }
}

/* Takes an entry out of the last table: into the first, unless it is dead. */
static bry_status fold_entry(bry__compact_index *index)
{
    bry__maplet *maplet = &index->maplet;
    unsigned last = maplet->tables - 1;
    bry__table *newest = maplet->table[last];
    /* From its last segment, so that the table shrinks as it is emptied. */
    bry__table_cursor cursor = {.segment = newest->segments - 1};
    uint64_t fingerprint;
    uint32_t slot;
    if (!bry__table_next(newest, &cursor, &fingerprint, &slot)) {
        cursor = (bry__table_cursor){0};
        bry__table_next(newest, &cursor, &fingerprint, &slot);
    }
    if (index->state[slot] >= BRY__SLOT_DEAD) {
        index->dead_entries--;
    } else {
        bry_status status = bry__table_add(maplet->table[0],
                                           bry__chain_shorten(&maplet->chain, fingerprint, last, 0),
                                           slot, &maplet->allocator);
        if (status != BRY_OK)
            return status;
    }
    bry__table_del(newest, fingerprint, slot, &maplet->allocator);
    return BRY_OK;
}

/*
 * Where a further table is not needed any more, its entries go into the first, a few with every
 * change. That may be while a sweep is under way: it looks for entries that are dead, and none of
 * these is moved.
 */
static void fold_along(bry__compact_index *index)
{
    enum { MOVES = 2 };
    bry__maplet *maplet = &index->maplet;
    uint64_t capacity = maplet->options.capacity;
    if (maplet->tables == 1 || bry__maplet_count(maplet) > capacity - capacity / 8)
        return;
    const bry__table *newest = maplet->table[maplet->tables - 1];
    for (unsigned i = 0; i < MOVES && newest->n > 0; i++)
        if (fold_entry(index) != BRY_OK)
            return;
    if (newest->n > 0)
        return;
    bool swept_to_the_end = newest->sweeping;
    bry__maplet_close_table(maplet);
    if (swept_to_the_end)
        end_sweep(index);
}

/* Whether an entry that was refused may be taken when all that are dead have gone. They count most
 * in the first table, so where it is not enough that all were there, it is not. */
static bool sweeping_helps(const bry__compact_index *index)
{
    const bry__maplet *maplet = &index->maplet;
    uint64_t n[BRY__MAPLET_TABLES];
    bry__maplet_counts(maplet, n);
    n[0] -= index->dead_entries < n[0] ? index->dead_entries : n[0];
    return bry__chain_place(&maplet->chain, n) < maplet->chain.tables;
}

/* Adds an entry; where only dead ones are in its way, they go. */
bry_status bry__compact_index_add(bry__compact_index *index, bry_hash hash, uint32_t slot)
{
    sweep_along(index);
    fold_along(index);
    bry_status status = bry__maplet_add(&index->maplet, hash, slot);
    while (status == BRY_E_FULL && index->dead_entries > 0 && sweeping_helps(index)) {
        bry_status swept = bry__compact_index_sweep(index, 1);
        if (swept != BRY_OK)
            return swept;
        status = bry__maplet_add(&index->maplet, hash, slot);
    }
    return status;
}

/* What is to be looked at or moved still. */
uint64_t bry__compact_index_waiting(const bry__compact_index *index)
{
    const bry__maplet *maplet = &index->maplet;
    uint64_t count = bry__maplet_count(maplet), work = 0;
    if (index->dead > index->swept)
        work += count + 1;
    if (index->swept > 0) {
        bool reached = false;
        work++;
        for (unsigned i = 0; i < maplet->tables; i++) {
            const bry__table *table = maplet->table[i];
            if (table->sweeping && table->sweep < table->segments)
                work += table->n / table->segments * (table->segments - table->sweep);
            else if (reached)
                work += table->n;
            reached = reached || table->sweeping;
        }
    }
    if (maplet->tables > 1 && count - index->dead_entries <= maplet->options.capacity)
        work += count - maplet->table[0]->n + 1;
    return work;
}

bry_status bry__compact_index_step(void *self, bry__index_slots *slots,
                                   const bry_index_supplier *supplier, uint64_t budget,
                                   uint64_t *left)
{
    enum { PORTION = 4096 };
    bry__compact_index *index = self;
    bry_status status = BRY_OK;
    bool folded = false;
    (void)slots;
    (void)supplier;
    while (budget > 0 && status == BRY_OK) {
        uint64_t portion = budget < PORTION ? budget : PORTION;
        if (index->dead > 0)
            status = bry__compact_index_sweep(index, portion);
        else if (!folded)
            status = bry__maplet_shrink(&index->maplet, portion, &folded);
        else
            break;
        budget -= portion;
    }
    *left = bry__compact_index_waiting(index);
    return status;
}
