/*
 * An index as frames: its options and counters, the records of its units, and the engine's frames;
 * and one unit of it, to be imported in another index.
 */
#include "index/index_save.h"

#include "common/endian.h"
#include "frame/job_row.h"

#include <stdlib.h>

#define KIND BRY__FOUR('I', 'N', 'D', 'X')
#define KIND_VERSION 1
#define KIND_UNIT BRY__FOUR('I', 'U', 'N', 'T')
#define UNIT_VERSION 1
#define NUMBERS BRY__FOUR('N', 'U', 'M', 'S')
#define UNITS BRY__FOUR('U', 'N', 'I', 'T')

enum { /* the frame NUMS */
       AT_ENGINE = 0, /* u32 */
       AT_FLAGS = 4, /* u32 */
       AT_PLANNED = 8, /* u32: options.units */
       AT_CONTROL = 12, /* u32 */
       AT_CAPACITY = 16, /* u64: options.unit_capacity */
       AT_ERROR = 24, /* double */
       AT_STALE = 32, /* double */
       AT_GROUP = 40, /* u32 */
       AT_FACTOR = 44, /* u32 */
       AT_BITS = 48, /* u64: options.unit_bits */
       AT_HASHES = 56, /* u32 */
       AT_NEXT_NUMBER = 60, /* u32 */
       AT_LAST_ORDER = 64, /* u64 */
       AT_UNITS = 72, /* u64: how many records follow */
       NUMBERS_SIZE = 80
};
enum { FLAG_FIXED = 1, FLAG_SEGMENTED = 2 };

enum { /* a record of the frame UNIT */
       AT_SLOT = 0, /* u32 */
       AT_NUMBER = 4, /* u32 */
       AT_ORDER = 8, /* u64 */
       AT_TAG = 16, /* u64 */
       AT_UNIT_CAPACITY = 24, /* u64 */
       AT_ELEMENTS = 32, /* u64 */
       AT_UNIT_STALE = 40, /* u64 */
       AT_SEALED = 48, /* u32: 0 or 1 */
       AT_ZERO = 52, /* u32 */
};

enum { RECORDS_A_FRAME = 1024 };
#define FRAME_SIZE ((size_t)RECORDS_A_FRAME * BRY__INDEX_RECORD)

static bry_status index_save_no_memory(bry__frame_reader *reader)
{
    return bry__frame_reader_fail(reader, BRY_E_NOMEM, "not enough memory for the units");
}

/* ---- options ------------------------------------------------------------------------------- */

void bry__index_write_numbers(const bry_index *index, bry__frame_writer *writer)
{
    const bry__index_kept *options = &index->options;
    unsigned char numbers[NUMBERS_SIZE];
    bry__store32(numbers + AT_ENGINE, options->engine);
    bry__store32(numbers + AT_FLAGS,
                 (options->fixed ? FLAG_FIXED : 0u) | (options->segmented ? FLAG_SEGMENTED : 0u));
    bry__store32(numbers + AT_PLANNED, options->units);
    bry__store32(numbers + AT_CONTROL, options->control);
    bry__store64(numbers + AT_CAPACITY, options->unit_capacity);
    bry__store_double(numbers + AT_ERROR, options->error);
    bry__store_double(numbers + AT_STALE, options->stale > 0 ? options->stale : BRY__INDEX_STALE);
    bry__store32(numbers + AT_GROUP, options->group);
    bry__store32(numbers + AT_FACTOR, options->factor);
    bry__store64(numbers + AT_BITS, options->unit_bits);
    bry__store32(numbers + AT_HASHES, options->hashes);
    bry__store32(numbers + AT_NEXT_NUMBER, index->next_number);
    bry__store64(numbers + AT_LAST_ORDER, index->last_order);
    bry__store64(numbers + AT_UNITS, index->slots.units);
    bry__frame_writer_write(writer, NUMBERS, numbers, sizeof numbers);
}

/* Returns what is wrong, or NULL. */
static const char *index_save_read_options(const unsigned char *numbers, uint64_t seed,
                                           bry_index *index)
{
    uint32_t engine = bry__load32(numbers + AT_ENGINE), flags = bry__load32(numbers + AT_FLAGS);
    uint32_t control = bry__load32(numbers + AT_CONTROL);
    double stale = bry__load_double(numbers + AT_STALE);
    if (!bry__engine_find(bry__index_engines, engine))
        return "unknown engine";
    if (seed == 0)
        return "the seed is 0";
    if (flags & ~(uint32_t)(FLAG_FIXED | FLAG_SEGMENTED))
        return "unknown flag";
    if (control > BRY_INDEX_UNCONTROLLED)
        return "unknown error control";
    bry_index_options stored = {
        .struct_size = sizeof stored,
        .engine = (bry_engine)engine,
        .fixed = (flags & FLAG_FIXED) != 0,
        .units = bry__load32(numbers + AT_PLANNED),
        .unit_capacity = bry__load64(numbers + AT_CAPACITY),
        .error = bry__load_double(numbers + AT_ERROR),
        .seed = seed,
        .dba.group = bry__load32(numbers + AT_GROUP),
        .dba.segmented = (flags & FLAG_SEGMENTED) != 0,
        .dba.control = (bry_index_control)control,
        .dba.factor = bry__load32(numbers + AT_FACTOR),
        .dba.unit_bits = bry__load64(numbers + AT_BITS),
        .dba.hashes = bry__load32(numbers + AT_HASHES),
        .dba.stale = engine == BRY_ENGINE_COMPACT ? 0 : stale, /* compact has no stale elements */
    };
    bry_index_options read;
    bry_index_shape shape;
    /* A zero would become a default, but a saved index has no zeros. */
    if (bry__index_read_options(&stored, &read, &index->engine, &shape) != BRY_OK ||
        read.units != stored.units || read.unit_capacity != stored.unit_capacity ||
        read.error != stored.error || !(stale > 0 && stale <= 1))
        return "the index's options are out of range";
    index->options = bry__index_keep(&read);
    return NULL;
}

bry_status bry__index_read_numbers(bry__frame_reader *reader, const bry_allocator *allocator,
                                   bry_index **index, uint64_t *units)
{
    unsigned char numbers[NUMBERS_SIZE];
    bry_status status = bry__frame_reader_read_frame(reader, NUMBERS, numbers, sizeof numbers);
    if (status != BRY_OK)
        return status;
    bry_index read = {.allocator = *allocator,
                      .last_order = bry__load64(numbers + AT_LAST_ORDER),
                      .next_number = bry__load32(numbers + AT_NEXT_NUMBER)};
    const char *problem = index_save_read_options(numbers, reader->header.seed, &read);
    uint64_t count = bry__load64(numbers + AT_UNITS);
    if (!problem && (read.next_number >= BRY_INDEX_UNITS_MAX || count > BRY_INDEX_UNITS_MAX ||
                     count > read.last_order || read.last_order > BRY__INDEX_MAX_ORDER ||
                     (read.options.fixed && count > read.options.units)))
        problem = "the number of units is out of range";
    if (problem)
        return bry__frame_reader_bad(reader, problem);
    status = bry__frame_reader_claim(reader, sizeof read);
    if (status != BRY_OK)
        return status;
    bry_index *made = bry__alloc(allocator, sizeof *made);
    if (!made)
        return index_save_no_memory(reader);
    *made = read;
    *index = made;
    *units = count;
    return BRY_OK;
}

/* ---- units --------------------------------------------------------------------------------- */

void bry__index_store_record(unsigned char to[BRY__INDEX_RECORD], uint32_t slot,
                             const bry__index_slot *record)
{
    bry__store32(to + AT_SLOT, slot);
    bry__store32(to + AT_NUMBER, record->number);
    bry__store64(to + AT_ORDER, record->order);
    bry__store64(to + AT_TAG, record->tag);
    bry__store64(to + AT_UNIT_CAPACITY, record->capacity);
    bry__store64(to + AT_ELEMENTS, record->elements);
    bry__store64(to + AT_UNIT_STALE, record->stale);
    bry__store32(to + AT_SEALED, record->sealed);
    bry__store32(to + AT_ZERO, 0);
}

const char *bry__index_load_record(const bry_index *index,
                                   const unsigned char from[BRY__INDEX_RECORD], uint32_t *slot,
                                   bry__index_slot *record)
{
    *slot = bry__load32(from + AT_SLOT);
    *record = (bry__index_slot){
        .order = bry__load64(from + AT_ORDER),
        .tag = bry__load64(from + AT_TAG),
        .capacity = bry__load64(from + AT_UNIT_CAPACITY),
        .elements = bry__load64(from + AT_ELEMENTS),
        .stale = bry__load64(from + AT_UNIT_STALE),
        .number = bry__load32(from + AT_NUMBER),
        .sealed = bry__load32(from + AT_SEALED) == 1,
    };
    /* Below 2^43, so that no sum over 2^20 units overflows. */
    uint64_t most = (uint64_t)1 << 43;
    if (record->capacity < 1 || record->capacity > BRY_CAPACITY_MAX || record->elements > most ||
        record->stale > record->elements || bry__load32(from + AT_SEALED) > 1 ||
        bry__load32(from + AT_ZERO) != 0)
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
            bry__frame_writer_open(writer, UNITS, (size_t)here * BRY__INDEX_RECORD);
        }
        unsigned char record[BRY__INDEX_RECORD];
        bry__index_store_record(record, i, bry__slot(slots, i));
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
    for (size_t at = 0; at < length; at += BRY__INDEX_RECORD) {
        uint32_t slot;
        bry__index_slot record;
        const char *problem = bry__index_load_record(index, bytes + at, &slot, &record);
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
            return index_save_no_memory(reader);
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
        return index_save_no_memory(reader);
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
        return index_save_no_memory(reader);
    bry_status status = BRY_OK;
    while (index->slots.units < units && status == BRY_OK) {
        bry__frame frame;
        status = bry__frame_reader_next(reader, &frame);
        if (status == BRY_OK &&
            (frame.type != UNITS || frame.length == 0 || frame.length > FRAME_SIZE ||
             frame.length % BRY__INDEX_RECORD != 0 ||
             frame.length / BRY__INDEX_RECORD > units - index->slots.units))
            status =
                bry__frame_reader_bad(reader, "units are missing, or a frame has the wrong length");
        if (status == BRY_OK)
            status = bry__frame_reader_read(reader, buffer, frame.length);
        if (status == BRY_OK)
            status = read_records(reader, index, buffer, frame.length);
    }
    bry__free(&index->allocator, buffer, FRAME_SIZE);
    return status == BRY_OK ? check_orders(reader, index) : status;
}

/* ---- the whole index ----------------------------------------------------------------------- */

bry_status bry_index_save(const bry_index *index, const bry_sink *sink, const bry_save *save)
{
    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, sink, save, KIND, KIND_VERSION, index->options.seed);
    bry__index_write_numbers(index, &writer);
    bry__index_write_units(index, &writer);
    index->engine->write(index->elements, &writer);
    return bry__frame_writer_end(&writer);
}

static bry_status read_index(bry__frame_reader *reader, const bry_allocator *allocator,
                             bry_index **index)
{
    bry_index *made = NULL;
    uint64_t units = 0;
    bry_status status = bry__index_read_numbers(reader, allocator, &made, &units);
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

bry_status bry_index_load(const bry_source *source, bry_load *load, bry_index **index)
{
    bry__frame_reader reader;
    bry_status status = bry__frame_reader_open(&reader, source, load, KIND, KIND_VERSION);
    if (status == BRY_OK)
        status = read_index(&reader, &reader.allocator, index);
    bry__frame_reader_close(&reader);
    return status;
}

BRY__JOB(index, "index", bry__index_engines, NULL)

/* ---- one unit ------------------------------------------------------------------------------ */

bry_status bry_index_save_unit(const bry_index *index, uint32_t unit, const bry_sink *sink,
                               const bry_save *save)
{
    uint32_t slot = bry__index_slot_of(index, unit);
    if (slot == BRY__INDEX_NO_SLOT)
        return BRY_E_NOUNIT;
    bry__frame_writer writer;
    unsigned char record[BRY__INDEX_RECORD];
    bry__frame_writer_begin(&writer, sink, save, KIND_UNIT, UNIT_VERSION, index->options.seed);
    bry__index_write_numbers(index, &writer);
    bry__index_store_record(record, slot, bry__slot(&index->slots, slot));
    bry__frame_writer_write(&writer, UNITS, record, sizeof record);
    index->engine->write_unit(index->elements, slot, &writer);
    return bry__frame_writer_end(&writer);
}

/* Compares seed, engine and error; the engine compares the shapes. */
static bool index_save_is_of_kin(const bry_index *index, const bry__frame_reader *reader,
                                 const unsigned char *numbers)
{
    return reader->header.seed == index->options.seed &&
           bry__load32(numbers + AT_ENGINE) == index->options.engine &&
           bry__load_double(numbers + AT_ERROR) == index->options.error;
}

static bry_status index_import(bry_index *index, bry__frame_reader *reader, uint32_t *unit)
{
    unsigned char numbers[NUMBERS_SIZE], bytes[BRY__INDEX_RECORD];
    bry_status status = bry__frame_reader_read_frame(reader, NUMBERS, numbers, sizeof numbers);
    if (status == BRY_OK && !index_save_is_of_kin(index, reader, numbers))
        status = bry__frame_reader_fail(reader, BRY_E_MISMATCH,
                                        "the unit belongs to an index of another shape");
    if (status == BRY_OK)
        status = bry__frame_reader_read_frame(reader, UNITS, bytes, sizeof bytes);
    if (status != BRY_OK)
        return status;
    uint32_t slot;
    bry__index_slot record;
    const char *problem = bry__index_load_record(index, bytes, &slot, &record);
    if (problem)
        return bry__frame_reader_bad(reader, problem);
    if (is_too_large(index, &record))
        return bry__frame_reader_fail(reader, BRY_E_MISMATCH,
                                      "the unit belongs to an index of another shape");
    if (bry__index_units_left(index) == 0)
        return bry__frame_reader_fail(reader, BRY_E_FULL, "no room for another unit");
    /* Everything that can fail comes before the engine gets the unit. */
    if (bry__index_reserve(index) != BRY_OK)
        return index_save_no_memory(reader);
    status = index->engine->import(index->elements, bry__index_free_number(index), &record, reader,
                                   &slot);
    if (status != BRY_OK) {
        bry__index_unreserve(index);
        return status;
    }
    if (bry__index_enter(index, slot, &record) != BRY_OK) { /* the engine had to free a slot */
        index->engine->drop(index->elements, slot, record.elements);
        return index_save_no_memory(reader);
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
