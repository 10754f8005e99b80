/* Altered files of windows: each is refused with its message. */
#include "common/endian.h"
#include "frame/frame_header.h"
#include "support/job_calls.h"
#include "support/like.h"
#include "support/repair.h"
#include "support/window_helpers.h"

enum { HEADER = 64, FRAME_HEAD = 16, NUMBERS = 72, SUM = 8 };
enum { NUMBERS_AT = HEADER + FRAME_HEAD, ENGINE_AT = NUMBERS_AT + NUMBERS + SUM };
enum { MAPLET_AT = ENGINE_AT + FRAME_HEAD, MAPLET = 48, TABLES = 24, ENTRIES = 32 };
enum { RECORD_AT = MAPLET_AT + MAPLET + SUM + FRAME_HEAD };
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

/* Before the first change, and when all has expired. */
TEST(test_empty)
{
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        bry_window *window = make(options_of(&window_kinds[k]));
        void *loaded;
        for (unsigned round = 0; round < 3; round++) {
            bry_buffer saved = saved_of(window);
            assert_int_equal(job_load_bytes(BRY_JOB_WINDOW, saved.bytes, saved.len, NULL, &loaded),
                             BRY_OK);
            assert_true(alike(window, loaded));
            assert_int_equal(bry_window_time(loaded), bry_window_time(window));
            assert_int_equal(stats_of(loaded).items, 0);
            bry_window_destroy(loaded);
            bry_buffer_free(&saved);
            if (round == 0)
                assert_int_equal(bry_window_advance(window, 0), BRY_OK);
            if (round == 1) {
                add(window, 1, 500);
                assert_int_equal(bry_window_advance(window, UINT64_C(1) << 60), BRY_OK);
            }
        }
        bry_window_destroy(window);
    }
}

/* ---- forged files: every checksum right, and one thing wrong -------------------------------- */

typedef struct forgery {
    unsigned char bytes[1 << 20];
    size_t len;
} forgery;

static void forge(forgery *file, const bry_window *window)
{
    bry_buffer saved = saved_of(window);
    assert_true(saved.len <= sizeof file->bytes);
    memcpy(file->bytes, saved.bytes, saved.len);
    file->len = saved.len;
    bry_buffer_free(&saved);
}

static void assert_refused(forgery *file, const char *problem)
{
    bry_load load = BRY_LOAD;
    void *window;
    repair_stream(file->bytes, file->len);
    assert_int_equal(job_load_bytes(BRY_JOB_WINDOW, file->bytes, file->len, &load, &window),
                     BRY_E_BADDATA);
    assert_non_null(load.problem);
    if (problem)
        assert_string_equal(load.problem, problem);
}

/* A window at the smallest limit loads even if structures are a little larger in this build. */
TEST(test_limit_of_another_build)
{
    static forgery file;
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
            forge(&file, window);
            bry__store64(file.bytes + NUMBERS_AT + 40, options.max_bytes - options.max_bytes / 20);
            repair_stream(file.bytes, file.len);
            assert_int_equal(job_load_bytes(BRY_JOB_WINDOW, file.bytes, file.len, NULL, &loaded),
                             BRY_OK);
            assert_int_equal(stats_of(loaded).items, stats_of(window).items);
            bry_window_destroy(loaded);
            bry_window_destroy(window);
        }
}

/* Filters that grew without a limit exceed one. */
TEST(test_filters_above_the_limit)
{
    static forgery file;
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
    forge(&file, window);
    bry__store64(file.bytes + NUMBERS_AT + 40, shape.bytes);
    assert_refused(&file, "the filters are larger than the window's memory limit");
    bry_window_destroy(window);
}

TEST(test_forged_numbers)
{
    static const char out_of_range[] = "the window's options are out of range";
    static const struct {
        unsigned at, bytes;
        uint64_t value;
        const char *problem;
    } forged[] = {
        {0, 4, BRY_ENGINE_BLOOM, "unknown engine"},
        {0, 4, BRY_ENGINE_AUTO, "unknown engine"},
        {4, 4, 16, "unknown flag"},
        {4, 4, 0, "an unused window has a time"},
        {8, 4, 0, out_of_range},
        {8, 4, 1025, out_of_range},
        {12, 4, 65, out_of_range},
        {16, 8, 0, out_of_range},
        {16, 8, UINT64_MAX, out_of_range},
        {24, 8, 0, out_of_range},
        {24, 8, UINT64_MAX, out_of_range},
        {32, 8, 0, out_of_range},
        {32, 8, UINT64_C(0x7ff8000000000000), out_of_range},
        {40, 8, 1, out_of_range},
    };
    static forgery file;
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        bry_window *window = busy(&window_kinds[k], 50);
        for (size_t i = 0; i < sizeof forged / sizeof forged[0]; i++) {
            forge(&file, window);
            if (forged[i].bytes == 4)
                bry__store32(file.bytes + NUMBERS_AT + forged[i].at, (uint32_t)forged[i].value);
            else
                bry__store64(file.bytes + NUMBERS_AT + forged[i].at, forged[i].value);
            assert_refused(&file, forged[i].problem);
        }
        bry_window_destroy(window);
    }
    /* Elements at time 0, without any change. */
    bry_window *window = make(options_of(&window_kinds[0]));
    add(window, 1, 0);
    forge(&file, window);
    bry__store32(file.bytes + NUMBERS_AT + 4, 0);
    assert_refused(&file, "an unused window has elements");
    bry_window_destroy(window);
}

/* compact: counts, groups and entries that contradict each other. */
TEST(test_forged_entries)
{
    static forgery file;
    bry_window_options options = options_of(&window_kinds[0]);
    options.window = 1000;
    options.generations = 10;
    options.error = 0.1;
    bry_window *window = make(options);
    for (uint64_t i = 0; i < 9; i++)
        add(window, i, NOW + 1 + 100 * i);
    unsigned char *maplet = file.bytes + MAPLET_AT, *record = file.bytes + RECORD_AT;
    forge(&file, window);
    assert_int_equal(bry__load64(maplet + TABLES), 1);
    assert_int_equal(bry__load64(maplet + ENTRIES), 9);
    assert_int_equal(bry__load16(record), 9);

    maplet[20] = 2; /* fixed, for any load */
    assert_refused(&file, NULL);
    forge(&file, window);
    maplet[16] ^= 1; /* the bits of a name */
    assert_refused(&file, NULL);
    forge(&file, window);
    bry__store64(maplet, bry__load64(maplet) - 1); /* the capacity; fingerprints are as long */
    assert_refused(&file, "the maplet does not match the window");
    forge(&file, window);
    bry__store64(maplet + TABLES, 2);
    assert_refused(&file, "the maplet's options are out of range");
    forge(&file, window);
    bry__store64(maplet + TABLES, 0);
    assert_refused(&file, "the maplet's options are out of range");
    forge(&file, window);
    bry__store64(maplet + ENTRIES, UINT64_MAX);
    assert_refused(&file, "the number of entries is out of range");
    forge(&file, window);
    bry__store64(maplet + ENTRIES, 8);
    assert_refused(&file, "the number of entries does not match the entries");
    forge(&file, window);
    bry__store64(maplet + ENTRIES, 10);
    assert_refused(&file, "the number of entries does not match the entries");
    forge(&file, window);
    bry__store64(maplet + ENTRIES, 2000); /* several segments */
    assert_refused(&file, NULL);
    forge(&file, window);
    file.bytes[RECORD_AT - FRAME_HEAD] ^= 1;
    assert_refused(&file, "segments are missing");
    forge(&file, window);
    record[2] = 2;
    assert_refused(&file, "a segment's record is invalid");
    forge(&file, window);
    record[2] = 1; /* more to come, where there are not 2048 */
    assert_refused(&file, "a segment's record is invalid");
    forge(&file, window);
    bry__store16(record, 8);
    assert_refused(&file, NULL);
    /* The same entries a little later, when some have expired. */
    forge(&file, window);
    bry__store64(file.bytes + NUMBERS_AT + 64, NOW + 1250);
    assert_refused(&file, "an entry has a generation that is not remembered");
    bry_window_destroy(window);
}

/* fbf: filters of any size in a few forged bytes, which the next element would allocate. */
TEST(test_forged_filters)
{
    static forgery file;
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
        forge(&file, window);
        bry_load load = BRY_LOAD;
        load.max_bytes = 1 << 20;
        assert_int_equal(job_load_bytes(BRY_JOB_WINDOW, file.bytes, file.len, &load, &loaded),
                         BRY_OK);
        bry_window_destroy(loaded);
        /* The options have far more bits than their capacity needs, */
        bry__store64(file.bytes + NUMBERS_AT + 56, UINT64_C(1) << 40);
        assert_refused(&file, "the window's options are out of range");
        /* or for a large capacity. An empty row has filters of this size and no bits. */
        options.fbf.bits = UINT64_C(1) << 36;
        options.fbf.hashes = 64;
        options.capacity = UINT64_C(1) << 32;
        bry_window *large = make(options);
        assert_int_equal(bry_window_advance(large, NOW), BRY_OK);
        forge(&file, large);
        assert_true(file.len < 700);
        assert_int_equal(job_load_bytes(BRY_JOB_WINDOW, file.bytes, file.len, &load, &loaded),
                         BRY_E_LIMIT);
        bry_window_destroy(large);
        bry_window_destroy(window);
    }
}

/* fbf: numbers of the row that contradict its filters. */
TEST(test_forged_row)
{
    static forgery file;
    static const struct {
        unsigned at;
        uint64_t value;
        const char *problem;
    } forged[] = {
        {0, 1, "fewer than two filters"},
        {0, UINT64_C(1) << 41, "the number of filters is out of range"},
        {8, NOW + 1, "an element is in the future"},
        {8, 0, "the last element precedes its period"},
        {16, 0, "a cell does not match its periods"},
    };
    bry_window *window = busy(&window_kinds[1], 50);
    for (size_t i = 0; i < sizeof forged / sizeof forged[0]; i++) {
        forge(&file, window);
        bry__store64(file.bytes + ENGINE_AT + FRAME_HEAD + forged[i].at, forged[i].value);
        assert_refused(&file, forged[i].problem);
    }
    bry_window_destroy(window);
}
