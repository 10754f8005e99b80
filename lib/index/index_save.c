/*
 * An index as frames: its options and counters, the records of its units, and the engine's frames;
 * and one unit of it, to be imported in another index.
 */
#include "index/index_save.h"

#include "frame/frame_numbers.h"
#include "frame/job_row.h"

#include <stdlib.h>

#define RECORD_SIZE 56u /* bytes of a unit's record in a file */
#define KIND_UNIT BRY__FOUR('I', 'U', 'N', 'T')
#define UNIT_VERSION 1
#define NUMBERS BRY__FOUR('N', 'U', 'M', 'S')
#define UNITS BRY__FOUR('U', 'N', 'I', 'T')

enum { FLAG_FIXED = 1, FLAG_SEGMENTED = 2 };

/* The frame NUMS. */
typedef struct index_numbers {
    bry_index_options options;
    uint32_t flags, next_number;
    uint64_t last_order;
    uint64_t units; /* how many records follow */
} index_numbers;

#define ROW(field) BRY__NUMBER(index_numbers, field)
static const bry__number index_rows[] = {
    ROW(options.engine),
    ROW(flags),
    ROW(options.units),
    ROW(options.dba.control),
    ROW(options.unit_capacity),
    ROW(options.error),
    ROW(options.dba.stale),
    ROW(options.dba.group),
    ROW(options.dba.factor),
    ROW(options.dba.unit_bits),
    ROW(options.dba.hashes),
    ROW(next_number),
    ROW(last_order),
    ROW(units),
    BRY__NUMBERS_END,
};

/* A record of the frame UNIT. */
typedef struct unit_numbers {
    bry__index_slot record;
    uint32_t slot;
    uint32_t sealed; /* 0 or 1 */
    uint32_t zero;
} unit_numbers;

#define UNIT_ROW(field) BRY__NUMBER(unit_numbers, field)
static const bry__number unit_rows[] = {
    UNIT_ROW(slot),         UNIT_ROW(record.number),   UNIT_ROW(record.order),
    UNIT_ROW(record.tag),   UNIT_ROW(record.capacity), UNIT_ROW(record.elements),
    UNIT_ROW(record.stale), UNIT_ROW(sealed),          UNIT_ROW(zero),
    BRY__NUMBERS_END,
};

enum { RECORDS_A_FRAME = 1024 };
#define FRAME_SIZE ((size_t)RECORDS_A_FRAME * RECORD_SIZE)

/* ---- options ------------------------------------------------------------------------------- */

void bry__index_write_numbers(const bry_index *index, bry__frame_writer *writer)
{
    index_numbers numbers = {
        .options = bry__index_kept_options(&index->options),
        .flags = (index->options.fixed ? FLAG_FIXED : 0u) |
                 (index->options.segmented ? FLAG_SEGMENTED : 0u),
        .next_number = index->next_number,
        .last_order = index->last_order,
        .units = index->slots.units,
    };
    if (!(numbers.options.dba.stale > 0))
        numbers.options.dba.stale = BRY__INDEX_STALE;
    bry__frame_write_numbers(writer, NUMBERS, index_rows, &numbers);
}

/* Returns what is wrong, or NULL. */
static const char *index_save_read_options(index_numbers *numbers, uint64_t seed, bry_index *index)
{
    bry_index_options *stored = &numbers->options, read;
    double stale = stored->dba.stale;
    if (!bry__engine_find(bry__index_engines, stored->engine))
        return "unknown engine";
    if (seed == 0)
        return "the seed is 0";
    if (numbers->flags & ~(uint32_t)(FLAG_FIXED | FLAG_SEGMENTED))
        return "unknown flag";
    if (stored->dba.control > BRY_INDEX_UNCONTROLLED)
        return "unknown error control";
    stored->struct_size = sizeof *stored;
    stored->fixed = (numbers->flags & FLAG_FIXED) != 0;
    stored->seed = seed;
    stored->dba.segmented = (numbers->flags & FLAG_SEGMENTED) != 0;
    if (stored->engine == BRY_ENGINE_COMPACT) /* it has no stale elements */
        stored->dba.stale = 0;
    bry_index_shape shape;
    /* A zero would become a default, but a saved index has no zeros. */
    if (bry__index_read_options(stored, &read, &index->engine, &shape) != BRY_OK ||
        read.units != stored->units || read.unit_capacity != stored->unit_capacity ||
        read.error != stored->error || !(stale > 0 && stale <= 1))
        return "the index's options are out of range";
    index->options = bry__index_keep(&read);
    return NULL;
}

bry_status bry__index_read_numbers(bry__frame_reader *reader, bry_index **index, uint64_t *units)
{
    index_numbers numbers = {.flags = 0};
    bry_status status = bry__frame_read_numbers(reader, NUMBERS, index_rows, &numbers);
    if (status != BRY_OK)
        return status;
    bry_index read = {.allocator = reader->allocator,
                      .last_order = numbers.last_order,
                      .next_number = numbers.next_number};
    const char *problem = index_save_read_options(&numbers, reader->header.seed, &read);
    uint64_t count = numbers.units;
    if (!problem && (read.next_number >= BRY_INDEX_UNITS_MAX || count > BRY_INDEX_UNITS_MAX ||
                     count > read.last_order || read.last_order > BRY__INDEX_MAX_ORDER ||
                     (read.options.fixed && count > read.options.units)))
        problem = "the number of units is out of range";
    if (problem)
        return bry__frame_reader_bad(reader, problem);
    bry_index *made = bry__frame_reader_alloc(reader, &reader->allocator, sizeof *made);
    if (!made)
        return reader->status;
    *made = read;
    *index = made;
    *units = count;
    return BRY_OK;
}

/* ---- units --------------------------------------------------------------------------------- */

static void index_store_record(unsigned char to[RECORD_SIZE], uint32_t slot,
                               const bry__index_slot *record)
{
    unit_numbers numbers = {.record = *record, .slot = slot, .sealed = record->sealed};
    bry__numbers_store(to, unit_rows, &numbers);
}

/* NULL, or why it cannot be the record of a unit of this index. */
static const char *index_load_record(const bry_index *index, const unsigned char from[RECORD_SIZE],
                                     uint32_t *slot, bry__index_slot *record)
{
    unit_numbers numbers = {.slot = 0};
    bry__numbers_load(from, unit_rows, &numbers);
    numbers.record.sealed = numbers.sealed == 1;
    *slot = numbers.slot;
    *record = numbers.record;
    /* Below 2^43, so that no sum over 2^20 units overflows. */
    uint64_t most = (uint64_t)1 << 43;
    if (record->capacity < 1 || record->capacity > BRY_CAPACITY_MAX || record->elements > most ||
        record->stale > record->elements || numbers.sealed > 1 || numbers.zero != 0)
        return "invalid record of a unit";
    if (index->engine->deletes && record->stale > 0)
        return "stale elements in an engine that has none";
    return NULL;
}

void bry__index_write_units(const bry_index *index, bry__frame_writer *writer)
{
    const bry__index_slots *slots = &index->slots;
    uint32_t left = slots->units, here = 0;
    for (uint32_t i = 0; i < bry__slots_room(slots); i++) {
        if (bry__slot(slots, i)->order == 0)
            continue;
        if (here == 0) {
            here = left < RECORDS_A_FRAME ? left : RECORDS_A_FRAME;
            bry__frame_writer_open(writer, UNITS, (size_t)here * RECORD_SIZE);
        }
        unsigned char record[RECORD_SIZE];
        index_store_record(record, i, bry__slot(slots, i));
        bry__frame_writer_put(writer, record, sizeof record);
        here--;
        left--;
    }
}

/* compact: units may come from an index that is planned for fewer and larger ones. dba compares the
 * capacity with its levels. */
static bool is_too_large(const bry_index *index, const bry__index_slot *record)
{
    return index->engine->deletes &&
           record->capacity > index->options.units * index->options.unit_capacity;
}

static bry_status read_records(bry__frame_reader *reader, bry_index *index,
                               const unsigned char *bytes, size_t length)
{
    for (size_t at = 0; at < length; at += RECORD_SIZE) {
        uint32_t slot;
        bry__index_slot record;
        const char *problem = index_load_record(index, bytes + at, &slot, &record);
        if (!problem && is_too_large(index, &record))
            problem = "a unit is larger than the whole plan";
        if (problem)
            return bry__frame_reader_bad(reader, problem);
        bry_status status = BRY_OK;
        if (slot < BRY__INDEX_SLOTS && record.number < BRY_INDEX_UNITS_MAX)
            status = bry__frame_reader_claim(reader, bry__index_growth(index, slot, record.number));
        if (status != BRY_OK)
            return status;
        status = bry__index_restore(index, slot, &record);
        if (status == BRY_E_NOMEM)
            return bry__frame_reader_no_memory(reader);
        if (status != BRY_OK)
            return bry__frame_reader_bad(reader,
                                         "a unit's slot or number is duplicate or out of range");
    }
    return BRY_OK;
}

static int compare_orders(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* No two units have the same order: candidates are listed in the order of opening. Slots are nearly
 * always in that order already. */
static bry_status check_orders(bry__frame_reader *reader, const bry_index *index)
{
    const bry__index_slots *slots = &index->slots;
    uint64_t last = 0, n = 0;
    bool rises = true;
    for (uint32_t i = 0; i < bry__slots_room(slots) && rises; i++) {
        rises = bry__slot(slots, i)->order == 0 || bry__slot(slots, i)->order > last;
        last = bry__slot(slots, i)->order ? bry__slot(slots, i)->order : last;
    }
    if (rises)
        return BRY_OK;
    size_t size = slots->units * sizeof(uint64_t);
    bry_status status = bry__frame_reader_claim(reader, size);
    if (status != BRY_OK)
        return status;
    uint64_t *orders = bry__alloc_buffer(&index->allocator, size);
    if (!orders)
        return bry__frame_reader_no_memory(reader);
    for (uint32_t i = 0; i < bry__slots_room(slots); i++)
        if (bry__slot(slots, i)->order)
            orders[n++] = bry__slot(slots, i)->order;
    qsort(orders, n, sizeof *orders, compare_orders);
    for (uint64_t i = 1; i < n && status == BRY_OK; i++)
        if (orders[i] == orders[i - 1])
            status = bry__frame_reader_bad(reader, "two units have the same order");
    bry__free(&index->allocator, orders, size);
    return status;
}

bry_status bry__index_read_units(bry__frame_reader *reader, bry_index *index, uint64_t units)
{
    if (units == 0)
        return BRY_OK;
    unsigned char *buffer = bry__alloc_buffer(&index->allocator, FRAME_SIZE);
    if (!buffer)
        return bry__frame_reader_no_memory(reader);
    bry_status status = BRY_OK;
    while (index->slots.units < units && status == BRY_OK) {
        uint64_t left = units - index->slots.units;
        size_t length = 0;
        status = bry__frame_reader_expect(
            reader, UNITS, "units are missing", RECORD_SIZE,
            (left < RECORDS_A_FRAME ? left : RECORDS_A_FRAME) * RECORD_SIZE, &length);
        if (length % RECORD_SIZE != 0)
            status = bry__frame_reader_bad(reader, "a frame has the wrong length");
        if (status == BRY_OK)
            status = bry__frame_reader_read(reader, buffer, length);
        if (status == BRY_OK)
            status = read_records(reader, index, buffer, length);
    }
    bry__free(&index->allocator, buffer, FRAME_SIZE);
    return status == BRY_OK ? check_orders(reader, index) : status;
}

/* ---- the whole index ----------------------------------------------------------------------- */

static void index_write(const bry_index *index, bry__frame_writer *writer)
{
    bry__index_write_numbers(index, writer);
    bry__index_write_units(index, writer);
    index->engine->write(index->elements, writer);
}

static bry_status index_read(bry__frame_reader *reader, bry_index **index)
{
    bry_index *made = NULL;
    uint64_t units = 0;
    bry_status status = bry__index_read_numbers(reader, &made, &units);
    if (!made)
        return status;
    status = bry__index_read_units(reader, made, units);
    bry_index_options options = bry__index_kept_options(&made->options);
    if (status == BRY_OK)
        status =
            made->engine->read(&options, &made->slots, reader, &made->allocator, &made->elements);
    if (status == BRY_OK)
        status = bry__frame_reader_end(reader);
    if (status == BRY_OK)
        *index = made;
    else
        bry_index_destroy(made);
    return status;
}

BRY__JOB_STREAM(index, BRY__FOUR('I', 'N', 'D', 'X'))
BRY__JOB(index, "index", bry__index_engines, NULL)

/* ---- one unit ------------------------------------------------------------------------------ */

bry_status bry_index_save_unit(const bry_index *index, uint32_t unit, const bry_sink *sink,
                               const bry_save *save)
{
    uint32_t slot = bry__index_slot_of(index, unit);
    if (slot == BRY__INDEX_NO_SLOT)
        return BRY_E_NOUNIT;
    bry__frame_writer writer;
    unsigned char record[RECORD_SIZE];
    bry__frame_writer_begin(&writer, sink, save, KIND_UNIT, UNIT_VERSION, index->options.seed);
    bry__index_write_numbers(index, &writer);
    index_store_record(record, slot, bry__slot(&index->slots, slot));
    bry__frame_writer_write(&writer, UNITS, record, sizeof record);
    index->engine->write_unit(index->elements, slot, &writer);
    return bry__frame_writer_end(&writer);
}

/* Compares seed, engine and error; the engine compares the shapes. */
static bool index_save_is_of_kin(const bry_index *index, const bry__frame_reader *reader,
                                 const bry_index_options *options)
{
    return reader->header.seed == index->options.seed && options->engine == index->options.engine &&
           options->error == index->options.error;
}

static bry_status index_import(bry_index *index, bry__frame_reader *reader, uint32_t *unit)
{
    index_numbers numbers = {.flags = 0};
    unsigned char bytes[RECORD_SIZE];
    bry_status status = bry__frame_read_numbers(reader, NUMBERS, index_rows, &numbers);
    if (status == BRY_OK && !index_save_is_of_kin(index, reader, &numbers.options))
        status = bry__frame_reader_fail(reader, BRY_E_MISMATCH,
                                        "the unit belongs to an index of another shape");
    if (status == BRY_OK)
        status = bry__frame_reader_read_frame(reader, UNITS, bytes, sizeof bytes);
    if (status != BRY_OK)
        return status;
    uint32_t slot;
    bry__index_slot record;
    const char *problem = index_load_record(index, bytes, &slot, &record);
    if (problem)
        return bry__frame_reader_bad(reader, problem);
    if (is_too_large(index, &record))
        return bry__frame_reader_fail(reader, BRY_E_MISMATCH,
                                      "the unit belongs to an index of another shape");
    if (bry__index_units_left(index) == 0)
        return bry__frame_reader_fail(reader, BRY_E_FULL, "no room for another unit");
    /* Everything that can fail comes before the engine gets the unit. */
    if (bry__index_reserve(index) != BRY_OK)
        return bry__frame_reader_no_memory(reader);
    status = index->engine->import(index->elements, bry__index_free_number(index), &record, reader,
                                   &slot);
    if (status != BRY_OK) {
        bry__index_unreserve(index);
        return status;
    }
    if (bry__index_enter(index, slot, &record) != BRY_OK) { /* the engine had to free a slot */
        index->engine->drop(index->elements, slot, record.elements);
        return bry__frame_reader_no_memory(reader);
    }
    *unit = bry__slot(&index->slots, slot)->number;
    return BRY_OK;
}

bry_status bry_index_import_unit(bry_index *index, const bry_source *source, bry_load *load,
                                 uint32_t *unit)
{
    bry__frame_reader reader;
    bry_status status = bry__frame_reader_open(&reader, source, load, KIND_UNIT, UNIT_VERSION);
    if (status == BRY_OK)
        status = index_import(index, &reader, unit);
    bry__frame_reader_close(&reader);
    return status;
}
