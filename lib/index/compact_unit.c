/* One unit of engine compact as frames: the list of its fingerprints, table by table. */
#include "index/compact_index.h"

#include "common/endian.h"
#include "frame/frame.h"

#include <string.h>

#define UNIT BRY__FOUR('C', 'U', 'N', 'I')
#define FINGERPRINTS BRY__FOUR('F', 'P', 'R', 'S')

enum { /* the frame CUNI */
       AT_RANGE = 0, /* u64, of the first table */
       AT_ENTRIES = 8, /* u64 for each of 11 tables */
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

/* Bytes that a fingerprint of table i takes. */
static unsigned width_of(const bry__maplet *maplet, unsigned i)
{
    uint64_t most = maplet->chain.range[i] - 1;
    return (64 - (unsigned)__builtin_clzll(most) + 7) / 8;
}

/* Entries of one frame, collected before its length is known. */
typedef struct frame_list {
    unsigned char bytes[LIST_SIZE];
    unsigned table, count, width;
} frame_list;

static void begin_list(frame_list *entries, const bry__maplet *maplet, unsigned table)
{
    bry__store64(entries->bytes, table);
    entries->table = table;
    entries->count = 0;
    entries->width = width_of(maplet, table);
}

static void end_list(const frame_list *entries, bry__frame_writer *writer)
{
    if (entries->count)
        bry__frame_writer_write(writer, FINGERPRINTS, entries->bytes,
                                LIST_HEAD + (size_t)entries->count * entries->width);
}

static void write_list(const bry__maplet *maplet, uint32_t slot, bry__frame_writer *writer)
{
    frame_list entries;
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
    bry__store64(numbers + AT_RANGE, maplet->chain.range[0]);
    for (unsigned i = 0; i < BRY__MAPLET_TABLES; i++)
        bry__store64(numbers + AT_ENTRIES + 8 * (size_t)i, count[i]);
    bry__frame_writer_write(writer, UNIT, numbers, sizeof numbers);
    write_list(maplet, slot, writer);
}

/* The fingerprints that a unit brings to one table. */
typedef struct arrival_list {
    uint64_t *fingerprint;
    uint64_t n, room;
    uint64_t most; /* as the frame CUNI says */
} arrival_list;

/* What a unit brings: all of it is read before the first entry is put in. */
typedef struct arrival {
    arrival_list list[BRY__MAPLET_TABLES];
    uint64_t sum, done;
} arrival;

static void free_arrival(arrival *unit, const bry_allocator *allocator)
{
    for (unsigned i = 0; i < BRY__MAPLET_TABLES; i++)
        bry__free(allocator, unit->list[i].fingerprint,
                  unit->list[i].room * sizeof *unit->list[i].fingerprint);
}

/* Whether the promise holds with them, and without so many entries of each table. */
static bool fits(const bry__maplet *maplet, const arrival *unit, const uint64_t *without)
{
    uint64_t n[BRY__MAPLET_TABLES];
    bry__maplet_counts(maplet, n);
    for (unsigned i = 0; i < BRY__MAPLET_TABLES; i++)
        n[i] += unit->list[i].most - without[i];
    return bry__chain_keeps(&maplet->chain, n);
}

/*
 * Whether it will fit when all dead entries are swept: one that never will must not find the index
 * swept for nothing. They count most in the first table; where it is not enough that all of them
 * were there, nobody has to look where they are.
 */
static bool fits_swept(const bry__compact_index *index, const arrival *unit)
{
    const bry__maplet *maplet = &index->maplet;
    uint64_t dead[BRY__MAPLET_TABLES] = {index->dead_entries};
    if (dead[0] > maplet->table[0]->n)
        dead[0] = maplet->table[0]->n;
    if (!fits(maplet, unit, dead))
        return false;
    if (maplet->tables == 1)
        return true;
    bry__maplet_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t slot;
    dead[0] = 0;
    while (bry__maplet_next(maplet, &cursor, &fingerprint, &slot))
        dead[cursor.table] += index->state[slot] >= BRY__SLOT_DEAD;
    return fits(maplet, unit, dead);
}

/* Opens the tables that are needed. */
static bry_status reach_tables(bry__maplet *maplet, const arrival *unit)
{
    unsigned most = BRY__MAPLET_TABLES;
    while (most > 1 && unit->list[most - 1].n == 0)
        most--;
    bry_status status = BRY_OK;
    while (maplet->tables < most && status == BRY_OK)
        status = bry__maplet_open_table(maplet);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------- */

static bry_status more_room(arrival_list *list, uint64_t n, bry__frame_reader *reader,
                            const bry_allocator *allocator)
{
    if (n <= list->room)
        return BRY_OK;
    uint64_t room = list->room ? list->room : LIST_MOST;
    while (room < n)
        room *= 2;
    room = room < list->most ? room : list->most;
    bry_status status =
        bry__frame_reader_claim(reader, (room - list->room) * sizeof *list->fingerprint);
    if (status != BRY_OK)
        return status;
    uint64_t *larger = bry__alloc(allocator, room * sizeof *larger);
    if (!larger)
        return no_memory(reader);
    if (list->n)
        memcpy(larger, list->fingerprint, list->n * sizeof *larger);
    bry__free(allocator, list->fingerprint, list->room * sizeof *larger);
    list->fingerprint = larger;
    list->room = room;
    return BRY_OK;
}

/* Takes the fingerprints of a frame. */
static bry_status read_list(const bry__maplet *maplet, bry__frame_reader *reader,
                            const unsigned char *bytes, size_t length, arrival *unit)
{
    uint64_t table = bry__load64(bytes);
    if (table >= BRY__MAPLET_TABLES || unit->list[table].most == 0)
        return bad(reader, "a fingerprint is of no table");
    arrival_list *list = &unit->list[table];
    unsigned width = width_of(maplet, (unsigned)table);
    uint64_t n = (length - LIST_HEAD) / width;
    if ((length - LIST_HEAD) % width != 0 || n > list->most - list->n)
        return bad(reader, "more fingerprints than the unit has");
    bry_status status = more_room(list, list->n + n, reader, &maplet->allocator);
    if (status != BRY_OK)
        return status;
    for (size_t at = LIST_HEAD; at < length; at += width) {
        uint64_t fingerprint = 0;
        for (unsigned i = 0; i < width; i++)
            fingerprint |= (uint64_t)bytes[at + i] << (8 * i);
        if (fingerprint >= maplet->chain.range[table])
            return bad(reader, "a fingerprint is out of range");
        list->fingerprint[list->n++] = fingerprint;
    }
    unit->done += n;
    return BRY_OK;
}

/* All lists, and the end of the stream. */
static bry_status read_lists(const bry__maplet *maplet, bry__frame_reader *reader, arrival *unit)
{
    unsigned char bytes[LIST_SIZE];
    bry_status status = BRY_OK;
    while (unit->done < unit->sum && status == BRY_OK) {
        bry__frame frame;
        status = bry__frame_reader_next(reader, &frame);
        if (status == BRY_OK && (frame.type != FINGERPRINTS || frame.length <= LIST_HEAD ||
                                 frame.length > sizeof bytes))
            status = bad(reader, "fingerprints are missing");
        if (status == BRY_OK)
            status = bry__frame_reader_read(reader, bytes, frame.length);
        if (status == BRY_OK)
            status = read_list(maplet, reader, bytes, frame.length, unit);
    }
    return status == BRY_OK ? bry__frame_reader_end(reader) : status;
}

/* The frame CUNI; whether it fits the maplet and the record. */
static bry_status read_arrival(const bry__maplet *maplet, uint64_t elements,
                               bry__frame_reader *reader, arrival *unit)
{
    unsigned char numbers[UNIT_SIZE];
    bry_status status = bry__frame_reader_read_frame(reader, UNIT, numbers, sizeof numbers);
    if (status != BRY_OK)
        return status;
    if (bry__load64(numbers + AT_RANGE) != maplet->chain.range[0])
        return bry__frame_reader_fail(reader, BRY_E_MISMATCH,
                                      "the unit was made for an index of another shape");
    for (unsigned i = 0; i < BRY__MAPLET_TABLES; i++) {
        uint64_t n = bry__load64(numbers + AT_ENTRIES + 8 * (size_t)i);
        if (n > elements - unit->sum || (n > 0 && i >= maplet->chain.tables))
            return bad(reader, "the unit does not have as many elements as it says");
        unit->list[i].most = n;
        unit->sum += n;
    }
    if (unit->sum != elements)
        return bad(reader, "the unit does not have as many elements as it says");
    return BRY_OK;
}

/* ---- installing ---------------------------------------------------------------------------- */

/* Puts the entries of one table in; *done is how many. */
static bry_status put_list(bry__maplet *maplet, unsigned table, const arrival_list *list,
                           uint32_t slot, uint64_t *done)
{
    bry_status status = BRY_OK;
    for (*done = 0; *done < list->n && status == BRY_OK; *done += status == BRY_OK)
        status = bry__table_add(maplet->table[table], list->fingerprint[*done], slot,
                                &maplet->allocator);
    return status;
}

/* Puts all entries in; none, where memory is short: then the index is the same again. */
static bry_status put_lists(bry__compact_index *index, const arrival *unit, uint32_t *slot)
{
    bry__maplet *maplet = &index->maplet;
    bry__table_mark marks[BRY__MAPLET_TABLES] = {0};
    uint64_t done[BRY__MAPLET_TABLES] = {0}, capacity;
    uint32_t lowest = index->lowest, opened = BRY__INDEX_SLOTS;
    unsigned before = maplet->tables, value_bits = maplet->options.value_bits, marked = 0;
    bry_status status = BRY_OK;
    for (; marked < before && status == BRY_OK; marked += status == BRY_OK)
        status = bry__table_mark_make(&marks[marked], maplet->table[marked],
                                      unit->list[marked].fingerprint, unit->list[marked].n,
                                      &maplet->allocator);
    if (status == BRY_OK)
        status = reach_tables(maplet, unit);
    if (status == BRY_OK)
        status = bry__compact_index_open(index, &opened, &capacity);
    for (unsigned i = 0; i < maplet->tables && status == BRY_OK; i++)
        status = put_list(maplet, i, &unit->list[i], opened, &done[i]);
    while (status != BRY_OK && maplet->tables > before)
        bry__maplet_close_table(maplet);
    for (unsigned i = 0; i < marked; i++) {
        if (status != BRY_OK)
            bry__table_mark_return(&marks[i], maplet->table[i], unit->list[i].fingerprint, done[i],
                                   opened, &maplet->allocator);
        bry__table_mark_free(&marks[i], &maplet->allocator);
    }
    if (status == BRY_OK) {
        *slot = opened;
    } else {
        maplet->options.value_bits = value_bits;
        if (opened < BRY__INDEX_SLOTS)
            bry__compact_index_drop(index, opened, 0);
        index->lowest = lowest;
    }
    return status;
}

/* Makes room for it by sweeping, where that is enough. */
static bry_status make_fit(bry__compact_index *index, const arrival *unit,
                           bry__frame_reader *reader)
{
    static const uint64_t none[BRY__MAPLET_TABLES];
    bool ready = fits(&index->maplet, unit, none);
    if (!ready && !fits_swept(index, unit))
        return bry__frame_reader_fail(reader, BRY_E_FULL,
                                      "more entries than the promised error allows");
    for (; !ready; ready = fits(&index->maplet, unit, none))
        if (bry__compact_index_sweep(index, UINT64_MAX) != BRY_OK)
            return no_memory(reader);
    return BRY_OK;
}

bry_status bry__compact_index_install(void *self, const bry__index_slot *record,
                                      bry__frame_reader *reader, uint32_t *slot)
{
    bry__compact_index *index = self;
    arrival unit = {.sum = 0};
    bry_status status = read_arrival(&index->maplet, record->elements, reader, &unit);
    if (status == BRY_OK)
        status = read_lists(&index->maplet, reader, &unit);
    if (status == BRY_OK)
        status = make_fit(index, &unit, reader);
    if (status == BRY_OK) {
        status = put_lists(index, &unit, slot);
        if (status != BRY_OK)
            bry__frame_reader_fail(reader, status, "no room for a further unit");
    }
    free_arrival(&unit, &index->maplet.allocator);
    return status;
}
