/* Altered files of indexes, and units that are saved from one index and imported in another. */
#include "support/altered_file.h"
#include "support/index_helpers.h"
#include "support/like.h"

enum { NUMBERS = 80, RECORD = 56 };
enum { RECORDS_AT = NUMBERS_AT + NUMBERS + FRAME_SUM + FRAME_HEAD };

static bry_buffer saved_of(const bry_index *index)
{
    return job_saved(BRY_JOB_INDEX, index);
}

static bry_buffer unit_saved(const bry_index *index, uint32_t unit)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    assert_int_equal(bry_index_save_unit(index, unit, &sink, NULL), BRY_OK);
    return buffer;
}

static bry_status import_bytes(bry_index *index, const unsigned char *bytes, size_t len,
                               bry_load *load, uint32_t *unit)
{
    bry_view view = {bytes, len, 0};
    bry_source source = bry_view_source(&view);
    return bry_index_import_unit(index, &source, load, unit);
}

/* Everything that a file can contain: growth, an overflow, dropped units that are not swept, stale
 * elements. */
static bry_index *busy(bry_engine engine)
{
    bry_index *index = exact(engine, 6, 70);
    add_many(index, 0, 300, BRY_INDEX_NEWEST);
    for (uint32_t i = 0; i < 15; i++) {
        uint32_t unit = open_unit(index, 50 + i);
        add(index, 1000, unit);
        add_many(index, 10 * i, 30, unit);
    }
    for (uint32_t i = 0; i < 12; i += 3)
        assert_int_equal(bry_index_drop(index, i), BRY_OK);
    assert_int_equal(bry_index_step(index, NULL, 1, NULL), BRY_OK);
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(bry_index_del(index, element(10 * 8 + i), 13, NULL), BRY_OK);
    return index;
}

TEST(test_lies)
{
    static const altered_number lies[] = {
        {NUMBERS_AT + 0, 4, BRY_ENGINE_KBF, NULL}, /* engine */
        {NUMBERS_AT + 4, 4, 4, NULL}, /* flags */
        {NUMBERS_AT + 8, 4, 0, NULL}, /* units planned */
        {NUMBERS_AT + 12, 4, 3, NULL}, /* control */
        {NUMBERS_AT + 16, 8, 0, NULL}, /* unit capacity */
        {NUMBERS_AT + 60, 4, 1 << 20, NULL}, /* next number */
        {NUMBERS_AT + 64, 8, 3, NULL}, /* fewer openings than units */
        {NUMBERS_AT + 72, 8, 1, NULL}, /* units */
        {NUMBERS_AT + 72, 8, UINT64_MAX, NULL},
        {RECORDS_AT + 0, 4, 2, NULL}, /* two of one slot */
        {RECORDS_AT + 0, 4, 1 << 21, NULL},
        {RECORDS_AT + 4, 4, 2, NULL}, /* two of one number */
        {RECORDS_AT + 4, 4, 1 << 20, NULL},
        {RECORDS_AT + 8, 8, 0, NULL}, /* order */
        {RECORDS_AT + 8, 8, 1000, NULL},
        {RECORDS_AT + 8, 8, 3, NULL}, /* two of one opening */
        {RECORDS_AT + 24, 8, 0, NULL}, /* capacity */
        {RECORDS_AT + 32, 8, UINT64_MAX, NULL}, /* elements */
        {RECORDS_AT + 40, 8, 1000, NULL}, /* stale: more than elements */
        {RECORDS_AT + 48, 4, 2, NULL}, /* sealed */
        {RECORDS_AT + 52, 4, 1, NULL}, /* zero */
    };
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bry_index *index = exact(index_engines[e], 6, 70);
        add_many(index, 0, 300, BRY_INDEX_NEWEST);
        assert_int_equal(bry_index_drop(index, 0), BRY_OK);
        finish_steps(index);
        ASSERT_ALTERED_REFUSED(BRY_JOB_INDEX, index, lies);
        bry_index_destroy(index);
    }
}

/* compact knows the slot and the number of each unit's elements. */
TEST(test_lies_about_entries)
{
    enum { UNITS = 3, MAPLET_AT = RECORDS_AT + UNITS * RECORD + FRAME_SUM + FRAME_HEAD };
    static const altered_number lies[] = {
        {RECORDS_AT + 2 * RECORD, 4, 3, NULL}, /* entries of slot 2 are of no unit */
        {RECORDS_AT + 2 * RECORD, 4, 1, NULL}, /* two units in one slot */
        {RECORDS_AT + 2 * RECORD, 4, 1 << 20, NULL},
        {RECORDS_AT + 2 * RECORD, 4, UINT32_MAX, NULL},
        {RECORDS_AT + RECORD + 32, 8, 19, NULL}, /* elements */
        {RECORDS_AT + RECORD + 32, 8, 21, NULL},
        {NUMBERS_AT + 8, 4, 5, NULL}, /* units planned: another shape than the maplet's */
        {MAPLET_AT + 16, 4, 1, NULL}, /* bits of a value: too few for three units */
        {MAPLET_AT + 16, 4, 3, NULL}, /* too many */
    };
    bry_index *index = exact(BRY_ENGINE_COMPACT, 4, 100);
    for (uint32_t i = 0; i < UNITS; i++)
        add_many(index, 100 * i, 20, open_unit(index, i));
    ASSERT_ALTERED_REFUSED(BRY_JOB_INDEX, index, lies);
    bry_index_destroy(index);
}

static bry_status refuse(void *opaque, const void *bytes, size_t len)
{
    (void)bytes;
    (void)len;
    uint64_t *left = opaque;
    return (*left)-- ? BRY_OK : BRY_E_STOPPED;
}

TEST(test_sink_refuses_a_unit)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bry_index *index = busy(index_engines[e]);
        for (uint64_t i = 0; i < 10; i++) {
            uint64_t left = i;
            bry_sink sink = {refuse, &left};
            assert_int_equal(bry_index_save_unit(index, 13, &sink, NULL), BRY_E_STOPPED);
        }
        bry_index_destroy(index);
    }
}

/* ---- units --------------------------------------------------------------------------------- */

/* An invalid unit leaves the index unchanged. */
TEST(test_ship_refused)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bry_index *index = busy(index_engines[e]), *before = NULL;
        assert_int_equal(bry_index_clone(index, NULL, &before), BRY_OK);
        uint32_t unit = 77;
        bry_buffer bytes = unit_saved(index, 13);
        for (size_t cut = 0; cut < bytes.len; cut += cut < 500 ? 1 : 17)
            assert_int_equal(import_bytes(index, bytes.bytes, cut, NULL, &unit), BRY_E_BADDATA);
        for (size_t i = 0; i < bytes.len; i += i < 500 ? 1 : 17) {
            bytes.bytes[i] ^= 4;
            assert_int_equal(import_bytes(index, bytes.bytes, bytes.len, NULL, &unit),
                             BRY_E_BADDATA);
            bytes.bytes[i] ^= 4;
        }
        assert_int_equal(unit, 77);
        assert_same_index(before, index, 1100);

        const bry_index_options others[] = {
            {.engine = index_engines[e], .units = 6, .unit_capacity = 70, .error = 1e-9, .seed = 2},
            {.engine = index_engines[e], .units = 6, .unit_capacity = 70, .error = 1e-8},
            {.engine = index_engines[e], .units = 6, .unit_capacity = 700, .error = 1e-9},
            {.engine = index_engines[1 - e], .units = 6, .unit_capacity = 70, .error = 1e-9},
        };
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            bry_index *other = make(others[i]);
            bry_load load = BRY_LOAD;
            assert_int_equal(import_bytes(other, bytes.bytes, bytes.len, &load, &unit),
                             BRY_E_MISMATCH);
            assert_non_null(load.problem);
            assert_int_equal(stats_of(other).units, 0);
            bry_index_destroy(other);
        }
        bry_load load = BRY_LOAD;
        load.max_bytes = 1;
        bry_index *fresh = exact(index_engines[e], 6, 70);
        assert_int_equal(import_bytes(fresh, bytes.bytes, bytes.len, &load, &unit), BRY_E_LIMIT);
        assert_int_equal(stats_of(fresh).units, 0);
        bry_index_destroy(fresh);
        bry_buffer_free(&bytes);
        bry_index_destroy(before);
        bry_index_destroy(index);
    }
}

/* Fingerprints cannot be extended, so compact refuses units that would exceed the error. */
TEST(test_ship_past_the_error)
{
    bry_index *index = make((bry_index_options){.units = 4, .unit_capacity = 100, .error = 0.01});
    bry_index_options options = index_like(index);
    bry_status status = BRY_OK;
    uint32_t imported = 0, unit;
    for (uint64_t i = 0; i < 20 && status == BRY_OK; i++) {
        bry_index *apart = NULL;
        assert_int_equal(bry_index_create(&options, &apart), BRY_OK);
        open_unit(apart, i);
        add_many(apart, 1000 * i, 95, 0);
        bry_buffer bytes = unit_saved(apart, 0);
        status = import_bytes(index, bytes.bytes, bytes.len, NULL, &unit);
        imported += status == BRY_OK;
        bry_buffer_free(&bytes);
        bry_index_destroy(apart);
        bry_index_stats stats = stats_of(index);
        assert_true(stats.estimated_error <= 0.01 && stats.full_error >= stats.estimated_error);
        assert_true(imported < 5 || stats.full_error > 0.008); /* in the first table, all of them */
    }
    assert_int_equal(status, BRY_E_FULL);
    assert_true(imported == 5);
    /* Plain elements go to further tables, with longer fingerprints. */
    uint32_t first = open_unit(index, 5), named = open_unit(index, 6), taken = 0;
    add_many(index, 70000, 100, first);
    while (taken < 100 && bry_index_add(index, element(80000 + taken), named, NULL, NULL) == BRY_OK)
        taken++;
    assert_int_equal(taken, 100);
    assert_true(stats_of(index).full_error >= stats_of(index).estimated_error);
    assert_true(stats_of(index).estimated_error <= 0.01);
    assert_int_equal(bry_index_drop(index, first), BRY_OK);
    assert_int_equal(bry_index_drop(index, named), BRY_OK);
    assert_int_equal(bry_index_drop(index, 0), BRY_OK);
    add_many(index, 90000, 50, open_unit(index, 7)); /* and there is room again */
    bry_index_destroy(index);
}

/* A record with a large slot is checked against the limit before tables grow. */
TEST(test_claimed_first)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bry_index *index = exact(index_engines[e], 6, 70);
        void *loaded;
        open_unit(index, 0);
        bry_buffer image = saved_of(index);
        bry__store32(image.bytes + RECORDS_AT, ((uint32_t)1 << 21) - 1);
        repair_stream(image.bytes, image.len);
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_load load = BRY_LOAD;
        load.allocator = &memory.allocator;
        load.max_bytes = 1 << 20;
        assert_int_equal(job_load_bytes(BRY_JOB_INDEX, image.bytes, image.len, &load, &loaded),
                         BRY_E_LIMIT);
        assert_true(memory.peak <= 1 << 20);
        assert_int_equal(memory.now, 0);
        bry_buffer_free(&image);
        bry_index_destroy(index);
    }
}

/* Numbers that no index reaches by itself: each is refused, or harmless. */
TEST(test_forged_numbers)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bool compact = index_engines[e] == BRY_ENGINE_COMPACT;
        bry_index *index = exact(index_engines[e], 6, 70);
        void *loaded;
        add_many(index, 0, 3, open_unit(index, 0));
        open_unit(index, 1);
        bry_buffer image = saved_of(index);
        const struct {
            size_t at;
            uint64_t value;
            bool refused;
        } cases[] = {
            {RECORDS_AT + 24, ((uint64_t)1 << 40) + 1, true}, /* capacity */
            {RECORDS_AT + 24, 6 * 70 + 1, true},
            {RECORDS_AT + 24, 6 * 70, !compact},
            {RECORDS_AT + 40, 1, compact}, /* stale */
            {NUMBERS_AT + 64, UINT64_MAX, true}, /* openings */
            {NUMBERS_AT + 64, UINT64_MAX - 1, false},
            {NUMBERS_AT + 64, UINT64_MAX - 2, false},
            {RECORDS_AT + 8, 2, true}, /* two units of one opening */
        };
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            bry_buffer forged = BRY_BUFFER;
            bry_sink sink = bry_buffer_sink(&forged);
            assert_int_equal(sink.write(sink.opaque, image.bytes, image.len), BRY_OK);
            bry__store64(forged.bytes + cases[c].at, cases[c].value);
            repair_stream(forged.bytes, forged.len);
            bry_status status =
                job_load_bytes(BRY_JOB_INDEX, forged.bytes, forged.len, NULL, &loaded);
            assert_int_equal(status, cases[c].refused ? BRY_E_BADDATA : BRY_OK);
            bry_buffer_free(&forged);
            if (status != BRY_OK)
                continue;
            uint32_t unit;
            for (int i = 0; i < 3; i++) /* it can be saved and loaded */
                (void)bry_index_open(loaded, 0, &unit);
            (void)bry_index_undo_open(loaded, 1);
            for (uint64_t i = 0; i < 3; i++)
                assert_int_equal(bry_index_del(loaded, element(i), 0, NULL), BRY_OK);
            bry_index_destroy(job_reloaded(BRY_JOB_INDEX, loaded));
            bry_index_destroy(loaded);
        }
        bry_buffer_free(&image);
        bry_index_destroy(index);
    }
}
