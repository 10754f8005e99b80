/*
 * Work that needs the elements again: error control and the refresh of stale units; and the steps
 * that do all work. One unit at a time is under construction.
 */
#include "index/dba/dba_index.h"

#include "common/attributes.h"

#include <math.h>

enum { SUPPLY = 256 }; /* elements requested at once */

/* ---- what to rebuild ----------------------------------------------------------------------- */

/* The group whose units are furthest behind the last level, or NULL. */
static bry__dba_group *oldest_group(const bry__dba *self, uint32_t before)
{
    bry__dba_group *oldest = NULL;
    for (uint32_t g = 0; g < self->groups; g++) {
        bry__dba_group *group = self->group[g];
        if (group->level < before && group->units > 0 && !group->into &&
            (!oldest || group->level < oldest->level))
            oldest = group;
    }
    return oldest;
}

/* Whether adding segments turns the one shape into the other. */
static bool dba_rebuild_extends(const bry__dba_shape *from, const bry__dba_shape *to)
{
    return from->segmented && to->segmented && from->range == to->range &&
           from->capacity == to->capacity && from->hashes <= to->hashes;
}

/* Method A: whether all units are of the last level and nearly full, so that a next level is due.
 */
static bool next_larger(const bry__dba *self, bry__dba_level *raised)
{
    return bry__dba_raise(self, self->level[self->levels - 1].planned, true, raised);
}

static bry_status start_unit(bry__dba *self, uint32_t slot, const bry__index_slots *slots)
{
    bry__dba_rebuild rebuild = {.kind = BRY__DBA_REBUILD, .slot = slot};
    bry_status status =
        bry__dba_find_column(self, self->levels - 1, &rebuild.group, &rebuild.column);
    if (status != BRY_OK)
        return status;
    rebuild.stale = bry__slot(slots, slot)->stale;
    bry__dba_column_become(rebuild.group, rebuild.column, BRY__DBA_BUILDING);
    self->rebuild = rebuild;
    return BRY_OK;
}

static bry_status start_extension(bry__dba *self, bry__dba_group *group)
{
    bry_status status =
        bry__dba_group_extend(group, self->level[self->levels - 1].shape.hashes, &self->allocator);
    if (status == BRY_OK)
        self->rebuild =
            (bry__dba_rebuild){.kind = BRY__DBA_EXTEND, .slot = BRY__DBA_FREE, .group = group};
    return status;
}

/* Starts the next group that error control wants to rebuild, if any. */
static bry_status start_group(bry__dba *self, const bry__index_slots *slots)
{
    bool cramped = bry__dba_cramped(self, slots);
    if (self->options.dba.control == BRY_INDEX_UNCONTROLLED || (!cramped && !bry__dba_over(self)))
        return BRY_OK;
    bry__dba_level raised;
    bry__dba_group *group = oldest_group(self, self->levels - 1);
    if (!group && cramped && next_larger(self, &raised)) {
        self->level[self->levels++] = raised;
        group = oldest_group(self, self->levels - 1);
    }
    if (group && dba_rebuild_extends(&group->shape, &self->level[self->levels - 1].shape))
        return start_extension(self, group);
    self->emptying = group;
    return BRY_OK;
}

static bry_status dba_rebuild_start(bry__dba *self, const bry__index_slots *slots)
{
    bry_status status = BRY_OK;
    if (!self->emptying)
        status = start_group(self, slots);
    if (status != BRY_OK || self->rebuild.kind != BRY__DBA_NO_REBUILD)
        return status;
    if (self->emptying) {
        uint32_t column = 0;
        while (self->emptying->slot[column] >= BRY__DBA_BUILDING)
            column++;
        return start_unit(self, self->emptying->slot[column], slots);
    }
    for (uint32_t i = 0; slots->stale > 0 && i < self->units; i++)
        if (bry__dba_stale(self, bry__slot(slots, self->list[i])))
            return start_unit(self, self->list[i], slots);
    return BRY_OK;
}

/* ---- a unit that is complete --------------------------------------------------------------- */

static void finish_unit(bry__dba *self, bry__index_slots *slots)
{
    bry__dba_rebuild was = self->rebuild;
    bry__index_slot *unit = bry__slot(slots, was.slot);
    uint64_t capacity = was.group->shape.capacity;
    uint64_t stale = unit->stale > was.stale ? unit->stale - was.stale : 0;
    if (stale > was.elements)
        stale = was.elements;
    /* It was sealed because it was full, and is not full any more. */
    if (unit->elements >= unit->capacity && capacity > unit->capacity && was.elements < capacity)
        unit->sealed = false;
    slots->elements += was.elements - unit->elements;
    slots->stale += stale - unit->stale;
    slots->capacity += capacity - unit->capacity;
    unit->elements = was.elements;
    unit->stale = stale;
    unit->capacity = capacity;
    self->rebuild = (bry__dba_rebuild){0};
    self->rebuilds++;
    bry__dba_resettle(self, was.slot, was.group, was.column);
    self->set += was.set - bry__dba_place_of(self, was.slot)->set;
    bry__dba_place_of(self, was.slot)->set = was.set;
    bry__dba_counted(self, was.slot, unit->elements);
    bry__dba_touch(self, was.slot);
}

/* The last level that the added segments suffice for: it may have been raised meanwhile. */
static uint32_t reached_level(const bry__dba *self, const bry__dba_group *group)
{
    uint32_t last = self->levels - 1;
    while (last > group->level && (self->level[last].shape.hashes > group->tables ||
                                   !dba_rebuild_extends(&group->shape, &self->level[last].shape)))
        last--;
    return last;
}

static void finish_extension(bry__dba *self, bry__index_slots *slots)
{
    bry__dba_group *group = self->rebuild.group;
    uint32_t last = reached_level(self, group);
    self->rebuild = (bry__dba_rebuild){0};
    self->level[group->level].units -= group->units;
    self->level[last].units += group->units;
    self->rebuilds += group->units;
    group->level = last;
    for (uint32_t c = 0; c < group->width; c++) {
        if (group->slot[c] >= BRY__DBA_BUILDING)
            continue;
        /* The supplier also returned elements that were false positives when they were added, and
         * perhaps some that were never added: they are in the unit now. */
        bry__index_slot *unit = bry__slot(slots, group->slot[c]);
        if (group->grown[c].elements > unit->elements) {
            slots->elements += group->grown[c].elements - unit->elements;
            unit->elements = group->grown[c].elements;
        }
        bry__dba_more_set(self, group->slot[c], group->grown[c].bits);
        bry__dba_touch(self, group->slot[c]);
    }
    bry__dba_group_extended(group, &self->level[last].shape, &self->allocator);
    for (uint32_t c = 0; c < group->width; c++)
        if (group->slot[c] < BRY__DBA_BUILDING)
            bry__dba_counted(self, group->slot[c], bry__slot(slots, group->slot[c])->elements);
}

/* The column whose unit is extended next; false: all are done. Units that were dropped meanwhile
 * are skipped. */
static bool extension_column(bry__dba *self)
{
    bry__dba_rebuild *rebuild = &self->rebuild;
    while (rebuild->column < rebuild->group->width) {
        uint32_t slot = rebuild->group->slot[rebuild->column];
        if (slot < BRY__DBA_BUILDING) {
            if (rebuild->slot != slot) {
                rebuild->slot = slot;
                rebuild->from = 0;
            }
            return true;
        }
        rebuild->column++;
        rebuild->slot = BRY__DBA_FREE;
    }
    return false;
}

/* ---- elements ------------------------------------------------------------------------------ */

enum { AHEAD = 16 };

/* Positions below `from` are not computed: that is what makes added segments cheap. */
BRY__PREFETCHING void dba_rebuild_prefetch(const bry__dba_group *group, uint32_t column,
                                           bry_hash hash, bry__dba_probe *probe, unsigned from)
{
    unsigned n = bry__dba_positions(group);
    probe->hash = hash;
    probe->range = group->shape.range;
    probe->known = from;
    bry__dba_probe_know(probe, group->shape.range, n);
    for (unsigned i = from; i < n; i++) {
        uint64_t bit = (probe->row[i] << group->shift) + column;
        __builtin_prefetch(bry__dba_byte(group, group->shape.segmented ? i : 0, bit), 1);
    }
}

static void dba_rebuild_take(bry__dba_rebuild *rebuild, const bry_hash *hashes, size_t n)
{
    bry__dba_probe probe[AHEAD];
    bry__dba_grown took = {0};
    unsigned from = rebuild->kind == BRY__DBA_EXTEND ? rebuild->group->shape.hashes : 0;
    for (size_t done = 0; done < n; done += AHEAD) {
        size_t here = n - done < AHEAD ? n - done : AHEAD;
        for (size_t i = 0; i < here; i++)
            dba_rebuild_prefetch(rebuild->group, rebuild->column, hashes[done + i], &probe[i],
                                 from);
        for (size_t i = 0; i < here; i++) {
            unsigned set = bry__dba_column_set(rebuild->group, rebuild->column, &probe[i], from,
                                               bry__dba_positions(rebuild->group));
            took.elements += set > 0;
            took.bits += set;
        }
    }
    if (rebuild->kind == BRY__DBA_EXTEND) {
        rebuild->group->grown[rebuild->column].elements += took.elements;
        rebuild->group->grown[rebuild->column].bits += took.bits;
    } else {
        rebuild->elements += took.elements;
        rebuild->set += took.bits;
    }
    rebuild->from += n;
}

static bry_status rebuild_some(bry__dba *self, bry__index_slots *slots,
                               const bry_index_supplier *supplier, uint64_t budget, uint64_t *used)
{
    *used = 0;
    bry__dba_rebuild *rebuild = &self->rebuild;
    if (rebuild->kind == BRY__DBA_NO_REBUILD) {
        bry_status status = dba_rebuild_start(self, slots);
        if (status != BRY_OK || rebuild->kind == BRY__DBA_NO_REBUILD)
            return status;
    }
    *used = 1;
    if (rebuild->kind == BRY__DBA_EXTEND && !extension_column(self)) {
        finish_extension(self, slots);
        return BRY_OK;
    }
    bry_hash hashes[SUPPLY];
    size_t got = 0, room = budget < SUPPLY ? (size_t)budget : SUPPLY;
    const bry__index_slot *unit = bry__slot(slots, rebuild->slot);
    bry_status status = supplier->supply(supplier->opaque, unit->number, unit->tag, rebuild->from,
                                         hashes, room, &got);
    if (status == BRY_OK && got > room)
        status = BRY_E_RANGE;
    if (status != BRY_OK)
        return status;
    if (got > 0) {
        dba_rebuild_take(rebuild, hashes, got);
        *used = got;
    } else if (rebuild->kind == BRY__DBA_REBUILD) {
        finish_unit(self, slots);
    } else {
        rebuild->column++;
        rebuild->slot = BRY__DBA_FREE;
    }
    return BRY_OK;
}

/* ---- what is waiting ----------------------------------------------------------------------- */

static uint64_t group_waiting(const bry__dba_group *group, const bry__index_slots *slots,
                              uint32_t from)
{
    uint64_t sum = 0;
    for (uint32_t c = from; c < group->width; c++)
        if (group->slot[c] < BRY__DBA_BUILDING)
            sum += bry__slot(slots, group->slot[c])->elements + 1;
    return sum;
}

/* The groups that error control will rebuild after the current one: level by level, until the error
 * is within the promise. */
static uint64_t control_waiting(const bry__dba *self, const bry__index_slots *slots,
                                const bry__dba_group *at)
{
    if (self->options.dba.control == BRY_INDEX_UNCONTROLLED)
        return 0;
    bool cramped = !at && bry__dba_cramped(self, slots);
    double full = bry__dba_full_log(self), limit = log1p(-self->options.error) * (1 + 1e-9);
    bry__dba_level to = self->level[self->levels - 1];
    uint32_t before = self->levels - 1;
    uint64_t sum = 0;
    if (at)
        full += at->units * (log1p(-to.unit_error) - log1p(-self->level[at->level].unit_error));
    if (cramped && !oldest_group(self, before) && next_larger(self, &to))
        before++;
    for (uint32_t level = 0; level < before; level++) {
        for (uint32_t g = 0; g < self->groups && (full < limit || cramped); g++) {
            const bry__dba_group *group = self->group[g];
            if (group->level != level || group->units == 0 || group == at)
                continue;
            sum += group_waiting(group, slots, 0);
            full += group->units * (log1p(-to.unit_error) - log1p(-self->level[level].unit_error));
            cramped = false;
        }
    }
    return sum;
}

uint64_t bry__dba_waiting(const bry__dba *self, const bry__index_slots *slots, uint64_t *supplied)
{
    const bry__dba_rebuild *rebuild = &self->rebuild;
    const bry__dba_group *at = self->emptying;
    uint64_t sum = 0;
    if (rebuild->kind == BRY__DBA_REBUILD) {
        uint64_t elements = bry__slot(slots, rebuild->slot)->elements;
        sum += (elements > rebuild->from ? elements - rebuild->from : 0) + 1;
    } else if (rebuild->kind == BRY__DBA_EXTEND) {
        at = rebuild->group;
        sum += group_waiting(at, slots, rebuild->column) + 1;
    }
    if (self->emptying) {
        sum += group_waiting(self->emptying, slots, 0);
        if (rebuild->kind == BRY__DBA_REBUILD &&
            bry__dba_place_of(self, rebuild->slot)->group == self->emptying)
            sum -= bry__slot(slots, rebuild->slot)->elements + 1;
    }
    sum += control_waiting(self, slots, at);
    for (uint32_t i = 0; slots->stale > 0 && i < self->units; i++) {
        uint32_t slot = self->list[i];
        if (bry__dba_stale(self, bry__slot(slots, slot)) &&
            bry__dba_place_of(self, slot)->group != self->emptying &&
            !(rebuild->kind == BRY__DBA_REBUILD && rebuild->slot == slot))
            sum += bry__slot(slots, slot)->elements + 1;
    }
    *supplied = sum;
    return sum + bry__dba_tidy_waiting(self);
}

bry_status bry__dba_step(void *self, bry__index_slots *slots, const bry_index_supplier *supplier,
                         uint64_t budget, uint64_t *left)
{
    bry__dba *dba = self;
    bry_status status = BRY_OK;
    while (budget > 0 && status == BRY_OK) {
        uint64_t used;
        status = bry__dba_tidy(dba, budget, &used);
        if (status == BRY_OK && used == 0 && supplier)
            status = rebuild_some(dba, slots, supplier, budget, &used);
        if (used == 0)
            break;
        budget -= used < budget ? used : budget;
    }
    uint64_t supplied, all = bry__dba_waiting(dba, slots, &supplied);
    *left = supplier ? all : all - supplied;
    return status;
}
