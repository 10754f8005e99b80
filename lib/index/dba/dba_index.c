/*
 * Engine dba: a dynamic array of Bloom filters, after "Efficiently Representing Membership for
 * Variable Large Data Sets" (IEEE TPDS 2014).
 *
 * Each unit is a Bloom filter of m rows and k positions per element. Units of one shape lie side by
 * side in groups of g = 1, 8, 16, …, 512 columns (dba_group.h): one load asks all columns of a
 * group for one position, k loads at most ask them for an element, and a bit that is left gives the
 * unit (dba_ask.c). g = 1 is the plain dynamic Bloom filter that this layout is measured against.
 *
 *   slot ──place──▸ (group, column)          group ──slot[column]──▸ slot
 *
 * Shape. r units of error f together have the error 1 - (1 - f)^r, so each is planned for
 * f = 1 - (1 - ε)^(1/r), with k = ceil(log2(1/f)) and the m that keeps f with that k: about
 * log2(e)·log2(1/f) rows per element. That is log_ε(f) times the memory of one filter for all.
 *
 * Groups grow with the number of units: new ones get the width in [r/8, r/4), and
 * narrower ones are merged, two by two, by copying rows. So the unused part of the newest
 * group is less than a quarter of all. With few units groups start at width 1, and eight of these
 * become one of 8.
 *
 * Error control (dba_level.c). When a unit is opened beyond those planned for, the level rises:
 * it and those after it get another shape, and units of earlier levels are rebuilt from their
 * elements, group by group, until the sum of all errors is within the promise again.
 *  - tighter (method B): the same capacity, and the error for `factor` times as many units. With
 *    segmented filters nothing is rebuilt: the groups get further segments, and only the positions
 *    in these are added.
 *  - larger (method A): `factor` times the capacity, the same error, and the units take elements
 *    again. This begins before more units are opened, when those planned for are nearly full; if a
 *    unit is opened beyond them nevertheless, the error is tightened too.
 *
 * Work (dba_cleanup.c) is done in steps. A unit is rebuilt in another column, and look-ups use
 * the old one until it is complete; additions go into both. The same holds for groups
 * that are merged, segments that are added and columns that move. Columns of dropped and of
 * rebuilt units are masked out at once, cleared later, and used again; a group without units is
 * freed at once.
 *
 * Frames (dba_save.c) contain columns only: their grouping is decided when they are read, so that
 * the same units give the same bytes whatever g is.
 */
#include "index/dba/dba_index.h"

#include "common/attributes.h"
#include "common/random.h"

#include <string.h>

/* ---- making -------------------------------------------------------------------------------- */

bry_status bry__dba_make(const bry_index_options *options, const bry_allocator *allocator,
                         bry__dba **self)
{
    bry__dba_level level;
    uint64_t instance;
    bry_status status = bry__dba_first_level(options, &level);
    if (status == BRY_OK)
        status = bry__random_seed(&instance);
    if (status != BRY_OK)
        return status;
    bry__dba *made = bry__alloc(allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    made->allocator = bry__memory_begin(&made->memory, allocator);
    made->options = *options;
    made->options.allocator = NULL;
    if (made->options.dba.factor == 0)
        made->options.dba.factor = 2;
    made->levels = 1;
    made->level[0] = level;
    made->instance = instance;
    *self = made;
    return BRY_OK;
}

static bry_status dba_index_create(const bry_index_options *options, const bry_allocator *allocator,
                                   void **self)
{
    bry__dba *made;
    bry_status status = bry__dba_make(options, allocator, &made);
    if (status == BRY_OK)
        *self = made;
    return status;
}

static void dba_index_free_tables(bry__dba *self)
{
    bry__records_free(&self->places, sizeof(bry__dba_place), &self->allocator);
    bry__free(&self->allocator, self->list, self->room * sizeof *self->list);
    bry__free(&self->allocator, self->taken, self->room / 8);
    bry__free(&self->allocator, self->group, self->group_room * sizeof *self->group);
    self->list = NULL;
    self->taken = NULL;
    self->group = NULL;
    self->room = self->group_room = 0;
}

static void dba_index_clear(void *self)
{
    bry__dba *dba = self;
    bry__dba_forget_all(dba);
    for (uint32_t g = 0; g < dba->groups; g++)
        bry__dba_group_free(dba->group[g], &dba->allocator);
    dba_index_free_tables(dba);
    dba->groups = dba->units = 0;
    dba->set = 0;
    dba->none = (bry__dba_sum){0};
    dba->recent.waits = false;
    dba->rebuilds = 0;
    dba->levels = 1;
    dba->level[0].units = 0;
}

void bry__dba_destroy(void *self)
{
    bry__dba *dba = self;
    if (!dba)
        return;
    dba_index_clear(dba);
    bry_allocator allocator = dba->memory.from;
    bry__free(&allocator, dba, sizeof *dba);
}

static bry_status dba_index_clone(const void *self, const bry_allocator *allocator, void **copy)
{
    const bry__dba *dba = self;
    bry__dba *made;
    bry_status status = bry__dba_make(&dba->options, allocator, &made);
    if (status != BRY_OK)
        return status;
    made->levels = dba->levels;
    memcpy(made->level, dba->level, sizeof dba->level);
    for (uint32_t i = 0; i < dba->levels; i++)
        made->level[i].units = 0;
    made->rebuilds = dba->rebuilds;
    for (uint32_t g = 0; g < dba->groups; g++) {
        if (dba->group[g]->units == 0)
            continue;
        bry__dba_group *group = NULL;
        status = bry__dba_room(made, dba->places.room);
        if (status == BRY_OK && !(group = bry__dba_group_clone(dba->group[g], &made->allocator)))
            status = BRY_E_NOMEM;
        if (status != BRY_OK) {
            bry__dba_destroy(made);
            return status;
        }
        made->group[made->groups++] = group;
    }
    for (uint32_t g = 0; g < made->groups; g++) {
        bry__dba_group *group = made->group[g];
        for (uint32_t c = 0; c < group->width; c++) {
            uint32_t slot = group->slot[c];
            if (slot >= BRY__DBA_BUILDING)
                continue;
            bry__dba_seat(made, slot, group, c);
            memcpy(bry__dba_place_of(made, slot)->stamp, bry__dba_place_of(dba, slot)->stamp,
                   sizeof bry__dba_place_of(dba, slot)->stamp);
            bry__dba_place_of(made, slot)->none = bry__dba_place_of(dba, slot)->none;
            bry__dba_more_set(made, slot, bry__dba_place_of(dba, slot)->set);
        }
    }
    made->none = dba->none;
    made->recent = dba->recent;
    *copy = made;
    return BRY_OK;
}

static void dba_index_like(const void *self, bry_index_options *options)
{
    bry__dba_level next;
    bry__dba_open_level(self, &next);
    options->unit_capacity = next.shape.capacity;
    options->dba.unit_bits = bry__dba_rows(&next.shape);
    options->dba.hashes = next.shape.hashes;
    options->dba.segmented = next.shape.segmented;
}

/* ---- room ---------------------------------------------------------------------------------- */

/* Copies a table of n entries of that size to one with room for `room`; the caller frees the old
 * one. */
static void *dba_longer(const bry__dba *self, const void *table, size_t n, size_t room, size_t size)
{
    void *made = bry__alloc(&self->allocator, room * size);
    if (made && n)
        memcpy(made, table, n * size);
    return made;
}

/* Of the list and the bits. */
static uint32_t slot_room(uint32_t slots)
{
    uint32_t room = 64;
    while (room < slots)
        room *= 2;
    return room;
}

uint64_t bry__dba_slot_cost(uint32_t slots)
{
    uint32_t room = slot_room(slots);
    return bry__records_bytes(bry__records_room(slots), sizeof(bry__dba_place)) +
           room * (uint64_t)sizeof(uint32_t) + room / 8;
}

static bry_status grow_slots(bry__dba *self, uint32_t slots)
{
    uint32_t room = slot_room(slots);
    uint32_t *list = dba_longer(self, self->list, self->room, room, sizeof *list);
    uint64_t *taken = dba_longer(self, self->taken, self->room / 64, room / 64, sizeof *taken);
    if (!list || !taken) {
        bry__free(&self->allocator, list, room * sizeof *list);
        bry__free(&self->allocator, taken, room / 8);
        return BRY_E_NOMEM;
    }
    bry__free(&self->allocator, self->list, self->room * sizeof *list);
    bry__free(&self->allocator, self->taken, self->room / 8);
    self->list = list;
    self->taken = taken;
    self->room = room;
    return BRY_OK;
}

bry_status bry__dba_room(bry__dba *self, uint32_t slots)
{
    if (self->groups == self->group_room) {
        uint32_t room = self->group_room ? 2 * self->group_room : BRY__DBA_FIRST_GROUPS;
        bry__dba_group **group = dba_longer(self, self->group, self->groups, room, sizeof *group);
        if (!group)
            return BRY_E_NOMEM;
        bry__free(&self->allocator, self->group, self->group_room * sizeof *group);
        self->group = group;
        self->group_room = room;
    }
    bry_status status =
        bry__records_reach(&self->places, slots, sizeof(bry__dba_place), &self->allocator);
    if (status == BRY_OK && slots > self->room)
        status = grow_slots(self, slots);
    return status;
}

uint32_t bry__dba_next_slot(const void *self, uint32_t number)
{
    (void)number;
    const bry__dba *dba = self;
    for (uint32_t word = 0; word < dba->room / 64; word++)
        if (~dba->taken[word])
            return 64 * word + (uint32_t)__builtin_ctzll(~dba->taken[word]);
    return dba->room;
}

/* ---- units --------------------------------------------------------------------------------- */

bry__dba_group *bry__dba_add_group(bry__dba *self, uint32_t level, uint32_t width)
{
    if (bry__dba_room(self, 0) != BRY_OK)
        return NULL;
    bry__dba_group *made = bry__dba_group_make(&self->level[level].shape, width, &self->allocator);
    if (made) {
        made->level = level;
        self->group[self->groups++] = made;
    }
    return made;
}

bool bry__dba_takes_units(const bry__dba *self, const bry__dba_group *group, uint32_t level)
{
    return group->level == level && group->free > 0 && group != self->emptying &&
           bry__dba_positions(group) == group->shape.hashes;
}

bry_status bry__dba_find_column(bry__dba *self, uint32_t level, bry__dba_group **group,
                                uint32_t *column)
{
    for (uint32_t g = self->groups; g-- > 0;) {
        bry__dba_group *one = self->group[g];
        if (bry__dba_takes_units(self, one, level)) {
            *group = one;
            *column = bry__dba_column_find(one);
            return BRY_OK;
        }
    }
    *group = bry__dba_add_group(self, level, bry__dba_width(&self->options, self->units + 1));
    *column = 0;
    return *group ? BRY_OK : BRY_E_NOMEM;
}

void bry__dba_touch(bry__dba *self, uint32_t slot)
{
    bry__dba_place_of(self, slot)->stamp[0] = self->instance;
    bry__dba_place_of(self, slot)->stamp[1] = ++self->clock;
}

void bry__dba_seat(bry__dba *self, uint32_t slot, bry__dba_group *group, uint32_t column)
{
    *bry__dba_place_of(self, slot) =
        (bry__dba_place){.group = group, .column = column, .listed = self->units};
    self->list[self->units++] = slot;
    self->taken[slot / 64] |= (uint64_t)1 << slot % 64;
    bry__dba_column_become(group, column, slot);
    self->level[group->level].units++;
    bry__dba_touch(self, slot);
}

static bry_status dba_index_open(void *self, uint32_t number, uint32_t *slot, uint64_t *capacity)
{
    bry__dba *dba = self;
    uint32_t next = bry__dba_next_slot(dba, number), column;
    bry__dba_group *group;
    if (next >= BRY__INDEX_SLOTS)
        return BRY_E_FULL;
    bry_status status = bry__dba_room(dba, next + 1);
    if (status != BRY_OK)
        return status;
    bry__dba_level raised;
    uint32_t level = bry__dba_open_level(dba, &raised), levels = dba->levels;
    if (level == levels)
        dba->level[dba->levels++] = raised;
    status = bry__dba_find_column(dba, level, &group, &column);
    if (status != BRY_OK) {
        dba->levels = levels;
        return status;
    }
    bry__dba_seat(dba, next, group, column);
    *slot = next;
    *capacity = group->shape.capacity;
    return BRY_OK;
}

void bry__dba_group_done(bry__dba *self, bry__dba_group *group)
{
    bry__dba_forget_group(self, group);
    uint32_t g = 0;
    while (self->group[g] != group)
        g++;
    memmove(self->group + g, self->group + g + 1, (--self->groups - g) * sizeof *self->group);
    bry__dba_group_free(group, &self->allocator);
}

/* Removes a level that has no units any more, or for which opening a unit failed. */
static void dba_lower_level(bry__dba *self)
{
    while (self->levels > 1 && self->level[self->levels - 1].units == 0 &&
           self->rebuild.kind != BRY__DBA_EXTEND) {
        for (uint32_t g = 0; g < self->groups; g++)
            if (self->group[g]->level == self->levels - 1)
                return;
        self->levels--;
    }
}

static void dba_index_drop(void *self, uint32_t slot, uint64_t elements)
{
    bry__dba *dba = self;
    bry__dba_forget_unit(dba, slot);
    bry__dba_place *place = bry__dba_place_of(dba, slot);
    bry__dba_group *group = place->group;
    bool clear = elements == 0 && !(group->grown && group->grown[place->column].bits);
    bry__dba_column_become(group, place->column, clear ? BRY__DBA_FREE : BRY__DBA_DIRTY);
    dba->level[group->level].units--;
    dba->set -= place->set;
    bry__dba_uncount(dba, slot);
    uint32_t last = dba->list[--dba->units];
    dba->list[place->listed] = last;
    bry__dba_place_of(dba, last)->listed = place->listed;
    dba->taken[slot / 64] &= ~((uint64_t)1 << slot % 64);
    place->group = NULL;
    if (group->units == 0 && group->free + group->dirty == group->width)
        bry__dba_group_done(dba, group);
    dba_lower_level(dba);
}

static bry_status dba_index_merge_units(void *self, uint32_t into, uint32_t from)
{
    bry__dba *dba = self;
    bry__dba_place *a = bry__dba_place_of(dba, into), *b = bry__dba_place_of(dba, from);
    if (!bry__dba_shape_same(&a->group->shape, &b->group->shape))
        return BRY_E_MISMATCH;
    /* A unit that is being rebuilt, or extended, from the elements of one of the two would lack
     * those of the other. */
    bry__dba_forget_unit(dba, into);
    if (dba->rebuild.kind == BRY__DBA_EXTEND &&
        (dba->rebuild.group == a->group || dba->rebuild.group == b->group))
        bry__dba_forget_group(dba, dba->rebuild.group);
    bry__dba_more_set(dba, into, bry__dba_column_or(a->group, a->column, b->group, b->column));
    bry__dba_touch(dba, into);
    dba_index_drop(dba, from, 1);
    return BRY_OK;
}

/* ---- elements ------------------------------------------------------------------------------ */

static bry_answer dba_index_holds(const void *self, uint32_t slot, bry_hash hash)
{
    const bry__dba *dba = self;
    bry__dba_probe probe;
    bry__dba_probe_begin(&probe, hash);
    return bry__dba_column_has(bry__dba_place_of(dba, slot)->group,
                               bry__dba_place_of(dba, slot)->column, &probe)
               ? BRY_PRESENT
               : BRY_ABSENT;
}

/*
 * A unit that is being rebuilt or moved has a second column, and one whose group gets further
 * segments has further positions: everything that is added goes there too, even elements that the
 * unit already seems to hold, since that may be a false positive.
 */
static void add_second(bry__dba *self, uint32_t slot, bry__dba_probe *probe)
{
    const bry__dba_place *place = bry__dba_place_of(self, slot);
    if (bry__dba_positions(place->group) > place->group->shape.hashes) {
        bry__dba_grown *grown = &place->group->grown[place->column];
        unsigned bits =
            bry__dba_column_set(place->group, place->column, probe, place->group->shape.hashes,
                                bry__dba_positions(place->group));
        grown->elements += bits > 0;
        grown->bits += bits;
    }
    if (self->rebuild.kind == BRY__DBA_REBUILD && self->rebuild.slot == slot) {
        unsigned bits = bry__dba_column_set(self->rebuild.group, self->rebuild.column, probe, 0,
                                            self->rebuild.group->shape.hashes);
        self->rebuild.elements += bits > 0;
        self->rebuild.set += bits;
    }
    if (self->move.group && self->move.slot == slot)
        bry__dba_column_set(self->move.group, self->move.column, probe, 0,
                            self->move.group->shape.hashes);
}

enum { AHEAD = 16 };

BRY__PREFETCHING void dba_index_prefetch(const bry__dba_group *group, uint32_t column,
                                         bry__dba_probe *probe)
{
    unsigned n = bry__dba_positions(group);
    bry__dba_probe_know(probe, group->shape.range, n);
    for (unsigned i = 0; i < n; i++) {
        uint64_t bit = (probe->row[i] << group->shift) + column;
        __builtin_prefetch(bry__dba_byte(group, group->shape.segmented ? i : 0, bit), 1);
    }
}

static bry_status dba_index_add_n(void *self, uint32_t slot, const bry_hash *hashes, size_t n,
                                  uint8_t *was)
{
    bry__dba *dba = self;
    const bry__dba_place *place = bry__dba_place_of(dba, slot);
    bry__dba_probe probe[AHEAD];
    uint64_t bits = 0;
    for (size_t done = 0; done < n; done += AHEAD) {
        size_t here = n - done < AHEAD ? n - done : AHEAD;
        for (size_t i = 0; i < here; i++) {
            bry__dba_probe_begin(&probe[i], hashes[done + i]);
            dba_index_prefetch(place->group, place->column, &probe[i]);
        }
        for (size_t i = 0; i < here; i++) {
            bool has = bry__dba_column_has(place->group, place->column, &probe[i]);
            was[done + i] = has ? BRY_PRESENT : BRY_ABSENT;
            if (!has)
                bits += bry__dba_column_set(place->group, place->column, &probe[i], 0,
                                            place->group->shape.hashes);
            add_second(dba, slot, &probe[i]);
        }
    }
    if (bits) {
        bry__dba_more_set(dba, slot, bits);
        bry__dba_touch(dba, slot);
    }
    return BRY_OK;
}

/* ---- statistics ---------------------------------------------------------------------------- */

static uint64_t dba_index_bytes(const void *self)
{
    const bry__dba *dba = self;
    return sizeof *dba + dba->memory.bytes;
}

const bry__index_engine bry__dba_index_engine = {
    .engine = BRY_ENGINE_DBA,
    .deletes = false,
    .plan = bry__dba_plan,
    .create = dba_index_create,
    .destroy = bry__dba_destroy,
    .clone = dba_index_clone,
    .clear = dba_index_clear,
    .like = dba_index_like,
    .next_slot = bry__dba_next_slot,
    .open = dba_index_open,
    .drop = dba_index_drop,
    .merge_units = dba_index_merge_units,
    .counted = bry__dba_counted,
    .unit_info = bry__dba_unit_info,
    .holds = dba_index_holds,
    .add_n = dba_index_add_n,
    .has = bry__dba_has,
    .has_n = bry__dba_has_n,
    .locate = bry__dba_locate,
    .locate_n = bry__dba_locate_n,
    .step = bry__dba_step,
    .bytes = dba_index_bytes,
    .stats = bry__dba_stats,
    .write = bry__dba_write,
    .read = bry__dba_read,
    .parts = bry__dba_parts,
    .part = bry__dba_part,
    .write_head = bry__dba_write_head,
    .write_part = bry__dba_write_part,
    .read_head = bry__dba_read_head,
    .read_part = bry__dba_read_part,
    .read_done = bry__dba_read_done,
    .write_unit = bry__dba_write_unit,
    .import = bry__dba_import,
};
