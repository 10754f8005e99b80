/*
 * The engine compact as frames: which slots are dead, how far the sweep of them has come, and the
 * maplet. Whole, or in parts: a part is a group of segments, the piece in which the maplet's
 * directory grows, or a table's overflow.
 *
 * An index that is loaded goes on as the one that was saved would have, to the last byte of what
 * either will be saved as: replicas depend on it. The place that a sweep has reached is among the
 * numbers of the maplet's tables. Which slots it frees when it ends, and how many changes there
 * were since it last moved, are in a frame of their own, which is written where there is something
 * to tell: the layout has version 2 then, and version 1 without it.
 */
#include "index/compact_index.h"

#include "common/endian.h"
#include "frame/frame.h"
#include "hash/derive.h"

#define DEAD BRY__FOUR('D', 'E', 'A', 'D')
#define SWEEP BRY__FOUR('S', 'W', 'E', 'P')

enum { /* the frame SWEP: changes since the sweep has moved, and the slots that it frees */
       AT_SWEPT = 4,
       SLOT_SIZE = 4
};

static bry_status bad(bry__frame_reader *reader, const char *problem)
{
    return bry__frame_reader_fail(reader, BRY_E_BADDATA, problem);
}

static bry_status no_memory(bry__frame_reader *reader)
{
    return bry__frame_reader_fail(reader, BRY_E_NOMEM, "no memory for the units");
}

/* ---- slots --------------------------------------------------------------------------------- */

unsigned bry__compact_index_layout(const void *self)
{
    const bry__compact_index *index = self;
    return index->swept > 0 || index->since_sweep > 0 ? 2 : 1;
}

/* The slots that have at least this state. */
static void write_slots(const bry__compact_index *index, bry__slot_state least,
                        bry__frame_writer *writer)
{
    for (uint32_t i = 0; i < index->room; i++) {
        unsigned char number[SLOT_SIZE];
        if (index->state[i] < least)
            continue;
        bry__store32(number, i);
        bry__frame_writer_put(writer, number, sizeof number);
    }
}

static void write_dead(const bry__compact_index *index, bry__frame_writer *writer)
{
    bry__frame_writer_open(writer, DEAD, (size_t)index->dead * SLOT_SIZE);
    write_slots(index, BRY__SLOT_DEAD, writer);
    if (bry__compact_index_layout(index) < 2)
        return;
    unsigned char changes[AT_SWEPT];
    bry__store32(changes, index->since_sweep);
    bry__frame_writer_open(writer, SWEEP, AT_SWEPT + (size_t)index->swept * SLOT_SIZE);
    bry__frame_writer_put(writer, changes, sizeof changes);
    write_slots(index, BRY__SLOT_SWEPT, writer);
}

static bry_status set_state(bry__frame_reader *reader, bry__compact_index *index, uint32_t slot,
                            bry__slot_state state)
{
    bry_status status =
        bry__frame_reader_claim(reader, bry__compact_index_room(index, slot) - index->room);
    if (status != BRY_OK)
        return status;
    if (bry__compact_index_reach(index, slot) != BRY_OK)
        return no_memory(reader);
    if (index->state[slot] != BRY__SLOT_FREE)
        return bad(reader, "a slot has a unit and is dead");
    index->state[slot] = (uint8_t)state;
    return BRY_OK;
}

static bry_status read_dead(bry__frame_reader *reader, bry__compact_index *index)
{
    bry__frame frame;
    bry_status status = bry__frame_reader_next(reader, &frame);
    if (status == BRY_OK && (frame.type != DEAD || frame.length % SLOT_SIZE != 0 ||
                             frame.length / SLOT_SIZE > BRY__INDEX_SLOTS))
        status = bad(reader, "the list of dead slots is missing or too long");
    uint32_t last = 0;
    for (uint32_t i = 0; status == BRY_OK && i < frame.length / SLOT_SIZE; i++) {
        unsigned char number[SLOT_SIZE];
        status = bry__frame_reader_read(reader, number, sizeof number);
        uint32_t slot = bry__load32(number);
        if (status == BRY_OK && (slot >= BRY__INDEX_SLOTS || (i > 0 && slot <= last)))
            status = bad(reader, "the list of dead slots is wrong");
        if (status == BRY_OK)
            status = set_state(reader, index, slot, BRY__SLOT_DEAD);
        last = slot;
        index->dead++;
    }
    return status;
}

/* The frame SWEP, where all dead slots are known. */
static bry_status read_sweep(bry__frame_reader *reader, bry__compact_index *index)
{
    bry__frame frame;
    unsigned char number[SLOT_SIZE];
    bry_status status = bry__frame_reader_next(reader, &frame);
    if (status == BRY_OK && (frame.type != SWEEP || frame.length < AT_SWEPT ||
                             (frame.length - AT_SWEPT) % SLOT_SIZE != 0 ||
                             (frame.length - AT_SWEPT) / SLOT_SIZE > index->dead))
        status = bad(reader, "what a sweep has come to is missing or has a wrong size");
    if (status == BRY_OK)
        status = bry__frame_reader_read(reader, number, sizeof number);
    if (status != BRY_OK)
        return status;
    uint32_t swept = (frame.length - AT_SWEPT) / SLOT_SIZE, last = 0;
    index->since_sweep = bry__load32(number);
    for (uint32_t i = 0; i < swept && status == BRY_OK; i++) {
        status = bry__frame_reader_read(reader, number, sizeof number);
        uint32_t slot = bry__load32(number);
        if (status == BRY_OK && (slot >= index->room || (i > 0 && slot <= last) ||
                                 index->state[slot] != BRY__SLOT_DEAD))
            status = bad(reader, "a sweep is to free a slot that is not dead");
        if (status == BRY_OK)
            index->state[slot] = BRY__SLOT_SWEPT;
        last = slot;
    }
    index->swept = swept;
    if (status == BRY_OK && (index->dead == 0 || index->since_sweep >= BRY__CHANGES_A_SWEEP ||
                             (swept == 0 && index->since_sweep == 0)))
        status = bad(reader, "a sweep is told of where there is none");
    return status;
}

/* The frames DEAD and SWEP, and the slots that have units, into an instance without slots. */
static bry_status read_slots(bry__frame_reader *reader, bry__compact_index *index,
                             const bry__index_slots *slots)
{
    bry_status status = read_dead(reader, index);
    if (status == BRY_OK && reader->header.kind_version > 1)
        status = read_sweep(reader, index);
    for (uint32_t i = 0; i < slots->room && status == BRY_OK; i++)
        if (slots->slot[i].order != 0) {
            status = set_state(reader, index, i, BRY__SLOT_LIVE);
            index->live++;
        }
    return status;
}

/* ---- entries ------------------------------------------------------------------------------- */

/* The table that a sweep is in: `tables` where it has not begun. Without the frame SWEP there was
 * none, or it was not told what it frees: the next one begins at the beginning. What is wrong, or
 * NULL. */
static const char *find_sweep(bry__compact_index *index, unsigned *at)
{
    bry__maplet *maplet = &index->maplet;
    *at = maplet->tables;
    for (unsigned i = 0; i < maplet->tables; i++) {
        if (index->swept == 0)
            maplet->table[i]->sweeping = false;
        if (!maplet->table[i]->sweeping)
            continue;
        if (*at < maplet->tables)
            return "two tables are swept at once";
        *at = i;
    }
    return NULL;
}

/* Whether a sweep that is in table `at` has the entry at the cursor still before it. */
static bool is_ahead(const bry__maplet *maplet, unsigned at, const bry__maplet_cursor *cursor,
                     uint64_t fingerprint, uint32_t value)
{
    if (at == maplet->tables || cursor->table != at)
        return at == maplet->tables || cursor->table > at;
    const bry__table *table = maplet->table[at];
    if (cursor->in_table.segment < table->segments)
        return cursor->in_table.segment >= table->sweep;
    return fingerprint > table->sweep_fingerprint ||
           (fingerprint == table->sweep_fingerprint && value >= table->sweep_value);
}

/* Whether every entry has a slot that is live or dead, every unit as many as it says, and a sweep
 * will come upon all those whose slots it frees. */
static const char *check_entries(bry__compact_index *index, const bry__index_slots *slots,
                                 bry_status *status)
{
    const bry_allocator *allocator = &index->maplet.allocator;
    /* Live slots alone: there are claims for those, and a dead one may be far away. */
    size_t size = (size_t)slots->room * sizeof(uint64_t);
    uint64_t *count = bry__alloc(allocator, size);
    *status = BRY_E_NOMEM;
    if (!count)
        return "no memory for the units";
    bry__maplet_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t slot;
    unsigned at;
    const char *problem = find_sweep(index, &at);
    while (!problem && bry__maplet_next(&index->maplet, &cursor, &fingerprint, &slot)) {
        if (slot >= index->room || index->state[slot] == BRY__SLOT_FREE)
            problem = "an entry is of no unit";
        else if (index->state[slot] == BRY__SLOT_SWEPT &&
                 !is_ahead(&index->maplet, at, &cursor, fingerprint, slot))
            problem = "a sweep has passed an entry that it should have dropped";
        else if (index->state[slot] == BRY__SLOT_LIVE)
            count[slot]++;
        else
            index->dead_entries++;
    }
    for (uint32_t i = 0; i < index->room && !problem; i++) {
        if (index->state[i] == BRY__SLOT_LIVE && count[i] != slots->slot[i].elements)
            problem = "a unit does not have as many elements as it says";
        if (index->state[i] == BRY__SLOT_LIVE &&
            (uint64_t)i >> index->maplet.options.value_bits != 0)
            problem = "a unit's slot is out of range";
    }
    bry__free(allocator, count, size);
    *status = problem ? BRY_E_BADDATA : BRY_OK;
    return problem;
}

/* Whether the maplet is the one that these options ask for. */
static bool is_asked_for(const bry__maplet *maplet, const bry_index_options *options)
{
    bry__maplet_options wanted = bry__compact_index_maplet(options);
    return maplet->options.capacity == wanted.capacity && maplet->options.error == wanted.error &&
           maplet->options.fixed == wanted.fixed &&
           (uint64_t)1 << maplet->options.value_bits <= BRY__INDEX_SLOTS;
}

/* ---- whole --------------------------------------------------------------------------------- */

void bry__compact_index_write(const void *self, bry__frame_writer *writer)
{
    const bry__compact_index *index = self;
    write_dead(index, writer);
    bry__maplet_old_write(&index->maplet, writer);
}

/* An instance that has its options and slots; its maplet is still to come. NULL: reader->status
 * says why. */
static bry__compact_index *read_shell(const bry_index_options *options,
                                      const bry__index_slots *slots, bry__frame_reader *reader,
                                      const bry_allocator *allocator)
{
    bry__maplet none = {.allocator = *allocator};
    bry__compact_index *made = NULL;
    if (bry__frame_reader_claim(reader, sizeof *made) != BRY_OK)
        return NULL;
    made = bry__compact_index_make(options->unit_capacity, &none);
    if (!made) {
        no_memory(reader);
        return NULL;
    }
    if (read_slots(reader, made, slots) != BRY_OK) {
        bry__compact_index_destroy(made);
        return NULL;
    }
    return made;
}

bry_status bry__compact_index_read(const bry_index_options *options, const bry__index_slots *slots,
                                   bry__frame_reader *reader, const bry_allocator *allocator,
                                   void **self)
{
    bry__compact_index *index = read_shell(options, slots, reader, allocator);
    if (!index)
        return reader->status;
    bry__maplet maplet;
    bry_status status = bry__maplet_old_read(&maplet, reader, allocator);
    if (status == BRY_OK) {
        index->maplet = maplet;
        const char *problem = "the maplet is of another index";
        status = BRY_E_BADDATA;
        if (is_asked_for(&maplet, options))
            problem = check_entries(index, slots, &status);
        if (problem)
            bry__frame_reader_fail(reader, status, problem);
    }
    if (status == BRY_OK)
        *self = index;
    else
        bry__compact_index_destroy(index);
    return status;
}

/* ---- parts --------------------------------------------------------------------------------- */

#define TABLE_SHIFT 48u
#define OVERFLOW_PART (((uint64_t)1 << TABLE_SHIFT) - 1) /* behind all groups */

/* A part: a group of segments of a table, or its overflow. */
typedef struct part_place {
    unsigned table;
    uint64_t group; /* or OVERFLOW_PART */
} part_place;

static uint64_t groups_of(const bry__table *table)
{
    return (table->segments + BRY__GROUP_SIZE - 1) / BRY__GROUP_SIZE;
}

static uint64_t parts_of(const bry__table *table)
{
    return groups_of(table) + (table->overflow.n > 0);
}

uint64_t bry__compact_index_parts(const void *self)
{
    const bry__maplet *maplet = &((const bry__compact_index *)self)->maplet;
    uint64_t parts = 0;
    for (unsigned i = 0; i < maplet->tables; i++)
        parts += parts_of(maplet->table[i]);
    return parts;
}

static part_place find_part(const bry__maplet *maplet, uint64_t place)
{
    unsigned i = 0;
    for (; place >= parts_of(maplet->table[i]); i++)
        place -= parts_of(maplet->table[i]);
    return (part_place){i, place < groups_of(maplet->table[i]) ? place : OVERFLOW_PART};
}

static uint64_t group_end(const bry__table *table, uint64_t group)
{
    uint64_t end = (group + 1) * BRY__GROUP_SIZE;
    return end < table->segments ? end : table->segments;
}

/* What has been hashed so far, and some more bytes: 64 bits of chain, 64 of sum. */
static void chain(bry__index_part *part, const void *bytes, size_t len)
{
    bry_hash hash = bry_hash_key(part->stamp[0], bytes, len);
    part->stamp[0] = hash.lo;
    part->stamp[1] = bry__mix64(part->stamp[1] + hash.hi);
}

static void chain_segment(bry__index_part *part, const bry__segment *segment)
{
    unsigned char record[8];
    bry__store16(record, segment->n);
    bry__store16(record + 2, segment->steps);
    record[4] = segment->remainder_bits;
    record[5] = segment->value_bits;
    record[6] = segment->spilled;
    record[7] = 0;
    chain(part, record, sizeof record);
    if (segment->bytes)
        chain(part, segment->bytes, bry__segment_bytes(segment));
}

static void chain_overflow(bry__index_part *part, const bry__overflow *overflow)
{
    bry__overflow_place place = {0};
    uint64_t fingerprint;
    uint32_t value;
    while (bry__overflow_next(overflow, &place, &fingerprint, &value)) {
        unsigned char entry[12];
        bry__store64(entry, fingerprint);
        bry__store32(entry + 8, value);
        chain(part, entry, sizeof entry);
    }
}

void bry__compact_index_part(const void *self, uint64_t place, bry__index_part *part)
{
    const bry__maplet *maplet = &((const bry__compact_index *)self)->maplet;
    part_place at = find_part(maplet, place);
    const bry__table *table = maplet->table[at.table];
    *part = (bry__index_part){.id = (uint64_t)at.table << TABLE_SHIFT | at.group};
    if (at.group == OVERFLOW_PART) {
        chain_overflow(part, &table->overflow);
        return;
    }
    for (uint64_t i = at.group * BRY__GROUP_SIZE; i < group_end(table, at.group); i++)
        chain_segment(part, bry__table_segment(table, i));
}

void bry__compact_index_write_head(const void *self, bry__frame_writer *writer)
{
    const bry__compact_index *index = self;
    write_dead(index, writer);
    bry__maplet_old_write_numbers(&index->maplet, writer);
}

void bry__compact_index_write_part(const void *self, uint64_t place, bry__frame_writer *writer)
{
    const bry__maplet *maplet = &((const bry__compact_index *)self)->maplet;
    part_place at = find_part(maplet, place);
    if (at.group == OVERFLOW_PART)
        bry__maplet_old_write_overflow(maplet, at.table, writer);
    else
        bry__maplet_old_write_segments(maplet, at.table, at.group * BRY__GROUP_SIZE,
                                   group_end(maplet->table[at.table], at.group), writer);
}

bry_status bry__compact_index_read_head(const bry_index_options *options,
                                        const bry__index_slots *slots, bry__frame_reader *reader,
                                        const bry_allocator *allocator, void **self)
{
    bry__compact_index *index = read_shell(options, slots, reader, allocator);
    if (!index)
        return reader->status;
    index->reading = bry__alloc(allocator, sizeof *index->reading);
    bry_status status =
        index->reading ? bry__maplet_old_read_numbers(&index->maplet, index->reading, reader, allocator)
                       : no_memory(reader);
    if (status == BRY_OK && !is_asked_for(&index->maplet, options))
        status = bad(reader, "the maplet is of another index");
    if (status == BRY_OK)
        *self = index;
    else
        bry__compact_index_destroy(index);
    return status;
}

bry_status bry__compact_index_read_part(void *self, const bry__index_part *part,
                                        bry__frame_reader *reader)
{
    bry__compact_index *index = self;
    bry__maplet_old_reading *reading = index->reading;
    uint64_t table = part->id >> TABLE_SHIFT, group = part->id & OVERFLOW_PART;
    if (table != reading->table || table >= index->maplet.tables)
        return bad(reader, "a part stands out of its place");
    if (group == OVERFLOW_PART)
        return bry__maplet_old_read_overflow(&index->maplet, reading, reader);
    const bry__table *into = index->maplet.table[table];
    if (group >= groups_of(into) || reading->segment != group * BRY__GROUP_SIZE)
        return bad(reader, "a part stands out of its place");
    return bry__maplet_old_read_segments(&index->maplet, reading, group_end(into, group), reader);
}

bry_status bry__compact_index_read_done(void *self, const bry__index_slots *slots,
                                        const char **problem)
{
    bry__compact_index *index = self;
    bry_status status = BRY_E_BADDATA;
    *problem = bry__maplet_old_read_done(&index->maplet, index->reading);
    if (!*problem)
        *problem = check_entries(index, slots, &status);
    bry__free(&index->maplet.allocator, index->reading, sizeof *index->reading);
    index->reading = NULL;
    return *problem ? status : BRY_OK;
}
