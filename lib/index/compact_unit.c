/* One unit of engine compact as frames: the list of its fingerprints, table by table. */
#include "index/compact_index.h"

#include "common/endian.h"
#include "frame/frame.h"

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

/* Whether the promise holds with them, and without so many entries of each table. It must be known
 * before the first one is put in, or an index that refuses a unit would be in a state that it could
 * not be loaded in. */
static bool fits(const bry__maplet *maplet, const arrival *unit, const uint64_t *without)
{
    if (maplet->options.fixed)
        return bry__maplet_count(maplet) - without[0] + unit->sum <= maplet->options.capacity;
    double error = 0; /* as bry__maplet_error_now() will have it, to the last bit */
    for (unsigned i = 0; i < BRY__MAPLET_TABLES; i++) {
        uint64_t n = unit->left[i] + (i < maplet->tables ? maplet->table[i]->n - without[i] : 0);
        if (n > 0)
            error += (double)n / (double)(maplet->range << (2 * i));
    }
    return error <= maplet->options.error;
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
    static const uint64_t none[BRY__MAPLET_TABLES];
    arrival unit = {.sum = 0};
    bry_status status = read_arrival(&index->maplet, record->elements, reader, &unit);
    bool ready = status == BRY_OK && fits(&index->maplet, &unit, none);
    if (status == BRY_OK && !ready && !fits_swept(index, &unit))
        return bry__frame_reader_fail(reader, BRY_E_FULL,
                                      "more entries than the promised error allows");
    for (; status == BRY_OK && !ready; ready = fits(&index->maplet, &unit, none)) {
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
