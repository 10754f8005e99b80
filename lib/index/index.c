/*
 * The index job: units, look-ups and changes. This file and index_add.c decide which unit an
 * element goes to; the engine stores it (index_engine.h).
 */
#include "index/index_object.h"

#include "frame/job_row.h"

/* ---- making -------------------------------------------------------------------------------- */

static bry_status index_make(const bry_index_options *options, const bry__index_engine *engine,
                             const bry_index_shape *shape, const bry_allocator *allocator,
                             bry_index **index)
{
    (void)shape;
    bry_index *made = bry__alloc(allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    *made =
        (bry_index){.allocator = *allocator, .options = bry__index_keep(options), .engine = engine};
    bry_status status = engine->create(options, allocator, &made->elements);
    if (status == BRY_OK)
        *index = made;
    else
        bry_index_destroy(made);
    return status;
}

bry_index_options bry__index_like(const bry_index *other)
{
    bry_index_options options = bry__index_kept_options(&other->options);
    other->engine->like(other->elements, &options);
    return options;
}

BRY__JOB_OPTIONS(index, bry__index_read_options, bry__index_like, index_make)

void bry_index_destroy(bry_index *index)
{
    if (!index)
        return;
    bry_allocator allocator = index->allocator;
    if (index->elements)
        index->engine->destroy(index->elements);
    bry__index_forget_units(index);
    bry__free(&allocator, index, sizeof *index);
}

bry_status bry_index_clone(const bry_index *index, const bry_allocator *given, bry_index **copy)
{
    bry_allocator allocator = given ? *given : index->allocator;
    bry_index *made = bry__alloc(&allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    *made = *index;
    made->allocator = allocator;
    made->elements = NULL;
    bry_status status = bry__index_clone_units(index, made);
    made->last_order = index->last_order;
    made->next_number = index->next_number;
    made->newest_known = false;
    if (status == BRY_OK)
        status = index->engine->clone(index->elements, &allocator, &made->elements);
    if (status == BRY_OK)
        *copy = made;
    else
        bry_index_destroy(made);
    return status;
}

void bry_index_clear(bry_index *index)
{
    index->engine->clear(index->elements);
    bry__index_forget_units(index);
}

BRY__JOB_GETTERS(index, options.seed, engine->engine)

uint64_t bry_index_unit_capacity(const bry_index *index)
{
    return index->options.unit_capacity;
}

/* ---- units --------------------------------------------------------------------------------- */

bry__index_slot *bry__index_record(const bry_index *index, uint32_t unit, uint32_t *slot)
{
    *slot = bry__index_slot_of(index, unit);
    return *slot == BRY__INDEX_NO_SLOT ? NULL : bry__slot(&index->slots, *slot);
}

bry_status bry__index_open_unit(bry_index *index, uint64_t tag, uint32_t *slot)
{
    if (bry__index_units_left(index) == 0)
        return BRY_E_FULL;
    bry__index_slot record = {.tag = tag};
    uint32_t opened;
    bry_status status = index->engine->open(index->elements, bry__index_free_number(index), &opened,
                                            &record.capacity);
    if (status != BRY_OK)
        return status;
    status = bry__index_enter(index, opened, &record);
    if (status != BRY_OK) {
        index->engine->drop(index->elements, opened, 0);
        return status;
    }
    *slot = opened;
    return BRY_OK;
}

void bry__index_unopen_unit(bry_index *index, uint32_t slot)
{
    uint32_t number = bry__slot(&index->slots, slot)->number;
    index->engine->drop(index->elements, slot, 0);
    bry__index_leave(index, slot);
    index->last_order--;
    index->next_number = number;
}

bry_status bry_index_open(bry_index *index, uint64_t tag, uint32_t *unit)
{
    uint32_t slot;
    bry_status status = bry__index_open_unit(index, tag, &slot);
    if (status == BRY_OK)
        *unit = bry__slot(&index->slots, slot)->number;
    return status;
}

bry_status bry_index_undo_open(bry_index *index, uint32_t unit)
{
    uint32_t slot;
    const bry__index_slot *record = bry__index_record(index, unit, &slot);
    if (!record)
        return BRY_E_NOUNIT;
    if (record->order != index->last_order || record->elements > 0)
        return BRY_E_RANGE;
    bry__index_unopen_unit(index, slot);
    return BRY_OK;
}

void bry__index_seal(bry_index *index, uint32_t slot)
{
    bry__slot(&index->slots, slot)->sealed = true;
    if (index->newest == slot)
        index->newest_known = false;
}

bry_status bry_index_seal(bry_index *index, uint32_t unit)
{
    uint32_t slot;
    if (!bry__index_record(index, unit, &slot))
        return BRY_E_NOUNIT;
    bry__index_seal(index, slot);
    return BRY_OK;
}

bry_status bry_index_drop(bry_index *index, uint32_t unit)
{
    uint32_t slot;
    const bry__index_slot *record = bry__index_record(index, unit, &slot);
    if (!record)
        return BRY_E_NOUNIT;
    index->engine->drop(index->elements, slot, record->elements);
    bry__index_leave(index, slot);
    return BRY_OK;
}

bry_status bry_index_set_tag(bry_index *index, uint32_t unit, uint64_t tag)
{
    uint32_t slot;
    bry__index_slot *record = bry__index_record(index, unit, &slot);
    if (!record)
        return BRY_E_NOUNIT;
    record->tag = tag;
    return BRY_OK;
}

bry_status bry_index_get_tag(const bry_index *index, uint32_t unit, uint64_t *tag)
{
    uint32_t slot;
    const bry__index_slot *record = bry__index_record(index, unit, &slot);
    if (!record)
        return BRY_E_NOUNIT;
    *tag = record->tag;
    return BRY_OK;
}

bry_status bry_index_merge_units(bry_index *index, uint32_t into, uint32_t from)
{
    uint32_t to_slot, from_slot;
    bry__index_slot *to = bry__index_record(index, into, &to_slot);
    const bry__index_slot *gone = bry__index_record(index, from, &from_slot);
    if (!to || !gone)
        return BRY_E_NOUNIT;
    if (to == gone)
        return BRY_E_RANGE;
    if (to->elements > to->capacity || gone->elements > to->capacity - to->elements)
        return BRY_E_FULL;
    bry_status status = index->engine->merge_units(index->elements, to_slot, from_slot);
    if (status != BRY_OK)
        return status;
    bry__index_count(index, to_slot, gone->elements); /* bry__index_leave() subtracts them again */
    to->stale += gone->stale;
    index->slots.stale += gone->stale;
    bry__index_leave(index, from_slot);
    return BRY_OK;
}

bry_status bry_index_get_unit_info_sized(const bry_index *index, uint32_t unit,
                                         bry_index_unit_info *info, size_t size)
{
    uint32_t slot;
    const bry__index_slot *record = bry__index_record(index, unit, &slot);
    if (!record)
        return BRY_E_NOUNIT;
    bry_index_unit_info known = {
        .unit = record->number,
        .sealed = record->sealed,
        .tag = record->tag,
        .capacity = record->capacity,
        .elements = record->elements,
        .dba.stale = record->stale,
    };
    index->engine->unit_info(index->elements, &index->slots, slot, &known);
    return bry__struct_write(info, size, &known, sizeof known);
}

size_t bry_index_units(const bry_index *index, uint32_t *units, size_t room)
{
    bry__index_found found = {&index->slots, units, room, 0};
    for (uint32_t i = 0; i < bry__slots_room(&index->slots); i++)
        if (bry__slot(&index->slots, i)->order != 0)
            bry__index_found_add(&found, i);
    return bry__index_found_end(&found);
}

/* ---- deleting ------------------------------------------------------------------------------ */

bry_status bry_index_del(bry_index *index, bry_hash hash, uint32_t unit, bry_answer *was)
{
    uint32_t slot;
    bry__index_slot *record = bry__index_record(index, unit, &slot);
    if (!record)
        return BRY_E_NOUNIT;
    bry_answer answer;
    if (index->engine->deletes) {
        uint64_t removed = index->engine->del(index->elements, slot, hash);
        record->elements -= removed;
        index->slots.elements -= removed;
        answer = removed ? BRY_PRESENT : BRY_ABSENT;
    } else {
        answer = index->engine->holds(index->elements, slot, hash);
        if (answer == BRY_PRESENT && record->stale < record->elements) {
            record->stale++;
            index->slots.stale++;
        }
    }
    if (was)
        *was = answer;
    return BRY_OK;
}

bry_status bry_index_del_n(bry_index *index, const bry_hash *hashes, size_t n, uint32_t unit,
                           bry_answer *was)
{
    uint32_t slot;
    if (!bry__index_record(index, unit, &slot))
        return BRY_E_NOUNIT;
    bry_status status = BRY_OK;
    for (size_t i = 0; i < n && status == BRY_OK; i++)
        status = bry_index_del(index, hashes[i], unit, was ? &was[i] : NULL);
    return status;
}

/* ---- asking -------------------------------------------------------------------------------- */

bry_answer bry_index_has(const bry_index *index, bry_hash hash)
{
    return index->engine->has(index->elements, hash);
}

void bry_index_has_n(const bry_index *index, const bry_hash *hashes, size_t n, uint8_t *answers)
{
    index->engine->has_n(index->elements, hashes, n, answers);
}

bry_answer bry_index_unit_has(const bry_index *index, bry_hash hash, uint32_t unit)
{
    uint32_t slot;
    if (!bry__index_record(index, unit, &slot))
        return BRY_ABSENT;
    return index->engine->holds(index->elements, slot, hash);
}

size_t bry_index_locate(const bry_index *index, bry_hash hash, uint32_t *units, size_t room)
{
    bry__index_found found = {&index->slots, units, room, 0};
    index->engine->locate(index->elements, hash, &found);
    return bry__index_found_end(&found);
}

void bry_index_locate_n(const bry_index *index, const bry_hash *hashes, size_t n, uint32_t *units,
                        size_t room, size_t *totals)
{
    bry__index_found found[BRY__INDEX_BATCH];
    for (size_t done = 0; done < n; done += BRY__INDEX_BATCH) {
        size_t here = n - done < BRY__INDEX_BATCH ? n - done : BRY__INDEX_BATCH;
        for (size_t i = 0; i < here; i++)
            found[i] =
                (bry__index_found){&index->slots, room ? units + (done + i) * room : NULL, room, 0};
        index->engine->locate_n(index->elements, hashes + done, here, found);
        for (size_t i = 0; i < here; i++)
            totals[done + i] = bry__index_found_end(&found[i]);
    }
}

/* ---- deferred work, statistics -------------------------------------------------------------- */

bry_status bry_index_step(bry_index *index, const bry_index_supplier *supplier, uint64_t budget,
                          uint64_t *left)
{
    uint64_t remaining = 0;
    bry_status status =
        index->engine->step(index->elements, &index->slots, supplier, budget, &remaining);
    index->newest_known = false; /* a step may have reopened units */
    if (left && status == BRY_OK)
        *left = remaining;
    return status;
}

uint64_t bry_index_items(const bry_index *index)
{
    return index->slots.elements;
}

uint64_t bry_index_bytes(const bry_index *index)
{
    return sizeof *index + bry__index_unit_bytes(index) + index->engine->bytes(index->elements);
}

bry_status bry_index_get_stats_sized(const bry_index *index, bry_index_stats *stats, size_t size)
{
    bry_index_stats now = {
        .engine = index->options.engine,
        .seed = index->options.seed,
        .units = index->slots.units,
        .elements = index->slots.elements,
        .dba.stale = index->slots.stale,
        .bytes = bry_index_bytes(index),
    };
    index->engine->stats(index->elements, &index->slots, &now);
    return bry__struct_write(stats, size, &now, sizeof now);
}
