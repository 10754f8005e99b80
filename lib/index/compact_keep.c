/*
 * The engine compact as frames: which slots are dead, and the maplet. Whole, or in parts: a part is
 * a group of segments, the piece in which the maplet's directory grows, or a table's overflow.
 */
#include "index/compact_index.h"

#include "common/endian.h"
#include "frame/frame.h"
#include "hash/derive.h"

#define DEAD BRY__FOUR('D', 'E', 'A', 'D')

static bry_status bad(bry__frame_reader *reader, const char *problem)
{
    return bry__frame_reader_fail(reader, BRY_E_BADDATA, problem);
}

static bry_status no_memory(bry__frame_reader *reader)
{
    return bry__frame_reader_fail(reader, BRY_E_NOMEM, "no memory for the units");
}

/* ---- slots --------------------------------------------------------------------------------- */

static void write_dead(const bry__compact_index *index, bry__frame_writer *writer)
{
    bry__frame_writer_open(writer, DEAD, (size_t)index->dead * 4);
    for (uint32_t i = 0; i < index->room; i++) {
        unsigned char number[4];
        if (index->state[i] < BRY__SLOT_DEAD)
            continue;
        bry__store32(number, i);
        bry__frame_writer_put(writer, number, sizeof number);
    }
}

static bry_status set_state(bry__frame_reader *reader, bry__compact_index *index, uint32_t slot,
                            bry__slot_state state)
{
    uint32_t before = index->room;
    if (bry__compact_index_reach(index, slot) != BRY_OK)
        return no_memory(reader);
    if (index->state[slot] != BRY__SLOT_FREE)
        return bad(reader, "a slot has a unit and is dead");
    index->state[slot] = (uint8_t)state;
    return bry__frame_reader_claim(reader, index->room - before);
}

/* The frame DEAD, and the slots that have units, into an instance without slots. */
static bry_status read_slots(bry__frame_reader *reader, bry__compact_index *index,
                             const bry__index_slots *slots)
{
    bry__frame frame;
    bry_status status = bry__frame_reader_next(reader, &frame);
    if (status == BRY_OK &&
        (frame.type != DEAD || frame.length % 4 != 0 || frame.length / 4 > BRY__INDEX_SLOTS))
        status = bad(reader, "the list of dead slots is missing or too long");
    uint32_t last = 0;
    for (uint32_t i = 0; status == BRY_OK && i < frame.length / 4; i++) {
        unsigned char number[4];
        status = bry__frame_reader_read(reader, number, sizeof number);
        uint32_t slot = bry__load32(number);
        if (status == BRY_OK && (slot >= BRY__INDEX_SLOTS || (i > 0 && slot <= last)))
            status = bad(reader, "the list of dead slots is wrong");
        if (status == BRY_OK)
            status = set_state(reader, index, slot, BRY__SLOT_DEAD);
        last = slot;
        index->dead++;
    }
    for (uint32_t i = 0; i < slots->room && status == BRY_OK; i++)
        if (slots->slot[i].order != 0) {
            status = set_state(reader, index, i, BRY__SLOT_LIVE);
            index->live++;
        }
    return status;
}

/* Whether every entry has a slot that is live or dead, and every unit as many as it says. */
static const char *check_entries(bry__compact_index *index, const bry__index_slots *slots,
                                 bry_status *status)
{
    const bry_allocator *allocator = &index->maplet.allocator;
    size_t size = (size_t)index->room * sizeof(uint64_t);
    uint64_t *count = bry__alloc(allocator, size);
    *status = BRY_E_NOMEM;
    if (!count)
        return "no memory for the units";
    const char *problem = NULL;
    bry__maplet_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t slot;
    while (!problem && bry__maplet_next(&index->maplet, &cursor, &fingerprint, &slot)) {
        if (slot >= index->room || index->state[slot] == BRY__SLOT_FREE)
            problem = "an entry is of no unit";
        else
            count[slot]++;
    }
    for (uint32_t i = 0; i < index->room && !problem; i++) {
        if (index->state[i] == BRY__SLOT_LIVE && count[i] != slots->slot[i].elements)
            problem = "a unit does not have as many elements as it says";
        if (index->state[i] == BRY__SLOT_LIVE &&
            (uint64_t)i >> index->maplet.options.value_bits != 0)
            problem = "a unit's slot is out of range";
        if (index->state[i] == BRY__SLOT_DEAD)
            index->dead_entries += count[i];
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
           maplet->options.fixed == wanted.fixed;
}

/* ---- whole --------------------------------------------------------------------------------- */

void bry__compact_index_write(const void *self, bry__frame_writer *writer)
{
    const bry__compact_index *index = self;
    write_dead(index, writer);
    bry__maplet_write(&index->maplet, writer);
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
    bry_status status = bry__maplet_read(&maplet, reader, allocator);
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
    bry__maplet_write_numbers(&index->maplet, writer);
}

void bry__compact_index_write_part(const void *self, uint64_t place, bry__frame_writer *writer)
{
    const bry__maplet *maplet = &((const bry__compact_index *)self)->maplet;
    part_place at = find_part(maplet, place);
    if (at.group == OVERFLOW_PART)
        bry__maplet_write_overflow(maplet, at.table, writer);
    else
        bry__maplet_write_segments(maplet, at.table, at.group * BRY__GROUP_SIZE,
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
        index->reading ? bry__maplet_read_numbers(&index->maplet, index->reading, reader, allocator)
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
    bry__maplet_reading *reading = index->reading;
    uint64_t table = part->id >> TABLE_SHIFT, group = part->id & OVERFLOW_PART;
    if (table != reading->table || table >= index->maplet.tables)
        return bad(reader, "a part stands out of its place");
    if (group == OVERFLOW_PART)
        return bry__maplet_read_overflow(&index->maplet, reading, reader);
    const bry__table *into = index->maplet.table[table];
    if (group >= groups_of(into) || reading->segment != group * BRY__GROUP_SIZE)
        return bad(reader, "a part stands out of its place");
    return bry__maplet_read_segments(&index->maplet, reading, group_end(into, group), reader);
}

bry_status bry__compact_index_read_done(void *self, const bry__index_slots *slots,
                                        const char **problem)
{
    bry__compact_index *index = self;
    bry_status status = BRY_E_BADDATA;
    *problem = bry__maplet_read_done(&index->maplet, index->reading);
    if (!*problem)
        *problem = check_entries(index, slots, &status);
    bry__free(&index->maplet.allocator, index->reading, sizeof *index->reading);
    index->reading = NULL;
    return *problem ? status : BRY_OK;
}
