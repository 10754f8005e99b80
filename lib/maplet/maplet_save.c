/*
 * Saves and loads a maplet, whole or as a head and parts. The frames are its options with the
 * number of entries of each table, then the tables (table_save.h).
 */
#include "common/endian.h"
#include "frame/frame_numbers.h"
#include "maplet/maplet_values.h"
#include "maplet/table_save.h"

#include <assert.h>
#include <string.h>

#define KIND BRY__FOUR('M', 'P', 'L', 'T')
#define KIND_VERSION 1
#define OPTIONS BRY__FOUR('M', 'O', 'P', 'T')

/* The frame MOPT. */
typedef struct maplet_numbers {
    bry__maplet_options options;
    uint64_t tables;
} maplet_numbers;

#define ROW(field) BRY__NUMBER(maplet_numbers, field)
static const bry__number maplet_rows[] = {
    ROW(options.capacity), ROW(options.error), ROW(options.value_bits),
    ROW(options.fixed),    ROW(tables),        BRY__NUMBERS_END,
};

enum {
    AT_COUNTS = 32, /* after them, for each table: u64 entries, u64 entries in crowds */
    COUNTS_SIZE = 16,
    OPTIONS_MOST = AT_COUNTS + COUNTS_SIZE * (int)BRY__MAPLET_TABLES
};

/* A part has this many segments, or the crowds of a table. */
#define SEGMENTS_PER_PART 256u
#define TABLE_SHIFT 48u
#define CROWDS_PART (((uint64_t)1 << TABLE_SHIFT) - 1) /* after all segments of the table */

/* ---- writing ------------------------------------------------------------------------------- */

struct bry__maplet_writer {
    const bry__maplet *maplet;
    unsigned tables; /* without those after the last entry that is kept; at least one */
    bry__table empty; /* the first one, if there are no entries */
    unsigned value_bits;
    uint32_t few[BRY__VALUES_FEW]; /* names */
    bry__table_output output;
    bry__table_writer table[BRY__MAPLET_TABLES];
};

/* True if every value in the table equals its name. */
static bool maplet_save_is_plain(const bry__values *values, unsigned table)
{
    for (uint32_t value = values->first; value < values->room; value++)
        if (values->name[value - values->first] != value &&
            values->count[table][value - values->first] > 0)
            return false;
    return true;
}

static bry__names maplet_save_names(const bry__values *values, uint32_t few[BRY__VALUES_FEW])
{
    const uint32_t *all = bry__values_names(values, few);
    bry__names names = {.of = bry__keep_named(all, values->room), .rising = true, .same = true};
    uint32_t next = 0;
    for (uint32_t i = 0; i < values->room && names.rising; i++) {
        uint32_t name = all[i];
        if (name == BRY__NO_NAME) /* which is BRY__NOT_KEPT */
            continue;
        names.rising = name >= next;
        names.same &= names.rising && name == i;
        next = name;
    }
    return names;
}

void bry__maplet_writer_end(bry__maplet_writer *saving)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    for (unsigned i = 0; i < saving->tables; i++)
        if (saving->table[i].source.table)
            bry__table_writer_end(&saving->table[i]);
    bry__table_output_end(&saving->output);
    bry__table_free(&saving->empty, &allocator);
    bry__free(&allocator, saving, sizeof *saving);
}

bry_status bry__maplet_writer_begin(const bry__maplet *maplet, bry__maplet_writer **saving)
{
    /* Not the maplet's allocator: a maplet whose allocator is exhausted can be saved. */
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__maplet_writer *made = bry__alloc(&allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    made->maplet = maplet;
    made->value_bits = maplet->values ? bry__values_name_bits(maplet) : maplet->value_bits;
    made->tables = bry__maplet_live_tables(maplet);
    size_t room = 0;
    bry_status status =
        bry__table_init(&made->empty, maplet->chain.range, made->value_bits, &allocator);
    for (unsigned i = 0; i < made->tables && status == BRY_OK; i++) {
        uint64_t n = i < maplet->tables ? bry__maplet_live(maplet, i) : 0;
        bry__table_source source = {.table = n ? &maplet->table[i] : &made->empty};
        if (n && maplet->values && !maplet_save_is_plain(maplet->values, i))
            source.names = maplet_save_names(maplet->values, made->few);
        status = bry__table_writer_begin(&made->table[i], &source, n, made->value_bits);
        size_t most = bry__table_frame_most(made->table[i].shape.segments, n);
        room = most > room ? most : room;
    }
    if (status == BRY_OK)
        status = bry__table_output_begin(&made->output, room);
    if (status == BRY_OK)
        *saving = made;
    else
        bry__maplet_writer_end(made);
    return status;
}

void bry__maplet_save_head(const bry__maplet_writer *saving, bry__frame_writer *writer)
{
    maplet_numbers numbers = {bry__maplet_like(saving->maplet), saving->tables};
    unsigned char bytes[OPTIONS_MOST];
    numbers.options.value_bits = saving->value_bits;
    bry__numbers_store(bytes, maplet_rows, &numbers);
    unsigned char *counts = bytes + AT_COUNTS;
    for (unsigned i = 0; i < saving->tables; i++, counts += COUNTS_SIZE) {
        bry__store64(counts, saving->table[i].n);
        bry__store64(counts + 8, saving->table[i].crowded);
    }
    bry__frame_writer_write(writer, OPTIONS, bytes, (size_t)(counts - bytes));
}

static void maplet_save_fail(bry__frame_writer *writer, bry_status status)
{
    if (writer->status == BRY_OK)
        writer->status = status;
}

void bry__maplet_write(const bry__maplet *maplet, bry__frame_writer *writer)
{
    bry__maplet_writer *saving;
    bry_status status = bry__maplet_writer_begin(maplet, &saving);
    if (status == BRY_OK) {
        bry__maplet_save_head(saving, writer);
        saving->output.writer = writer;
        for (unsigned i = 0; i < saving->tables && status == BRY_OK; i++) {
            bry__table_writer *table = &saving->table[i];
            status = bry__table_save_segments(table, 0, table->shape.segments, &saving->output);
            if (status == BRY_OK)
                status = bry__table_save_crowds(table, &saving->output);
        }
        bry__maplet_writer_end(saving);
    }
    maplet_save_fail(writer, status);
}

bry_status bry__maplet_save(const bry__maplet *maplet, const bry_sink *sink)
{
    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, sink, NULL, KIND, KIND_VERSION, 0);
    bry__maplet_write(maplet, &writer);
    return bry__frame_writer_end(&writer);
}

/* ---- writing parts ------------------------------------------------------------------------- */

static uint64_t table_part_ranges(uint64_t segments)
{
    return (segments + SEGMENTS_PER_PART - 1) / SEGMENTS_PER_PART;
}

static uint64_t table_parts(const bry__table_writer *table)
{
    return table_part_ranges(table->shape.segments) + (table->crowded > 0);
}

uint64_t bry__maplet_save_parts(const bry__maplet_writer *saving)
{
    uint64_t parts = 0;
    for (unsigned i = 0; i < saving->tables; i++)
        parts += table_parts(&saving->table[i]);
    return parts;
}

uint64_t bry__maplet_part_id(const bry__maplet_writer *saving, uint64_t part)
{
    unsigned i = 0;
    for (; part >= table_parts(&saving->table[i]); i++)
        part -= table_parts(&saving->table[i]);
    bool crowds = part == table_part_ranges(saving->table[i].shape.segments);
    return (uint64_t)i << TABLE_SHIFT | (crowds ? CROWDS_PART : part);
}

/* The first segment after the range. */
static uint64_t table_part_range_end(const bry__table *table, uint64_t range)
{
    uint64_t end = (range + 1) * SEGMENTS_PER_PART;
    return end < table->segments ? end : table->segments;
}

static bry_status maplet_save_encode_part(bry__maplet_writer *saving, uint64_t part)
{
    uint64_t id = bry__maplet_part_id(saving, part), range = id & CROWDS_PART;
    bry__table_writer *table = &saving->table[id >> TABLE_SHIFT];
    if (range == CROWDS_PART)
        return bry__table_save_crowds(table, &saving->output);
    return bry__table_save_segments(table, range * SEGMENTS_PER_PART,
                                    table_part_range_end(&table->shape, range), &saving->output);
}

bry_status bry__maplet_part_stamp(bry__maplet_writer *saving, uint64_t part, uint64_t stamp[2])
{
    saving->output.writer = NULL;
    memset(saving->output.stamp, 0, sizeof saving->output.stamp);
    bry_status status = maplet_save_encode_part(saving, part);
    memcpy(stamp, saving->output.stamp, sizeof saving->output.stamp);
    return status;
}

void bry__maplet_save_part(bry__maplet_writer *saving, uint64_t part, bry__frame_writer *writer)
{
    saving->output.writer = writer;
    maplet_save_fail(writer, maplet_save_encode_part(saving, part));
}

/* ---- reading ------------------------------------------------------------------------------- */

struct bry__maplet_reader {
    bry_allocator allocator;
    bry__maplet maplet;
    unsigned table; /* the table being read */
    unsigned char *buffer;
    size_t buffer_room;
    bry__entry_visit visit;
    bry__table_reader loading[BRY__MAPLET_TABLES];
};

void bry__maplet_reader_free(bry__maplet_reader *reading)
{
    bry_allocator allocator = reading->allocator;
    bry__maplet_free(&reading->maplet);
    bry__free(&allocator, reading->buffer, reading->buffer_room);
    bry__free(&allocator, reading, sizeof *reading);
}

bry__maplet_options bry__maplet_reader_options(const bry__maplet_reader *reading)
{
    return bry__maplet_like(&reading->maplet);
}

/* Begins to read the next table of the maplet. */
static bry_status maplet_load_add_table(bry__maplet_reader *reading, const unsigned char *counts,
                                        bry__frame_reader *reader)
{
    bry__maplet *maplet = &reading->maplet;
    unsigned i = maplet->tables;
    bry_status status = bry__frame_reader_claim(reader, i > 0 ? reading->visit.table_bytes : 0);
    if (status != BRY_OK)
        return status;
    maplet->tables++;
    reading->loading[i] = (bry__table_reader){.table = &maplet->table[i],
                                              .number = i,
                                              .n = bry__load64(counts),
                                              .crowded = bry__load64(counts + 8),
                                              .visit = &reading->visit,
                                              .allocator = &reading->allocator};
    const char *problem = bry__table_reader_begin(
        &reading->loading[i], bry__chain_range(&maplet->chain, i), maplet->value_bits);
    return problem ? bry__frame_reader_bad(reader, problem) : BRY_OK;
}

/* A buffer that suffices for all tables. */
static bry_status maplet_load_make_buffer(bry__maplet_reader *reading, bry__frame_reader *reader)
{
    size_t room = 0;
    for (unsigned i = 0; i < reading->maplet.tables; i++) {
        const bry__table_reader *loading = &reading->loading[i];
        size_t most = bry__table_frame_most(loading->table->segments, loading->n);
        room = most > room ? most : room;
    }
    reading->buffer_room = room + BRY__SEGMENT_RECORD_MOST;
    reading->buffer = bry__alloc_buffer(&reading->allocator, reading->buffer_room);
    if (!reading->buffer)
        return bry__frame_reader_no_memory(reader);
    for (unsigned i = 0; i < reading->maplet.tables; i++) {
        reading->loading[i].buffer = reading->buffer;
        reading->loading[i].room = room;
    }
    return BRY_OK;
}

static bry_status maplet_load_head(bry__maplet_reader *reading, bry__frame_reader *reader)
{
    unsigned char bytes[OPTIONS_MOST];
    size_t size;
    bry__maplet *maplet = &reading->maplet;
    bry_status status =
        bry__frame_reader_expect(reader, OPTIONS, "the maplet's options are missing",
                                 AT_COUNTS + COUNTS_SIZE, sizeof bytes, &size);
    if (status == BRY_OK)
        status = bry__frame_reader_read(reader, bytes, size);
    if (status != BRY_OK)
        return status;
    maplet_numbers numbers;
    bry__numbers_load(bytes, maplet_rows, &numbers);
    uint64_t tables = numbers.tables;
    if (!bry__maplet_init(maplet, &numbers.options, &reading->allocator) || tables < 1 ||
        tables > maplet->chain.tables || size != AT_COUNTS + COUNTS_SIZE * tables)
        return bry__frame_reader_bad(reader, "the maplet's options are out of range");
    const unsigned char *counts = bytes + AT_COUNTS;
    maplet->table =
        bry__frame_reader_alloc(reader, &reading->allocator, tables * sizeof *maplet->table);
    if (!maplet->table)
        return reader->status;
    maplet->room = (uint8_t)tables;
    for (; maplet->tables < tables && status == BRY_OK; counts += COUNTS_SIZE)
        status = maplet_load_add_table(reading, counts, reader);
    if (status == BRY_OK && tables > 1 && reading->loading[tables - 1].n == 0)
        status = bry__frame_reader_bad(reader, "the last table has no entries");
    return status == BRY_OK ? maplet_load_make_buffer(reading, reader) : status;
}

bry_status bry__maplet_reader_begin(bry__maplet_reader **reading, bry__frame_reader *reader,
                                    const bry_allocator *allocator, const bry__entry_visit *visit)
{
    bry__maplet_reader *made = bry__alloc(allocator, sizeof *made);
    if (!made)
        return bry__frame_reader_no_memory(reader);
    made->allocator = *allocator;
    if (visit)
        made->visit = *visit;
    bry_status status = maplet_load_head(made, reader);
    if (status == BRY_OK)
        *reading = made;
    else
        bry__maplet_reader_free(made);
    return status;
}

static bool maplet_load_is_complete(const bry__maplet_reader *reading, unsigned i)
{
    return reading->loading[i].segment == reading->maplet.table[i].segments;
}

bry_status bry__maplet_read_part(bry__maplet_reader *reading, uint64_t id,
                                 bry__frame_reader *reader)
{
    uint64_t i = id >> TABLE_SHIFT, range = id & CROWDS_PART;
    if (i != reading->table || i >= reading->maplet.tables)
        return bry__frame_reader_bad(reader, "a part is out of place");
    bry__table_reader *loading = &reading->loading[i];
    loading->reader = reader;
    bry_status status;
    if (maplet_load_is_complete(reading, (unsigned)i)) {
        if (range != CROWDS_PART)
            return bry__frame_reader_bad(reader, "a part is out of place");
        status = bry__table_load_crowds(loading);
    } else {
        if (range >= table_part_ranges(loading->table->segments) ||
            loading->segment != range * SEGMENTS_PER_PART)
            return bry__frame_reader_bad(reader, "a part is out of place");
        status = bry__table_load_segments(loading, table_part_range_end(loading->table, range));
        if (!maplet_load_is_complete(reading, (unsigned)i) || loading->crowded > 0)
            return status;
    }
    reading->table++;
    return status;
}

static const char *maplet_load_check(const bry__maplet_reader *reading)
{
    const bry__maplet *maplet = &reading->maplet;
    if (reading->table != maplet->tables)
        return "segments are missing";
    for (unsigned i = 0; i < maplet->tables; i++) {
        const char *problem = bry__table_reader_problem(&reading->loading[i]);
        if (problem)
            return problem;
    }
    return bry__maplet_keeps(maplet) ? NULL : "more entries than the error allows";
}

const char *bry__maplet_reader_end(bry__maplet_reader *reading, bry__maplet *maplet)
{
    const char *problem = maplet_load_check(reading);
    if (!problem) {
        if (bry__maplet_count(&reading->maplet) == 0)
            bry__maplet_free(&reading->maplet);
        *maplet = reading->maplet;
        reading->maplet.tables = reading->maplet.room = 0;
        reading->maplet.table = NULL;
    }
    bry__maplet_reader_free(reading);
    return problem;
}

bry_status bry__maplet_read(bry__maplet *maplet, bry__frame_reader *reader,
                            const bry_allocator *allocator, const bry__entry_visit *visit)
{
    bry__maplet_reader *reading = NULL;
    bry_status status = bry__maplet_reader_begin(&reading, reader, allocator, visit);
    if (status != BRY_OK)
        return status;
    assert(reading);
    for (; reading->table < reading->maplet.tables && status == BRY_OK; reading->table++) {
        bry__table_reader *loading = &reading->loading[reading->table];
        loading->reader = reader;
        status = bry__table_load_segments(loading, loading->table->segments);
        if (status == BRY_OK)
            status = bry__table_load_crowds(loading);
    }
    if (status != BRY_OK) {
        bry__maplet_reader_free(reading);
        return status;
    }
    const char *problem = bry__maplet_reader_end(reading, maplet);
    return problem ? bry__frame_reader_bad(reader, problem) : BRY_OK;
}

/* ---- streams of their own ------------------------------------------------------------------ */

bry_status bry__maplet_load(bry__maplet *maplet, const bry_source *source, bry_load *load)
{
    bry__frame_reader reader;
    bry__maplet read;
    bry_status status = bry__frame_reader_open(&reader, source, load, KIND, KIND_VERSION);
    if (status == BRY_OK)
        status = bry__maplet_read(&read, &reader, &reader.allocator, NULL);
    if (status == BRY_OK) {
        status = bry__frame_reader_end(&reader);
        if (status != BRY_OK)
            bry__maplet_free(&read);
    }
    if (status == BRY_OK)
        *maplet = read;
    bry__frame_reader_close(&reader);
    return status;
}
