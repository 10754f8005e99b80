/* The saved bytes of an index of engine compact depend only on the operations, not on how much
 * memory of dropped units was reclaimed. (The model compares those that were saved in between.) */
#include "index/compact/compact_index.h"
#include "support/dir_helpers.h"
#include "support/index_commands.h"
#include "support/job_calls.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bry_buffer saved_of(const bry_index *index)
{
    return job_saved(BRY_JOB_INDEX, index);
}

static const bry__maplet *maplet_of(const bry_index *index)
{
    return &((const bry__compact_index *)index->elements)->maplet;
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
        job_assert_alike(BRY_JOB_INDEX, index, poor);
        bry_index_clear(index);
        failing_allocator_restart(&memory);
        memory.fail_at = 1;
        memory.keep_failing = true;
        bry_index_clear(poor);
        memory.fail_at = 0;
        job_assert_alike(BRY_JOB_INDEX, index, poor);
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
        bry_index *loaded = job_reloaded(BRY_JOB_INDEX, kept);
        bry_index_destroy(kept);
        kept = loaded;
        job_assert_alike(BRY_JOB_INDEX, index, kept);
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
            job_assert_alike(BRY_JOB_INDEX, poor, before);
            failed += folds;
        }
        folded++;
        memory.fail_at = 0;
        job_assert_alike(BRY_JOB_INDEX, poor, index);
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
    job_assert_alike(BRY_JOB_INDEX, index, loaded);
    bry_index_destroy(index);
    bry_index_destroy(loaded);
    remove_dir(dir);
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
