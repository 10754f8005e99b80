/* The index's memory: plan, stats and allocator agree to the byte; loading a directory survives
 * failing allocations; and operations that need no memory work without it. With every engine. */
#include "index/index_save.h"
#include "support/index_helpers.h"
#include "support/recording_io.h"

enum { ELEMENTS = 900 };

static bry_index_options small(bry_engine engine, failing_allocator *memory)
{
    return (bry_index_options){.struct_size = sizeof(bry_index_options),
                               .engine = engine,
                               .units = 4,
                               .unit_capacity = 90, /* so that it has grown */
                               .error = 1e-9,
                               .seed = 1,
                               .allocator = &memory->allocator};
}

/* With all units full, the planned size within an eighth. */
TEST(test_plan_at_capacity)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_index_options options = small(index_engines[e], &memory);
        options.units = 20;
        options.unit_capacity = 4000;
        options.error = 1e-3;
        bry_index_shape shape = {0};
        assert_int_equal(bry_index_plan(&options, &shape), BRY_OK);
        bry_index *index = make(options);
        add_many(index, 0, 80000, BRY_INDEX_NEWEST);
        assert_int_equal(stats_of(index).bytes, memory.now);
        assert_true(memory.now < shape.bytes * 9 / 8 && memory.now > shape.bytes * 7 / 8);
        bry_index_destroy(index);
    }
}

/* The bounds that index.h states for plans, when no work is waiting. */
TEST(test_plan_is_as_good_as_stated)
{
    static const uint64_t capacities[] = {1, 10, 100, 1000, 20000};
    static const uint32_t units[] = {1, 5, 20, 64, 100};
    for (int e = 0; e < INDEX_ENGINES; e++)
        for (size_t s = 0; s < 5; s++)
            for (size_t u = 0; u < 5; u++) {
                bry_index_options options = {.struct_size = sizeof options,
                                             .engine = index_engines[e],
                                             .units = units[u],
                                             .unit_capacity = capacities[s],
                                             .error = 1e-3,
                                             .seed = 1};
                uint64_t total = options.units * options.unit_capacity;
                double within = total >= 20000 ? 0.04 : total >= 5000 ? 0.08 : 1.0 / 3;
                if (total > 150000)
                    continue;
                bry_index_shape shape = {0};
                assert_int_equal(bry_index_plan(&options, &shape), BRY_OK);
                bry_index *index = NULL;
                assert_int_equal(bry_index_create(&options, &index), BRY_OK);
                add_many(index, 0, total, BRY_INDEX_NEWEST);
                uint64_t left = 1;
                while (left > 0)
                    assert_int_equal(bry_index_step(index, NULL, 1 << 20, &left), BRY_OK);
                double ratio = (double)stats_of(index).bytes / (double)shape.bytes;
                assert_true(ratio > 1 - within && ratio < 1 + within);
                bry_index_destroy(index);
            }
}

/* ---- failing allocations ------------------------------------------------------------------- */

/* Grown, with units that are sealed, dropped and full, and elements in many units. */
static bry_index *busy(bry_index_options options)
{
    bry_index *index = make(options);
    add_many(index, 0, 800, BRY_INDEX_NEWEST);
    for (uint32_t i = 0; i < 14; i++) {
        uint32_t unit = open_unit(index, i);
        add(index, 5, unit);
        add_many(index, 40 * (uint64_t)i, 20, unit);
    }
    assert_int_equal(bry_index_drop(index, 2), BRY_OK);
    assert_int_equal(bry_index_seal(index, 12), BRY_OK);
    return index;
}

/* An index in a directory, loaded with every allocation failing once. */
TEST(test_load_dir_failing)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_index *index = busy(small(index_engines[e], &memory)), *loaded = NULL;
        static recording_io disk;
        recording_init(&disk);
        assert_int_equal(bry__index_save_dir(&disk.io, index, "f", NULL), BRY_OK);
        uint64_t before = memory.now;
        bry_load load = BRY_LOAD;
        load.allocator = &memory.allocator;
        for (memory.fail_at = 1; !loaded; memory.fail_at++) {
            failing_allocator_restart(&memory);
            bry_status status = bry__index_load_dir(&disk.io, "f", &load, &loaded);
            assert_int_equal(status, loaded ? BRY_OK : BRY_E_NOMEM);
            assert_true(loaded || memory.now == before);
        }
        assert_true(memory.fail_at > 10);
        memory.fail_at = 0;
        assert_same_index(index, loaded, ELEMENTS);
        bry_index_destroy(loaded);
        bry_index_destroy(index);
        recording_free(&disk);
        assert_int_equal(memory.now, 0);
    }
}

/* Without memory, clear and drop still work. */
TEST(test_clear_and_drop_without_memory)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_index *index = busy(small(index_engines[e], &memory));
        failing_allocator_restart(&memory);
        memory.fail_at = 1;
        memory.keep_failing = true;
        uint32_t units[64];
        size_t count = bry_index_units(index, units, 64);
        for (size_t i = 0; i + 3 < count; i++)
            assert_int_equal(bry_index_drop(index, units[i]), BRY_OK);
        assert_int_equal(stats_of(index).units, 3);
        bry_index_clear(index);
        memory.fail_at = 0;
        memory.keep_failing = false;
        assert_int_equal(stats_of(index).units, 0);
        for (uint64_t i = 0; i < ELEMENTS; i++)
            assert_absent(index, i);
        assert_int_equal(open_unit(index, 0), 0);
        add_many(index, 100, 90, 0);
        finish_steps(index);
        for (uint64_t i = 0; i < ELEMENTS; i++)
            if (i >= 100 && i < 190)
                assert_unit(index, i, 0);
            else
                assert_absent(index, i);
        assert_int_equal(stats_of(index).bytes, memory.now);
        bry_index_destroy(index);
        assert_int_equal(memory.now, 0);
    }
}
