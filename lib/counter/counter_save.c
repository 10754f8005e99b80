/*
 * A table of counters as frames (doc/format.md, kind CNTR): its options and numbers, the names with
 * their values, and the window, a stream of its own, cut into frames. A snapshot is the same, plus
 * its position in the history of its directory.
 */
#include "common/allocator.h"
#include "common/endian.h"
#include "counter/counter_object.h"
#include "frame/frame_numbers.h"
#include "frame/job_row.h"
#include "window/window_object.h"

#include <math.h>
#include <string.h>

#define KIND BRY__FOUR('C', 'N', 'T', 'R')
#define KIND_VERSION 1
#define NUMBERS BRY__FOUR('N', 'U', 'M', 'S')
#define NAMES BRY__FOUR('N', 'A', 'M', 'E')
#define WINDOW BRY__FOUR('W', 'I', 'N', 'D')

/* The frame NUMS. */
typedef struct counter_numbers {
    bry_counters_options options;
    uint32_t reserved;
    uint64_t counters;
    bry__counter_counts counts;
    bry__counter_place place;
} counter_numbers;

#define ROW(field) BRY__NUMBER(counter_numbers, field)
static const bry__number counter_rows[] = {
    ROW(options.engine),      ROW(reserved),
    ROW(options.window),      ROW(options.capacity),
    ROW(options.error),       ROW(options.max_bytes),
    ROW(options.max_skew),    ROW(counters),
    ROW(counts.applied),      ROW(counts.repeats),
    ROW(counts.refused_full), ROW(counts.refused_overflow),
    ROW(counts.refused_skew), ROW(counts.expected_lost),
    ROW(counts.error_then),   ROW(counts.since),
    ROW(place.table),         ROW(place.sequence),
    ROW(counts.ask_after),    BRY__NUMBERS_END,
};

/* In the frames NAME, before each name: its length u16, its value i64. */
enum { NAME_HEAD = 10, NAMES_A_FRAME = 128 };

/* Bytes of the window's stream in each frame WIND; the last may have fewer. */
enum { PORTION = 16384 };
/* A frame of names ends with the one that reaches PORTION: a reader needs no more memory than this
 * before it has claimed anything. */
#define NAMES_MAX ((size_t)PORTION + NAME_HEAD + BRY_COUNTERS_NAME_MAX)

/* ---- writing -------------------------------------------------------------------------------- */

static void write_numbers(const bry_counters *counters, const bry__counter_place *place,
                          bry__frame_writer *writer)
{
    counter_numbers numbers = {.options = counters->options,
                               .counters = counters->names.count,
                               .counts = counters->counts,
                               .place = *place};
    bry__frame_write_numbers(writer, NUMBERS, counter_rows, &numbers);
}

/* Writes the first of n entries as a frame; returns how many. */
static size_t write_names_frame(const bry_counters_entry *entries, size_t n,
                                bry__frame_writer *writer)
{
    size_t size = 0, count = 0;
    while (count < n && size < PORTION)
        size += NAME_HEAD + entries[count++].name_len;
    bry__frame_writer_open(writer, NAMES, size);
    for (size_t i = 0; i < count; i++) {
        unsigned char head[NAME_HEAD];
        bry__store16(head, (uint16_t)entries[i].name_len);
        bry__store64(head + 2, (uint64_t)entries[i].value);
        bry__frame_writer_put(writer, head, sizeof head);
        if (entries[i].name_len)
            bry__frame_writer_put(writer, entries[i].name, entries[i].name_len);
    }
    return count;
}

static void write_names(const bry_counters *counters, bry__frame_writer *writer)
{
    bry_counters_entry entries[NAMES_A_FRAME];
    uint64_t cursor = 0;
    do {
        size_t n = bry_counters_scan(counters, &cursor, entries, NAMES_A_FRAME);
        for (size_t done = 0; done < n;)
            done += write_names_frame(entries + done, n - done, writer);
    } while (cursor != 0);
}

typedef struct portions {
    bry__frame_writer *writer;
    size_t held;
    unsigned char bytes[PORTION];
} portions;

static bry_status put_portion(void *opaque, const void *bytes, size_t len)
{
    portions *to = opaque;
    const unsigned char *from = bytes;
    while (len > 0) {
        size_t part = len < PORTION - to->held ? len : PORTION - to->held;
        memcpy(to->bytes + to->held, from, part);
        to->held += part;
        from += part;
        len -= part;
        if (to->held < PORTION)
            break;
        to->held = 0;
        bry_status status = bry__frame_writer_write(to->writer, WINDOW, to->bytes, PORTION);
        if (status != BRY_OK)
            return status;
    }
    return BRY_OK;
}

static bry_status write_window(const bry_counters *counters, bry__frame_writer *writer)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    portions *to = bry__alloc_buffer(&allocator, sizeof *to);
    if (!to)
        return BRY_E_NOMEM;
    to->writer = writer;
    to->held = 0;
    bry_sink sink = {put_portion, to};
    bry_status status = bry_window_save(counters->window, &sink, NULL);
    if (status == BRY_OK && to->held)
        status = bry__frame_writer_write(writer, WINDOW, to->bytes, to->held);
    bry__free(&allocator, to, sizeof *to);
    return status;
}

bry_status bry__counter_write(const bry_counters *counters, const bry__counter_place *place,
                              const bry_sink *sink, const bry_save *save)
{
    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, sink, save, KIND, KIND_VERSION, counters->options.seed);
    write_numbers(counters, place, &writer);
    write_names(counters, &writer);
    bry_status status = write_window(counters, &writer);
    bry_status written = bry__frame_writer_end(&writer);
    return status != BRY_OK ? status : written;
}

bry_status bry_counters_save(const bry_counters *counters, const bry_sink *sink,
                             const bry_save *save)
{
    bry__counter_place nowhere = {0, 0};
    if (counters->broken) /* its window does not match its counters */
        return bry__counter_refuse_broken();
    return bry__counter_write(counters, &nowhere, sink, save);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* The options of creation, checked again. */
static const char *counter_save_read_options(const counter_numbers *numbers, uint64_t seed,
                                             bry_counters_options *options,
                                             bry_counters_shape *shape)
{
    if (!bry__engine_find(bry__window_engines, numbers->options.engine))
        return "unknown engine";
    if (seed == 0)
        return "the seed is 0";
    bry_counters_options stored = numbers->options;
    stored.struct_size = sizeof stored;
    stored.seed = seed;
    /* Not among the checked options: the size of an empty table differs between machines. */
    stored.max_bytes = 0;
    /* A zero would become a default, but a saved table has no zeros. */
    if (bry__counter_read_options(&stored, options, shape) != BRY_OK ||
        options->window != stored.window || options->capacity != stored.capacity ||
        options->error != stored.error)
        return "the table's options are out of range";
    options->max_bytes = numbers->options.max_bytes;
    return NULL;
}

static const char *counter_save_check(const counter_numbers *numbers)
{
    const bry__counter_counts *counts = &numbers->counts;
    if (numbers->reserved != 0)
        return "a reserved field is not 0";
    if (!isfinite(counts->expected_lost) || counts->expected_lost < 0 ||
        !(counts->error_then >= 0 && counts->error_then <= 1))
        return "expected_lost or error is not a valid number";
    if (numbers->place.table == 0 && numbers->place.sequence != 0)
        return "invalid position in the log";
    return NULL;
}

/* The names of one frame, which is in the buffer. */
static bry_status read_names_frame(bry__frame_reader *reader, bry_counters *counters,
                                   uint64_t expected, const unsigned char *buffer, size_t size)
{
    bry__counter_names *names = &counters->names;
    for (size_t at = 0; at < size;) {
        if (names->count == expected)
            return bry__frame_reader_bad(reader, "more counters than the table has");
        if (size - at < NAME_HEAD || size - at - NAME_HEAD < bry__load16(buffer + at))
            return bry__frame_reader_bad(reader, "a name is truncated");
        size_t len = bry__load16(buffer + at);
        const unsigned char *bytes = buffer + at + NAME_HEAD;
        bry__counter_key key = bry__counter_names_key(names, bytes, len);
        if (bry__counter_names_find(names, key))
            return bry__frame_reader_bad(reader, "two counters have the same name");
        uint64_t before = counters->meter.bytes;
        bry__counter_name *name;
        bry_status status = bry__counter_names_add(names, key, &name);
        if (status != BRY_OK)
            return status == BRY_E_NOMEM
                       ? bry__frame_reader_no_memory(reader)
                       : bry__frame_reader_bad(reader, "too many names with the same hash");
        name->value = (int64_t)bry__load64(buffer + at + 2);
        name->fresh = false;
        at += NAME_HEAD + len;
        /* claimed afterwards: a name and what the row grows by are small */
        if (counters->meter.bytes > before)
            status = bry__frame_reader_claim(reader, counters->meter.bytes - before);
        if (status != BRY_OK)
            return status;
    }
    return BRY_OK;
}

static bry_status read_names(bry__frame_reader *reader, bry_counters *counters, uint64_t expected)
{
    const bry_allocator *allocator = &counters->meter.allocator;
    unsigned char *buffer = NULL;
    size_t room = 0;
    bry_status status = BRY_OK;
    while (counters->names.count < expected && status == BRY_OK) {
        size_t length;
        status =
            bry__frame_reader_expect(reader, NAMES, "counters are missing", 1, NAMES_MAX, &length);
        if (status == BRY_OK && length > room) {
            bry__free(allocator, buffer, room);
            room = length;
            buffer = bry__alloc_buffer(allocator, room);
            if (!buffer) {
                status = bry__frame_reader_no_memory(reader);
                break;
            }
        }
        if (status == BRY_OK)
            status = bry__frame_reader_read(reader, buffer, length);
        if (status == BRY_OK)
            status = read_names_frame(reader, counters, expected, buffer, length);
    }
    bry__free(allocator, buffer, room);
    return status;
}

/* The window's stream, read from its frames. */
typedef struct window_bytes {
    bry__frame_reader *reader;
    size_t held, at;
    unsigned char bytes[PORTION];
} window_bytes;

static bry_status give_bytes(void *opaque, void *bytes, size_t len, size_t *got)
{
    window_bytes *from = opaque;
    *got = 0;
    if (from->at == from->held) {
        size_t length;
        from->at = from->held = 0;
        bry_status status = bry__frame_reader_expect(
            from->reader, WINDOW, "the window is truncated", 1, PORTION, &length);
        if (status == BRY_OK)
            status = bry__frame_reader_read(from->reader, from->bytes, length);
        if (status != BRY_OK)
            return status;
        from->held = length;
    }
    *got = len < from->held - from->at ? len : from->held - from->at;
    memcpy(bytes, from->bytes + from->at, *got);
    from->at += *got;
    return BRY_OK;
}

static bool counter_save_is_own(const bry_counters *counters)
{
    bry_window_options has = bry__window_like(counters->window);
    bry_window_options own = bry__counter_window_options(&counters->options);
    return has.engine == own.engine && has.window == own.window && has.capacity == own.capacity &&
           has.error == own.error && has.seed == own.seed && has.max_bytes == own.max_bytes &&
           has.max_skew == own.max_skew && has.refuse == own.refuse && has.fixed == own.fixed &&
           has.refresh == own.refresh;
}

static bry_status read_window_from(window_bytes *from, bry_counters *counters)
{
    bry__frame_reader *reader = from->reader;
    bry_source source = {give_bytes, from};
    bry_load inner = BRY_LOAD;
    bry_buffer note = BRY_BUFFER;
    inner.note = &note; /* the window has no note; one would be lost */
    inner.note_max = 1;
    inner.allocator = &counters->meter.allocator;
    uint64_t limit = reader->load ? reader->load->max_bytes : 0;
    if (limit && reader->claimed >= limit)
        return bry__frame_reader_fail(reader, BRY_E_LIMIT, "no memory is left for the window");
    inner.max_bytes = limit ? limit - reader->claimed : 0;
    uint64_t before = counters->meter.bytes;
    bry_status status = bry_window_load(&source, &inner, &counters->window);
    bool noted = note.len > 0 || (status == BRY_E_LIMIT && inner.offset == BRY__HEADER_BYTES);
    bry_buffer_free(&note);
    if (reader->status != BRY_OK)
        return reader->status;
    if (noted)
        return bry__frame_reader_bad(reader, "the window inside has a note");
    if (status != BRY_OK)
        return bry__frame_reader_fail(reader, status, inner.problem);
    if (from->at != from->held)
        return bry__frame_reader_bad(reader, "trailing data after the window");
    if (!counter_save_is_own(counters))
        return bry__frame_reader_bad(reader, "the window does not belong to this table");
    return bry__frame_reader_claim(reader, counters->meter.bytes - before);
}

static bry_status counter_save_read_window(bry__frame_reader *reader, bry_counters *counters)
{
    window_bytes *from = bry__alloc_buffer(&counters->meter.under, sizeof *from);
    if (!from)
        return bry__frame_reader_no_memory(reader);
    from->reader = reader;
    from->held = from->at = 0;
    bry_status status = read_window_from(from, counters);
    bry__free(&counters->meter.under, from, sizeof *from);
    return status;
}

static bry_status read_counter(bry__frame_reader *reader, const bry_allocator *under,
                               bry_counters **counters, bry__counter_place *place)
{
    counter_numbers numbers = {.reserved = 0};
    bry_status status = bry__frame_read_numbers(reader, NUMBERS, counter_rows, &numbers);
    if (status != BRY_OK)
        return status;
    bry_counters_options options;
    bry_counters_shape shape;
    const char *problem =
        counter_save_read_options(&numbers, reader->header.seed, &options, &shape);
    if (!problem)
        problem = counter_save_check(&numbers);
    if (problem)
        return bry__frame_reader_bad(reader, problem);
    status =
        bry__frame_reader_claim(reader, sizeof(bry_counters) + bry__counter_names_bytes_empty());
    if (status != BRY_OK)
        return status;
    bry_counters *made;
    if (bry__counter_make(&options, under, &made) != BRY_OK)
        return bry__frame_reader_no_memory(reader);
    made->counts = numbers.counts;
    *place = numbers.place;
    status = read_names(reader, made, numbers.counters);
    if (status == BRY_OK)
        status = counter_save_read_window(reader, made);
    if (status == BRY_OK)
        status = bry__frame_reader_end(reader);
    if (status == BRY_OK)
        *counters = made;
    else
        bry_counters_destroy(made);
    return status;
}

bry_status bry__counter_read(const bry_source *source, bry_load *load, bry_counters **counters,
                             bry__counter_place *place)
{
    bry__frame_reader reader;
    bry_status status = bry__frame_reader_open(&reader, source, load, KIND, KIND_VERSION);
    if (status == BRY_OK)
        status = read_counter(&reader, &reader.allocator, counters, place);
    bry__frame_reader_close(&reader);
    return status;
}

bry_status bry_counters_load(const bry_source *source, bry_load *load, bry_counters **counters)
{
    bry__counter_place place;
    return bry__counter_read(source, load, counters, &place);
}

/* ---- the job's row ------------------------------------------------------------------------- */

BRY__JOB(counters, "counter", bry__window_engines, NULL)
