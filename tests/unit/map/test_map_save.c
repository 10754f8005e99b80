/* Altered files of maps: each is refused with its message. */
#include "common/endian.h"
#include "frame/frame.h"
#include "frame/frame_header.h"
#include "support/job_calls.h"
#include "support/like.h"
#include "support/map_helpers.h"
#include "support/repair.h"

enum { HEADER = 64, FRAME_HEAD = 16, NUMBERS = 80 };
enum { NUMBERS_AT = HEADER + FRAME_HEAD, VALUES_AT = NUMBERS_AT + NUMBERS + 8 + FRAME_HEAD };

static bry_buffer saved_of(const bry_map *map)
{
    return job_saved(BRY_JOB_MAP, map);
}

/* A map with everything that a file can contain: growth, free codes, refusals. */
static bry_map *busy(bry_engine engine, unsigned value_bits)
{
    bry_map *map = make((bry_map_options){
        .engine = engine, .capacity = 200, .error = 1e-6, .value_bits = value_bits, .values = 77});
    for (uint64_t i = 0; i < 500; i++)
        set(map, key(i), value_bits ? bry_map_value_number(i % 30) : numbered(i % 60));
    for (uint64_t i = 0; i < 500; i++)
        if (i % 60 % 7 == 3)
            assert_int_equal(bry_map_del(map, key(i), NULL), BRY_OK);
    if (engine == BRY_ENGINE_COMPACT)
        assert_int_equal(bry_map_compress(map, 0), BRY_OK); /* frees codes */
    map->refused_full = 5;
    map->refused_unsure = 6;
    return map;
}

typedef struct forgery {
    unsigned char bytes[1 << 16];
    size_t len;
} forgery;

static void forge(forgery *file, const bry_map *map)
{
    bry_buffer saved = saved_of(map);
    assert_true(saved.len <= sizeof file->bytes);
    memcpy(file->bytes, saved.bytes, saved.len);
    file->len = saved.len;
    bry_buffer_free(&saved);
}

static void assert_refused(forgery *file, const char *problem)
{
    bry_load load = BRY_LOAD;
    void *map;
    repair_stream(file->bytes, file->len);
    assert_int_equal(job_load_bytes(BRY_JOB_MAP, file->bytes, file->len, &load, &map),
                     BRY_E_BADDATA);
    assert_non_null(load.problem);
    if (problem)
        assert_string_equal(load.problem, problem);
}

TEST(test_forged_numbers)
{
    static const struct {
        unsigned at, bytes;
        uint64_t value;
        const char *problem;
    } forged[] = {
        {0, 4, BRY_ENGINE_BLOOM, "unknown engine"},
        {4, 4, 4, "unknown flag"},
        {4, 4, 1, NULL}, /* fixed, but it has two tables */
        {8, 8, 0, "the map's options are out of range"},
        {8, 8, UINT64_MAX, "the map's options are out of range"},
        {16, 8, 0, "the map's options are out of range"},
        {16, 8, UINT64_C(0x7ff8000000000000), "the map's options are out of range"},
        {24, 8, 0, "the map's options are out of range"},
        {24, 8, UINT64_MAX, "the map's options are out of range"},
        {32, 4, 5, "the number of values is out of range"},
        {32, 4, 99, "the map's options are out of range"},
        {36, 4, 7, "the map's options are out of range"},
        {40, 8, 7, "the map's options are out of range"},
        {48, 8, 0, NULL},
        {48, 8, 20, NULL},
        {48, 8, 61, NULL},
        {48, 8, UINT64_C(1) << 32, "the number of values is out of range"},
    };
    static forgery file;
    for (int e = 0; e < 2; e++) {
        bry_map *map = busy(map_engines[e], 0);
        for (size_t i = 0; i < sizeof forged / sizeof forged[0]; i++) {
            forge(&file, map);
            if (forged[i].bytes == 4)
                bry__store32(file.bytes + NUMBERS_AT + forged[i].at, (uint32_t)forged[i].value);
            else
                bry__store64(file.bytes + NUMBERS_AT + forged[i].at, forged[i].value);
            assert_refused(&file, forged[i].problem);
        }
        bool compact = map_engines[e] == BRY_ENGINE_COMPACT;
        forge(&file, map);
        bry__store64(file.bytes + NUMBERS_AT + 56, compact ? 1 : stats_of(map).items + 1);
        assert_refused(&file, compact ? "unexpected ghosts" : "more ghosts than keys");
        if (compact) {
            forge(&file, map);
            bry__store64(file.bytes + NUMBERS_AT + 8, 201); /* not the table's capacity */
            assert_refused(&file, "the table's options do not match the map");
            forge(&file, map);
            bry__store32(file.bytes + NUMBERS_AT + 4, 2); /* the papers' layout */
            assert_refused(&file, "the map's options are out of range");
        }
        bry_map_destroy(map);
    }
}

TEST(test_forged_values)
{
    static forgery file;
    for (int e = 0; e < 2; e++) {
        bry_map *map = make((bry_map_options){.engine = map_engines[e], .error = 1e-9});
        set(map, key(1), text("aaa"));
        set(map, key(2), text("bbb"));
        set(map, key(3), text("ccc"));
        unsigned char *values = file.bytes + VALUES_AT;
        forge(&file, map);
        assert_memory_equal(values, "\3\0\0\0aaa\3\0\0\0bbb\3\0\0\0ccc", 21);
        memset(values + 11, 'a', 3);
        assert_refused(&file, "two codes have the same value");
        forge(&file, map);
        bry__store32(values, 4);
        assert_refused(&file, NULL); /* the lengths lead astray */
        forge(&file, map);
        bry__store32(values + 14, 4);
        assert_refused(&file, "a value is too long");
        forge(&file, map);
        bry__store32(values + 14, 1);
        assert_refused(&file, NULL); /* more values than the map has, or bytes left over */
        forge(&file, map);
        bry__store32(values, BRY_MAP_VALUE_MAX + 1);
        assert_refused(&file, "a value is too long");
        forge(&file, map);
        file.bytes[VALUES_AT - FRAME_HEAD] = 'W'; /* the first letter of its type */
        assert_refused(&file, "values are missing");
        bry_map_destroy(map);
    }

    /* compact: a code that is free, and in use. */
    bry_map *map = make((bry_map_options){.error = 1e-9});
    set(map, key(1), text(""));
    set(map, key(2), text("b"));
    forge(&file, map);
    bry__store32(file.bytes + VALUES_AT, UINT32_MAX);
    assert_refused(&file, "a key has a code without a value");
    bry_map_destroy(map);
    map = make((bry_map_options){.engine = BRY_ENGINE_KBF, .error = 1e-9});
    set(map, key(1), text(""));
    forge(&file, map);
    bry__store32(file.bytes + VALUES_AT, UINT32_MAX);
    assert_refused(&file, "unexpected free code");
    bry_map_destroy(map);
}

/* A folded kbf map is merged with one of the same options, whose plan has a smaller error. */
TEST(test_merged_after_compress)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    options.engine = BRY_ENGINE_KBF;
    options.capacity = 1024;
    options.error = 1e-9;
    options.value_bits = 1;
    options.kbf.cells = 112;
    options.kbf.hashes = 14;
    options.seed = 1;
    bry_map *map = make(options), *other = NULL;
    void *loaded;
    assert_int_equal(bry_map_compress(map, 0), BRY_OK);
    bry_map_options like = map_like(map);
    assert_int_equal(bry_map_create(&like, &other), BRY_OK);
    for (int i = 0; i < 76; i++)
        assert_int_equal(bry_map_add(other, key(0), bry_map_value_number(0)), BRY_OK);
    assert_int_equal(bry_map_merge(map, other), BRY_OK);
    bry_buffer saved = saved_of(map);
    assert_int_equal(job_load_bytes(BRY_JOB_MAP, saved.bytes, saved.len, NULL, &loaded), BRY_OK);
    bry_map_destroy(map);
    bry_map_destroy(other);
    bry_map_destroy(loaded);
    bry_buffer_free(&saved);
}

/* A frame of values that is longer than the buffer for it. */
TEST(test_frame_too_long)
{
    enum { LONG = 400 << 10 };
    static const unsigned char zeros[LONG];
    static forgery file;
    bry_map *map = make((bry_map_options){.capacity = 10});
    set(map, key(1), text("value"));
    forge(&file, map);
    bry_map_destroy(map);
    bry_buffer saved = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&saved);
    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, &sink, NULL, BRY__FOUR('M', 'A', 'P', ' '), 1, 3);
    bry__frame_writer_write(&writer, BRY__FOUR('N', 'U', 'M', 'S'), file.bytes + NUMBERS_AT,
                            NUMBERS);
    bry__frame_writer_write(&writer, BRY__FOUR('V', 'A', 'L', 'S'), zeros, sizeof zeros);
    assert_int_equal(bry__frame_writer_end(&writer), BRY_OK);
    bry_load load = BRY_LOAD;
    void *loaded;
    assert_int_equal(job_load_bytes(BRY_JOB_MAP, saved.bytes, saved.len, &load, &loaded),
                     BRY_E_BADDATA);
    assert_string_equal(load.problem, "a frame has the wrong length");
    bry_buffer_free(&saved);
}
