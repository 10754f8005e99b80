/*
 * Adding elements: which unit each goes to, and whether it has room.
 *
 * A batch for the newest unit may extend over several. All units that it may need are opened first,
 * so that after that only adding itself can fail, which the engines can undo.
 */
#include "index/index_object.h"

/* ---- adding -------------------------------------------------------------------------------- */

static uint64_t index_room_in(const bry_index *index, uint32_t slot)
{
    const bry__index_slot *record = bry__slot(&index->slots, slot);
    return record->capacity > record->elements ? record->capacity - record->elements : 0;
}

/* Adds to a unit that has room for n. */
static bry_status index_add_some(bry_index *index, uint32_t slot, const bry_hash *hashes, size_t n,
                                 uint8_t *was)
{
    bry_status status = index->engine->add_n(index->elements, slot, hashes, n, was);
    if (status != BRY_OK)
        return status;
    uint64_t fresh = 0;
    for (size_t i = 0; i < n; i++)
        fresh += was[i] == BRY_ABSENT;
    bry__index_count(index, slot, fresh);
    return BRY_OK;
}

/* Whether a full unit already seems to hold the element. If so it is added nevertheless, which
 * changes no answer: an engine that is rebuilding the unit needs it. */
static bool index_add_held(bry_index *index, uint32_t slot, bry_hash hash)
{
    uint8_t was;
    return index->engine->holds(index->elements, slot, hash) == BRY_PRESENT &&
           index->engine->add_n(index->elements, slot, &hash, 1, &was) == BRY_OK;
}

/* The unit to use after this one is full, or none: with error control that reopens units (method
 * A), the next newest one that is open. */
static uint32_t index_add_next_open(const bry_index *index, uint32_t slot)
{
    const bry__index_slots *slots = &index->slots;
    uint32_t next = BRY__INDEX_NO_SLOT;
    if (index->options.control != BRY_INDEX_LARGER)
        return next;
    for (uint32_t i = 0; i < bry__slots_room(slots); i++) {
        const bry__index_slot *record = bry__slot(slots, i);
        if (record->order != 0 && !record->sealed &&
            record->order < bry__slot(slots, slot)->order &&
            (next == BRY__INDEX_NO_SLOT || record->order > bry__slot(slots, next)->order))
            next = i;
    }
    return next;
}

/* Seals the open units that were skipped for a later one or, if there is none, for a new one. */
static void seal_until(bry_index *index, uint32_t slot, uint32_t until)
{
    for (; slot != until && slot != BRY__INDEX_NO_SLOT; slot = index_add_next_open(index, slot))
        bry__index_seal(index, slot);
}

static bry_status add_newest(bry_index *index, bry_hash hash, uint32_t *slot, uint8_t *was)
{
    uint32_t newest = bry__index_newest(index), at = newest;
    for (; at != BRY__INDEX_NO_SLOT; at = index_add_next_open(index, at)) {
        bool room = index_room_in(index, at) > 0;
        if (!room && !index_add_held(index, at, hash))
            continue;
        *was = BRY_PRESENT;
        bry_status status = room ? index_add_some(index, at, &hash, 1, was) : BRY_OK;
        if (status != BRY_OK)
            return status;
        seal_until(index, newest, at);
        *slot = at;
        return BRY_OK;
    }
    uint32_t opened;
    bry_status status = bry__index_open_unit(index, 0, &opened);
    if (status != BRY_OK)
        return status;
    status = index_add_some(index, opened, &hash, 1, was);
    if (status != BRY_OK) {
        bry__index_unopen_unit(index, opened);
        return status;
    }
    seal_until(index, newest, BRY__INDEX_NO_SLOT);
    *slot = opened;
    return BRY_OK;
}

bry_status bry_index_add(bry_index *index, bry_hash hash, uint32_t unit, uint32_t *went,
                         bry_answer *was)
{
    uint32_t slot = 0;
    uint8_t before = BRY_ABSENT;
    bry_status status;
    if (unit == BRY_INDEX_NEWEST) {
        status = add_newest(index, hash, &slot, &before);
    } else {
        const bry__index_slot *record = bry__index_record(index, unit, &slot);
        if (!record)
            return BRY_E_NOUNIT;
        if (record->sealed)
            return BRY_E_SEALED;
        if (index_room_in(index, slot) > 0) {
            status = index_add_some(index, slot, &hash, 1, &before);
        } else {
            before = BRY_PRESENT;
            status = index_add_held(index, slot, hash) ? BRY_OK : BRY_E_FULL;
        }
    }
    if (status != BRY_OK)
        return status;
    if (went)
        *went = bry__slot(&index->slots, slot)->number;
    if (was)
        *was = (bry_answer)before;
    return BRY_OK;
}

/* ---- adding many --------------------------------------------------------------------------- */

/* A batch in progress: elements before `done` are in units slots[0 … at], and the last one takes
 * more. */
typedef struct batch {
    const bry_hash *hashes;
    size_t n, done;
    uint8_t *was;
    uint32_t *slot_of; /* of each finished element */
    uint32_t *slots; /* the units that are open, as many as may be needed, and those opened for this
                        batch */
    size_t count, at;
    size_t had; /* how many were open before */
} batch;

/* Adds until the elements or the room of the current unit are used up. */
static bry_status index_add_fill_unit(bry_index *index, batch *work)
{
    uint32_t slot = work->slots[work->at];
    bry_status status = BRY_OK;
    while (work->done < work->n && status == BRY_OK) {
        uint64_t room = index_room_in(index, slot);
        size_t here = work->n - work->done;
        if (room > 0) {
            if (here > room)
                here = (size_t)room;
            status = index_add_some(index, slot, work->hashes + work->done, here,
                                    work->was + work->done);
        } else if (index_add_held(index, slot, work->hashes[work->done])) {
            here = 1;
            work->was[work->done] = BRY_PRESENT;
        } else {
            break;
        }
        if (status == BRY_OK) {
            for (size_t i = 0; i < here; i++)
                work->slot_of[work->done + i] = slot;
            work->done += here;
        }
    }
    return status;
}

static void index_add_undo(bry_index *index, const batch *work)
{
    for (size_t end = work->done; end > 0;) {
        size_t begin = end - 1;
        uint32_t slot = work->slot_of[begin];
        uint64_t fresh = work->was[begin] == BRY_ABSENT;
        while (begin > 0 && work->slot_of[begin - 1] == slot)
            fresh += work->was[--begin] == BRY_ABSENT;
        index->engine->undo_n(index->elements, slot, work->hashes + begin, end - begin,
                              work->was + begin);
        bry__slot(&index->slots, slot)->elements -= fresh;
        index->slots.elements -= fresh;
        end = begin;
    }
}

/* Fills one unit after the other. After a failure no element is added, but all units are there. */
static bry_status fill_units(bry_index *index, batch *work)
{
    bry_status status = BRY_OK;
    for (work->at = 0; work->at < work->count && status == BRY_OK; work->at++) {
        status = index_add_fill_unit(index, work);
        if (work->done == work->n)
            break;
    }
    if (status != BRY_OK)
        index_add_undo(index, work);
    return status;
}

/* The number of units that n elements may need beyond the newest one. */
static uint64_t units_needed(const bry_index *index, uint64_t room, uint64_t n)
{
    uint64_t capacity = bry__index_like(index).unit_capacity;
    return n <= room ? 0 : (n - room + capacity - 1) / capacity;
}

static bry_status index_add_run_batch(bry_index *index, batch *work, uint64_t needed)
{
    bry_status status = BRY_OK;
    for (uint64_t i = 0; i < needed && status == BRY_OK; i++) {
        status = bry__index_open_unit(index, 0, &work->slots[work->count]);
        work->count += status == BRY_OK;
    }
    if (status == BRY_OK)
        status = fill_units(index, work);
    size_t keep = status == BRY_OK ? work->at + 1 : 0;
    while (work->count > keep && work->count > work->had)
        bry__index_unopen_unit(index, work->slots[--work->count]);
    for (size_t i = 0; status == BRY_OK && i + 1 < keep; i++)
        bry__index_seal(index, work->slots[i]);
    return status;
}

static bry_status add_n_newest(bry_index *index, const bry_hash *hashes, size_t n, uint32_t *went,
                               bry_answer *was)
{
    uint32_t newest = bry__index_newest(index);
    uint64_t room = 0;
    size_t had = 0;
    for (uint32_t at = newest; at != BRY__INDEX_NO_SLOT && room < n;
         at = index_add_next_open(index, at)) {
        room += index_room_in(index, at);
        had++;
    }
    uint64_t needed = units_needed(index, room, n);
    if (needed > bry__index_units_left(index))
        return BRY_E_FULL;
    const bry_allocator *allocator = &index->allocator;
    if (n > SIZE_MAX / sizeof(uint32_t) / 2)
        return BRY_E_NOMEM;
    batch work = {.hashes = hashes, .n = n, .had = had};
    size_t most = (size_t)needed + had;
    work.was = bry__alloc(allocator, n);
    work.slot_of = bry__alloc(allocator, n * sizeof *work.slot_of);
    work.slots = bry__alloc(allocator, most * sizeof *work.slots);
    bry_status status = work.was && work.slot_of && work.slots ? BRY_OK : BRY_E_NOMEM;
    if (status == BRY_OK) {
        for (uint32_t at = newest; work.count < had; at = index_add_next_open(index, at))
            work.slots[work.count++] = at;
        status = index_add_run_batch(index, &work, needed);
    }
    for (size_t i = 0; i < n && went && status == BRY_OK; i++)
        went[i] = bry__slot(&index->slots, work.slot_of[i])->number;
    for (size_t i = 0; i < n && was && status == BRY_OK; i++)
        was[i] = work.was[i];
    bry__free(allocator, work.slots, most * sizeof *work.slots);
    bry__free(allocator, work.slot_of, n * sizeof *work.slot_of);
    bry__free(allocator, work.was, n);
    return status;
}

bry_status bry_index_add_n(bry_index *index, const bry_hash *hashes, size_t n, uint32_t unit,
                           uint32_t *went, bry_answer *was)
{
    if (unit == BRY_INDEX_NEWEST)
        return n == 0 ? BRY_OK : add_n_newest(index, hashes, n, went, was);
    uint32_t slot;
    const bry__index_slot *record = bry__index_record(index, unit, &slot);
    if (!record)
        return BRY_E_NOUNIT;
    if (record->sealed)
        return BRY_E_SEALED;
    if (n > index_room_in(index, slot))
        return BRY_E_FULL;
    bry_answer small[BRY__INDEX_BATCH];
    bry_answer *answers = n <= sizeof small ? small : bry__alloc(&index->allocator, n);
    if (!answers)
        return BRY_E_NOMEM;
    bry_status status = index_add_some(index, slot, hashes, n, answers);
    for (size_t i = 0; i < n && was && status == BRY_OK; i++)
        was[i] = answers[i];
    if (answers != small)
        bry__free(&index->allocator, answers, n);
    for (size_t i = 0; i < n && went && status == BRY_OK; i++)
        went[i] = unit;
    return status;
}
