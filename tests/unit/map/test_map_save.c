/* Altered files of maps: each is refused with its message. */
#include "frame/frame.h"
#include "support/altered_file.h"
#include "support/like.h"
#include "support/map_helpers.h"

enum { NUMBERS = 80, VALUES_AT = NUMBERS_AT + NUMBERS + FRAME_SUM + FRAME_HEAD };

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

TEST(test_altered_numbers)
{
    static const char out_of_range[] = "the map's options are out of range";
    static const altered_number altered[] = {
        {NUMBERS_AT, 4, BRY_ENGINE_BLOOM, "unknown engine"},
        {NUMBERS_AT + 4, 4, 4, "unknown flag"},
        {NUMBERS_AT + 4, 4, 1, NULL}, /* fixed, but it has two tables */
        {NUMBERS_AT + 8, 8, 0, out_of_range},
        {NUMBERS_AT + 8, 8, UINT64_MAX, out_of_range},
        {NUMBERS_AT + 16, 8, 0, out_of_range},
        {NUMBERS_AT + 16, 8, UINT64_C(0x7ff8000000000000), out_of_range},
        {NUMBERS_AT + 24, 8, 0, out_of_range},
        {NUMBERS_AT + 24, 8, UINT64_MAX, out_of_range},
        {NUMBERS_AT + 32, 4, 5, "the number of values is out of range"},
        {NUMBERS_AT + 32, 4, 99, out_of_range},
        {NUMBERS_AT + 36, 4, 7, out_of_range},
        {NUMBERS_AT + 40, 8, 7, out_of_range},
        {NUMBERS_AT + 48, 8, 0, NULL},
        {NUMBERS_AT + 48, 8, 20, NULL},
        {NUMBERS_AT + 48, 8, 61, NULL},
        {NUMBERS_AT + 48, 8, UINT64_C(1) << 32, "the number of values is out of range"},
    };
    static const altered_number of_compact[] = {
        {NUMBERS_AT + 56, 8, 1, "unexpected ghosts"},
        {NUMBERS_AT + 8, 8, 201, "the table's options do not match the map"}, /* its capacity */
        {NUMBERS_AT + 4, 4, 2, out_of_range}, /* the papers' layout */
    };
    for (int e = 0; e < 2; e++) {
        bry_map *map = busy(map_engines[e], 0);
        const altered_number ghosts[] = {
            {NUMBERS_AT + 56, 8, stats_of(map).items + 1, "more ghosts than keys"}};
        ASSERT_ALTERED_REFUSED(BRY_JOB_MAP, map, altered);
        if (map_engines[e] == BRY_ENGINE_COMPACT)
            ASSERT_ALTERED_REFUSED(BRY_JOB_MAP, map, of_compact);
        else
            ASSERT_ALTERED_REFUSED(BRY_JOB_MAP, map, ghosts);
        bry_map_destroy(map);
    }
}

TEST(test_altered_values)
{
    static const altered_number altered[] = {
        {VALUES_AT + 11, 3, 0x616161, "two codes have the same value"},
        {VALUES_AT, 4, 4, NULL}, /* the lengths lead astray */
        {VALUES_AT + 14, 4, 4, "a value is too long"},
        {VALUES_AT + 14, 4, 1, NULL}, /* more values than the map has, or bytes left over */
        {VALUES_AT, 4, BRY_MAP_VALUE_MAX + 1, "a value is too long"},
        {VALUES_AT - FRAME_HEAD, 1, 'W', "values are missing"}, /* its type */
    };
    static const altered_number no_code[] = {
        {VALUES_AT, 4, UINT32_MAX, "a key has a code without a value"}};
    static const altered_number free_code[] = {{VALUES_AT, 4, UINT32_MAX, "unexpected free code"}};
    for (int e = 0; e < 2; e++) {
        bry_map *map = make((bry_map_options){.engine = map_engines[e], .error = 1e-9});
        set(map, key(1), text("aaa"));
        set(map, key(2), text("bbb"));
        set(map, key(3), text("ccc"));
        bry_buffer file = job_saved(BRY_JOB_MAP, map);
        assert_memory_equal(file.bytes + VALUES_AT, "\3\0\0\0aaa\3\0\0\0bbb\3\0\0\0ccc", 21);
        bry_buffer_free(&file);
        ASSERT_ALTERED_REFUSED(BRY_JOB_MAP, map, altered);
        bry_map_clear(map);
        set(map, key(1), text(""));
        set(map, key(2), text("b"));
        if (map_engines[e] == BRY_ENGINE_COMPACT)
            ASSERT_ALTERED_REFUSED(BRY_JOB_MAP, map, no_code);
        else
            ASSERT_ALTERED_REFUSED(BRY_JOB_MAP, map, free_code);
        bry_map_destroy(map);
    }
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
    assert_int_equal(bry_map_compress(map, 0), BRY_OK);
    bry_map_options like = map_like(map);
    assert_int_equal(bry_map_create(&like, &other), BRY_OK);
    for (int i = 0; i < 76; i++)
        assert_int_equal(bry_map_add(other, key(0), bry_map_value_number(0)), BRY_OK);
    assert_int_equal(bry_map_merge(map, other), BRY_OK);
    bry_map_destroy(job_reloaded(BRY_JOB_MAP, map));
    bry_map_destroy(map);
    bry_map_destroy(other);
}

/* A frame of values that is longer than the buffer for it. */
TEST(test_frame_too_long)
{
    enum { LONG = 400 << 10 };
    static const unsigned char zeros[LONG];
    bry_map *map = make((bry_map_options){.capacity = 10});
    set(map, key(1), text("value"));
    bry_buffer file = job_saved(BRY_JOB_MAP, map);
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
    bry_buffer_free(&file);
    bry_buffer_free(&saved);
}
