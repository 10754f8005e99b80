/*
 * The engine compact: a maplet from an element's fingerprint to the slots of the units that hold
 * it.
 *
 *   locate(x):   fingerprint of x ──► maplet: all values ──► slots that are live ──► units
 *
 * On fingerprints it is exact. An element that no unit holds has another's fingerprint with
 * probability n / range, at most the error up to the planned n = units × unit_capacity; beyond
 * that the maplet adds tables whose errors fall so that the sum stays within. A fixed index has one
 * table, and does without the bit an element that room for further ones costs.
 *
 * An element in many units has many values. The maplet keeps eight of them beside each other and
 * any number in its overflow, so an element may well be in every unit.
 *
 * A slot takes as many bits as the units that there are need, not more: the maplet widens its
 * segments one by one as they are touched.
 *
 * Dropping a unit marks its slot as dead. Answers pass dead slots over from that moment; their
 * entries go in a sweep, a few segments at a time, in steps and with later changes, and when a
 * sweep has gone over all that was there when it began, the slots that were dead then are free
 * again:
 *
 *        open           drop           a sweep begins        and ends
 *   FREE ────► LIVE ────► DEAD ────────────────► SWEPT ─────────► FREE
 *
 * Merging two units gives the entries of one the other's slot. Where both held the same element
 * there are two equal entries then, which are one candidate, and which a deletion takes out both.
 */
#include "index/compact_index.h"

#include "hash/derive.h"

#include <string.h>

#define MAX_ENTRIES ((uint64_t)1 << 40)
#define PAGE 16u /* values that are taken from the maplet at once, and … */
#define LARGE_PAGE 256u /* … where there are more */

static unsigned bits_for(uint64_t values)
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

static bry_status plan(const bry_index_options *options, bry_index_shape *shape)
{
    if (options->dba.group || options->dba.segmented || options->dba.control != BRY_INDEX_TIGHTER ||
        options->dba.factor || options->dba.unit_bits || options->dba.hashes)
        return BRY_E_UNSUPPORTED;
    if (options->unit_capacity > MAX_ENTRIES / options->units)
        return BRY_E_RANGE;
    bry__maplet_options maplet = bry__compact_index_maplet(options);
    maplet.value_bits = bits_for(options->units);
    uint64_t range = bry__maplet_range(&maplet);
    if (range == 0)
        return BRY_E_RANGE;
    *shape = (bry_index_shape){
        .engine = BRY_ENGINE_COMPACT,
        .units = options->units,
        .unit_capacity = options->unit_capacity,
        .fingerprint_bits = 64 - (unsigned)__builtin_clzll(range - 1),
        .unit_error = (double)options->unit_capacity / (double)range,
        .error = (double)maplet.capacity / (double)range,
        .bytes = sizeof(bry__compact_index) + options->units +
                 bry__maplet_plan_bytes(&maplet, maplet.capacity),
        .bytes_empty = sizeof(bry__compact_index) + bry__maplet_bytes_empty(),
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

static bry_status create(const bry_index_options *options, const bry_allocator *allocator,
                         void **self)
{
    bry__maplet_options wanted = bry__compact_index_maplet(options);
    bry__maplet maplet;
    bry_status status = bry__maplet_init(&maplet, &wanted, allocator);
    if (status != BRY_OK)
        return status;
    bry__compact_index *index = bry__compact_index_make(options->unit_capacity, &maplet);
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
    bry__free(&allocator, index->state, index->room);
    bry__free(&allocator, index->reading, sizeof *index->reading);
    bry__maplet_free(&index->maplet);
    bry__free(&allocator, index, sizeof *index);
}

static bry_status clone(const void *self, const bry_allocator *allocator, void **copy)
{
    const bry__compact_index *index = self;
    bry__compact_index *made = bry__alloc(allocator, sizeof *made);
    uint8_t *state = index->room ? bry__alloc(allocator, index->room) : NULL;
    bry__maplet maplet;
    if (!made || (index->room && !state) ||
        bry__maplet_clone(&index->maplet, &maplet, allocator) != BRY_OK) {
        bry__free(allocator, state, index->room);
        bry__free(allocator, made, sizeof *made);
        return BRY_E_NOMEM;
    }
    *made = *index;
    made->maplet = maplet;
    made->state = state;
    if (state)
        memcpy(state, index->state, index->room);
    *copy = made;
    return BRY_OK;
}

static void clear(void *self)
{
    bry__compact_index *index = self;
    bry__maplet *maplet = &index->maplet;
    maplet->options.value_bits = 0;
    bry__maplet_clear(maplet);
    bry__free(&maplet->allocator, index->state, index->room);
    index->state = NULL;
    index->room = index->lowest = index->live = index->dead = index->swept = 0;
    index->dead_entries = 0;
    index->since_sweep = 0;
}

static void like(const void *self, bry_index_options *options)
{
    (void)self;
    (void)options; /* units, their capacity and the error are the shape, and do not change */
}

/* ---- units --------------------------------------------------------------------------------- */

uint32_t bry__compact_index_room(const bry__compact_index *index, uint32_t slot)
{
    uint32_t room = index->room ? index->room : 16;
    while (room <= slot)
        room += room / 2;
    return slot < index->room ? index->room : room;
}

bry_status bry__compact_index_reach(bry__compact_index *index, uint32_t slot)
{
    if (slot < index->room)
        return BRY_OK;
    uint32_t room = bry__compact_index_room(index, slot);
    uint8_t *state = bry__alloc(&index->maplet.allocator, room);
    if (!state)
        return BRY_E_NOMEM;
    if (index->room)
        memcpy(state, index->state, index->room);
    bry__free(&index->maplet.allocator, index->state, index->room);
    index->state = state;
    index->room = room;
    return BRY_OK;
}

static uint32_t next_slot(const void *self)
{
    const bry__compact_index *index = self;
    uint32_t free = index->lowest;
    while (free < index->room && index->state[free] != BRY__SLOT_FREE)
        free++;
    return free;
}

bry_status bry__compact_index_open(void *self, uint32_t *slot, uint64_t *capacity)
{
    bry__compact_index *index = self;
    uint32_t free = next_slot(index);
    while (free == BRY__INDEX_SLOTS && index->dead > 0) { /* all wait for the sweep: now, then */
        bry_status status = bry__compact_index_sweep(index, UINT64_MAX);
        if (status != BRY_OK)
            return status;
        free = index->lowest < index->room && index->state[index->lowest] == BRY__SLOT_FREE
                   ? index->lowest
                   : free;
    }
    if (free >= BRY__INDEX_SLOTS)
        return BRY_E_FULL;
    bry_status status = bry__compact_index_reach(index, free);
    if (status != BRY_OK)
        return status;
    unsigned bits = bits_for((uint64_t)free + 1);
    if (bits > index->maplet.options.value_bits)
        bry__maplet_widen(&index->maplet, bits);
    index->state[free] = BRY__SLOT_LIVE;
    index->live++;
    index->lowest = free + 1;
    *slot = free;
    *capacity = index->unit_capacity;
    return BRY_OK;
}

static void free_slot(bry__compact_index *index, uint32_t slot)
{
    index->state[slot] = BRY__SLOT_FREE;
    index->live--;
    if (slot < index->lowest)
        index->lowest = slot;
}

void bry__compact_index_drop(void *self, uint32_t slot, uint64_t elements)
{
    bry__compact_index *index = self;
    if (elements == 0) {
        free_slot(index, slot);
        return;
    }
    index->state[slot] = BRY__SLOT_DEAD;
    index->live--;
    index->dead++;
    index->dead_entries += elements;
}

static uint32_t recode(void *context, uint32_t value)
{
    const uint32_t *pair = context;
    return value == pair[1] ? pair[0] : value;
}

static bry_status merge_units(void *self, uint32_t into, uint32_t from)
{
    bry__compact_index *index = self;
    uint32_t pair[2] = {into, from};
    bry_status status = bry__maplet_remap(&index->maplet, recode, pair);
    if (status == BRY_OK)
        free_slot(index, from);
    return status;
}

static void unit_info(const void *self, const bry__index_slots *slots, uint32_t slot,
                      bry_index_unit *info)
{
    const bry__maplet *maplet = &((const bry__compact_index *)self)->maplet;
    uint64_t count = bry__maplet_count(maplet);
    double share = count ? (double)slots->slot[slot].elements / (double)count : 0;
    info->wants_refresh = false;
    info->error = share * bry__maplet_error_now(maplet);
}

/* ---- elements ------------------------------------------------------------------------------ */

/* Whether one of the tables below `end` has the entry. */
static bool has_entry(const bry__maplet *maplet, unsigned begin, unsigned end, bry_hash hash,
                      uint32_t slot)
{
    for (unsigned i = end; i-- > begin;)
        if (bry__table_has_entry(maplet->table[i], bry__fingerprint(hash, maplet->table[i]->range),
                                 slot))
            return true;
    return false;
}

static bry_answer holds(const void *self, uint32_t slot, bry_hash hash)
{
    const bry__maplet *maplet = &((const bry__compact_index *)self)->maplet;
    return has_entry(maplet, 0, maplet->tables, hash, slot) ? BRY_PRESENT : BRY_ABSENT;
}

/* Takes out again those that were absent, last first, and the tables that were opened for them. */
static void undo_n(void *self, uint32_t slot, const bry_hash *hashes, size_t n, const uint8_t *was)
{
    bry__maplet *maplet = &((bry__compact_index *)self)->maplet;
    while (n-- > 0)
        if (was[n] == BRY_ABSENT)
            bry__maplet_del_value(maplet, hashes[n], slot);
    while (maplet->tables > 1 && maplet->table[maplet->tables - 1]->n == 0)
        bry__maplet_close_table(maplet);
}

/* For what it fetches into the cache. */
static void fetch(const bry__maplet *maplet, const bry_hash *hashes, size_t n)
{
    uint32_t values[BRY__TABLE_BATCH];
    uint8_t answers[BRY__TABLE_BATCH];
    bry__maplet_get_n(maplet, hashes, n < BRY__TABLE_BATCH ? n : BRY__TABLE_BATCH, values, answers);
}

static bry_status add_n(void *self, uint32_t slot, const bry_hash *hashes, size_t n, uint8_t *was)
{
    bry__compact_index *index = self;
    bry__maplet *maplet = &index->maplet;
    for (size_t i = 0; i < n; i++) {
        if (n > 1 && i % BRY__TABLE_BATCH == 0)
            fetch(maplet, hashes + i, n - i);
        uint8_t answer = (uint8_t)holds(self, slot, hashes[i]);
        if (answer == BRY_ABSENT) {
            bry_status status = bry__compact_index_add(index, hashes[i], slot);
            if (status != BRY_OK) {
                undo_n(self, slot, hashes, i, was);
                return status;
            }
        }
        was[i] = answer;
    }
    return BRY_OK;
}

static uint64_t del(void *self, uint32_t slot, bry_hash hash)
{
    bry__compact_index *index = self;
    uint64_t removed = 0;
    while (bry__maplet_del_value(&index->maplet, hash, slot) == BRY_PRESENT)
        removed++;
    return removed;
}

/* ---- asking -------------------------------------------------------------------------------- */

/* Candidates of one table that no newer one has; with `found` NULL, whether there is any. */
static bool candidates(const bry__compact_index *index, unsigned i, bry_hash hash,
                       bry__index_found *found)
{
    const bry__maplet *maplet = &index->maplet;
    const bry__table *table = maplet->table[i];
    uint64_t fingerprint = bry__fingerprint(hash, table->range), total;
    uint32_t values[LARGE_PAGE], from = 0;
    unsigned page = PAGE;
    for (bool more = true; more; page = LARGE_PAGE) {
        total = bry__table_get_from(table, fingerprint, from, values, page);
        for (unsigned j = 0; j < total && j < page; j++) {
            uint32_t slot = values[j];
            if ((j > 0 && slot == values[j - 1]) || index->state[slot] != BRY__SLOT_LIVE)
                continue;
            if (!found)
                return true;
            if (!has_entry(maplet, i + 1, maplet->tables, hash, slot))
                bry__index_found_add(found, slot);
        }
        more = total > page;
        if (more)
            from = values[page - 1] + 1;
    }
    return false;
}

static void locate(const void *self, bry_hash hash, bry__index_found *found)
{
    const bry__compact_index *index = self;
    for (unsigned i = index->maplet.tables; i-- > 0;)
        candidates(index, i, hash, found);
}

static void locate_n(const void *self, const bry_hash *hashes, size_t n, bry__index_found *found)
{
    const bry__compact_index *index = self;
    uint32_t values[BRY__INDEX_BATCH];
    uint8_t answers[BRY__INDEX_BATCH];
    bry__maplet_get_n(&index->maplet, hashes, n, values, answers);
    for (size_t i = 0; i < n; i++)
        if (answers[i] == BRY_PRESENT)
            locate(self, hashes[i], &found[i]);
}

static bry_answer has(const void *self, bry_hash hash)
{
    const bry__compact_index *index = self;
    uint32_t value;
    if (index->dead == 0)
        return bry__maplet_get(&index->maplet, hash, &value);
    for (unsigned i = index->maplet.tables; i-- > 0;)
        if (candidates(index, i, hash, NULL))
            return BRY_PRESENT;
    return BRY_ABSENT;
}

static void has_n(const void *self, const bry_hash *hashes, size_t n, uint8_t *answers)
{
    const bry__compact_index *index = self;
    bry__maplet_has_n(&index->maplet, hashes, n, answers);
    for (size_t i = 0; i < n && index->dead > 0; i++)
        if (answers[i] == BRY_PRESENT)
            answers[i] = (uint8_t)has(self, hashes[i]);
}

/* ---- looking in ---------------------------------------------------------------------------- */

static uint64_t bytes(const void *self)
{
    const bry__compact_index *index = self;
    return sizeof *index + index->room + bry__maplet_bytes(&index->maplet);
}

/* The error with n entries, as the maplet will spread them over its tables; units made apart may
 * have brought a table more than it is planned for. */
static double error_of(const bry__maplet *maplet, uint64_t n)
{
    double error = 0;
    for (unsigned i = 0; n > 0; i++) {
        uint64_t most = maplet->chain.capacity[i], here = n;
        if (i < maplet->tables && maplet->table[i]->n > most)
            most = maplet->table[i]->n;
        if (i + 1 < maplet->chain.tables && here > most)
            here = most;
        error += (double)here / (double)maplet->chain.range[i];
        n -= here;
    }
    return error;
}

static void stats(const void *self, const bry__index_slots *slots, bry_index_stats *stats)
{
    const bry__compact_index *index = self;
    const bry__maplet *maplet = &index->maplet;
    uint64_t count = bry__maplet_count(maplet);
    double room = 0;
    for (unsigned i = 0; i < maplet->tables; i++)
        room += (double)maplet->chain.capacity[i];
    stats->planned_units = maplet->options.fixed
                               ? (uint32_t)(maplet->options.capacity / index->unit_capacity)
                               : BRY_INDEX_UNITS_MAX;
    stats->unit_capacity = index->unit_capacity;
    stats->fill = (double)count / room;
    stats->promised_error = maplet->options.error;
    /* The share of what is alive first: a product with it is never above what it is taken of. */
    double alive = count ? (double)slots->elements / (double)count : 0;
    stats->estimated_error = bry__maplet_error_now(maplet) * alive;
    stats->full_error = error_of(maplet, slots->capacity);
    if (stats->full_error < stats->estimated_error) /* by rounding */
        stats->full_error = stats->estimated_error;
    stats->waiting = bry__compact_index_waiting(index);
    stats->dropped = index->dead_entries;
}

const bry__index_engine bry__compact_index_engine = {
    .engine = BRY_ENGINE_COMPACT,
    .deletes = true,
    .plan = plan,
    .create = create,
    .destroy = bry__compact_index_destroy,
    .clone = clone,
    .clear = clear,
    .like = like,
    .next_slot = next_slot,
    .open = bry__compact_index_open,
    .drop = bry__compact_index_drop,
    .merge_units = merge_units,
    .unit_info = unit_info,
    .holds = holds,
    .add_n = add_n,
    .undo_n = undo_n,
    .del = del,
    .has = has,
    .has_n = has_n,
    .locate = locate,
    .locate_n = locate_n,
    .step = bry__compact_index_step,
    .bytes = bytes,
    .stats = stats,
    .layout = bry__compact_index_layout,
    .write = bry__compact_index_write,
    .read = bry__compact_index_read,
    .parts = bry__compact_index_parts,
    .part = bry__compact_index_part,
    .write_head = bry__compact_index_write_head,
    .write_part = bry__compact_index_write_part,
    .read_head = bry__compact_index_read_head,
    .read_part = bry__compact_index_read_part,
    .read_done = bry__compact_index_read_done,
    .write_unit = bry__compact_index_write_unit,
    .install = bry__compact_index_install,
};
