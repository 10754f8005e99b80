/* Altered files of windows: each is refused with its message. */
#include "support/altered_file.h"
#include "support/like.h"
#include "support/window_helpers.h"

enum { NUMBERS = 72, ENGINE_AT = NUMBERS_AT + NUMBERS + FRAME_SUM };
enum { MAPLET_AT = ENGINE_AT + FRAME_HEAD, MAPLET = 48, TABLES = 24, ENTRIES = 32 };
enum { RECORD_AT = MAPLET_AT + MAPLET + FRAME_SUM + FRAME_HEAD };
enum { NOW = 70000 };

/* A window with everything that a file can contain: grown beyond its capacity, with expired
 * elements. */
static bry_window *busy(const window_kind *kind, uint64_t capacity)
{
    bry_window_options options = options_of(kind);
    options.window = 1000;
    options.capacity = capacity;
    options.error = 1e-6;
    options.refresh = true;
    options.max_skew = 5000;
    bry_window *window = make(options);
    for (uint64_t i = 0; i < 4 * capacity; i++)
        add(window, i, NOW - 2000 + i * 2000 / (4 * capacity));
    return window;
}

/* A window at the smallest limit loads even if structures are a little larger in this build. */
TEST(test_limit_of_another_build)
{
    for (size_t k = 0; k < WINDOW_KINDS; k++)
        for (int given = 0; given < 2; given++) {
            bry_window_options options = options_of(&window_kinds[k]);
            options.window = 10000;
            options.capacity = 1000;
            options.refuse = true;
            bry_window_shape shape = {0};
            assert_int_equal(bry_window_plan(&options, &shape), BRY_OK);
            options.max_bytes = given ? shape.bytes : shape.bytes_least;
            bry_window *window = make(options);
            void *loaded;
            for (uint64_t i = 0; i < 500; i++)
                (void)bry_window_add(window, key(i), 1000 + 20 * i, NULL);
            bry_buffer file = saved_of(window);
            uint64_t less = options.max_bytes - options.max_bytes / 20;
            alter(&file, &(altered_number){NUMBERS_AT + 40, 8, less, NULL});
            assert_int_equal(job_load_bytes(BRY_JOB_WINDOW, file.bytes, file.len, NULL, &loaded),
                             BRY_OK);
            assert_int_equal(stats_of(loaded).items, stats_of(window).items);
            bry_buffer_free(&file);
            bry_window_destroy(loaded);
            bry_window_destroy(window);
        }
}

/* Filters that grew without a limit exceed one. */
TEST(test_filters_above_the_limit)
{
    bry_window_options options = options_of(&window_kinds[1]);
    options.window = 10000;
    options.capacity = 100;
    bry_window *window = make(options);
    for (uint64_t i = 0; i < 20000; i++)
        add(window, i, 1000 + i);
    bry_window_options like = window_like(window);
    bry_window_shape shape = {0};
    assert_int_equal(like.engine, BRY_ENGINE_FBF);
    assert_int_equal(bry_window_plan(&like, &shape), BRY_OK);
    assert_true(stats_of(window).bytes > 2 * shape.bytes);
    const altered_number limit[] = {
        {NUMBERS_AT + 40, 8, shape.bytes, "the filters are larger than the window's memory limit"}};
    ASSERT_ALTERED_REFUSED(BRY_JOB_WINDOW, window, limit);
    bry_window_destroy(window);
}

TEST(test_altered_numbers)
{
    static const char out_of_range[] = "the window's options are out of range";
    static const altered_number altered[] = {
        {NUMBERS_AT, 4, BRY_ENGINE_BLOOM, "unknown engine"},
        {NUMBERS_AT, 4, BRY_ENGINE_AUTO, "unknown engine"},
        {NUMBERS_AT + 4, 4, 16, "unknown flag"},
        {NUMBERS_AT + 4, 4, 0, "an unused window has a time"},
        {NUMBERS_AT + 8, 4, 0, out_of_range},
        {NUMBERS_AT + 8, 4, 1025, out_of_range},
        {NUMBERS_AT + 12, 4, 65, out_of_range},
        {NUMBERS_AT + 16, 8, 0, out_of_range},
        {NUMBERS_AT + 16, 8, UINT64_MAX, out_of_range},
        {NUMBERS_AT + 24, 8, 0, out_of_range},
        {NUMBERS_AT + 24, 8, UINT64_MAX, out_of_range},
        {NUMBERS_AT + 32, 8, 0, out_of_range},
        {NUMBERS_AT + 32, 8, UINT64_C(0x7ff8000000000000), out_of_range},
        {NUMBERS_AT + 40, 8, 1, out_of_range},
    };
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        bry_window *window = busy(&window_kinds[k], 50);
        ASSERT_ALTERED_REFUSED(BRY_JOB_WINDOW, window, altered);
        bry_window_destroy(window);
    }
    /* Elements at time 0, without any change. */
    static const altered_number unused[] = {
        {NUMBERS_AT + 4, 4, 0, "an unused window has elements"}};
    bry_window *window = make(options_of(&window_kinds[0]));
    add(window, 1, 0);
    ASSERT_ALTERED_REFUSED(BRY_JOB_WINDOW, window, unused);
    bry_window_destroy(window);
}

/* compact: counts, groups and entries that contradict each other. */
TEST(test_altered_entries)
{
    bry_window_options options = options_of(&window_kinds[0]);
    options.window = 1000;
    options.generations = 10;
    options.error = 0.1;
    bry_window *window = make(options);
    for (uint64_t i = 0; i < 9; i++)
        add(window, i, NOW + 1 + 100 * i);
    bry_buffer file = saved_of(window);
    const unsigned char *maplet = file.bytes + MAPLET_AT;
    assert_int_equal(bry__load64(maplet + TABLES), 1);
    assert_int_equal(bry__load64(maplet + ENTRIES), 9);
    assert_int_equal(bry__load16(file.bytes + RECORD_AT), 9);
    const altered_number altered[] = {
        {MAPLET_AT + 20, 1, 2, NULL}, /* fixed, for any load */
        {MAPLET_AT + 16, 1, maplet[16] ^ 1, NULL}, /* the bits of a name */
        {MAPLET_AT, 8, bry__load64(maplet) - 1, /* the capacity; fingerprints are as long */
         "the maplet does not match the window"},
        {MAPLET_AT + TABLES, 8, 2, "the maplet's options are out of range"},
        {MAPLET_AT + TABLES, 8, 0, "the maplet's options are out of range"},
        {MAPLET_AT + ENTRIES, 8, UINT64_MAX, "the number of entries is out of range"},
        {MAPLET_AT + ENTRIES, 8, 8, "the number of entries does not match the entries"},
        {MAPLET_AT + ENTRIES, 8, 10, "the number of entries does not match the entries"},
        {MAPLET_AT + ENTRIES, 8, 2000, NULL}, /* several segments */
        {RECORD_AT - FRAME_HEAD, 1, 'X', "segments are missing"},
        {RECORD_AT + 2, 1, 2, "a segment's record is invalid"},
        /* more to come, where there are not 2048 */
        {RECORD_AT + 2, 1, 1, "a segment's record is invalid"},
        {RECORD_AT, 2, 8, NULL},
        /* The same entries a little later, when some have expired. */
        {NUMBERS_AT + 64, 8, NOW + 1250, "an entry has a generation that is not remembered"},
    };
    ASSERT_ALTERED_REFUSED(BRY_JOB_WINDOW, window, altered);
    bry_buffer_free(&file);
    bry_window_destroy(window);
}

/* fbf: filters of any size in a few forged bytes, which the next element would allocate. */
TEST(test_altered_filters)
{
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        bry_window_options options = options_of(&window_kinds[k]);
        if (options.engine != BRY_ENGINE_FBF)
            continue;
        options.window = 8000;
        options.fixed = true;
        bry_window *window = make(options);
        void *loaded;
        add(window, 1, NOW);
        assert_int_equal(bry_window_advance(window, NOW + 3000), BRY_OK);
        bry_buffer file = saved_of(window);
        bry_load load = BRY_LOAD;
        load.max_bytes = 1 << 20;
        assert_int_equal(job_load_bytes(BRY_JOB_WINDOW, file.bytes, file.len, &load, &loaded),
                         BRY_OK);
        bry_window_destroy(loaded);
        bry_buffer_free(&file);
        /* The options have far more bits than their capacity needs, */
        static const altered_number bits[] = {
            {NUMBERS_AT + 56, 8, UINT64_C(1) << 40, "the window's options are out of range"}};
        ASSERT_ALTERED_REFUSED(BRY_JOB_WINDOW, window, bits);
        /* or for a large capacity. An empty row has filters of this size and no bits. */
        options.fbf.bits = UINT64_C(1) << 36;
        options.fbf.hashes = 64;
        options.capacity = UINT64_C(1) << 32;
        bry_window *large = make(options);
        assert_int_equal(bry_window_advance(large, NOW), BRY_OK);
        file = saved_of(large);
        assert_true(file.len < 700);
        assert_int_equal(job_load_bytes(BRY_JOB_WINDOW, file.bytes, file.len, &load, &loaded),
                         BRY_E_LIMIT);
        bry_buffer_free(&file);
        bry_window_destroy(large);
        bry_window_destroy(window);
    }
}

/* fbf: numbers of the row that contradict its filters. */
TEST(test_altered_row)
{
    enum { ROW_AT = ENGINE_AT + FRAME_HEAD };
    static const altered_number altered[] = {
        {ROW_AT, 8, 1, "fewer than two filters"},
        {ROW_AT, 8, UINT64_C(1) << 41, "the number of filters is out of range"},
        {ROW_AT + 8, 8, NOW + 1, "an element is in the future"},
        {ROW_AT + 8, 8, 0, "the last element precedes its period"},
        {ROW_AT + 16, 8, 0, "a cell does not match its periods"},
    };
    bry_window *window = busy(&window_kinds[1], 50);
    ASSERT_ALTERED_REFUSED(BRY_JOB_WINDOW, window, altered);
    bry_window_destroy(window);
}
