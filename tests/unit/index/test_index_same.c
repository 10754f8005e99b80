/*
 * The saved bytes of an index of engine compact depend only on the operations, not on how much
 * memory of dropped units was reclaimed, nor on saving, loading, cloning or a lack of memory in
 * between.
 */
#include "common/endian.h"
#include "index/compact/compact_index.h"
#include "support/dir_helpers.h"
#include "support/index_commands.h"
#include "support/job_calls.h"
#include "support/repair.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { HEADER = 64, FRAME_HEAD = 16, FRAME = 24 };

static bry_buffer saved_of(const bry_index *index)
{
    return job_saved(BRY_JOB_INDEX, index);
}

static bry_status load_with(const bry_buffer *from, const bry_allocator *allocator,
                            bry_index **index)
{
    bry_view view = {from->bytes, from->len, 0};
    bry_source source = bry_view_source(&view);
    bry_load how = BRY_LOAD;
    how.allocator = allocator;
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

static const bry__maplet *maplet_of(const bry_index *index)
{
    return &((const bry__compact_index *)index->elements)->maplet;
}

/* ---- the same commands --------------------------------------------------------------------- */

/* Another index with the same operations. */
static bry_index *again(bry_index *index, unsigned how, const char *dir)
{
    bry_index *next = NULL;
    bry_buffer bytes = saved_of(index);
    switch (how) {
    case 0:
        assert_int_equal(bry_index_save_dir(index, dir, NULL), BRY_OK);
        assert_int_equal(bry_index_load_dir(dir, NULL, &next), BRY_OK);
        break;
    case 1:
        assert_int_equal(bry_index_clone(index, NULL, &next), BRY_OK);
        break;
    default:
        assert_int_equal(load_with(&bytes, NULL, &next), BRY_OK);
    }
    bry_buffer_free(&bytes);
    bry_index_destroy(index);
    return next;
}

static void run(uint64_t seed, bool fixed, const char *dir)
{
    generator numbers = {seed}, choices = {seed + 1000};
    bry_index_options options = {.engine = BRY_ENGINE_COMPACT,
                                 .units = fixed ? 2 * MOST_UNITS : 2,
                                 .unit_capacity = 400,
                                 .fixed = fixed,
                                 .error = 0.01,
                                 .seed = 1};
    bry_index *index = make(options), *kept = make(options);
    unsigned tables = 1, dead = 0, full = 0, folded = 0;
    for (unsigned i = 0; i < 600; i++) {
        generator same = numbers;
        unsigned before = bry__maplet_live_tables(maplet_of(index));
        bry_status status = command(index, &numbers);
        assert_int_equal(command(kept, &same), status);
        assert_true(status == BRY_OK || status == BRY_E_FULL || status == BRY_E_RANGE ||
                    status == BRY_E_NOUNIT);
        full += status == BRY_E_FULL;
        unsigned now = bry__maplet_live_tables(maplet_of(index));
        tables = now > tables ? now : tables;
        folded += now < before;
        dead += bry__values_dead(maplet_of(index)) > 0;
        if (i % 7 == 0)
            kept = again(kept, (unsigned)generator_below(&choices, 4), dir);
        if (i % 29 == 0)
            assert_same_bytes(index, kept);
    }
    assert_same_bytes(index, kept);
    assert_same_index(index, kept, ELEMENTS);
    assert_true(dead > 100);
    assert_true(fixed || (tables > 1 && folded > 0));
    assert_true(full > 0);
    bry_index_destroy(index);
    bry_index_destroy(kept);
}

TEST(test_kept_in_between)
{
    char dir[] = "index-same-XXXXXX";
    assert_non_null(mkdtemp(dir));
    for (uint64_t seed = 0; seed < 6; seed++)
        run(seed, seed % 3 == 2, dir);
    remove_dir(dir);
}

/* Additional steps in an index that has nothing to fold change nothing. */
TEST(test_steps_do_not_show)
{
    generator numbers = {5}, choices = {6};
    bry_index *index = exact(BRY_ENGINE_COMPACT, 100, 400), *stepped;
    assert_int_equal(bry_index_clone(index, NULL, &stepped), BRY_OK);
    for (unsigned i = 0; i < 1500; i++) {
        generator same = numbers;
        bry_status status = command(index, &numbers);
        assert_int_equal(command(stepped, &same), status);
        assert_int_equal(
            bry_index_step(stepped, NULL, generator_below(&choices, i % 50 ? 400 : 100000), NULL),
            BRY_OK);
        if (i % 50 == 0)
            assert_same_bytes(index, stepped);
    }
    assert_same_index(index, stepped, ELEMENTS);
    bry_index_destroy(index);
    bry_index_destroy(stepped);
}

/* ---- short of memory ----------------------------------------------------------------------- */

/* An operation that fails for lack of memory changes nothing, and is repeated with enough. */
TEST(test_short_of_memory)
{
    for (uint64_t seed = 20; seed < 23; seed++) {
        generator numbers = {seed}, choices = {seed + 1000};
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_index_options options = {.engine = BRY_ENGINE_COMPACT,
                                     .units = 2,
                                     .unit_capacity = 400,
                                     .error = 0.01,
                                     .seed = 1};
        bry_index *index = make(options);
        options.allocator = &memory.allocator;
        bry_index *poor = make(options);
        unsigned failed = 0;
        for (unsigned i = 0; i < 500; i++) {
            generator same = numbers;
            bry_status status = command(index, &numbers), found;
            bool check = i % 17 == 0;
            bry_buffer before = check ? saved_of(poor) : (bry_buffer)BRY_BUFFER;
            for (unsigned try = 0;; try++) {
                generator again_same = same;
                failing_allocator_restart(&memory);
                memory.keep_failing = generator_below(&choices, 2) == 0;
                memory.fail_at = try < 3 ? 1 + generator_below(&choices, 1u << 2 * try) : 0;
                found = command(poor, &again_same);
                memory.fail_at = 0;
                if (found != BRY_E_NOMEM)
                    break;
                failed++;
                if (check) {
                    bry_buffer after = saved_of(poor);
                    assert_int_equal(before.len, after.len);
                    assert_memory_equal(before.bytes, after.bytes, after.len);
                    bry_buffer_free(&after);
                }
            }
            assert_int_equal(found, status);
            bry_buffer_free(&before);
            if (check)
                assert_same_bytes(index, poor);
        }
        assert_same_bytes(index, poor);
        assert_same_index(index, poor, ELEMENTS);
        assert_true(failed > 50);
        bry_index_destroy(index);
        bry_index_destroy(poor);
        assert_int_equal(memory.now, 0);
    }
}

/* Emptied without memory for a new table, it equals one that was emptied with memory. */
TEST(test_clear_without_memory)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry_index_options options = {
        .engine = BRY_ENGINE_COMPACT, .units = 2, .unit_capacity = 400, .error = 0.01, .seed = 1};
    bry_index *index = make(options);
    options.allocator = &memory.allocator;
    bry_index *poor = make(options);
    for (unsigned round = 0; round < 3; round++) {
        generator numbers = {round};
        for (unsigned i = 0; i < 100; i++) {
            generator same = numbers;
            assert_int_equal(command(index, &numbers), command(poor, &same));
        }
        assert_same_bytes(index, poor);
        bry_index_clear(index);
        failing_allocator_restart(&memory);
        memory.fail_at = 1;
        memory.keep_failing = true;
        bry_index_clear(poor);
        memory.fail_at = 0;
        assert_same_bytes(index, poor);
    }
    bry_index_destroy(index);
    bry_index_destroy(poor);
}

/* ---- folding ------------------------------------------------------------------------------- */

/* An index that has shrunk returns to one table in steps; equal indexes take equal steps. */
TEST(test_fold)
{
    bry_index *index = exact(BRY_ENGINE_COMPACT, 1, 4000), *kept;
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t unit = open_unit(index, i);
        add(index, 1000000, unit); /* in all of them */
        add_many(index, 700 * i, 900, unit);
    }
    assert_int_equal(bry__maplet_live_tables(maplet_of(index)), 2);
    for (uint32_t i = 4; i < 36; i++)
        assert_int_equal(bry_index_drop(index, i), BRY_OK);
    assert_int_equal(bry__maplet_foldable(maplet_of(index)), 0); /* 8 · 901 in two tables */
    for (uint32_t i = 36; i < 39; i++)
        assert_int_equal(bry_index_drop(index, i), BRY_OK);
    assert_int_equal(bry_index_drop(index, 3), BRY_OK);
    assert_int_equal(bry__maplet_foldable(maplet_of(index)), 901);
    assert_int_equal(bry_index_clone(index, NULL, &kept), BRY_OK);
    uint64_t left = 1;
    for (unsigned i = 0; i < 100000 && left > 0; i++) {
        assert_int_equal(bry_index_step(index, NULL, 100, &left), BRY_OK);
        assert_int_equal(bry_index_step(kept, NULL, 100, NULL), BRY_OK);
        kept = again(kept, 2, NULL);
        assert_same_bytes(index, kept);
    }
    assert_int_equal(left, 0);
    assert_int_equal(maplet_of(index)->tables, 1);
    assert_int_equal(stats_of(index).elements, 4 * 901);
    for (uint64_t i = 0; i < 3 * 700 + 200; i++)
        assert_int_equal(bry_index_has(index, element(i)), BRY_PRESENT);
    for (uint64_t i = 39 * 700; i < 39 * 700 + 900; i++)
        assert_unit(index, i, 39);
    bry_index_destroy(index);
    bry_index_destroy(kept);
}

/* A step without memory folds nothing, and one that succeeds always folds the same: reclaiming,
 * which may fail, is not visible. */
TEST(test_fold_without_memory)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry_index *index = exact(BRY_ENGINE_COMPACT, 1, 4000), *poor;
    for (uint32_t i = 0; i < 12; i++)
        add_many(index, 700 * i, 900, open_unit(index, i));
    for (uint32_t i = 2; i < 11; i++)
        assert_int_equal(bry_index_drop(index, i), BRY_OK);
    assert_true(bry__maplet_foldable(maplet_of(index)) > 0);
    assert_int_equal(bry_index_clone(index, &memory.allocator, &poor), BRY_OK);
    unsigned failed = 0, folded = 0;
    for (uint64_t left = 1; left > 0;) {
        bry_index *before;
        assert_int_equal(bry_index_clone(index, NULL, &before), BRY_OK);
        assert_int_equal(bry_index_step(index, NULL, 3000, &left), BRY_OK);
        failing_allocator_restart(&memory);
        memory.keep_failing = true;
        for (memory.fail_at = 1;; memory.fail_at++) {
            bool folds = bry__maplet_foldable(maplet_of(poor)) > 0;
            failing_allocator_restart(&memory);
            bry_status status = bry_index_step(poor, NULL, 3000, NULL);
            if (status == BRY_OK)
                break;
            assert_int_equal(status, BRY_E_NOMEM);
            assert_same_bytes(poor, before);
            failed += folds;
        }
        folded++;
        memory.fail_at = 0;
        assert_same_bytes(poor, index);
        bry_index_destroy(before);
    }
    assert_true(failed > 10 && folded > 1);
    assert_int_equal(bry__maplet_live_tables(maplet_of(poor)), 1);
    bry_index_destroy(index);
    bry_index_destroy(poor);
    assert_int_equal(memory.now, 0);
}

/* Units that are added and dropped reuse slots: without dead entries values are slots, so that
 * saving copies them. */
TEST(test_slots_take_turns)
{
    bry_index *index = exact(BRY_ENGINE_COMPACT, 20, 100);
    for (uint32_t i = 0; i < 300; i++) {
        add_many(index, 100 * (uint64_t)i, 100, open_unit(index, i));
        if (i >= 20)
            assert_int_equal(bry_index_drop(index, i - 20), BRY_OK);
        const bry__values *values = maplet_of(index)->values;
        for (uint32_t j = 0; j < values->room; j++)
            assert_true(values->name[j] == BRY__NO_NAME || values->name[j] == j);
        assert_true(bry__values_name_bits(maplet_of(index)) <= 5);
    }
    bry_index_destroy(index);
}

/* ---- directories ----------------------------------------------------------------------------- */

static unsigned parts_newer(const char *dir, unsigned generation)
{
    unsigned newer = 0;
    DIR *listing = opendir(dir);
    assert_non_null(listing);
    for (struct dirent *file; (file = readdir(listing));)
        if (strncmp(file->d_name, "part-", 5) == 0)
            newer += strtoull(file->d_name + 5 + 17, NULL, 16) >= generation;
    closedir(listing);
    return newer;
}

/* One addition touches one part, and reclaiming none. */
TEST(test_parts)
{
    enum { UNITS = 30, SIZE = 10000 };
    char dir[] = "index-parts-XXXXXX";
    assert_non_null(mkdtemp(dir));
    bry_index *index = exact(BRY_ENGINE_COMPACT, UNITS, 2 * SIZE), *loaded;
    for (uint32_t i = 0; i < UNITS; i++)
        add_many(index, (uint64_t)i * SIZE, SIZE, open_unit(index, i));
    assert_int_equal(bry_index_save_dir(index, dir, NULL), BRY_OK);
    assert_int_equal(parts_newer(dir, 1), 4);
    add(index, 10 * UNITS * SIZE, 7);
    assert_int_equal(bry_index_save_dir(index, dir, NULL), BRY_OK);
    assert_int_equal(parts_newer(dir, 1), 4);
    assert_int_equal(parts_newer(dir, 2), 1);
    assert_int_equal(bry_index_drop(index, 3), BRY_OK);
    assert_int_equal(bry_index_save_dir(index, dir, NULL), BRY_OK); /* it was everywhere */
    finish_steps(index);
    assert_int_equal(bry_index_save_dir(index, dir, NULL), BRY_OK);
    assert_int_equal(parts_newer(dir, 4), 0);
    assert_int_equal(bry_index_load_dir(dir, NULL, &loaded), BRY_OK);
    assert_int_equal(bry_index_save_dir(loaded, dir, NULL), BRY_OK);
    assert_int_equal(parts_newer(dir, 4), 0);
    assert_same_bytes(index, loaded);
    bry_index_destroy(index);
    bry_index_destroy(loaded);
    remove_dir(dir);
}

/* ---- what is refused ----------------------------------------------------------------------- */

/* The offset of the payload of the first frame of this type. */
static size_t frame_at(const bry_buffer *bytes, const char *type)
{
    for (size_t at = HEADER; at + FRAME <= bytes->len;
         at += FRAME + bry__load32(bytes->bytes + at + 4))
        if (memcmp(bytes->bytes + at, type, 4) == 0)
            return at + FRAME_HEAD;
    fail();
    return 0;
}

static void assert_lie(const bry_index *index, const char *frame, size_t at, uint32_t value)
{
    bry_index *loaded;
    bry_buffer bytes = saved_of(index);
    bry__store32(bytes.bytes + frame_at(&bytes, frame) + at, value);
    repair_stream(bytes.bytes, bytes.len);
    assert_int_equal(load_with(&bytes, NULL, &loaded), BRY_E_BADDATA);
    bry_buffer_free(&bytes);
}

TEST(test_lies)
{
    enum { AT_SLOT = 0, AT_ELEMENTS = 32, RECORD = 56, AT_VALUE_BITS = 16 };
    bry_index *index = exact(BRY_ENGINE_COMPACT, 4, 100);
    for (uint32_t i = 0; i < 3; i++)
        add_many(index, 100 * i, 20, open_unit(index, i));
    assert_lie(index, "UNIT", 2 * RECORD + AT_SLOT, 3); /* entries of slot 2 are of no unit */
    assert_lie(index, "UNIT", 2 * RECORD + AT_SLOT, 1); /* two units in one slot */
    assert_lie(index, "UNIT", 2 * RECORD + AT_SLOT, 1 << 20);
    assert_lie(index, "UNIT", 2 * RECORD + AT_SLOT, UINT32_MAX);
    assert_lie(index, "UNIT", RECORD + AT_ELEMENTS, 19);
    assert_lie(index, "UNIT", RECORD + AT_ELEMENTS, 21);
    assert_lie(index, "MOPT", AT_VALUE_BITS, 1); /* too few for three units */
    assert_lie(index, "MOPT", AT_VALUE_BITS, 3); /* too many */
    bry_index_destroy(index);
}

/* ---- openings that are taken back ---------------------------------------------------------- */

TEST(test_unopen)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bry_index *index = exact(index_engines[e], 8, 100);
        add_many(index, 0, 50, open_unit(index, 1));
        add_many(index, 50, 50, open_unit(index, 2));
        bry_buffer before = saved_of(index);
        uint32_t unit = open_unit(index, 3);
        assert_int_equal(bry_index_undo_open(index, unit), BRY_OK);
        bry_buffer after = saved_of(index);
        assert_int_equal(before.len, after.len);
        if (index_engines[e] == BRY_ENGINE_DBA) /* columns may be in another order */
            assert_int_equal(stats_of(index).units, 2);
        else
            assert_memory_equal(before.bytes, after.bytes, after.len);
        assert_int_equal(bry_index_undo_open(index, unit), BRY_E_NOUNIT);
        assert_int_equal(bry_index_undo_open(index, 1), BRY_E_RANGE); /* has elements */
        assert_int_equal(open_unit(index, 4), unit);
        open_unit(index, 5);
        assert_int_equal(bry_index_undo_open(index, unit), BRY_E_RANGE); /* not the last one */
        assert_int_equal(stats_of(index).units, 4);
        bry_buffer_free(&before);
        bry_buffer_free(&after);
        bry_index_destroy(index);
    }
}
