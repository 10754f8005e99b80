/*
 * A map as frames (doc/format.md, kind MAP): its options and numbers, the values by rising code,
 * and the engine's frames. The look-up from values to codes is rebuilt from the values.
 */
#include "common/endian.h"
#include "frame/frame_numbers.h"
#include "frame/job_row.h"
#include "map/map_object.h"

#define NUMBERS BRY__FOUR('N', 'U', 'M', 'S')
#define VALUES BRY__FOUR('V', 'A', 'L', 'S')

enum { FLAG_FIXED = 1, FLAG_PAPER = 2 };

/* The frame NUMS. */
typedef struct map_numbers {
    bry_map_options options;
    uint32_t flags;
    uint64_t codes; /* assigned or free; 0 where values are integers */
    uint64_t ghosts, refused_unsure, refused_full;
} map_numbers;

#define ROW(field) BRY__NUMBER(map_numbers, field)
static const bry__number map_rows[] = {
    ROW(options.engine),
    ROW(flags),
    ROW(options.capacity),
    ROW(options.error),
    ROW(options.values),
    ROW(options.value_bits),
    ROW(options.kbf.hashes),
    ROW(options.kbf.cells),
    ROW(codes),
    ROW(ghosts),
    ROW(refused_unsure),
    ROW(refused_full),
    BRY__NUMBERS_END,
};

/* In the frames VALS, before each value: its length, or a mark that the code is free. */
#define LENGTH_SIZE 4u
#define FREE_CODE UINT32_MAX

/* A frame takes values until it exceeds this size, so by at most one value. */
#define VALUES_SIZE ((size_t)1 << 18)
#define BUFFER_SIZE (VALUES_SIZE + LENGTH_SIZE + BRY_MAP_VALUE_MAX)

/* ---- writing ------------------------------------------------------------------------------- */

static void write_value(const bry__dictionary *dictionary, uint32_t code, bry__frame_writer *writer)
{
    unsigned char length[LENGTH_SIZE];
    if (!bry__dictionary_has(dictionary, code)) {
        bry__store32(length, FREE_CODE);
        bry__frame_writer_put(writer, length, sizeof length);
        return;
    }
    bry_map_value value = bry__dictionary_value(dictionary, code);
    bry__store32(length, (uint32_t)value.len);
    bry__frame_writer_put(writer, length, sizeof length);
    if (value.len)
        bry__frame_writer_put(writer, value.bytes, value.len);
}

static void write_values(const bry__dictionary *dictionary, bry__frame_writer *writer)
{
    for (uint64_t code = 0; code < dictionary->table.codes;) {
        uint64_t end = code;
        size_t size = 0;
        for (; end < dictionary->table.codes && size < VALUES_SIZE; end++) {
            size += LENGTH_SIZE;
            if (bry__dictionary_has(dictionary, end))
                size += bry__dictionary_value(dictionary, (uint32_t)end).len;
        }
        bry__frame_writer_open(writer, VALUES, size);
        for (; code < end; code++)
            write_value(dictionary, (uint32_t)code, writer);
    }
}

static void map_write(const bry_map *map, bry__frame_writer *writer)
{
    bool values = bry__map_has_dictionary(map);
    map_numbers numbers = {
        .options = map->options,
        .flags = (map->options.fixed ? FLAG_FIXED : 0u) |
                 (map->options.kbf.layout == BRY_MAP_PAPER ? FLAG_PAPER : 0u),
        .codes = values ? map->dictionary->table.codes : 0,
        .ghosts = map->ghosts,
        .refused_unsure = map->refused_unsure,
        .refused_full = map->refused_full,
    };
    bry__frame_write_numbers(writer, NUMBERS, map_rows, &numbers);
    if (values)
        write_values(map->dictionary, writer);
    map->engine->write(map->keys, writer);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The options of creation, checked again. */
static const char *map_save_read_options(map_numbers *numbers, uint64_t seed,
                                         bry_map_options *options, const bry__map_engine **engine,
                                         bry_map_shape *shape)
{
    bry_map_options *stored = &numbers->options;
    if (!bry__engine_find(bry__map_engines, stored->engine))
        return "unknown engine";
    if (seed == 0)
        return "the seed is 0";
    if (numbers->flags & ~(uint32_t)(FLAG_FIXED | FLAG_PAPER))
        return "unknown flag";
    stored->struct_size = sizeof *stored;
    stored->fixed = numbers->flags & FLAG_FIXED;
    stored->seed = seed;
    stored->kbf.layout = numbers->flags & FLAG_PAPER ? BRY_MAP_PAPER : BRY_MAP_TUNED;
    /* A zero would become a default, but a saved map has no zeros. */
    if (bry__map_read_options(stored, options, engine, shape) != BRY_OK ||
        options->capacity != stored->capacity || options->error != stored->error ||
        options->values != stored->values)
        return "the map's options are out of range";
    return NULL;
}

/* Values that are read, and those of them that the dictionary does not have yet. */
typedef struct values_reader {
    bry__frame_reader *reader;
    bry__dictionary *dictionary;
    bool may_be_free; /* codes */
    uint64_t codes; /* that there will be */
    uint64_t claimed; /* of the dictionary's bytes */
    size_t n;
    bry_map_value value[BRY__DICTIONARY_ROUND];
} values_reader;

static bry_status values_reader_status(const values_reader *values, bry_status status)
{
    switch (status) {
    case BRY_OK:
        return BRY_OK;
    case BRY_E_NOMEM:
        return bry__frame_reader_no_memory(values->reader);
    case BRY_E_MISMATCH:
        return bry__frame_reader_bad(values->reader, "two codes have the same value");
    default:
        return bry__frame_reader_bad(values->reader, "more values than there are codes");
    }
}

/* Appends the values read so far. */
static bry_status append_values(values_reader *values)
{
    size_t n = values->n;
    values->n = 0;
    return values_reader_status(values,
                                bry__dictionary_append_n(values->dictionary, values->value, n));
}

static bry_status append_free_code(values_reader *values)
{
    if (!values->may_be_free)
        return bry__frame_reader_bad(values->reader, "unexpected free code");
    bry_status status = append_values(values);
    if (status == BRY_OK)
        status = values_reader_status(values, bry__dictionary_append_free(values->dictionary));
    return status;
}

/* The value, or free code, at the start of `left` bytes; *used: its length. */
static bry_status read_value(values_reader *values, const unsigned char *from, size_t left,
                             size_t *used)
{
    if (left < LENGTH_SIZE)
        return bry__frame_reader_bad(values->reader, "a value is truncated");
    uint32_t len = bry__load32(from);
    *used = LENGTH_SIZE;
    if (len == FREE_CODE)
        return append_free_code(values);
    if (len > BRY_MAP_VALUE_MAX || len > left - LENGTH_SIZE)
        return bry__frame_reader_bad(values->reader, "a value is too long");
    *used += len;
    values->value[values->n++] = bry_map_value_bytes(from + LENGTH_SIZE, len);
    return values->n == BRY__DICTIONARY_ROUND ? append_values(values) : BRY_OK;
}

/* Claims the memory that the dictionary has taken, when it is known: the values of one frame take
 * little. */
static bry_status claim_values(values_reader *values)
{
    uint64_t now = bry__dictionary_bytes(values->dictionary);
    uint64_t more = now > values->claimed ? now - values->claimed : 0;
    values->claimed += more;
    return bry__frame_reader_claim(values->reader, more);
}

/* The values of one frame, which is in the buffer. */
static bry_status read_values_frame(values_reader *values, const unsigned char *buffer, size_t size)
{
    bry_status status = BRY_OK;
    for (size_t at = 0, used = 0; at < size && status == BRY_OK; at += used) {
        if (values->dictionary->table.codes + values->n == values->codes)
            return bry__frame_reader_bad(values->reader, "more values than the map has");
        status = read_value(values, buffer + at, size - at, &used);
    }
    if (status == BRY_OK)
        status = append_values(values); /* their bytes are in the buffer */
    return status == BRY_OK ? claim_values(values) : status;
}

/* Reads a frame into a buffer of its length: a few values take no memory to speak of. */
static bry_status read_values_next(values_reader *values)
{
    bry__frame_reader *reader = values->reader;
    const bry_allocator *allocator = &values->dictionary->allocator;
    size_t length;
    bry_status status =
        bry__frame_reader_expect(reader, VALUES, "values are missing", 1, BUFFER_SIZE, &length);
    if (status != BRY_OK)
        return status;
    unsigned char *buffer = bry__alloc_buffer(allocator, length);
    if (!buffer)
        return bry__frame_reader_no_memory(reader);
    status = bry__frame_reader_read(reader, buffer, length);
    if (status == BRY_OK)
        status = read_values_frame(values, buffer, length);
    bry__free(allocator, buffer, length);
    return status;
}

static bry_status read_values(bry__frame_reader *reader, bry_map *map, uint64_t codes)
{
    values_reader values = {.reader = reader,
                            .dictionary = map->dictionary,
                            .may_be_free = map->engine->recodes,
                            .codes = codes};
    bry_status status = BRY_OK;
    /* without codes there may be no dictionary */
    while (codes > 0 && values.dictionary->table.codes < codes && status == BRY_OK)
        status = read_values_next(&values);
    return status;
}

/* Counts the keys of every value, and checks that no key has a free code. */
static bry_status count_codes(bry__frame_reader *reader, bry_map *map)
{
    const bry__dictionary *dictionary = map->dictionary;
    if (!bry__map_has_dictionary(map) || !map->engine->watch)
        return BRY_OK;
    bry__map_watch(map);
    map->engine->recount(map->keys);
    for (uint64_t code = 0; code < dictionary->table.codes && dictionary->table.free > 0; code++)
        if (!bry__dictionary_has(dictionary, code) && bry__dictionary_uses(dictionary, code) > 0)
            return bry__frame_reader_bad(reader, "a key has a code without a value");
    return BRY_OK;
}

/* Everything after NUMS, into a map that only has its options. */
static bry_status map_save_read_parts(bry__frame_reader *reader, bry_map *map, uint64_t values,
                                      uint64_t codes)
{
    if (bry__map_create_dictionary(map, values) != BRY_OK)
        return bry__frame_reader_no_memory(reader);
    bry_status status = read_values(reader, map, codes);
    if (status == BRY_OK)
        status = map->engine->read(&map->options, bry__map_codes(map), reader, &map->allocator,
                                   &map->keys);
    if (status == BRY_OK)
        status = bry__frame_reader_end(reader);
    if (status == BRY_OK && map->ghosts > map->engine->items(map->keys))
        status = bry__frame_reader_bad(reader, "more ghosts than keys");
    return status == BRY_OK ? count_codes(reader, map) : status;
}

static bry_status map_read(bry__frame_reader *reader, bry_map **map)
{
    map_numbers numbers = {.flags = 0};
    bry_status status = bry__frame_read_numbers(reader, NUMBERS, map_rows, &numbers);
    if (status != BRY_OK)
        return status;
    bry_map read = {.allocator = reader->allocator,
                    .ghosts = numbers.ghosts,
                    .refused_unsure = numbers.refused_unsure,
                    .refused_full = numbers.refused_full};
    bry_map_shape shape;
    const char *problem =
        map_save_read_options(&numbers, reader->header.seed, &read.options, &read.engine, &shape);
    if (problem)
        return bry__frame_reader_bad(reader, problem);
    if (numbers.codes > UINT32_MAX || (!bry__map_has_dictionary(&read) && numbers.codes))
        return bry__frame_reader_bad(reader, "the number of values is out of range");
    if (read.ghosts && read.options.engine != BRY_ENGINE_KBF)
        return bry__frame_reader_bad(reader, "unexpected ghosts");
    read.promised = shape.errors;
    if (bry__map_has_dictionary(&read))
        bry__frame_reader_claim(reader, sizeof *read.dictionary);
    bry_map *made = bry__frame_reader_alloc(reader, &reader->allocator, sizeof *made);
    if (!made)
        return reader->status;
    *made = read;
    status = map_save_read_parts(reader, made, shape.values, numbers.codes);
    if (status == BRY_OK)
        *map = made;
    else
        bry_map_destroy(made);
    return status;
}

BRY__JOB_STREAM(map, BRY__FOUR('M', 'A', 'P', ' '))

/* ---- the job's row ------------------------------------------------------------------------- */

BRY__JOB_MERGE(map)
BRY__JOB(map, "map", bry__map_engines, map_any_merge)
