/*
 * Engine dba as frames (doc/format.md):
 *
 *   DBA    the number of levels of error control and of units, then each level
 *   SLOT   the slots in use and the levels of their units, by rising slot
 *   COLS   the units' bits (dba_columns.c): level by level, 64 units of it at a time by rising slot
 *
 * In parts, DBA and SLOT are the head, and each unit's COLS is a part. A single unit is its shape
 * (SHAP) and its COLS. Work in progress is not saved: it starts again.
 */
#include "common/endian.h"
#include "frame/frame_numbers.h"
#include "index/dba/dba_index.h"

#define HEAD BRY__FOUR('D', 'B', 'A', ' ')
#define UNITS BRY__FOUR('S', 'L', 'O', 'T')
#define SHAPE BRY__FOUR('S', 'H', 'A', 'P')

/* The frame DBA: these, then each level. */
static const bry__number head_rows[] = {
    BRY__NUMBER(bry__dba, levels),
    BRY__NUMBER(bry__dba, units),
    BRY__NUMBER(bry__dba, rebuilds),
    BRY__NUMBERS_END,
};

/* A level; in the frame SHAP, `planned` is 1 if the shape is segmented. */
#define LEVEL(field) BRY__NUMBER(bry__dba_level, field)
static const bry__number level_rows[] = {
    LEVEL(shape.capacity), LEVEL(shape.range), LEVEL(shape.hashes),
    LEVEL(planned),        BRY__NUMBERS_END,
};

enum {
    HEAD_SIZE = 16,
    LEVEL_SIZE = 24,
    UNIT_SIZE = 8, /* in the frames SLOT, for each unit: slot u32, level u32 */
    FRAME_UNITS = 1 << 13 /* at most, in one frame */
};

/* ---- writing ------------------------------------------------------------------------------- */

/* The next slot in use from `slot` on, or `room`. */
static uint32_t dba_save_slot_from(const bry__dba *self, uint32_t slot)
{
    while (slot < self->room) {
        uint64_t word = self->taken[slot / 64] >> slot % 64;
        if (word)
            return slot + (uint32_t)__builtin_ctzll(word);
        slot = (slot / 64 + 1) * 64;
    }
    return self->room;
}

void bry__dba_write_head(const void *self, void *saving, struct bry__frame_writer *writer)
{
    const bry__dba *dba = self;
    unsigned char head[HEAD_SIZE], level[LEVEL_SIZE], unit[UNIT_SIZE];
    (void)saving;
    bry__numbers_store(head, head_rows, dba);
    bry__frame_writer_open(writer, HEAD, HEAD_SIZE + dba->levels * (size_t)LEVEL_SIZE);
    bry__frame_writer_put(writer, head, sizeof head);
    for (uint32_t i = 0; i < dba->levels; i++) {
        bry__numbers_store(level, level_rows, &dba->level[i]);
        bry__frame_writer_put(writer, level, sizeof level);
    }
    uint32_t slot = 0;
    for (uint32_t i = 0; i < dba->units; i++, slot++) {
        uint32_t left = dba->units - i;
        if (i % FRAME_UNITS == 0)
            bry__frame_writer_open(writer, UNITS,
                                   (left < FRAME_UNITS ? left : FRAME_UNITS) * (size_t)UNIT_SIZE);
        slot = dba_save_slot_from(dba, slot);
        bry__store32(unit, slot);
        bry__store32(unit + 4, bry__dba_place_of(dba, slot)->group->level);
        bry__frame_writer_put(writer, unit, sizeof unit);
    }
}

/* Up to 64 units of a level from *slot on, by rising slot. */
static unsigned next_units(const bry__dba *self, uint32_t level, uint32_t *slot,
                           const bry__dba_place *places[BRY__DBA_TILE_UNITS],
                           uint32_t slots[BRY__DBA_TILE_UNITS])
{
    unsigned n = 0;
    for (; n < BRY__DBA_TILE_UNITS; ++*slot) {
        *slot = dba_save_slot_from(self, *slot);
        if (*slot == self->room)
            break;
        if (bry__dba_place_of(self, *slot)->group->level != level)
            continue;
        slots[n] = *slot;
        places[n++] = bry__dba_place_of(self, *slot);
    }
    return n;
}

void bry__dba_write(const void *self, struct bry__frame_writer *writer)
{
    const bry__dba *dba = self;
    const bry__dba_place *places[BRY__DBA_TILE_UNITS];
    uint32_t slots[BRY__DBA_TILE_UNITS];
    unsigned n;
    bry__dba_write_head(dba, NULL, writer);
    for (uint32_t level = 0; level < dba->levels; level++)
        for (uint32_t slot = 0; (n = next_units(dba, level, &slot, places, slots)) > 0;)
            bry__dba_columns_write(places, n, writer);
}

uint64_t bry__dba_parts(const void *self, void *saving)
{
    (void)saving;
    return ((const bry__dba *)self)->units;
}

bry_status bry__dba_part(const void *self, void *saving, uint64_t place, bry__index_part *part)
{
    const bry__dba *dba = self;
    uint32_t slot = dba->list[place];
    (void)saving;
    *part = (bry__index_part){
        .id = slot,
        .stamp = {bry__dba_place_of(dba, slot)->stamp[0], bry__dba_place_of(dba, slot)->stamp[1]}};
    return BRY_OK;
}

void bry__dba_write_part(const void *self, void *saving, uint64_t place,
                         struct bry__frame_writer *writer)
{
    const bry__dba *dba = self;
    const bry__dba_place *one = bry__dba_place_of(dba, dba->list[place]);
    (void)saving;
    bry__dba_columns_write(&one, 1, writer);
}

void bry__dba_write_unit(const void *self, uint32_t slot, struct bry__frame_writer *writer)
{
    const bry__dba *dba = self;
    const bry__dba_place *one = bry__dba_place_of(dba, slot);
    bry__dba_level like = {.shape = one->group->shape, .planned = one->group->shape.segmented};
    bry__frame_write_numbers(writer, SHAPE, level_rows, &like);
    bry__dba_columns_write(&one, 1, writer);
}

/* ---- reading ------------------------------------------------------------------------------- */

static bry_status dba_save_read_levels(bry__frame_reader *reader, bry__dba *self, uint32_t *units)
{
    unsigned char head[HEAD_SIZE], numbers[LEVEL_SIZE];
    size_t length;
    bry_status status = bry__frame_reader_expect(reader, HEAD, "the levels are missing", HEAD_SIZE,
                                                 SIZE_MAX, &length);
    if (status == BRY_OK)
        status = bry__frame_reader_read(reader, head, sizeof head);
    if (status != BRY_OK)
        return status;
    bry__numbers_load(head, head_rows, self);
    uint32_t levels = self->levels;
    *units = self->units;
    self->levels = 1;
    self->units = 0;
    if (levels < 1 || levels > BRY__DBA_LEVELS || length != HEAD_SIZE + levels * (size_t)LEVEL_SIZE)
        return bry__frame_reader_bad(reader, "the number of levels is out of range");
    for (uint32_t i = 0; i < levels; i++) {
        status = bry__frame_reader_read(reader, numbers, sizeof numbers);
        if (status != BRY_OK)
            return status;
        bry__dba_level level = {.shape.segmented = self->options.dba.segmented};
        bry__numbers_load(numbers, level_rows, &level);
        if (i == 0 && !bry__dba_is_first_level(self, &level))
            return bry__frame_reader_bad(reader, "the first level does not match the options");
        if (i > 0 && !bry__dba_is_next_level(self, &level))
            return bry__frame_reader_bad(reader, "a level does not follow from the one before");
        level.unit_error = bry__dba_shape_error(&level.shape, (double)level.shape.capacity);
        self->levels = i + 1;
        self->level[i] = level;
    }
    return BRY_OK;
}

/* Reads which unit has which slot and level. Stores the level of each slot in place[].column. */
static bry_status read_units(bry__frame_reader *reader, bry__dba *self, uint32_t units,
                             const bry__index_slots *slots)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < units; i++) {
        unsigned char unit[UNIT_SIZE];
        bry_status status = BRY_OK;
        if (i % FRAME_UNITS == 0) {
            uint32_t left = units - i;
            size_t length = (left < FRAME_UNITS ? left : FRAME_UNITS) * (size_t)UNIT_SIZE;
            status = bry__frame_reader_expect(reader, UNITS, "the list of units is missing", length,
                                              length, &length);
        }
        if (status == BRY_OK)
            status = bry__frame_reader_read(reader, unit, sizeof unit);
        if (status != BRY_OK)
            return status;
        uint32_t slot = bry__load32(unit), level = bry__load32(unit + 4);
        if (slot < next || slot >= bry__slots_room(slots) || bry__slot(slots, slot)->order == 0)
            return bry__frame_reader_bad(reader, "a unit's slot does not match the index");
        if (level >= self->levels ||
            bry__slot(slots, slot)->capacity != self->level[level].shape.capacity)
            return bry__frame_reader_bad(reader, "the level of a unit does not match its capacity");
        bry__dba_place_of(self, slot)->column = level;
        self->taken[slot / 64] |= (uint64_t)1 << slot % 64;
        self->level[level].units++;
        next = slot + 1;
    }
    return BRY_OK;
}

/* Creates groups for the units of a level, as they are when all work is done. */
static bry_status seat_level(bry__frame_reader *reader, bry__dba *self, uint32_t level,
                             uint32_t units)
{
    uint32_t left = self->level[level].units, wide = bry__dba_width_wanted(&self->options, units);
    bry__dba_group *group = NULL;
    self->level[level].units = 0;
    for (uint32_t slot = 0; left > 0; slot++) {
        slot = dba_save_slot_from(self, slot);
        if (bry__dba_place_of(self, slot)->group || bry__dba_place_of(self, slot)->column != level)
            continue;
        if (!group || group->free == 0) {
            uint32_t width = left >= wide ? wide : bry__dba_width(&self->options, units);
            uint64_t list = self->groups == self->group_room ? self->group_room : 0;
            bry_status status = bry__frame_reader_claim(
                reader,
                bry__dba_group_cost(&self->level[level].shape, width) + list * sizeof group);
            if (status != BRY_OK)
                return status;
            group = bry__dba_add_group(self, level, width);
            if (!group)
                return bry__frame_reader_no_memory(reader);
        }
        bry__dba_seat(self, slot, group, bry__dba_column_find(group));
        left--;
    }
    return BRY_OK;
}

static bry_status dba_save_read_head(const bry_index_options *options,
                                     const bry__index_slots *slots, bry__frame_reader *reader,
                                     const bry_allocator *allocator, bry__dba **self)
{
    uint32_t units = 0;
    bry__dba *made = NULL;
    bry_status status = bry__frame_reader_claim(reader, sizeof *made);
    if (status != BRY_OK)
        return status;
    status = bry__dba_make(options, allocator, &made);
    if (status != BRY_OK)
        return status == BRY_E_NOMEM ? bry__frame_reader_no_memory(reader)
                                     : bry__frame_reader_fail(reader, status, "invalid shape");
    status = dba_save_read_levels(reader, made, &units);
    if (status == BRY_OK && units != slots->units)
        status = bry__frame_reader_bad(reader, "the number of units does not match the index");
    if (status == BRY_OK && units > 0) {
        status = bry__frame_reader_claim(reader, bry__dba_slot_cost(bry__slots_room(slots)) +
                                                     BRY__DBA_FIRST_GROUPS * sizeof *made->group);
        if (status == BRY_OK && bry__dba_room(made, bry__slots_room(slots)) != BRY_OK)
            status = bry__frame_reader_no_memory(reader);
    }
    if (status == BRY_OK)
        status = read_units(reader, made, units, slots);
    for (uint32_t level = 0; level < made->levels && status == BRY_OK; level++)
        status = seat_level(reader, made, level, units);
    if (status == BRY_OK)
        *self = made;
    else
        bry__dba_destroy(made);
    return status;
}

/* Checks a unit's bits against its count: each element set between none and k of them. */
static const char *check_count(const bry__dba_shape *shape, uint64_t set, uint64_t elements)
{
    if (elements == 0 && set > 0)
        return "a unit without elements has bits set";
    if (elements > 0 && set == 0)
        return "a unit with elements has no bits set";
    if (elements < set / shape->hashes + (set % shape->hashes != 0))
        return "a unit has too many bits set for its elements";
    return NULL;
}

bry_status bry__dba_read(const bry_index_options *options, const bry__index_slots *slots,
                         struct bry__frame_reader *reader, const bry_allocator *allocator,
                         void **self)
{
    bry__dba *made = NULL;
    bry_status status = dba_save_read_head(options, slots, reader, allocator, &made);
    if (status != BRY_OK || !made)
        return status;
    for (uint32_t level = 0; level < made->levels && status == BRY_OK; level++) {
        const bry__dba_place *places[BRY__DBA_TILE_UNITS];
        uint32_t which[BRY__DBA_TILE_UNITS], slot = 0;
        uint64_t set[BRY__DBA_TILE_UNITS];
        unsigned n;
        while (status == BRY_OK && (n = next_units(made, level, &slot, places, which)) > 0) {
            status = bry__dba_columns_read(places, n, reader, set);
            for (unsigned i = 0; i < n && status == BRY_OK; i++) {
                const char *problem = check_count(&made->level[level].shape, set[i],
                                                  bry__slot(slots, which[i])->elements);
                bry__dba_more_set(made, which[i], set[i]);
                bry__dba_counted(made, which[i], bry__slot(slots, which[i])->elements);
                if (problem)
                    status = bry__frame_reader_bad(reader, problem);
            }
        }
    }
    if (status == BRY_OK)
        *self = made;
    else
        bry__dba_destroy(made);
    return status;
}

/* ---- in parts ------------------------------------------------------------------------------ */

/* A unit whose part was not read yet has no stamp. */
bry_status bry__dba_read_head(const bry_index_options *options, const bry__index_slots *slots,
                              struct bry__frame_reader *reader, const bry_allocator *allocator,
                              void **self)
{
    bry__dba *made = NULL;
    bry_status status = dba_save_read_head(options, slots, reader, allocator, &made);
    if (status != BRY_OK || !made)
        return status;
    for (uint32_t i = 0; i < made->units; i++)
        bry__dba_place_of(made, made->list[i])->stamp[0] =
            bry__dba_place_of(made, made->list[i])->stamp[1] = 0;
    *self = made;
    return BRY_OK;
}

bry_status bry__dba_read_part(void *self, const bry__index_part *part,
                              struct bry__frame_reader *reader)
{
    bry__dba *dba = self;
    uint64_t id = part->id;
    if (id >= dba->places.room || !bry__dba_place_of(dba, id)->group)
        return bry__frame_reader_bad(reader, "a part of an unknown unit");
    bry__dba_place *place = bry__dba_place_of(dba, id);
    if (place->stamp[0] || place->stamp[1])
        return bry__frame_reader_bad(reader, "duplicate part");
    if (part->stamp[0] == 0)
        return bry__frame_reader_bad(reader, "a part has no stamp");
    const bry__dba_place *one = place;
    uint64_t set;
    bry_status status = bry__dba_columns_read(&one, 1, reader, &set);
    if (status != BRY_OK)
        return status;
    bry__dba_more_set(dba, (uint32_t)id, set);
    place->stamp[0] = part->stamp[0];
    place->stamp[1] = part->stamp[1];
    return BRY_OK;
}

bry_status bry__dba_read_done(void *self, const bry__index_slots *slots, const char **problem)
{
    bry__dba *dba = self;
    const char *wrong = NULL;
    for (uint32_t i = 0; i < dba->units && !wrong; i++) {
        const bry__dba_place *place = bry__dba_place_of(dba, dba->list[i]);
        bry__dba_counted(dba, dba->list[i], bry__slot(slots, dba->list[i])->elements);
        wrong = place->stamp[0] == 0 ? "a part is missing"
                                     : check_count(&place->group->shape, place->set,
                                                   bry__slot(slots, dba->list[i])->elements);
    }
    if (wrong)
        *problem = wrong;
    return wrong ? BRY_E_BADDATA : BRY_OK;
}

/* ---- a single unit ------------------------------------------------------------------------- */

/* The level of that shape, if there is one; a new unit's level counts too. */
static uint32_t dba_save_level_of(bry__dba *self, const bry__dba_shape *shape)
{
    bry__dba_level raised;
    uint32_t next = bry__dba_open_level(self, &raised);
    if (next == self->levels)
        self->level[self->levels++] = raised;
    for (uint32_t level = self->levels; level-- > 0;)
        if (bry__dba_shape_same(&self->level[level].shape, shape))
            return level;
    return BRY__DBA_LEVELS;
}

bry_status bry__dba_import(void *self, uint32_t number, const bry__index_slot *record,
                           struct bry__frame_reader *reader, uint32_t *slot)
{
    bry__dba *dba = self;
    bry__dba_level read;
    bry_status status = bry__frame_read_numbers(reader, SHAPE, level_rows, &read);
    if (status != BRY_OK)
        return status;
    uint32_t segmented = read.planned, levels = dba->levels;
    bry__dba_shape shape = read.shape;
    shape.segmented = segmented != 0;
    if (segmented > 1 || !bry__dba_shape_valid(&shape) || record->capacity != shape.capacity)
        return bry__frame_reader_bad(reader, "the shape of the unit is out of range");
    status = bry__frame_reader_claim(reader, bry__dba_rows(&shape) / 8);
    if (status != BRY_OK)
        return status;
    uint32_t next = bry__dba_next_slot(dba, number), level = dba_save_level_of(dba, &shape);
    bry__dba_place place = {0};
    uint64_t set = 0;
    if (level == BRY__DBA_LEVELS)
        status = bry__frame_reader_fail(reader, BRY_E_MISMATCH,
                                        "the unit's shape does not match the index");
    else if (next >= BRY__INDEX_SLOTS)
        status = bry__frame_reader_fail(reader, BRY_E_FULL, "the index has no room for a unit");
    else if (bry__dba_room(dba, next + 1) != BRY_OK ||
             bry__dba_find_column(dba, level, &place.group, &place.column) != BRY_OK)
        status = bry__frame_reader_no_memory(reader);
    if (status != BRY_OK) {
        dba->levels = levels;
        return status;
    }
    bry__dba_column_become(place.group, place.column, BRY__DBA_BUILDING);
    const bry__dba_place *one = &place;
    status = bry__dba_columns_read(&one, 1, reader, &set);
    const char *problem = status == BRY_OK ? check_count(&shape, set, record->elements) : NULL;
    if (problem)
        status = bry__frame_reader_bad(reader, problem);
    if (status == BRY_OK)
        status = bry__frame_reader_end(reader);
    if (status != BRY_OK) {
        bry__dba_leave_column(dba, place.group, place.column, false);
        dba->levels = levels;
        return status;
    }
    bry__dba_seat(dba, next, place.group, place.column);
    bry__dba_more_set(dba, next, set);
    bry__dba_counted(dba, next, record->elements);
    *slot = next;
    return BRY_OK;
}
