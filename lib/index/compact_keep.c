/*
 * The engine compact as frames: which slots are dead, and the maplet. Whole, or in parts: a part is
 * a group of segments, the piece in which the maplet's directory grows, or a table's overflow. One
 * unit is the list of its fingerprints.
 */
#include "index/compact_index.h"

#include "common/endian.h"
#include "frame/frame.h"
#include "hash/derive.h"

#define DEAD BRY__FOUR('D', 'E', 'A', 'D')
#define UNIT BRY__FOUR('C', 'U', 'N', 'I')
#define FINGERPRINTS BRY__FOUR('F', 'P', 'R', 'S')

enum { /* the frame CUNI */
       AT_RANGE = 0, /* u64, of the first table */
       AT_ENTRIES = 8, /* u64 for each of 16 tables */
       UNIT_SIZE = 8 + 8 * BRY__MAPLET_TABLES
};

enum { /* the frame FPRS: a table's number, u64, and fingerprints of it in as many bytes as needed
        */
       LIST_HEAD = 8,
       LIST_MOST = 1024, /* fingerprints in a frame */
       LIST_SIZE = LIST_HEAD + 8 * LIST_MOST
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

/* An instance that has its options and slots; its maplet is still to come. */
static bry_status read_shell(const bry_index_options *options, const bry__index_slots *slots,
                             bry__frame_reader *reader, const bry_allocator *allocator,
                             bry__compact_index **index)
{
    bry__maplet none = {.allocator = *allocator};
    bry_status status = bry__frame_reader_claim(reader, sizeof **index);
    if (status != BRY_OK)
        return status;
    bry__compact_index *made = bry__compact_index_make(options->unit_capacity, &none);
    if (!made)
        return no_memory(reader);
    status = read_slots(reader, made, slots);
    if (status == BRY_OK)
        *index = made;
    else
        bry__compact_index_destroy(made);
    return status;
}

bry_status bry__compact_index_read(const bry_index_options *options, const bry__index_slots *slots,
                                   bry__frame_reader *reader, const bry_allocator *allocator,
                                   void **self)
{
    bry__compact_index *index;
    bry_status status = read_shell(options, slots, reader, allocator, &index);
    if (status != BRY_OK)
        return status;
    bry__maplet maplet;
    status = bry__maplet_read(&maplet, reader, allocator);
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
    bry__compact_index *index;
    bry_status status = read_shell(options, slots, reader, allocator, &index);
    if (status != BRY_OK)
        return status;
    index->reading = bry__alloc(allocator, sizeof *index->reading);
    status = index->reading
                 ? bry__maplet_read_numbers(&index->maplet, index->reading, reader, allocator)
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

/* ---- one unit ------------------------------------------------------------------------------ */

/* Bytes that a fingerprint of table i takes. */
static unsigned width_of(const bry__maplet *maplet, unsigned i)
{
    uint64_t most = (maplet->range << (2 * i)) - 1;
    return (64 - (unsigned)__builtin_clzll(most) + 7) / 8;
}

/* Entries of one frame, collected before its length is known. */
typedef struct list {
    unsigned char bytes[LIST_SIZE];
    unsigned table, count, width;
} list;

static void begin_list(list *entries, const bry__maplet *maplet, unsigned table)
{
    bry__store64(entries->bytes, table);
    entries->table = table;
    entries->count = 0;
    entries->width = width_of(maplet, table);
}

static void end_list(const list *entries, bry__frame_writer *writer)
{
    if (entries->count)
        bry__frame_writer_write(writer, FINGERPRINTS, entries->bytes,
                                LIST_HEAD + (size_t)entries->count * entries->width);
}

static void write_list(const bry__maplet *maplet, uint32_t slot, bry__frame_writer *writer)
{
    list entries;
    bry__maplet_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t value;
    begin_list(&entries, maplet, 0);
    while (bry__maplet_next(maplet, &cursor, &fingerprint, &value)) {
        if (value != slot)
            continue;
        if (cursor.table != entries.table || entries.count == LIST_MOST) {
            end_list(&entries, writer);
            begin_list(&entries, maplet, cursor.table);
        }
        unsigned char *to = entries.bytes + LIST_HEAD + (size_t)entries.count++ * entries.width;
        for (unsigned i = 0; i < entries.width; i++)
            to[i] = (unsigned char)(fingerprint >> (8 * i));
    }
    end_list(&entries, writer);
}

void bry__compact_index_write_unit(const void *self, uint32_t slot, bry__frame_writer *writer)
{
    const bry__maplet *maplet = &((const bry__compact_index *)self)->maplet;
    unsigned char numbers[UNIT_SIZE];
    bry__maplet_cursor cursor = {0};
    uint64_t fingerprint, count[BRY__MAPLET_TABLES] = {0};
    uint32_t value;
    while (bry__maplet_next(maplet, &cursor, &fingerprint, &value))
        count[cursor.table] += value == slot;
    bry__store64(numbers + AT_RANGE, maplet->range);
    for (unsigned i = 0; i < BRY__MAPLET_TABLES; i++)
        bry__store64(numbers + AT_ENTRIES + 8 * (size_t)i, count[i]);
    bry__frame_writer_write(writer, UNIT, numbers, sizeof numbers);
    write_list(maplet, slot, writer);
}

/* What a unit is going to bring: entries of each table that are still to come. */
typedef struct arrival {
    uint64_t left[BRY__MAPLET_TABLES];
    uint64_t sum, done;
} arrival;

/* Whether the promise holds with them. It must be known before the first one is put in, or an index
 * that refuses a unit would be in a state that it could not be loaded in. */
static bool fits(const bry__maplet *maplet, const arrival *unit)
{
    if (maplet->options.fixed)
        return bry__maplet_count(maplet) + unit->sum <= maplet->options.capacity;
    double error = 0; /* as bry__maplet_error_now() will have it, to the last bit */
    for (unsigned i = 0; i < BRY__MAPLET_TABLES; i++) {
        uint64_t n = unit->left[i] + (i < maplet->tables ? maplet->table[i]->n : 0);
        if (n > 0)
            error += (double)n / (double)(maplet->range << (2 * i));
    }
    return error <= maplet->options.error;
}

/* Opens the tables that are needed. */
static bry_status reach_tables(bry__maplet *maplet, const arrival *unit)
{
    unsigned before = maplet->tables, most = BRY__MAPLET_TABLES;
    while (most > 1 && unit->left[most - 1] == 0)
        most--;
    bry_status status = BRY_OK;
    while (maplet->tables < most && status == BRY_OK)
        status = bry__maplet_open_table(maplet);
    while (status != BRY_OK && maplet->tables > before)
        bry__maplet_close_table(maplet);
    return status;
}

/* Puts the fingerprints of a frame in. */
static bry_status install_list(bry__compact_index *index, uint32_t slot, bry__frame_reader *reader,
                               const unsigned char *bytes, size_t length, arrival *unit)
{
    bry__maplet *maplet = &index->maplet;
    uint64_t table = bry__load64(bytes);
    if (table >= maplet->tables)
        return bad(reader, "a fingerprint is of no table");
    unsigned width = width_of(maplet, (unsigned)table);
    if ((length - LIST_HEAD) % width != 0 || (length - LIST_HEAD) / width > unit->left[table])
        return bad(reader, "more fingerprints than the unit has");
    bry__table *into = maplet->table[table];
    for (size_t at = LIST_HEAD; at < length; at += width) {
        uint64_t fingerprint = 0;
        for (unsigned i = 0; i < width; i++)
            fingerprint |= (uint64_t)bytes[at + i] << (8 * i);
        if (fingerprint >= into->range)
            return bad(reader, "a fingerprint is out of range");
        if (bry__table_insert(into, fingerprint, slot, &maplet->allocator) != BRY_OK)
            return no_memory(reader);
        unit->left[table]--;
        unit->done++;
    }
    return BRY_OK;
}

static bry_status install_lists(bry__compact_index *index, uint32_t slot, bry__frame_reader *reader,
                                arrival *unit)
{
    unsigned char bytes[LIST_SIZE];
    bry_status status = BRY_OK;
    uint64_t claimed = bry__maplet_bytes(&index->maplet);
    while (unit->done < unit->sum && status == BRY_OK) {
        bry__frame frame;
        status = bry__frame_reader_next(reader, &frame);
        if (status == BRY_OK && (frame.type != FINGERPRINTS || frame.length <= LIST_HEAD ||
                                 frame.length > sizeof bytes))
            status = bad(reader, "fingerprints are missing");
        if (status == BRY_OK)
            status = bry__frame_reader_read(reader, bytes, frame.length);
        if (status == BRY_OK)
            status = install_list(index, slot, reader, bytes, frame.length, unit);
        uint64_t now = bry__maplet_bytes(&index->maplet);
        if (status == BRY_OK && now > claimed) {
            status = bry__frame_reader_claim(reader, now - claimed);
            claimed = now;
        }
    }
    return status;
}

/* The frame CUNI; whether it fits the maplet and the record. */
static bry_status read_arrival(const bry__maplet *maplet, uint64_t elements,
                               bry__frame_reader *reader, arrival *unit)
{
    unsigned char numbers[UNIT_SIZE];
    bry_status status = bry__frame_reader_read_frame(reader, UNIT, numbers, sizeof numbers);
    if (status != BRY_OK)
        return status;
    if (bry__load64(numbers + AT_RANGE) != maplet->range)
        return bry__frame_reader_fail(reader, BRY_E_MISMATCH,
                                      "the unit was made for an index of another shape");
    *unit = (arrival){.sum = 0};
    for (unsigned i = 0; i < BRY__MAPLET_TABLES; i++) {
        uint64_t n = bry__load64(numbers + AT_ENTRIES + 8 * (size_t)i);
        if (n > elements - unit->sum || (n > 0 && maplet->range > BRY__TABLE_MAX_RANGE >> (2 * i)))
            return bad(reader, "the unit does not have as many elements as it says");
        unit->left[i] = n;
        unit->sum += n;
    }
    if (unit->sum != elements)
        return bad(reader, "the unit does not have as many elements as it says");
    return BRY_OK;
}

bry_status bry__compact_index_install(void *self, const bry__index_slot *record,
                                      bry__frame_reader *reader, uint32_t *slot)
{
    bry__compact_index *index = self;
    arrival unit;
    bry_status status = read_arrival(&index->maplet, record->elements, reader, &unit);
    while (status == BRY_OK && !fits(&index->maplet, &unit)) {
        if (index->dead == 0)
            return bry__frame_reader_fail(reader, BRY_E_FULL,
                                          "more entries than the promised error allows");
        if (bry__compact_index_sweep(index, UINT64_MAX) != BRY_OK)
            return no_memory(reader);
    }
    if (status != BRY_OK)
        return status;
    uint32_t opened;
    uint64_t capacity;
    status = reach_tables(&index->maplet, &unit);
    if (status == BRY_OK)
        status = bry__compact_index_open(index, &opened, &capacity);
    if (status != BRY_OK)
        return bry__frame_reader_fail(reader, status, "no room for a further unit");
    status = install_lists(index, opened, reader, &unit);
    if (status != BRY_OK)
        bry__compact_index_drop(index, opened, unit.done);
    else
        *slot = opened;
    return status;
}
