/*
 * The engine compact: a maplet from the fingerprint of an element to the slots of the units that
 * hold it.
 *
 *   locate(x):   fingerprint of x ──► maplet: all values ──► those in use ──► slots ──► units
 *
 * The maplet is exact on fingerprints. An element that no unit holds has the fingerprint of
 * another with probability n / range. This is at most the error up to the planned n = units ×
 * unit_capacity. Beyond that the maplet adds tables with smaller errors, so that their sum stays
 * within the error. A fixed index has one table, and saves the 0.4 bits per element that room for
 * more tables costs.
 *
 * An element in many units has many values. The maplet stores up to eight next to each other and
 * any number in its overflow, so an element may be in every unit.
 *
 * A value takes as many bits as the number of units needs: the maplet widens its segments one by
 * one as they are touched.
 *
 * The slot of a unit is its number modulo the least power of two that has room for all units, or
 * the next free slot. So units that come and go reuse the slots, which take few bits. The value of
 * a unit is the number of its slot, unless entries of a dropped unit still have that value. Those
 * are reclaimed in steps (maplet_values.h) and have usually gone when the slot is used again; if
 * not, the unit gets another free value. What an index answers, accepts and saves depends on the
 * slots and on the number of entries in each table alone, never on the values or on the state of
 * reclaiming.
 *
 * Merging two units gives the entries of one the value of the other. If both held the same element,
 * there are two equal entries then: they are one candidate, and a deletion removes both.
 */
#include "index/compact/compact_index.h"

#include <string.h>

#define FOLD_COST 128u /* moving an entry costs as much as looking at this many */

static unsigned compact_index_bits_for(uint64_t values)
{
    unsigned bits = 0;
    while (values > (uint64_t)1 << bits)
        bits++;
    return bits;
}

/* ---- making -------------------------------------------------------------------------------- */

bry__maplet_options bry__compact_index_maplet(const bry_index_options *options)
{
    return (bry__maplet_options){.capacity = options->units * options->unit_capacity,
                                 .error = options->error,
                                 .value_bits = 0,
                                 .fixed = options->fixed};
}

#define LEAST_ROOM BRY__VALUES_ROOM /* for what is known of each unit */

static uint64_t compact_index_bytes_empty(void)
{
    return sizeof(bry__compact_index) + bry__values_plan_bytes(0, 1);
}

static bry_status compact_index_plan(const bry_index_options *options, bry_index_shape *shape)
{
    if (options->unit_capacity > BRY_CAPACITY_MAX / options->units)
        return BRY_E_RANGE;
    bry__maplet_options maplet = bry__compact_index_maplet(options);
    maplet.value_bits = compact_index_bits_for(options->units);
    uint64_t range = bry__maplet_range(&maplet);
    if (range == 0)
        return BRY_E_RANGE;
    uint64_t room = LEAST_ROOM; /* grows by half as units come */
    while (room < options->units)
        room += room / 2;
    *shape = (bry_index_shape){
        .engine = BRY_ENGINE_COMPACT,
        .units = options->units,
        .unit_capacity = options->unit_capacity,
        .compact.fingerprint_bits = 64 - (unsigned)__builtin_clzll(range - 1),
        .unit_error = (double)options->unit_capacity / (double)range,
        .error = (double)maplet.capacity / (double)range,
        .bytes = compact_index_bytes_empty() + room * (2 * sizeof(uint32_t) + sizeof(uint64_t)) +
                 bry__maplet_plan_bytes(&maplet, maplet.capacity),
        .bytes_empty = compact_index_bytes_empty(),
        .grows_to = bry__maplet_most(&maplet),
    };
    return BRY_OK;
}

bry__compact_index *bry__compact_index_make(uint64_t unit_capacity, const bry__maplet *maplet)
{
    bry__compact_index *index = bry__alloc(&maplet->allocator, sizeof *index);
    if (index)
        *index = (bry__compact_index){.maplet = *maplet, .unit_capacity = unit_capacity};
    return index;
}

static bry_status compact_index_create(const bry_index_options *options,
                                       const bry_allocator *allocator, void **self)
{
    bry__maplet_options wanted = bry__compact_index_maplet(options);
    bry__maplet maplet;
    bry__compact_index *index = NULL;
    bry__maplet_init(&maplet, &wanted, allocator); /* planned: it is in range */
    if (bry__values_begin(&maplet) == BRY_OK)
        index = bry__compact_index_make(options->unit_capacity, &maplet);
    if (!index) {
        bry__maplet_free(&maplet);
        return BRY_E_NOMEM;
    }
    *self = index;
    return BRY_OK;
}

void bry__compact_index_destroy(void *self)
{
    bry__compact_index *index = self;
    bry_allocator allocator = index->maplet.allocator;
    bry__free(&allocator, index->value, index->room * sizeof *index->value);
    if (index->reading)
        bry__maplet_reader_free(index->reading);
    bry__maplet_free(&index->maplet);
    bry__free(&allocator, index, sizeof *index);
}

static bry_status compact_index_clone(const void *self, const bry_allocator *allocator, void **copy)
{
    const bry__compact_index *index = self;
    size_t size = index->room * sizeof *index->value;
    bry__compact_index *made = bry__alloc(allocator, sizeof *made);
    uint32_t *value = size ? bry__alloc(allocator, size) : NULL;
    bry__maplet maplet;
    if (!made || (size && !value) ||
        bry__maplet_clone(&index->maplet, &maplet, allocator) != BRY_OK) {
        bry__free(allocator, value, size);
        bry__free(allocator, made, sizeof *made);
        return BRY_E_NOMEM;
    }
    *made = *index;
    made->maplet = maplet;
    made->value = value;
    if (value)
        memcpy(value, index->value, size);
    *copy = made;
    return BRY_OK;
}

static void compact_index_clear(void *self)
{
    bry__compact_index *index = self;
    bry__maplet *maplet = &index->maplet;
    maplet->value_bits = 0;
    bry__maplet_clear(maplet);
    bry__free(&maplet->allocator, index->value, index->room * sizeof *index->value);
    index->value = NULL;
    index->room = index->units = 0;
}

static void compact_index_like(const void *self, bry_index_options *options)
{
    (void)self;
    (void)options; /* units, their capacity and the error never change */
}

/* ---- units --------------------------------------------------------------------------------- */

/* Number of slots to allocate so that there is one with this number. */
static uint32_t compact_index_room_for(const bry__compact_index *index, uint32_t slot)
{
    uint32_t room = index->room ? index->room : LEAST_ROOM;
    while (room <= slot)
        room += room / 2;
    return slot < index->room ? index->room : room;
}

static bry_status compact_index_grow_slots(bry__compact_index *index, uint32_t slot)
{
    if (slot < index->room)
        return BRY_OK;
    uint32_t room = compact_index_room_for(index, slot);
    uint32_t *value = bry__alloc(&index->maplet.allocator, room * sizeof *value);
    if (!value)
        return BRY_E_NOMEM;
    memset(value, 0xff, room * sizeof *value); /* BRY__NO_NAME everywhere */
    if (index->room)
        memcpy(value, index->value, index->room * sizeof *value);
    bry__free(&index->maplet.allocator, index->value, index->room * sizeof *value);
    index->value = value;
    index->room = room;
    return BRY_OK;
}

uint64_t bry__compact_index_use_bytes(const bry__compact_index *index, uint32_t slot,
                                      uint32_t value)
{
    return (uint64_t)(compact_index_room_for(index, slot) - index->room) * sizeof *index->value +
           bry__values_use_bytes(&index->maplet, value);
}

bry_status bry__compact_index_use(bry__compact_index *index, uint32_t slot, uint32_t value)
{
    bry_status status = compact_index_grow_slots(index, slot);
    if (status == BRY_OK)
        status = bry__values_use(&index->maplet, value, slot);
    if (status == BRY_OK) {
        index->value[slot] = value;
        index->units++;
    }
    return status;
}

static uint32_t compact_index_next_slot(const void *self, uint32_t number)
{
    const bry__compact_index *index = self;
    uint32_t slots = (uint32_t)1 << compact_index_bits_for((uint64_t)index->units + 1),
             slot = number % slots;
    while (slot < index->room && index->value[slot] != BRY__NO_NAME)
        slot = (slot + 1) % slots;
    return slot;
}

bry_status bry__compact_index_open(void *self, uint32_t number, uint32_t *slot, uint64_t *capacity)
{
    bry__compact_index *index = self;
    uint32_t free = compact_index_next_slot(index, number), value;
    if (free >= BRY_INDEX_UNITS_MAX)
        return BRY_E_FULL;
    while ((value = bry__values_find_free(&index->maplet, free, BRY__INDEX_SLOTS)) ==
           BRY__INDEX_SLOTS) { /* all values have entries to be reclaimed: do it now */
        bry_status status = bry__values_reclaim(&index->maplet, UINT64_MAX);
        if (status != BRY_OK)
            return status;
    }
    bry_status status = bry__compact_index_use(index, free, value);
    if (status != BRY_OK)
        return status;
    *slot = free;
    *capacity = index->unit_capacity;
    return BRY_OK;
}

static void compact_index_free_slot(bry__compact_index *index, uint32_t slot)
{
    index->value[slot] = BRY__NO_NAME;
    index->units--;
}

void bry__compact_index_drop(void *self, uint32_t slot, uint64_t elements)
{
    bry__compact_index *index = self;
    (void)elements;
    bry__values_kill(&index->maplet, index->value[slot]);
    compact_index_free_slot(index, slot);
}

static bry_status compact_index_merge_units(void *self, uint32_t into, uint32_t from)
{
    bry__compact_index *index = self;
    bry_status status = bry__values_merge(&index->maplet, index->value[into], index->value[from]);
    if (status == BRY_OK)
        compact_index_free_slot(index, from);
    return status;
}

static void compact_index_unit_info(const void *self, const bry__index_slots *slots, uint32_t slot,
                                    bry_index_unit_info *info)
{
    const bry__maplet *maplet = &((const bry__compact_index *)self)->maplet;
    uint64_t count = bry__maplet_count(maplet);
    double share = count ? (double)bry__slot(slots, slot)->elements / (double)count : 0;
    info->wants_refresh = false;
    info->error = share * bry__maplet_error_now(maplet);
}

/* ---- elements ------------------------------------------------------------------------------ */

static bry_answer compact_index_holds(const void *self, uint32_t slot, bry_hash hash)
{
    const bry__compact_index *index = self;
    return bry__values_has(&index->maplet, hash, index->value[slot]) ? BRY_PRESENT : BRY_ABSENT;
}

/* Removes the elements that were absent before. */
static void compact_index_undo_n(void *self, uint32_t slot, const bry_hash *hashes, size_t n,
                                 const uint8_t *was)
{
    bry__compact_index *index = self;
    while (n-- > 0)
        if (was[n] == BRY_ABSENT)
            bry__maplet_del_value(&index->maplet, hashes[n], index->value[slot]);
    bry__maplet_close_empty(&index->maplet);
}

/* Looks the first elements up, to have their segments in the cache. */
static void compact_index_prefetch(const bry__maplet *maplet, const bry_hash *hashes, size_t n)
{
    uint8_t answers[BRY__INDEX_BATCH];
    bry__maplet_has_n(maplet, hashes, n < BRY__INDEX_BATCH ? n : BRY__INDEX_BATCH, answers);
}

static bry_status compact_index_add_n(void *self, uint32_t slot, const bry_hash *hashes, size_t n,
                                      uint8_t *was)
{
    bry__compact_index *index = self;
    bry__maplet *maplet = &index->maplet;
    for (size_t i = 0; i < n; i++) {
        if (n > 1 && i % BRY__INDEX_BATCH == 0)
            compact_index_prefetch(maplet, hashes + i, n - i);
        uint8_t answer = (uint8_t)compact_index_holds(self, slot, hashes[i]);
        if (answer == BRY_ABSENT) {
            bry__values_reclaim_along(maplet);
            bry_status status = bry__maplet_add(maplet, hashes[i], index->value[slot]);
            if (status != BRY_OK) {
                compact_index_undo_n(self, slot, hashes, i, was);
                return status;
            }
        }
        was[i] = answer;
    }
    return BRY_OK;
}

static uint64_t compact_index_del(void *self, uint32_t slot, bry_hash hash)
{
    bry__compact_index *index = self;
    uint64_t removed = 0;
    while (bry__maplet_del_value(&index->maplet, hash, index->value[slot]) == BRY_PRESENT)
        removed++;
    return removed;
}

/* ---- looking up ---------------------------------------------------------------------------- */

static bool compact_index_add_found(void *context, uint32_t slot)
{
    bry__index_found_add(context, slot);
    return true;
}

static void compact_index_locate(const void *self, bry_hash hash, bry__index_found *found)
{
    const bry__compact_index *index = self;
    bry__values_each(&index->maplet, hash, compact_index_add_found, found);
}

static void compact_index_locate_n(const void *self, const bry_hash *hashes, size_t n,
                                   bry__index_found *found)
{
    const bry__compact_index *index = self;
    uint8_t answers[BRY__INDEX_BATCH];
    bry__maplet_has_n(&index->maplet, hashes, n, answers);
    for (size_t i = 0; i < n; i++)
        if (answers[i] == BRY_PRESENT)
            compact_index_locate(self, hashes[i], &found[i]);
}

static bool compact_index_stop(void *context, uint32_t slot)
{
    (void)context;
    (void)slot;
    return false;
}

static bry_answer compact_index_has(const void *self, bry_hash hash)
{
    const bry__maplet *maplet = &((const bry__compact_index *)self)->maplet;
    uint32_t value;
    if (bry__values_dead(maplet) == 0)
        return bry__maplet_get(maplet, hash, &value);
    return bry__values_each(maplet, hash, compact_index_stop, NULL) ? BRY_PRESENT : BRY_ABSENT;
}

static void compact_index_has_n(const void *self, const bry_hash *hashes, size_t n,
                                uint8_t *answers)
{
    const bry__maplet *maplet = &((const bry__compact_index *)self)->maplet;
    bool dead = bry__values_dead(maplet) > 0;
    bry__maplet_has_n(maplet, hashes, n, answers);
    for (size_t i = 0; i < n && dead; i++)
        if (answers[i] == BRY_PRESENT)
            answers[i] = (uint8_t)compact_index_has(self, hashes[i]);
}

/* ---- work that can wait -------------------------------------------------------------------- */

/* Entries still to be looked at or moved. */
static uint64_t compact_index_waiting(const bry__maplet *maplet)
{
    return bry__values_waiting(maplet) + bry__values_unsettled(maplet) +
           bry__maplet_foldable(maplet);
}

/* Reclaims; looks at about `budget` entries. One that is removed costs as much as several that
 * stay. */
static bry_status compact_index_reclaim(bry__maplet *maplet, uint64_t budget)
{
    enum { PORTION = 4096, REMOVAL = 3 };
    bry_status status = BRY_OK;
    uint64_t done = 0, dead = bry__values_dead(maplet);
    while (done < budget && status == BRY_OK && (dead > 0 || bry__values_unsettled(maplet) > 0)) {
        uint64_t portion = budget - done < PORTION ? budget - done : PORTION, before = dead;
        status = bry__values_reclaim(maplet, portion);
        dead = bry__values_dead(maplet);
        done += portion + REMOVAL * (before - dead);
    }
    return status;
}

/*
 * Reclaiming changes nothing that a caller can see, and may be repeated. Folding changes what is
 * saved: it is all or nothing, and how much is folded depends on the budget alone, so that equal
 * indexes that take the same steps stay equal. If there is something to fold, the status says
 * whether it was folded: a caller that repeats the steps elsewhere has to know.
 */
static bry_status compact_index_step(void *self, bry__index_slots *slots,
                                     const bry_index_supplier *supplier, uint64_t budget,
                                     uint64_t *left)
{
    bry__maplet *maplet = &((bry__compact_index *)self)->maplet;
    uint64_t most = budget / FOLD_COST + (budget > 0);
    bool folds = bry__maplet_foldable(maplet) > 0;
    (void)slots;
    (void)supplier;
    bry_status folded = bry__maplet_fold(maplet, most),
               reclaimed = compact_index_reclaim(maplet, budget);
    if (folded != BRY_OK)
        folded = bry__maplet_fold(maplet, most); /* reclaiming may have freed memory */
    *left = compact_index_waiting(maplet);
    return folds ? folded : reclaimed;
}

/* ---- statistics ---------------------------------------------------------------------------- */

static uint64_t compact_index_bytes(const void *self)
{
    const bry__compact_index *index = self;
    return sizeof *index + index->room * sizeof *index->value + bry__maplet_bytes(&index->maplet);
}

/* The error with n entries, after the missing ones went where they will be placed. */
static double compact_index_error_at(const bry__maplet *maplet, uint64_t n)
{
    const bry__chain *chain = &maplet->chain;
    uint64_t counts[BRY__MAPLET_TABLES], count = bry__maplet_count(maplet);
    bry__maplet_counts(maplet, counts);
    for (uint64_t here; count < n; count += here) {
        unsigned i = bry__chain_place(chain, counts);
        here = n - count;
        if (i == chain->tables)
            i--; /* these will be refused */
        else if (here > bry__chain_capacity(chain, i) - counts[i])
            here = bry__chain_capacity(chain, i) - counts[i];
        counts[i] += here;
    }
    return bry__chain_error(chain, counts);
}

static void compact_index_stats(const void *self, const bry__index_slots *slots,
                                bry_index_stats *stats)
{
    const bry__compact_index *index = self;
    const bry__maplet *maplet = &index->maplet;
    uint64_t count = bry__maplet_count(maplet);
    double room = 0;
    for (unsigned i = 0; i < bry__maplet_live_tables(maplet); i++)
        room += (double)bry__chain_capacity(&maplet->chain, i);
    stats->promised_units = maplet->chain.fixed
                                ? (uint32_t)(maplet->chain.first_capacity / index->unit_capacity)
                                : BRY_INDEX_UNITS_MAX;
    stats->unit_capacity = index->unit_capacity;
    stats->fill = (double)count / room;
    stats->promised_error = maplet->chain.error;
    stats->estimated_error = bry__maplet_error_now(maplet);
    stats->full_error = compact_index_error_at(maplet, slots->capacity);
    if (stats->full_error < stats->estimated_error) /* rounding */
        stats->full_error = stats->estimated_error;
    stats->waiting = compact_index_waiting(maplet);
    stats->compact.dropped = bry__values_dead(maplet);
}

const bry__index_engine bry__compact_index_engine = {
    .engine = BRY_ENGINE_COMPACT,
    .deletes = true,
    .plan = compact_index_plan,
    .create = compact_index_create,
    .destroy = bry__compact_index_destroy,
    .clone = compact_index_clone,
    .clear = compact_index_clear,
    .like = compact_index_like,
    .next_slot = compact_index_next_slot,
    .open = bry__compact_index_open,
    .drop = bry__compact_index_drop,
    .merge_units = compact_index_merge_units,
    .unit_info = compact_index_unit_info,
    .holds = compact_index_holds,
    .add_n = compact_index_add_n,
    .undo_n = compact_index_undo_n,
    .del = compact_index_del,
    .has = compact_index_has,
    .has_n = compact_index_has_n,
    .locate = compact_index_locate,
    .locate_n = compact_index_locate_n,
    .step = compact_index_step,
    .bytes = compact_index_bytes,
    .stats = compact_index_stats,
    .write = bry__compact_index_write,
    .read = bry__compact_index_read,
    .begin_parts = bry__compact_index_begin_parts,
    .end_parts = bry__compact_index_end_parts,
    .parts = bry__compact_index_parts,
    .part = bry__compact_index_part,
    .write_head = bry__compact_index_write_head,
    .write_part = bry__compact_index_write_part,
    .read_head = bry__compact_index_read_head,
    .read_part = bry__compact_index_read_part,
    .read_done = bry__compact_index_read_done,
    .write_unit = bry__compact_index_write_unit,
    .import = bry__compact_index_import,
};
