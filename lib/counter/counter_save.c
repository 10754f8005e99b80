/*
 * A table of counters as frames (doc/format.md, kind CNTR): its options and numbers, the names with
 * their values, and the window, a stream of its own, cut into frames. A snapshot is the same, plus
 * its position in the history of its directory.
 */
#include "common/allocator.h"
#include "common/endian.h"
#include "counter/counter_object.h"
#include "frame/frame.h"
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
enum {
    AT_ENGINE = 0, /* u32 */
    AT_RESERVED = 4, /* u32 */
    AT_WINDOW = 8, /* u64 */
    AT_CAPACITY = 16, /* u64 */
    AT_ERROR = 24, /* double */
    AT_MAX_BYTES = 32, /* u64 */
    AT_MAX_SKEW = 40, /* u64 */
    AT_COUNTERS = 48, /* u64 */
    AT_APPLIED = 56, /* u64 */
    AT_REPEATS = 64, /* u64 */
    AT_REFUSED_FULL = 72, /* u64 */
    AT_REFUSED_OVERFLOW = 80, /* u64 */
    AT_REFUSED_TIME = 88, /* u64 */
    AT_EXPECTED_LOST = 96, /* double */
    AT_ERROR_THEN = 104, /* double */
    AT_SINCE = 112, /* u64 */
    AT_TABLE = 120, /* u64 */
    AT_SEQUENCE = 128, /* u64 */
    AT_ASK_AFTER = 136, /* u64 */
    NUMBERS_SIZE = 144
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
    const bry_counters_options *options = &counters->options;
    unsigned char numbers[NUMBERS_SIZE] = {0};
    bry__store32(numbers + AT_ENGINE, (uint32_t)options->engine);
    bry__store64(numbers + AT_WINDOW, options->window);
    bry__store64(numbers + AT_CAPACITY, options->capacity);
    bry__store_double(numbers + AT_ERROR, options->error);
    bry__store64(numbers + AT_MAX_BYTES, options->max_bytes);
    bry__store64(numbers + AT_MAX_SKEW, options->max_skew);
    bry__store64(numbers + AT_COUNTERS, counters->names.count);
    bry__store64(numbers + AT_APPLIED, counters->applied);
    bry__store64(numbers + AT_REPEATS, counters->repeats);
    bry__store64(numbers + AT_REFUSED_FULL, counters->refused_full);
    bry__store64(numbers + AT_REFUSED_OVERFLOW, counters->refused_overflow);
    bry__store64(numbers + AT_REFUSED_TIME, counters->refused_skew);
    bry__store_double(numbers + AT_EXPECTED_LOST, counters->expected_lost);
    bry__store_double(numbers + AT_ERROR_THEN, counters->error_then);
    bry__store64(numbers + AT_SINCE, counters->since);
    bry__store64(numbers + AT_ASK_AFTER, counters->ask_after);
    bry__store64(numbers + AT_TABLE, place->table);
    bry__store64(numbers + AT_SEQUENCE, place->sequence);
    bry__frame_writer_write(writer, NUMBERS, numbers, sizeof numbers);
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

static bry_status counter_save_no_memory(bry__frame_reader *reader)
{
    return bry__frame_reader_fail(reader, BRY_E_NOMEM, "not enough memory for the counters");
}

/* The options of creation, checked again. */
static const char *counter_save_read_options(const unsigned char *numbers, uint64_t seed,
                                             bry_counters_options *options,
                                             bry_counters_shape *shape)
{
    uint32_t engine = bry__load32(numbers + AT_ENGINE);
    if (!bry__engine_find(bry__window_engines, engine))
        return "unknown engine";
    if (seed == 0)
        return "the seed is 0";
    bry_counters_options stored = BRY_COUNTERS_OPTIONS;
    stored.engine = (bry_engine)engine;
    stored.window = bry__load64(numbers + AT_WINDOW);
    stored.capacity = bry__load64(numbers + AT_CAPACITY);
    stored.error = bry__load_double(numbers + AT_ERROR);
    stored.max_skew = bry__load64(numbers + AT_MAX_SKEW);
    stored.seed = seed;
    /* A zero would become a default, but a saved table has no zeros. */
    if (bry__counter_read_options(&stored, options, shape) != BRY_OK ||
        options->window != stored.window || options->capacity != stored.capacity ||
        options->error != stored.error)
        return "the table's options are out of range";
    /* Not among the checked options: the size of an empty table differs between machines. */
    options->max_bytes = bry__load64(numbers + AT_MAX_BYTES);
    return NULL;
}

static const char *read_counts(const unsigned char *numbers, bry_counters *counters,
                               bry__counter_place *place)
{
    counters->applied = bry__load64(numbers + AT_APPLIED);
    counters->repeats = bry__load64(numbers + AT_REPEATS);
    counters->refused_full = bry__load64(numbers + AT_REFUSED_FULL);
    counters->refused_overflow = bry__load64(numbers + AT_REFUSED_OVERFLOW);
    counters->refused_skew = bry__load64(numbers + AT_REFUSED_TIME);
    counters->expected_lost = bry__load_double(numbers + AT_EXPECTED_LOST);
    counters->error_then = bry__load_double(numbers + AT_ERROR_THEN);
    counters->since = bry__load64(numbers + AT_SINCE);
    counters->ask_after = bry__load64(numbers + AT_ASK_AFTER);
    place->table = bry__load64(numbers + AT_TABLE);
    place->sequence = bry__load64(numbers + AT_SEQUENCE);
    if (bry__load32(numbers + AT_RESERVED) != 0)
        return "a reserved field is not 0";
    if (!isfinite(counters->expected_lost) || counters->expected_lost < 0 ||
        !(counters->error_then >= 0 && counters->error_then <= 1))
        return "expected_lost or error is not a valid number";
    if (place->table == 0 && place->sequence != 0)
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
                       ? counter_save_no_memory(reader)
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
        bry__frame frame;
        status = bry__frame_reader_next(reader, &frame);
        if (status == BRY_OK && frame.type != NAMES)
            status = bry__frame_reader_bad(reader, "counters are missing");
        if (status == BRY_OK && (frame.length == 0 || frame.length > NAMES_MAX))
            status = bry__frame_reader_bad(reader, "a frame has the wrong length");
        if (status == BRY_OK && frame.length > room) {
            bry__free(allocator, buffer, room);
            room = frame.length;
            buffer = bry__alloc_buffer(allocator, room);
            if (!buffer) {
                status = counter_save_no_memory(reader);
                break;
            }
        }
        if (status == BRY_OK)
            status = bry__frame_reader_read(reader, buffer, frame.length);
        if (status == BRY_OK)
            status = read_names_frame(reader, counters, expected, buffer, frame.length);
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
        bry__frame frame;
        from->at = from->held = 0;
        bry_status status = bry__frame_reader_next(from->reader, &frame);
        if (status == BRY_OK && frame.type != WINDOW)
            status = bry__frame_reader_bad(from->reader, "the window is truncated");
        if (status == BRY_OK && (frame.length == 0 || frame.length > PORTION))
            status = bry__frame_reader_bad(from->reader, "a frame has the wrong length");
        if (status == BRY_OK)
            status = bry__frame_reader_read(from->reader, from->bytes, frame.length);
        if (status != BRY_OK)
            return status;
        from->held = frame.length;
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
        return counter_save_no_memory(reader);
    from->reader = reader;
    from->held = from->at = 0;
    bry_status status = read_window_from(from, counters);
    bry__free(&counters->meter.under, from, sizeof *from);
    return status;
}

static bry_status read_counter(bry__frame_reader *reader, const bry_allocator *under,
                               bry_counters **counters, bry__counter_place *place)
{
    unsigned char numbers[NUMBERS_SIZE];
    bry_status status = bry__frame_reader_read_frame(reader, NUMBERS, numbers, sizeof numbers);
    if (status != BRY_OK)
        return status;
    bry_counters_options options;
    bry_counters_shape shape;
    const char *problem = counter_save_read_options(numbers, reader->header.seed, &options, &shape);
    if (problem)
        return bry__frame_reader_bad(reader, problem);
    status =
        bry__frame_reader_claim(reader, sizeof(bry_counters) + bry__counter_names_bytes_empty());
    if (status != BRY_OK)
        return status;
    bry_counters *made;
    if (bry__counter_make(&options, under, &made) != BRY_OK)
        return counter_save_no_memory(reader);
    problem = read_counts(numbers, made, place);
    status = problem ? bry__frame_reader_bad(reader, problem)
                     : read_names(reader, made, bry__load64(numbers + AT_COUNTERS));
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
