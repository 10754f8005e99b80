/* Altered files and logs of tables of counters. */
#include <stdio.h>
#include <stdlib.h>

#include "common/endian.h"
#include "counter/counter_object.h"
#include "frame/frame.h"
#include "support/altered_file.h"
#include "support/counter_helpers.h"
#include "support/job_calls.h"
#include "support/recording_io.h"
#include "support/repair.h"

static bry_counters *make(void)
{
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    options.engine = BRY_ENGINE_COMPACT;
    options.seed = 1;
    options.window = 1000;
    options.capacity = 100;
    options.error = 1e-6;
    bry_counters *counters;
    assert_int_equal(bry_counters_create(&options, &counters), BRY_OK);
    return counters;
}

static void work(bry_counters *c, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u", (unsigned)(i * 7 % 601));
        assert_int_equal(counter_try(c, i, name, (int64_t)(i * i), 5000 + i / 4), BRY_OK);
        if (i % 9 == 0)
            assert_int_equal(counter_try(c, i / 2, name, 1, 5000 + i / 4), BRY_OK);
    }
}

static bry_buffer image(const bry_counters *counters)
{
    return job_saved(BRY_JOB_COUNTERS, counters);
}

static bry_status load(const bry_buffer *saved, bry_load *how)
{
    void *counters;
    bry_status status = job_load_bytes(BRY_JOB_COUNTERS, saved->bytes, saved->len, how, &counters);
    bry_counters_destroy(counters);
    return status;
}

/* ---- forged -------------------------------------------------------------------------------- */

/* Offset and length of the payload of the first frame of this type. */
static unsigned char *frame_of(const bry_buffer *saved, uint32_t type, size_t *len)
{
    size_t at = BRY__HEADER_BYTES;
    while (at + BRY__FRAME_OVERHEAD <= saved->len) {
        *len = bry__load32(saved->bytes + at + 4);
        if (bry__load32(saved->bytes + at) == type)
            return saved->bytes + at + 16;
        at += BRY__FRAME_OVERHEAD + *len;
    }
    fail_msg("no such frame");
    abort(); /* not reached; for analysers */
}

#define NAME BRY__FOUR('N', 'A', 'M', 'E')
#define WIND BRY__FOUR('W', 'I', 'N', 'D')

static void expect_problem(bry_buffer *saved, const char *problem)
{
    bry_load how = BRY_LOAD;
    repair_stream(saved->bytes, saved->len);
    assert_int_equal(load(saved, &how), BRY_E_BADDATA);
    assert_string_equal(how.problem, problem);
}

TEST(forged_numbers)
{
    static const char lost[] = "expected_lost or error is not a valid number";
    static const char out_of_range[] = "the table's options are out of range";
    static const char other_window[] = "the window does not belong to this table";
    static const altered_number altered[] = {
        {NUMBERS_AT, 8, BRY_ENGINE_KBF, "unknown engine"},
        {NUMBERS_AT, 8, BRY_ENGINE_FBF, other_window},
        {NUMBERS_AT, 8, BRY_ENGINE_COMPACT | UINT64_C(1) << 40, "a reserved field is not 0"},
        {NUMBERS_AT + 8, 8, 0, out_of_range},
        {NUMBERS_AT + 8, 8, 1001, other_window},
        {NUMBERS_AT + 8, 8, UINT64_MAX, out_of_range},
        {NUMBERS_AT + 16, 8, 0, out_of_range},
        {NUMBERS_AT + 16, 8, 101, other_window},
        {NUMBERS_AT + 24, 8, 0, out_of_range},
        {NUMBERS_AT + 24, 8, UINT64_C(0x7ff8000000000000), out_of_range}, /* no number */
        {NUMBERS_AT + 48, 8, 39, "more counters than the table has"},
        {NUMBERS_AT + 48, 8, 41, "counters are missing"},
        {NUMBERS_AT + 48, 8, UINT64_MAX, "counters are missing"},
        {NUMBERS_AT + 96, 8, UINT64_C(0x7ff0000000000000), lost}, /* infinity */
        {NUMBERS_AT + 96, 8, UINT64_C(0xbff0000000000000), lost}, /* -1 */
        {NUMBERS_AT + 104, 8, UINT64_C(0x4000000000000000), lost}, /* 2 */
        {NUMBERS_AT + 104, 8, UINT64_C(0x7ff8000000000000), lost},
        {NUMBERS_AT + 128, 8, 5, "invalid position in the log"},
    };
    bry_counters *a = make();
    work(a, 0, 40);
    ASSERT_ALTERED_REFUSED(BRY_JOB_COUNTERS, a, altered);
    bry_counters_destroy(a);
}

TEST(forged_names)
{
    enum { NAMES_AT = NUMBERS_AT + 144 + FRAME_SUM + FRAME_HEAD };
    static const altered_number altered[] = {
        {NAMES_AT + 10, 4, 0x62626262, "two counters have the same name"}, /* bbbb */
        {NAMES_AT, 2, 19, "a name is truncated"}, /* beyond the frame */
        {NAMES_AT, 2, 10, "a name is truncated"}, /* no room for another head */
    };
    bry_counters *a = make();
    assert_int_equal(counter_try(a, 1, "aaaa", 1, 5), BRY_OK);
    assert_int_equal(counter_try(a, 2, "bbbb", 1, 5), BRY_OK);
    ASSERT_ALTERED_REFUSED(BRY_JOB_COUNTERS, a, altered);
    bry_buffer saved = image(a);
    bry_counters_destroy(a);
    unsigned char *names = saved.bytes + NAMES_AT;
    assert_memory_equal(names + 24, "bbbb", 4);
    bry__store16(names, 0); /* and four bytes that begin a third */
    names[12] = 1; /* the two names would be the same: a longer one */
    bry__store16(names + 10, 1);
    bry__store64(saved.bytes + NUMBERS_AT + 48, 1);
    expect_problem(&saved, "more counters than the table has");
    bry_buffer_free(&saved);
}

/* The window of another table, a truncated one, and one with trailing bytes. */
TEST(forged_window)
{
    bry_counters *a = make();
    work(a, 0, 40);
    bry_buffer saved = image(a);
    bry_counters_destroy(a);
    size_t len;
    unsigned char *window = frame_of(&saved, WIND, &len);
    /* Its seed, with correct checksums inside and outside. */
    window[24] ^= 2;
    repair_stream(window, len);
    expect_problem(&saved, "the window does not belong to this table");
    window[24] ^= 2;
    repair_stream(window, len);
    window[100] ^= 1; /* damage inside, with correct outer checksums */
    bry_load how = BRY_LOAD;
    repair_stream(saved.bytes, saved.len);
    assert_int_equal(load(&saved, &how), BRY_E_BADDATA);
    assert_non_null(how.problem);
    window[100] ^= 1;
    /* As if its last frame were of another type. */
    bry__store32(window - 16, NAME);
    repair_stream(saved.bytes, saved.len);
    assert_int_equal(load(&saved, &how), BRY_E_BADDATA);
    assert_string_equal(how.problem, "the window is truncated");
    bry__store32(window - 16, WIND);

    /* A byte more in the window's frame. */
    bry_buffer longer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&longer);
    size_t split = (size_t)(window - saved.bytes) + len;
    assert_int_equal(sink.write(sink.opaque, saved.bytes, split), BRY_OK);
    assert_int_equal(sink.write(sink.opaque, "x", 1), BRY_OK);
    assert_int_equal(sink.write(sink.opaque, saved.bytes + split, saved.len - split), BRY_OK);
    bry__store32(longer.bytes + (window - saved.bytes) - 12, (uint32_t)len + 1);
    bry__store64(longer.bytes + longer.len - 16,
                 bry__load64(longer.bytes + longer.len - 16) + 1); /* END counts the bytes */
    expect_problem(&longer, "trailing data after the window");
    bry_buffer_free(&longer);
    bry_buffer_free(&saved);
}

/* ---- logs ---------------------------------------------------------------------------------- */

/* Records with correct checksums and impossible contents. */
TEST(forged_log)
{
    static recording_io fs;
    recording_init(&fs);
    bry_counters *c;
    assert_int_equal(bry__counter_open(&fs.io, "t", NULL, NULL, &c), BRY_OK);
    for (uint64_t i = 0; i < 40; i++)
        assert_int_equal(counter_try(c, i, "c0", 1, 5000 + i), BRY_OK);
    bry_counters_destroy(c);
    static const struct {
        size_t at; /* from the first record on */
        uint64_t value;
        const char *problem;
    } forgeries[] = {
        {24, 0, "the log does not start with its base record"},
        {24 + 24, 0, "the table's identifier is 0"},
        {24 + 32, 1, "the snapshot is missing"},
        {24 + 40, 1, "unknown engine"},
        {24 + 48, 0, "the table's options are out of range"},
        {24 + 56, UINT64_MAX, "the table's options are out of range"},
        {24 + 72, 0, "the table's options are out of range"},
        /* The second record, 104 bytes on: one operation. */
        {104 + 24, BRY__FOUR('O', 'P', 'S', 's'), "unknown record type"},
        {104 + 24, BRY__FOUR('T', 'I', 'M', 'E'), "a record has the wrong length"},
        {104 + 24, BRY__FOUR('D', 'E', 'L', ' '), "a deleted counter does not exist"},
        {104 + 24, BRY__FOUR('O', 'P', 'S', ' '), "a record has no operations"},
        {104 + 24, BRY__FOUR('O', 'P', 'S', ' ') | UINT64_C(2) << 32, "an operation is truncated"},
        {104 + 72, 0, "trailing data after the last operation"}, /* its name's length */
        {104 + 72, 900, "an operation is truncated"},
        {104 + 32, UINT64_MAX, "a record goes back in time"}, /* the one after it does */
    };
    for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++) {
        static recording_io other;
        recorded_file forged = *recording_get(&fs, "t/log");
        recording_init(&other);
        recording_put(&other, "t/log", forged.bytes, forged.len);
        forged = *recording_get(&other, "t/log");
        if (forgeries[i].at == 104 + 72)
            bry__store16(forged.bytes + 64 + forgeries[i].at, (uint16_t)forgeries[i].value);
        else
            bry__store64(forged.bytes + 64 + forgeries[i].at, forgeries[i].value);
        repair_log(forged.bytes, forged.len, SIZE_MAX);
        bry_load how = BRY_LOAD;
        assert_int_equal(bry__counter_open(&other.io, "t", NULL, &how, &c), BRY_E_BADDATA);
        assert_string_equal(how.problem, forgeries[i].problem);
        recording_free(&other);
    }
    recording_free(&fs);
}
