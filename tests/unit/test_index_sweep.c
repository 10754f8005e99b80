/* Indexes that are saved while dropped units are being swept: they go on where they were, and no
 * place that a sweep cannot have come to is let in. */
#include "common/endian.h"
#include "index/compact_index.h"
#include "support/folder_helpers.h"
#include "support/index_helpers.h"
#include "support/repair.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { HEADER = 64, AT_VERSION = 16, FRAME_HEAD = 16, FRAME = 24 };
enum { AT_SWEEP = 24, AT_SWEEP_FINGERPRINT = 32, AT_SWEEPING = 44 }; /* in a frame TABL */

static bry_buffer saved_of(const bry_index *index)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    assert_int_equal(bry_index_save(index, &sink, NULL), BRY_OK);
    return buffer;
}

static bry_status load(const bry_buffer *from, bry_index **index)
{
    bry_view view = {from->bytes, from->len, 0};
    bry_source source = bry_view_source(&view);
    bry_load how = BRY_LOAD;
    *index = NULL;
    bry_status status = bry_index_load(&source, &how, index);
    assert_true(status == BRY_OK ? how.problem == NULL : how.problem != NULL);
    return status;
}

static void assert_same_bytes(const bry_index *a, const bry_index *b)
{
    bry_buffer one = saved_of(a), other = saved_of(b);
    assert_int_equal(one.len, other.len);
    assert_memory_equal(one.bytes, other.bytes, one.len);
    bry_buffer_free(&one);
    bry_buffer_free(&other);
}

static unsigned version_of(const bry_buffer *bytes)
{
    return bry__load16(bytes->bytes + AT_VERSION);
}

/* Where the payload of the how-manieth frame of that type begins; 0: there is none. */
static size_t frame_at(const bry_buffer *bytes, const char *type, unsigned which)
{
    for (size_t at = HEADER; at + FRAME <= bytes->len;
         at += FRAME + bry__load32(bytes->bytes + at + 4))
        if (memcmp(bytes->bytes + at, type, 4) == 0 && which-- == 0)
            return at + FRAME_HEAD;
    return 0;
}

static uint32_t length_of(const bry_buffer *bytes, size_t payload)
{
    return bry__load32(bytes->bytes + payload - FRAME_HEAD + 4);
}

static void repair(bry_buffer *bytes)
{
    repair_stream(bytes->bytes, bytes->len);
}

/* Twenty units with 18,000 elements, an overflow too, two of them dropped; planned for `units` of
 * 4,000: with fewer than five it has further tables. */
static bry_index *dropped(uint32_t units)
{
    bry_index *index = exact(BRY_ENGINE_COMPACT, units, 4000);
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t unit = open_unit(index, i);
        add(index, 1000000, unit);
        add_many(index, 700 * i, 900, unit);
    }
    assert_int_equal(bry_index_drop(index, 3), BRY_OK);
    assert_int_equal(bry_index_drop(index, 11), BRY_OK);
    return index;
}

/* In the middle of a sweep, and a further unit has been dropped since it began. */
static bry_index *in_the_middle(void)
{
    bry_index *index = dropped(1);
    assert_int_equal(bry_index_step(index, NULL, 3000, NULL), BRY_OK);
    assert_int_equal(bry_index_drop(index, 1), BRY_OK);
    return index;
}

/* ---- which layout -------------------------------------------------------------------------- */

static void test_layout(void **state)
{
    (void)state;
    bry_index *index = dropped(10);
    bry_buffer bytes = saved_of(index);
    assert_int_equal(version_of(&bytes), 1); /* nothing has begun */
    assert_int_equal(frame_at(&bytes, "SWEP", 0), 0);
    bry_buffer_free(&bytes);

    add(index, 1, 0); /* the first of 32 changes with which it will */
    assert_int_equal(bry_index_del(index, element(1), 0, NULL), BRY_OK);
    add(index, 1, 0);
    bytes = saved_of(index);
    assert_int_equal(version_of(&bytes), 2);
    assert_int_equal(length_of(&bytes, frame_at(&bytes, "SWEP", 0)), 4);
    assert_int_equal(bry__load32(bytes.bytes + frame_at(&bytes, "SWEP", 0)), 1);
    bry_buffer_free(&bytes);

    assert_int_equal(bry_index_step(index, NULL, 1, NULL), BRY_OK);
    bytes = saved_of(index);
    assert_int_equal(version_of(&bytes), 2);
    assert_int_equal(length_of(&bytes, frame_at(&bytes, "SWEP", 0)), 4 + 2 * 4);
    assert_true(stats_of(index).dropped > 0);
    bry_buffer_free(&bytes);

    finish_steps(index);
    bytes = saved_of(index);
    assert_int_equal(version_of(&bytes), 1);
    assert_int_equal(frame_at(&bytes, "SWEP", 0), 0);
    assert_int_equal(stats_of(index).dropped, 0);
    bry_buffer_free(&bytes);
    bry_index_destroy(index);
}

/* ---- going on ------------------------------------------------------------------------------ */

static void change(bry_index *index, unsigned i)
{
    switch (i % 97) {
    case 3:
        assert_int_equal(bry_index_drop(index, 4 + i / 97 + (i / 97 >= 7)), BRY_OK);
        break;
    case 40:
        assert_int_equal(bry_index_step(index, NULL, 1 + i % 500, NULL), BRY_OK);
        break;
    case 60:
        open_unit(index, i);
        break;
    case 80:
        assert_int_equal(bry_index_merge_units(index, 0, 20 + i / 97), BRY_OK);
        break;
    default:
        add(index, 50000 + i % 700, i % 97 > 60 && i % 97 < 80 ? 20 + i / 97 : 0);
        assert_int_equal(bry_index_del(index, element(50000 + i % 350), 0, NULL), BRY_OK);
    }
}

static bry_index *through_folder(const bry_index *index, const char *folder)
{
    bry_index *loaded = NULL;
    assert_int_equal(bry_index_save_folder(index, folder, NULL), BRY_OK);
    assert_int_equal(bry_index_load_folder(folder, NULL, &loaded), BRY_OK);
    return loaded;
}

/* One that is saved and loaded, kept in a folder, or cloned, again and again, has the bytes of one
 * that never was. */
static void test_same_bytes(void **state)
{
    (void)state;
    char folder[] = "index-sweep-XXXXXX";
    assert_non_null(mkdtemp(folder));
    bry_index *index = dropped(1), *saved = dropped(1);
    unsigned midway = 0;
    for (unsigned i = 0; i < 14 * 97; i++) {
        change(index, i);
        change(saved, i);
        if (i % 31 != 0)
            continue;
        bry_index *next = NULL;
        bry_buffer bytes = saved_of(saved);
        midway += version_of(&bytes) == 2;
        if (i / 31 % 5 == 0)
            next = through_folder(saved, folder);
        else if (i / 31 % 5 == 1)
            assert_int_equal(bry_index_clone(saved, NULL, &next), BRY_OK);
        else
            assert_int_equal(load(&bytes, &next), BRY_OK);
        bry_buffer_free(&bytes);
        bry_index_destroy(saved);
        saved = next;
        assert_same_bytes(index, saved);
        assert_int_equal(stats_of(index).dropped, stats_of(saved).dropped);
        assert_int_equal(stats_of(index).waiting, stats_of(saved).waiting);
    }
    assert_true(midway > 25);
    assert_same_index(index, saved, 60000);
    finish_steps(index);
    finish_steps(saved);
    assert_same_bytes(index, saved);
    bry_index_destroy(index);
    bry_index_destroy(saved);
    remove_folder(folder);
}

/* ---- with changes alone -------------------------------------------------------------------- */

static unsigned tables_of(const bry_index *index)
{
    return ((const bry__compact_index *)index->elements)->maplet.tables;
}

/* An index that has shrunk gets back to one table by additions, also while units are dropped. */
static void test_fold_along(void **state)
{
    (void)state;
    bry_index *index = dropped(1);
    assert_true(tables_of(index) > 1);
    uint32_t last = 0, units[] = {0, 1, 19};
    for (uint32_t i = 2; i < 19; i++)
        if (i != 3 && i != 11)
            assert_int_equal(bry_index_drop(index, i), BRY_OK);
    for (uint64_t i = 0; i < 60000 && tables_of(index) > 1; i++) {
        if (i % 100 == 0) { /* a unit of a hundred comes, and the one before it goes */
            uint32_t next = open_unit(index, i);
            if (i > 0)
                assert_int_equal(bry_index_drop(index, last), BRY_OK);
            last = next;
        }
        add(index, 100000 + i, last);
    }
    assert_int_equal(tables_of(index), 1);
    assert_int_equal(bry_index_drop(index, last), BRY_OK);
    assert_int_equal(stats_of(index).elements, 3 * 901);
    for (uint64_t i = 0; i < 3; i++)
        for (uint64_t j = 0; j < 900; j++)
            assert_int_equal(bry_index_has(index, element(700 * units[i] + j)), BRY_PRESENT);
    finish_steps(index);
    assert_int_equal(stats_of(index).dropped, 0);
    bry_index_destroy(index);
}

/* ---- what is refused ----------------------------------------------------------------------- */

static void test_lies(void **state)
{
    (void)state;
    bry_index *index = in_the_middle(), *loaded;
    bry_buffer truth = saved_of(index);
    size_t sweep = frame_at(&truth, "SWEP", 0), table = frame_at(&truth, "TABL", 0);
    size_t further = frame_at(&truth, "TABL", 1);
    assert_true(sweep && further);
    assert_int_equal(length_of(&truth, sweep), 4 + 2 * 4);
    assert_int_equal(bry__load32(truth.bytes + table + AT_SWEEPING), 1);
    const struct {
        size_t at;
        uint32_t value;
    } lies[] = {
        {sweep, 32}, /* changes: it would have moved on */
        {sweep, UINT32_MAX},
        {sweep + 4, 0}, /* slots: one with a unit */
        {sweep + 4, 1 << 21},
        {sweep + 4, UINT32_MAX},
        {sweep + 4, 11}, /* one that is named twice */
        {sweep + 8, 3},
        {sweep + 8, 2}, /* not rising, and not dead */
        {sweep + 4, 1}, /* it died later: entries behind the sweep have it */
        {table + AT_SWEEP, 1 << 20}, /* past entries that it should have dropped */
        {table + AT_SWEEP + 4, 1},
        {further + AT_SWEEPING, 1}, /* two at once */
        {further + AT_SWEEPING, 2},
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        bry_buffer bytes = saved_of(index);
        bry__store32(bytes.bytes + lies[i].at, lies[i].value);
        repair(&bytes);
        assert_int_equal(load(&bytes, &loaded), BRY_E_BADDATA);
        bry_buffer_free(&bytes);
    }
    /* In the further table alone it would have passed the first. */
    bry__store32(truth.bytes + table + AT_SWEEPING, 0);
    bry__store32(truth.bytes + further + AT_SWEEPING, 1);
    repair(&truth);
    assert_int_equal(load(&truth, &loaded), BRY_E_BADDATA);
    /* In none it has not begun, which is fit to go on with. */
    bry__store32(truth.bytes + further + AT_SWEEPING, 0);
    repair(&truth);
    assert_int_equal(load(&truth, &loaded), BRY_OK);
    assert_same_index(index, loaded, 15000);
    finish_steps(loaded);
    assert_same_index(index, loaded, 15000);
    bry_index_destroy(loaded);
    bry_buffer_free(&truth);
    bry_index_destroy(index);
}

/* An entry of the overflow that the sweep has passed. */
static void test_lies_about_overflow(void **state)
{
    (void)state;
    bry_index *index = exact(BRY_ENGINE_COMPACT, 20, 50), *loaded;
    for (uint32_t i = 0; i < 20; i++)
        add(index, 5, open_unit(index, i)); /* eight in the segment, twelve in the overflow */
    assert_int_equal(bry_index_drop(index, 15), BRY_OK);
    assert_int_equal(bry_index_step(index, NULL, 1, NULL), BRY_OK);
    bry_buffer bytes = saved_of(index);
    size_t table = frame_at(&bytes, "TABL", 0);
    assert_true(frame_at(&bytes, "SWEP", 0) && frame_at(&bytes, "OVER", 0));
    assert_int_equal(load(&bytes, &loaded), BRY_OK);
    bry_index_destroy(loaded);
    uint64_t fingerprint = bry__load64(bytes.bytes + frame_at(&bytes, "OVER", 0));
    bry__store64(bytes.bytes + table + AT_SWEEP_FINGERPRINT, fingerprint);
    bry__store32(bytes.bytes + table + AT_SWEEP_FINGERPRINT + 8, 15);
    repair(&bytes);
    assert_int_equal(load(&bytes, &loaded), BRY_OK); /* this very one is next */
    bry_index_destroy(loaded);
    bry__store32(bytes.bytes + table + AT_SWEEP_FINGERPRINT + 8, 16);
    repair(&bytes);
    assert_int_equal(load(&bytes, &loaded), BRY_E_BADDATA);
    bry__store64(bytes.bytes + table + AT_SWEEP_FINGERPRINT, UINT64_MAX);
    repair(&bytes);
    assert_int_equal(load(&bytes, &loaded), BRY_E_BADDATA);
    bry_buffer_free(&bytes);
    bry_index_destroy(index);
}

/* A unit that has no place, whatever is swept, does not find the index swept. */
static void test_refused_in_the_middle(void **state)
{
    (void)state;
    for (int fixed = 0; fixed < 2; fixed++) {
        bry_index_options options = {.engine = BRY_ENGINE_COMPACT,
                                     .fixed = fixed,
                                     .units = 10,
                                     .unit_capacity = 1000,
                                     .error = 1e-6,
                                     .seed = 7};
        bry_index *index = make(options);
        for (uint32_t i = 0; i < 8; i++)
            add_many(index, 2000 * i, 1000, open_unit(index, i));
        assert_int_equal(bry_index_drop(index, 2), BRY_OK);
        assert_int_equal(bry_index_step(index, NULL, 1000, NULL), BRY_OK);
        options.units = 1; /* the same shape, in one unit */
        options.unit_capacity = 10000;
        bry_index *apart = make(options);
        add_many(apart, 50000, 5000, open_unit(apart, 1));
        bry_buffer unit = BRY_BUFFER, before = saved_of(index);
        bry_sink sink = bry_buffer_sink(&unit);
        assert_int_equal(bry_index_save_unit(apart, 0, &sink, NULL), BRY_OK);
        uint32_t number = 77;
        bry_status status = BRY_OK;
        for (int i = 0; i < 9 && status == BRY_OK; i++) { /* one that grows takes some */
            bry_buffer_free(&before);
            before = saved_of(index);
            bry_view view = {unit.bytes, unit.len, 0};
            bry_source source = bry_view_source(&view);
            status = bry_index_install_unit(index, &source, NULL, &number);
        }
        assert_int_equal(status, BRY_E_FULL);
        assert_int_equal(number != 77, !fixed);
        bry_buffer after = saved_of(index);
        assert_int_equal(version_of(&after), 2);
        assert_int_equal(before.len, after.len);
        assert_memory_equal(before.bytes, after.bytes, after.len);
        bry_buffer_free(&unit);
        bry_buffer_free(&before);
        bry_buffer_free(&after);
        bry_index_destroy(apart);
        bry_index_destroy(index);
    }
}

static bry_status load_as(bry_buffer *bytes, uint16_t version, bry_index **loaded)
{
    bry__store16(bytes->bytes + AT_VERSION, version);
    repair(bytes);
    return load(bytes, loaded);
}

static void test_versions(void **state)
{
    (void)state;
    bry_index *index = in_the_middle(), *loaded;
    bry_buffer bytes = saved_of(index);
    assert_int_equal(load_as(&bytes, 3, &loaded), BRY_E_VERSION);
    assert_int_equal(load_as(&bytes, 1, &loaded), BRY_E_BADDATA); /* which has no such frame */
    assert_int_equal(load_as(&bytes, 2, &loaded), BRY_OK);
    bry_index_destroy(loaded);

    /* Without the frame it is of version 1, and the sweep begins anew. */
    size_t sweep = frame_at(&bytes, "SWEP", 0) - FRAME_HEAD;
    uint32_t length = length_of(&bytes, sweep + FRAME_HEAD);
    memmove(bytes.bytes + sweep, bytes.bytes + sweep + FRAME + length,
            bytes.len - sweep - FRAME - length);
    bytes.len -= FRAME + length;
    size_t end = frame_at(&bytes, "END ", 0);
    bry__store64(bytes.bytes + end, bry__load64(bytes.bytes + end) - 1);
    bry__store64(bytes.bytes + end + 8, bry__load64(bytes.bytes + end + 8) - length);
    assert_int_equal(load_as(&bytes, 2, &loaded), BRY_E_BADDATA);
    assert_int_equal(load_as(&bytes, 1, &loaded), BRY_OK);
    finish_steps(loaded);
    assert_int_equal(stats_of(loaded).dropped, 0);
    assert_same_index(index, loaded, 15000);
    bry_index_destroy(loaded);
    bry_buffer_free(&bytes);
    bry_index_destroy(index);

    index = exact(BRY_ENGINE_DBA, 4, 100); /* has one layout */
    add_many(index, 0, 50, BRY_INDEX_NEWEST);
    bytes = saved_of(index);
    assert_int_equal(load_as(&bytes, 2, &loaded), BRY_E_BADDATA);
    bry_buffer_free(&bytes);
    bry_index_destroy(index);
}

/* ---- openings that are taken back ---------------------------------------------------------- */

static void test_unopen(void **state)
{
    (void)state;
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bry_index *index = exact(index_engines[e], 8, 100);
        add_many(index, 0, 50, open_unit(index, 1));
        add_many(index, 50, 50, open_unit(index, 2));
        bry_buffer before = saved_of(index);
        uint32_t unit = open_unit(index, 3);
        assert_int_equal(bry_index_unopen(index, unit), BRY_OK);
        bry_buffer after = saved_of(index);
        assert_int_equal(before.len, after.len);
        if (index_engines[e] == BRY_ENGINE_DBA) /* columns may lie in another order */
            assert_int_equal(stats_of(index).units, 2);
        else
            assert_memory_equal(before.bytes + HEADER, after.bytes + HEADER, 80);
        assert_int_equal(bry_index_unopen(index, unit), BRY_E_NOUNIT);
        assert_int_equal(bry_index_unopen(index, 1), BRY_E_RANGE); /* has elements */
        assert_int_equal(open_unit(index, 4), unit);
        open_unit(index, 5);
        assert_int_equal(bry_index_unopen(index, unit), BRY_E_RANGE); /* not the last one */
        assert_int_equal(stats_of(index).units, 4);
        bry_buffer_free(&before);
        bry_buffer_free(&after);
        bry_index_destroy(index);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_fold_along),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_lies_about_overflow),
        cmocka_unit_test(test_refused_in_the_middle),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_unopen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
