/* Saves and imports one unit of the engine compact: its fingerprints, table by table, sorted. */
#include "index/compact/compact_index.h"

#include "common/endian.h"
#include "frame/frame.h"

#include <stdlib.h>
#include <string.h>

#define UNIT BRY__FOUR('C', 'U', 'N', 'I')
#define FINGERPRINTS BRY__FOUR('F', 'P', 'R', 'S')

enum { /* the frame CUNI */
       AT_RANGE = 0, /* u64, of the first table */
       AT_ENTRIES = 8, /* u64 for each of 11 tables */
       UNIT_SIZE = 8 + 8 * BRY__MAPLET_TABLES
};

enum { /* the frame FPRS: a table's number (u64), then fingerprints in as many bytes as needed */
       LIST_HEAD = 8,
       LIST_MOST = 1024, /* fingerprints per frame */
       LIST_SIZE = LIST_HEAD + 8 * LIST_MOST
};

/* Bytes per fingerprint in table i. */
static unsigned fingerprint_width(const bry__maplet *maplet, unsigned i)
{
    uint64_t most = bry__chain_range(&maplet->chain, i) - 1;
    return (64 - (unsigned)__builtin_clzll(most) + 7) / 8;
}

static int compare_fingerprints(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void compact_unit_write_list(const bry__maplet *maplet, unsigned table,
                                    const uint64_t *fingerprints, uint64_t n,
                                    bry__frame_writer *writer)
{
    unsigned width = fingerprint_width(maplet, table);
    for (uint64_t done = 0; done < n;) {
        uint64_t end = n - done < LIST_MOST ? n : done + LIST_MOST;
        unsigned char head[LIST_HEAD], bytes[8];
        bry__store64(head, table);
        bry__frame_writer_open(writer, FINGERPRINTS, LIST_HEAD + (size_t)(end - done) * width);
        bry__frame_writer_put(writer, head, sizeof head);
        for (; done < end; done++) {
            bry__store64(bytes, fingerprints[done]);
            bry__frame_writer_put(writer, bytes, width);
        }
    }
}

/* The unit's fingerprints in the order of the tables, ascending in each of them. */
static void compact_unit_list(const bry__maplet *maplet, uint32_t value, uint64_t *fingerprints)
{
    bry__maplet_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t found;
    for (uint64_t n = 0; bry__maplet_next(maplet, &cursor, &fingerprint, &found);)
        if (found == value)
            fingerprints[n++] = fingerprint;
    for (unsigned i = 0; i < maplet->tables; i++) {
        uint64_t n = maplet->values->count[i][value];
        qsort(fingerprints, (size_t)n, sizeof *fingerprints, compare_fingerprints);
        fingerprints += n;
    }
}

void bry__compact_index_write_unit(const void *self, uint32_t slot, bry__frame_writer *writer)
{
    const bry__compact_index *index = self;
    const bry__maplet *maplet = &index->maplet;
    uint32_t value = index->value[slot];
    uint64_t sum = bry__values_entries(maplet, value), at = 0;
    bry_allocator allocator = bry__allocator_or_default(NULL); /* the index is read-only here */
    unsigned char numbers[UNIT_SIZE] = {0};
    uint64_t *fingerprints = bry__alloc_buffer(&allocator, (size_t)sum * sizeof *fingerprints + 1);
    if (!fingerprints) {
        if (writer->status == BRY_OK)
            writer->status = BRY_E_NOMEM;
        return;
    }
    compact_unit_list(maplet, value, fingerprints);
    bry__store64(numbers + AT_RANGE, maplet->chain.range);
    for (unsigned i = 0; i < BRY__MAPLET_TABLES && i < maplet->tables; i++)
        bry__store64(numbers + AT_ENTRIES + 8 * (size_t)i, maplet->values->count[i][value]);
    bry__frame_writer_write(writer, UNIT, numbers, sizeof numbers);
    for (unsigned i = 0; i < maplet->tables; i++) {
        compact_unit_write_list(maplet, i, fingerprints + at, maplet->values->count[i][value],
                                writer);
        at += maplet->values->count[i][value];
    }
    bry__free(&allocator, fingerprints, (size_t)sum * sizeof *fingerprints + 1);
}

/* The fingerprints of a unit for one table. */
typedef struct arrival_list {
    uint64_t *fingerprint;
    uint64_t n, room;
    uint64_t most; /* number in the frame CUNI */
} arrival_list;

/* A unit to be imported. All of it is read before the first entry is added. */
typedef struct arrival {
    arrival_list list[BRY__MAPLET_TABLES];
    uint64_t sum, done;
} arrival;

static void compact_unit_free(arrival *unit, const bry_allocator *allocator)
{
    for (unsigned i = 0; i < BRY__MAPLET_TABLES; i++)
        bry__free(allocator, unit->list[i].fingerprint,
                  unit->list[i].room * sizeof *unit->list[i].fingerprint);
}

/* True if the index keeps its error with the new entries. */
static bool compact_unit_fits(const bry__maplet *maplet, const arrival *unit)
{
    uint64_t n[BRY__MAPLET_TABLES];
    bry__maplet_counts(maplet, n);
    for (unsigned i = 0; i < BRY__MAPLET_TABLES; i++)
        n[i] += unit->list[i].most;
    return bry__chain_keeps(&maplet->chain, n);
}

/* ---- reading ------------------------------------------------------------------------------- */

static bry_status compact_unit_more_room(arrival_list *list, uint64_t n, bry__frame_reader *reader,
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
        return bry__frame_reader_no_memory(reader);
    if (list->n)
        memcpy(larger, list->fingerprint, list->n * sizeof *larger);
    bry__free(allocator, list->fingerprint, list->room * sizeof *larger);
    list->fingerprint = larger;
    list->room = room;
    return BRY_OK;
}

/* Reads the fingerprints of one frame. */
static bry_status compact_unit_read_list(const bry__maplet *maplet, bry__frame_reader *reader,
                                         const unsigned char *bytes, size_t length, arrival *unit)
{
    uint64_t table = bry__load64(bytes);
    if (table >= BRY__MAPLET_TABLES || unit->list[table].most == 0)
        return bry__frame_reader_bad(reader, "a fingerprint has no table");
    arrival_list *list = &unit->list[table];
    unsigned width = fingerprint_width(maplet, (unsigned)table);
    uint64_t n = (length - LIST_HEAD) / width;
    if ((length - LIST_HEAD) % width != 0 || n > list->most - list->n)
        return bry__frame_reader_bad(reader, "more fingerprints than the unit has");
    bry_status status = compact_unit_more_room(list, list->n + n, reader, &maplet->allocator);
    if (status != BRY_OK)
        return status;
    for (size_t at = LIST_HEAD; at < length; at += width) {
        uint64_t fingerprint = 0;
        for (unsigned i = 0; i < width; i++)
            fingerprint |= (uint64_t)bytes[at + i] << (8 * i);
        if (fingerprint >= bry__chain_range(&maplet->chain, table))
            return bry__frame_reader_bad(reader, "a fingerprint is out of range");
        if (list->n > 0 && fingerprint < list->fingerprint[list->n - 1])
            return bry__frame_reader_bad(reader, "the fingerprints are out of order");
        list->fingerprint[list->n++] = fingerprint;
    }
    unit->done += n;
    return BRY_OK;
}

/* Reads all lists and the end of the stream. */
static bry_status compact_unit_read_lists(const bry__maplet *maplet, bry__frame_reader *reader,
                                          arrival *unit)
{
    unsigned char bytes[LIST_SIZE];
    bry_status status = BRY_OK;
    while (unit->done < unit->sum && status == BRY_OK) {
        size_t length;
        status = bry__frame_reader_expect(reader, FINGERPRINTS, "fingerprints are missing",
                                          LIST_HEAD + 1, sizeof bytes, &length);
        if (status == BRY_OK)
            status = bry__frame_reader_read(reader, bytes, length);
        if (status == BRY_OK)
            status = compact_unit_read_list(maplet, reader, bytes, length, unit);
    }
    return status == BRY_OK ? bry__frame_reader_end(reader) : status;
}

/* Reads the frame CUNI and checks that it matches the maplet and the record. */
static bry_status compact_unit_read_head(const bry__maplet *maplet, uint64_t elements,
                                         bry__frame_reader *reader, arrival *unit)
{
    unsigned char numbers[UNIT_SIZE];
    bry_status status = bry__frame_reader_read_frame(reader, UNIT, numbers, sizeof numbers);
    if (status != BRY_OK)
        return status;
    if (bry__load64(numbers + AT_RANGE) != maplet->chain.range)
        return bry__frame_reader_fail(reader, BRY_E_MISMATCH,
                                      "the unit belongs to an index of another shape");
    for (unsigned i = 0; i < BRY__MAPLET_TABLES; i++) {
        uint64_t n = bry__load64(numbers + AT_ENTRIES + 8 * (size_t)i);
        if (n > elements - unit->sum || (n > 0 && i >= maplet->chain.tables))
            return bry__frame_reader_bad(reader, "the unit has the wrong number of elements");
        unit->list[i].most = n;
        unit->sum += n;
    }
    if (unit->sum != elements)
        return bry__frame_reader_bad(reader, "the unit has the wrong number of elements");
    return BRY_OK;
}

/* ---- importing ----------------------------------------------------------------------------- */

/* Opens a unit with all entries; on failure there is no unit. */
static bry_status compact_unit_put_lists(bry__compact_index *index, uint32_t number,
                                         const arrival *unit, uint32_t *slot)
{
    bry__fingerprints lists[BRY__MAPLET_TABLES];
    uint64_t capacity;
    uint32_t opened;
    for (unsigned i = 0; i < BRY__MAPLET_TABLES; i++)
        lists[i] = (bry__fingerprints){unit->list[i].fingerprint, unit->list[i].n};
    bry_status status = bry__compact_index_open(index, number, &opened, &capacity);
    if (status != BRY_OK)
        return status;
    status = bry__values_add_all(&index->maplet, lists, index->value[opened]);
    if (status == BRY_OK)
        *slot = opened;
    else
        bry__compact_index_drop(index, opened, 0);
    return status;
}

bry_status bry__compact_index_import(void *self, uint32_t number, const bry__index_slot *record,
                                     bry__frame_reader *reader, uint32_t *slot)
{
    bry__compact_index *index = self;
    arrival unit = {.sum = 0};
    bry_status status = compact_unit_read_head(&index->maplet, record->elements, reader, &unit);
    if (status == BRY_OK)
        status = compact_unit_read_lists(&index->maplet, reader, &unit);
    if (status == BRY_OK && !compact_unit_fits(&index->maplet, &unit))
        status = bry__frame_reader_fail(reader, BRY_E_FULL, "more entries than the error allows");
    if (status == BRY_OK) {
        status = compact_unit_put_lists(index, number, &unit, slot);
        if (status != BRY_OK)
            bry__frame_reader_fail(reader, status, "no room for another unit");
    }
    compact_unit_free(&unit, &index->maplet.allocator);
    return status;
}
