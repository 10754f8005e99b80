/* The encoding that indexes still use: segments as they are in memory. */
#include "maplet/maplet_old_save.h"
#include "common/endian.h"
#include "frame/frame.h"

#include <string.h>

#define OPTIONS BRY__FOUR('M', 'O', 'P', 'T')
#define TABLE BRY__FOUR('T', 'A', 'B', 'L')
#define SEGMENTS BRY__FOUR('S', 'E', 'G', 'S')
#define OVERFLOW BRY__FOUR('O', 'V', 'E', 'R')

enum { /* the frame MOPT */
       AT_CAPACITY = 0, /* u64 */
       AT_ERROR = 8, /* double */
       AT_VALUE_BITS = 16, /* u32 */
       AT_FIXED = 20, /* u32: 0 or 1 */
       AT_TABLES = 24, /* u64 */
       OPTIONS_SIZE = 32
};

enum { /* the frame TABL */
       AT_N = 0, /* u64, the overflow's included */
       AT_SEGMENTS = 8, /* u64 */
       AT_OVERFLOW = 16, /* u64, how many entries are there */
       AT_SWEEP = 24, /* u64 */
       AT_SWEEP_FINGERPRINT = 32, /* u64 */
       AT_SWEEP_VALUE = 40, /* u32 */
       AT_SWEEPING = 44, /* u32: 0 or 1 */
       TABLE_SIZE = 48
};

enum { /* a record of the frame SEGS, followed by the block */
       AT_ENTRIES = 0, /* u16 */
       AT_STEPS =
           2, /* u16: the block has 16 · steps + 8 bytes, or none when there are no entries */
       AT_REMAINDER_BITS = 4, /* u8 */
       AT_SEGMENT_VALUE_BITS = 5, /* u8 */
       AT_SPILLED = 6, /* u8: 0 or 1 */
       RECORD_SIZE = 8
};

enum { OVERFLOW_ENTRY = 12, OVERFLOW_BATCH = 4096 };

/* A frame takes segments until it passes this size; so no frame passes it by more than a block. */
#define SEGMENTS_SIZE ((size_t)1 << 18)
#define BLOCK_MAX ((size_t)BRY__SEGMENT_MAX * 16) /* bytes: 57 + 32 bits an entry, and the runs */

/* ---- writing ------------------------------------------------------------------------------- */

static void write_segments(const bry__table *table, uint64_t from, uint64_t to,
                           bry__frame_writer *writer)
{
    for (uint64_t i = from; i < to;) {
        uint64_t end = i;
        size_t size = 0;
        for (; end < to && size < SEGMENTS_SIZE; end++)
            size += RECORD_SIZE + bry__segment_bytes(bry__table_segment(table, end));
        bry__frame_writer_open(writer, SEGMENTS, size);
        for (; i < end; i++) {
            const bry__segment *segment = bry__table_segment(table, i);
            unsigned char record[RECORD_SIZE] = {0};
            bry__store16(record + AT_ENTRIES, segment->n);
            bry__store16(record + AT_STEPS, segment->steps);
            record[AT_REMAINDER_BITS] = segment->remainder_bits;
            record[AT_SEGMENT_VALUE_BITS] = segment->value_bits;
            record[AT_SPILLED] = segment->spilled;
            bry__frame_writer_put(writer, record, sizeof record);
            if (segment->bytes)
                bry__frame_writer_put(writer, segment->bytes, bry__segment_bytes(segment));
        }
    }
}

static void write_overflow(const bry__overflow *overflow, bry__frame_writer *writer)
{
    bry__overflow_place place = {0};
    for (uint64_t left = overflow->n; left > 0;) {
        unsigned here = left < OVERFLOW_BATCH ? (unsigned)left : OVERFLOW_BATCH;
        bry__frame_writer_open(writer, OVERFLOW, (size_t)here * OVERFLOW_ENTRY);
        for (unsigned i = 0; i < here; i++) {
            unsigned char entry[OVERFLOW_ENTRY];
            uint64_t fingerprint = 0;
            uint32_t value = 0;
            bry__overflow_next(overflow, &place, &fingerprint, &value);
            bry__store64(entry, fingerprint);
            bry__store32(entry + 8, value);
            bry__frame_writer_put(writer, entry, sizeof entry);
        }
        left -= here;
    }
}

static void write_options(const bry__maplet *maplet, bry__frame_writer *writer)
{
    unsigned char options[OPTIONS_SIZE];
    bry__store64(options + AT_CAPACITY, maplet->options.capacity);
    bry__store_double(options + AT_ERROR, maplet->options.error);
    bry__store32(options + AT_VALUE_BITS, maplet->options.value_bits);
    bry__store32(options + AT_FIXED, maplet->options.fixed);
    bry__store64(options + AT_TABLES, maplet->tables);
    bry__frame_writer_write(writer, OPTIONS, options, sizeof options);
}

static void write_table(const bry__table *table, bry__frame_writer *writer)
{
    unsigned char numbers[TABLE_SIZE];
    bry__store64(numbers + AT_N, table->n);
    bry__store64(numbers + AT_SEGMENTS, table->segments);
    bry__store64(numbers + AT_OVERFLOW, table->overflow.n);
    bry__store64(numbers + AT_SWEEP, table->sweep);
    bry__store64(numbers + AT_SWEEP_FINGERPRINT, table->sweep_fingerprint);
    bry__store32(numbers + AT_SWEEP_VALUE, table->sweep_value);
    bry__store32(numbers + AT_SWEEPING, table->sweeping);
    bry__frame_writer_write(writer, TABLE, numbers, sizeof numbers);
}

void bry__maplet_old_write(const bry__maplet *maplet, bry__frame_writer *writer)
{
    write_options(maplet, writer);
    for (unsigned i = 0; i < maplet->tables; i++) {
        const bry__table *table = maplet->table[i];
        write_table(table, writer);
        write_segments(table, 0, table->segments, writer);
        write_overflow(&table->overflow, writer);
    }
}

void bry__maplet_old_write_numbers(const bry__maplet *maplet, bry__frame_writer *writer)
{
    write_options(maplet, writer);
    for (unsigned i = 0; i < maplet->tables; i++)
        write_table(maplet->table[i], writer);
}

void bry__maplet_old_write_segments(const bry__maplet *maplet, unsigned table, uint64_t from,
                                    uint64_t to, bry__frame_writer *writer)
{
    write_segments(maplet->table[table], from, to, writer);
}

void bry__maplet_old_write_overflow(const bry__maplet *maplet, unsigned table,
                                    bry__frame_writer *writer)
{
    write_overflow(&maplet->table[table]->overflow, writer);
}

/* ---- reading ------------------------------------------------------------------------------- */

typedef struct loading {
    bry__frame_reader *reader;
    const bry_allocator *allocator;
    unsigned char *buffer; /* of BUFFER_SIZE: one frame, proven before it is looked at */
} loading;
#define BUFFER_SIZE (SEGMENTS_SIZE + RECORD_SIZE + BLOCK_MAX)

static bry_status bad(const loading *from, const char *problem)
{
    return bry__frame_reader_fail(from->reader, BRY_E_BADDATA, problem);
}

static bry_status no_memory(const loading *from)
{
    return bry__frame_reader_fail(from->reader, BRY_E_NOMEM, "no memory for the entries");
}

/* The next frame, whole, in the buffer. */
static bry_status read_frame(const loading *from, uint32_t type, const char *missing, size_t *size)
{
    bry__frame frame;
    bry_status status = bry__frame_reader_next(from->reader, &frame);
    if (status == BRY_OK && frame.type != type)
        status = bad(from, missing);
    if (status == BRY_OK && (frame.length == 0 || frame.length > BUFFER_SIZE))
        status = bad(from, "a frame has a size that none of its kind has");
    if (status == BRY_OK)
        status = bry__frame_reader_read(from->reader, from->buffer, frame.length);
    *size = status == BRY_OK ? frame.length : 0;
    return status;
}

/* One segment from its record; *used is how many bytes of the buffer it took. */
static bry_status read_segment(const loading *from, bry__table *table, uint64_t i,
                               const unsigned char *record, size_t left, size_t *used)
{
    if (left < RECORD_SIZE)
        return bad(from, "a segment's record is cut short");
    bry__segment read = {
        .n = bry__load16(record + AT_ENTRIES),
        .steps = bry__load16(record + AT_STEPS),
        .remainder_bits = record[AT_REMAINDER_BITS],
        .value_bits = record[AT_SEGMENT_VALUE_BITS],
        .spilled = record[AT_SPILLED],
    };
    size_t size = read.n ? bry__segment_block(read.steps) : 0;
    if (read.spilled > 1 || record[7] != 0 || left - RECORD_SIZE < size ||
        (read.n == 0 && read.steps != 0) || read.value_bits > table->value_bits)
        return bad(from, "a segment's record is wrong");
    bry_status status = bry__frame_reader_claim(
        from->reader, size + (i % BRY__GROUP_SIZE ? 0 : BRY__GROUP_SIZE * sizeof read));
    if (status != BRY_OK)
        return status;
    if (bry__table_reach(table, i, from->allocator) != BRY_OK)
        return no_memory(from);
    if (read.n > 0) {
        read.bytes = bry__alloc(from->allocator, size);
        if (!read.bytes)
            return no_memory(from);
        memcpy(read.bytes, record + RECORD_SIZE, size);
    }
    *bry__table_segment(table, i) = read;
    table->block_bytes += size;
    table->n += read.n;
    *used = RECORD_SIZE + size;
    const char *problem =
        bry__segment_check(&read, bry__table_u_most(table, i), bry__table_u_limit(table, i));
    return problem ? bad(from, problem) : BRY_OK;
}

static bry_status read_segments(const loading *from, bry__table *table, uint64_t i, uint64_t to)
{
    while (i < to) {
        size_t size;
        bry_status status = read_frame(from, SEGMENTS, "segments are missing", &size);
        for (size_t at = 0; at < size && status == BRY_OK; i++) {
            size_t used = 0;
            if (i == to)
                return bad(from, "more segments than the table has");
            status = read_segment(from, table, i, from->buffer + at, size - at, &used);
            at += used;
        }
        if (status != BRY_OK)
            return status;
    }
    return BRY_OK;
}

static bry_status read_overflow(const loading *from, bry__table *table, uint64_t n)
{
    uint64_t last = 0;
    uint32_t last_value = 0;
    while (table->overflow.n < n) {
        size_t size;
        bry_status status = read_frame(from, OVERFLOW, "the overflow is missing", &size);
        if (status != BRY_OK)
            return status;
        if (size % OVERFLOW_ENTRY != 0 || size / OVERFLOW_ENTRY > n - table->overflow.n)
            return bad(from, "the overflow has the wrong size");
        status = bry__frame_reader_claim(from->reader, (size / OVERFLOW_ENTRY) *
                                                           sizeof(bry__chunk) * 2 / BRY__CHUNK_MAX);
        if (status != BRY_OK)
            return status;
        for (size_t at = 0; at < size; at += OVERFLOW_ENTRY) {
            uint64_t fingerprint = bry__load64(from->buffer + at);
            uint32_t value = bry__load32(from->buffer + at + 8);
            if (fingerprint < last || (fingerprint == last && value < last_value))
                return bad(from, "the overflow is out of order");
            last = fingerprint;
            last_value = value;
            status = bry__overflow_insert(&table->overflow, fingerprint, value, from->allocator);
            if (status != BRY_OK)
                return no_memory(from);
            table->n++;
        }
    }
    const char *problem = bry__table_check_overflow(table);
    return problem ? bad(from, problem) : BRY_OK;
}

/* A table's numbers, into a table without segments. */
static bry_status read_table(const loading *from, bry__table *table, uint64_t range,
                             unsigned value_bits, uint64_t *n, uint64_t *overflow)
{
    unsigned char numbers[TABLE_SIZE];
    bry_status status = bry__frame_reader_read_frame(from->reader, TABLE, numbers, sizeof numbers);
    if (status != BRY_OK)
        return status;
    if (!bry__table_open(table, range, value_bits, bry__load64(numbers + AT_SEGMENTS)))
        return bad(from, "the number of segments is out of range");
    if (bry__load32(numbers + AT_SWEEPING) > 1)
        return bad(from, "a table's numbers are out of range");
    table->sweeping = bry__load32(numbers + AT_SWEEPING) == 1;
    table->sweep = bry__load64(numbers + AT_SWEEP);
    table->sweep_fingerprint = bry__load64(numbers + AT_SWEEP_FINGERPRINT);
    table->sweep_value = bry__load32(numbers + AT_SWEEP_VALUE);
    *n = bry__load64(numbers + AT_N);
    *overflow = bry__load64(numbers + AT_OVERFLOW);
    return BRY_OK;
}

/* The options, and how many tables there are to be. */
static bry_status read_options(const loading *from, bry__maplet *maplet, uint64_t *tables)
{
    unsigned char options[OPTIONS_SIZE];
    bry_status status =
        bry__frame_reader_read_frame(from->reader, OPTIONS, options, sizeof options);
    if (status != BRY_OK)
        return status;
    bry__maplet read = {.allocator = *from->allocator,
                        .options = {.capacity = bry__load64(options + AT_CAPACITY),
                                    .error = bry__load_double(options + AT_ERROR),
                                    .value_bits = bry__load32(options + AT_VALUE_BITS),
                                    .fixed = bry__load32(options + AT_FIXED) == 1}};
    *tables = bry__load64(options + AT_TABLES);
    if (!bry__maplet_plan(&read.options, &read.chain) || bry__load32(options + AT_FIXED) > 1 ||
        *tables < 1 || *tables > read.chain.tables)
        return bad(from, "the maplet's options are out of range");
    *maplet = read;
    return BRY_OK;
}

/* The next table's numbers, as table `maplet->tables`. NULL: the reader's status says why. */
static bry__table *add_table(const loading *from, bry__maplet *maplet, uint64_t *n,
                             uint64_t *overflow)
{
    unsigned i = maplet->tables;
    if (bry__frame_reader_claim(from->reader, sizeof(bry__table)) != BRY_OK)
        return NULL;
    bry__table *table = bry__alloc(from->allocator, sizeof *table);
    if (!table) {
        no_memory(from);
        return NULL;
    }
    maplet->table[maplet->tables++] = table;
    bry_status status =
        read_table(from, table, maplet->chain.range[i], maplet->options.value_bits, n, overflow);
    return status == BRY_OK ? table : NULL;
}

static const char *check_error(const bry__maplet *maplet)
{
    return bry__maplet_keeps(maplet) ? NULL : "more entries than the promised error allows";
}

static const char wrong_count[] = "the number of entries does not agree with the entries";

static bry_status read_tables(const loading *from, bry__maplet *maplet, uint64_t tables)
{
    bry_status status = BRY_OK;
    while (maplet->tables < tables && status == BRY_OK) {
        uint64_t n = 0, overflow = 0;
        bry__table *table = add_table(from, maplet, &n, &overflow);
        if (!table)
            return from->reader->status;
        status = read_segments(from, table, 0, table->segments);
        if (status == BRY_OK)
            status = read_overflow(from, table, overflow);
        if (status == BRY_OK && table->n != n)
            status = bad(from, wrong_count);
    }
    if (status != BRY_OK)
        return status;
    const char *problem = check_error(maplet);
    return problem ? bad(from, problem) : BRY_OK;
}

bry_status bry__maplet_old_read(bry__maplet *maplet, bry__frame_reader *reader,
                                const bry_allocator *allocator)
{
    loading from = {reader, allocator, NULL};
    bry__maplet read = {.tables = 0};
    uint64_t tables = 0;
    bry_status status = read_options(&from, &read, &tables);
    if (status != BRY_OK)
        return status;
    from.buffer = bry__alloc_buffer(allocator, BUFFER_SIZE);
    if (!from.buffer)
        return no_memory(&from);
    status = read_tables(&from, &read, tables);
    bry__free(allocator, from.buffer, BUFFER_SIZE);
    if (status == BRY_OK)
        *maplet = read;
    else
        bry__maplet_free(&read);
    return status;
}

/* ---- reading in pieces --------------------------------------------------------------------- */

bry_status bry__maplet_old_read_numbers(bry__maplet *maplet, bry__maplet_old_reading *reading,
                                        bry__frame_reader *reader, const bry_allocator *allocator)
{
    loading from = {reader, allocator, NULL};
    bry__maplet read = {.tables = 0};
    uint64_t tables = 0;
    bry_status status = read_options(&from, &read, &tables);
    if (status != BRY_OK)
        return status;
    *reading = (bry__maplet_old_reading){0};
    while (read.tables < tables && status == BRY_OK)
        if (!add_table(&from, &read, &reading->n[read.tables], &reading->overflow[read.tables]))
            status = reader->status;
    if (status == BRY_OK)
        *maplet = read;
    else
        bry__maplet_free(&read);
    return status;
}

static void next_table(bry__maplet_old_reading *reading)
{
    reading->table++;
    reading->segment = 0;
}

bry_status bry__maplet_old_read_segments(bry__maplet *maplet, bry__maplet_old_reading *reading,
                                         uint64_t to, bry__frame_reader *reader)
{
    loading from = {reader, &maplet->allocator, NULL};
    if (reading->table >= maplet->tables || to <= reading->segment ||
        to > maplet->table[reading->table]->segments)
        return bad(&from, "segments stand out of their place");
    from.buffer = bry__alloc_buffer(from.allocator, BUFFER_SIZE);
    if (!from.buffer)
        return no_memory(&from);
    bry__table *table = maplet->table[reading->table];
    bry_status status = read_segments(&from, table, reading->segment, to);
    bry__free(from.allocator, from.buffer, BUFFER_SIZE);
    if (status != BRY_OK)
        return status;
    reading->segment = to;
    if (to == table->segments && reading->overflow[reading->table] == 0)
        next_table(reading);
    return BRY_OK;
}

bry_status bry__maplet_old_read_overflow(bry__maplet *maplet, bry__maplet_old_reading *reading,
                                         bry__frame_reader *reader)
{
    loading from = {reader, &maplet->allocator, NULL};
    if (reading->table >= maplet->tables ||
        reading->segment != maplet->table[reading->table]->segments)
        return bad(&from, "an overflow stands out of its place");
    from.buffer = bry__alloc_buffer(from.allocator, BUFFER_SIZE);
    if (!from.buffer)
        return no_memory(&from);
    bry_status status =
        read_overflow(&from, maplet->table[reading->table], reading->overflow[reading->table]);
    bry__free(from.allocator, from.buffer, BUFFER_SIZE);
    if (status == BRY_OK)
        next_table(reading);
    return status;
}

const char *bry__maplet_old_read_done(const bry__maplet *maplet,
                                      const bry__maplet_old_reading *reading)
{
    if (reading->table != maplet->tables)
        return "segments are missing";
    for (unsigned i = 0; i < maplet->tables; i++)
        if (maplet->table[i]->n != reading->n[i])
            return wrong_count;
    return check_error(maplet);
}
