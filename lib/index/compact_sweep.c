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
 * With every so many changes a segment is swept, and with each one while the first table is nearly
 * full, so that dead entries neither pile up nor drive new ones into further tables. When memory is
 * short it is done later.
 */
static void sweep_along(bry__compact_index *index)
{
    const bry__maplet *maplet = &index->maplet;
    uint64_t capacity = maplet->options.capacity;
    if (index->dead == 0)
        return;
    if (++index->since_sweep >= BRY__CHANGES_A_SWEEP ||
        maplet->table[0]->n >= capacity - capacity / 16) {
        index->since_sweep = 0;
        bry__compact_index_sweep(index, 1);
    }
}

/* Adds an entry; where only dead ones are in its way, they go. */
bry_status bry__compact_index_insert(bry__compact_index *index, bry_hash hash, uint32_t slot)
{
    sweep_along(index);
    bry_status status = bry__maplet_insert(&index->maplet, hash, slot);
    while (status == BRY_E_FULL && index->dead_entries > 0) {
        bry_status swept = bry__compact_index_sweep(index, 1);
        if (swept != BRY_OK)
            return swept;
        status = bry__maplet_insert(&index->maplet, hash, slot);
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
