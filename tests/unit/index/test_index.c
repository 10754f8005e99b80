/* Indexes with every engine: options, and very many units. The model does the rest. */
#include "support/index_helpers.h"
#include "support/like.h"

#include <stdlib.h>

TEST(test_options)
{
    bry_index_shape shape = {.units = 5};
    const struct {
        bry_index_options options;
        bry_status status;
    } wrong[] = {
        {{.engine = BRY_ENGINE_KBF}, BRY_E_UNSUPPORTED},
        {{.engine = BRY_ENGINE_BLOOM}, BRY_E_UNSUPPORTED},
        {{.engine = (bry_engine)99}, BRY_E_RANGE},
        {{.units = BRY_INDEX_UNITS_MAX + 1}, BRY_E_RANGE},
        {{.unit_capacity = ((uint64_t)1 << 40) + 1}, BRY_E_RANGE},
        {{.units = 1 << 20, .unit_capacity = (uint64_t)1 << 21}, BRY_E_RANGE},
        {{.error = 1e-10}, BRY_E_RANGE},
        {{.error = 0.6}, BRY_E_RANGE},
        {{.error = -1}, BRY_E_RANGE},
        {{.engine = BRY_ENGINE_DBA, .dba.stale = 1.5}, BRY_E_RANGE},
        {{.engine = BRY_ENGINE_DBA, .dba.stale = -0.5}, BRY_E_RANGE},
        {{.engine = BRY_ENGINE_COMPACT, .dba.stale = 0.5}, BRY_E_UNSUPPORTED},
        {{.engine = BRY_ENGINE_DBA, .dba.factor = 1}, BRY_E_RANGE},
        {{.engine = BRY_ENGINE_DBA, .dba.factor = 17}, BRY_E_RANGE},
        {{.engine = BRY_ENGINE_DBA, .dba.control = (bry_index_control)3}, BRY_E_RANGE},
        {{.engine = BRY_ENGINE_DBA, .dba.unit_bits = 64}, BRY_E_RANGE},
        {{.engine = BRY_ENGINE_DBA, .dba.hashes = 4}, BRY_E_RANGE},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        bry_index_options options = wrong[i].options;
        bry_index *index = NULL;
        options.struct_size = sizeof options;
        assert_int_equal(bry_index_plan(&options, &shape), wrong[i].status);
        assert_int_equal(bry_index_create(&options, &index), wrong[i].status);
        assert_int_equal(shape.units, 5);
        assert_null(index);
    }
    assert_int_equal(bry_index_plan(NULL, &shape), BRY_OK);
    assert_int_equal(shape.engine, BRY_ENGINE_COMPACT);
    assert_int_equal(shape.units, 64);
    assert_int_equal(shape.unit_capacity, 65536);
    assert_true(shape.error <= 0.001 && shape.error > 0);
    assert_true(shape.unit_error * 64 <= 0.001 && shape.unit_error > 0);
    bry_index *index = NULL;
    assert_int_equal(bry_index_create(NULL, &index), BRY_OK);
    assert_true(bry_index_seed(index) != 0);
    bry_index_destroy(index);
    bry_index_destroy(NULL);
}

/* What no call may touch, and lists that are cut off. */
TEST(test_units)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bry_index *index = exact(index_engines[e], 8, 4), *copy = NULL;
        uint32_t units[8] = {0}, went[5] = {77};
        bry_hash hashes[5];
        for (uint64_t i = 0; i < 5; i++)
            hashes[i] = element(i);
        assert_int_equal(bry_index_units(index, NULL, 0), 0);
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(open_unit(index, 100 + i), i);
        assert_int_equal(bry_index_units(index, units, 2), 3);
        assert_true(units[0] == 2 && units[1] == 1 && units[2] == 0);
        bry_index_unit_info info = unit_of(index, 2), untouched = info;
        assert_int_equal(bry_index_get_unit_info(index, 3, &info), BRY_E_NOUNIT);
        assert_memory_equal(&info, &untouched, sizeof info);
        assert_int_equal(bry_index_drop(index, UINT32_MAX), BRY_E_NOUNIT);
        assert_int_equal(bry_index_add_n(index, hashes, 5, 0, went, NULL), BRY_E_FULL);
        assert_int_equal(went[0], 77);
        assert_int_equal(bry_index_add_n(index, hashes, 0, BRY_INDEX_NEWEST, NULL, NULL), BRY_OK);
        assert_int_equal(stats_of(index).elements, 0);
        bry_index_has_n(index, hashes, 0, NULL);
        bry_index_options options = index_like(index);
        assert_null(options.allocator);
        assert_true(options.seed == 1 && options.engine == index_engines[e]);
        assert_int_equal(bry_index_create(&options, &copy), BRY_OK);
        assert_int_equal(stats_of(copy).units, 0);
        bry_index_destroy(copy);
        bry_index_destroy(index);
    }
}

/* Numbers of dropped units are reused when all have been used, but never one that is in use. */
TEST(test_numbers_run_out)
{
    bry_index *index = exact(BRY_ENGINE_COMPACT, 8, 100);
    open_unit(index, 0);
    add(index, 1, 0);
    assert_int_equal(open_unit(index, 1), 1);
    for (uint32_t i = 2; i < BRY_INDEX_UNITS_MAX; i++) {
        assert_int_equal(open_unit(index, i), i);
        if (i % 1000 != 5)
            assert_int_equal(bry_index_drop(index, i), BRY_OK);
    }
    assert_true(stats_of(index).units > 1000);
    assert_int_equal(bry_index_drop(index, 1), BRY_OK);
    assert_int_equal(open_unit(index, 0), 1); /* 0 is in use */
    assert_int_equal(open_unit(index, 0), 2);
    assert_int_equal(open_unit(index, 0), 3);
    assert_int_equal(open_unit(index, 0), 4);
    assert_int_equal(open_unit(index, 0), 6); /* and so is 5 */
    uint32_t units[2];
    bry_index_units(index, units, 2);
    assert_int_equal(units[0], 6);
    assert_int_equal(units[1], 4);
    add(index, 1, 6);
    static const uint32_t both[] = {6, 0};
    assert_units(index, 1, both, 2);
    bry_index_destroy(index);
}

/* An element in many units: all are reported, the newest first, however short the array. */
TEST(test_everywhere)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        enum { UNITS = 3000 };
        bry_index *index = exact(index_engines[e], UNITS, 4);
        static uint32_t found[UNITS];
        for (uint32_t i = 0; i < UNITS; i++) {
            add(index, 0, open_unit(index, i));
            add(index, 1000 + i, i);
        }
        static const size_t rooms[] = {0, 1, 7, 100, UNITS - 1, UNITS};
        for (int r = 0; r < 6; r++) {
            memset(found, 0xee, sizeof found);
            assert_int_equal(bry_index_locate(index, element(0), found, rooms[r]), UNITS);
            for (size_t i = 0; i < rooms[r]; i++)
                assert_int_equal(found[i], UNITS - 1 - i);
            if (rooms[r] < UNITS)
                assert_int_equal(found[rooms[r]], 0xeeeeeeee);
        }
        for (uint32_t i = 0; i < UNITS; i += 2)
            assert_int_equal(bry_index_drop(index, i), BRY_OK);
        assert_int_equal(bry_index_locate(index, element(0), found, UNITS), UNITS / 2);
        for (size_t i = 0; i < UNITS / 2; i++)
            assert_int_equal(found[i], UNITS - 1 - 2 * i);
        finish_steps(index);
        assert_int_equal(bry_index_locate(index, element(0), found, UNITS), UNITS / 2);
        assert_unit(index, 1001, 1);
        assert_absent(index, 1000);
        for (uint32_t i = 1; i < UNITS; i += 2)
            assert_int_equal(bry_index_drop(index, i), BRY_OK);
        assert_absent(index, 0);
        bry_index_destroy(index);
    }
}

/* A dropped unit is gone from answers at once; its memory is reclaimed in steps and by later
 * changes. */
TEST(test_drop_reclaims)
{
    for (int by_steps = 0; by_steps < 2; by_steps++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_index *index = make(
            (bry_index_options){.units = 8, .unit_capacity = 5000, .allocator = &memory.allocator});
        for (uint64_t i = 0; i < 8; i++)
            add_many(index, 10000 * i, 5000, open_unit(index, i));
        uint64_t full = memory.now;
        for (uint32_t i = 0; i < 7; i++)
            assert_int_equal(bry_index_drop(index, i), BRY_OK);
        for (uint64_t i = 0; i < 700; i++) {
            uint32_t found;
            if (bry_index_locate(index, element(10000 * (i % 7) + i), &found, 1) > 0)
                assert_int_equal(found, 7); /* a false positive of the remaining one */
        }
        assert_int_equal(stats_of(index).elements, unit_of(index, 7).elements);
        assert_true(stats_of(index).waiting > 0);
        assert_int_equal(stats_of(index).waiting_for_supplier, 0);
        if (by_steps) {
            uint64_t left = 1, steps = 0;
            for (; left > 0 && steps < 1000; steps++)
                assert_int_equal(bry_index_step(index, NULL, 1000, &left), BRY_OK);
            assert_true(steps > 10 && steps < 200);
            assert_int_equal(stats_of(index).waiting, 0);
            assert_true(memory.now < full / 4);
        } else {
            for (uint32_t i = 0; i < 8; i++) { /* additions reclaim slots and entries */
                add_many(index, 1000000 + 10000 * i, 5000, BRY_INDEX_NEWEST);
                if (i > 0)
                    assert_int_equal(bry_index_drop(index, 7 + i), BRY_OK);
                assert_true(memory.now < full * 9 / 8);
            }
        }
        for (uint64_t i = 0; i < 5000; i++)
            assert_int_equal(bry_index_has(index, element(70000 + i)), BRY_PRESENT);
        bry_index_destroy(index);
        assert_int_equal(memory.now, 0);
    }
}

/* Many units: slots of 17 bits, with elements in each. */
TEST(test_many_units)
{
    enum { UNITS = 70000 };
    bry_index *index = exact(BRY_ENGINE_COMPACT, UNITS, 4);
    for (uint32_t i = 0; i < UNITS; i++) {
        add(index, i, open_unit(index, i));
        add(index, UNITS + i / 2, i);
    }
    for (uint32_t i = 0; i < UNITS; i += 7) {
        assert_unit(index, i, i);
        uint32_t pair[] = {i | 1, i & ~(uint32_t)1};
        assert_units(index, UNITS + i / 2, pair, 2);
    }
    assert_int_equal(stats_of(index).elements, 2 * UNITS);
    bry_index_destroy(index);
}

/* Beyond the planned number of units, compact keeps its error with further tables, and frees them
 * when units are dropped. */
TEST(test_growth)
{
    bry_index *index = make((bry_index_options){.units = 4, .unit_capacity = 500, .error = 0.01});
    for (uint64_t i = 0; i < 40; i++) {
        add_many(index, 1000 * i, 500, open_unit(index, i));
        assert_true(stats_of(index).estimated_error <= 0.01);
        assert_true(stats_of(index).full_error <= 0.01);
    }
    for (uint64_t i = 0; i < 40; i++)
        for (uint64_t j = 0; j < 500; j += 9) {
            uint32_t units[64], there = 0;
            size_t n = bry_index_locate(index, element(1000 * i + j), units, 64);
            for (size_t k = 0; k < n && k < 64; k++)
                there += units[k] == i;
            assert_int_equal(there, 1);
        }
    for (uint32_t i = 0; i < 38; i++)
        assert_int_equal(bry_index_drop(index, i), BRY_OK);
    finish_steps(index);
    assert_int_equal(stats_of(index).waiting, 0);
    assert_true(stats_of(index).fill > 0.1); /* one table again */
    for (uint64_t j = 0; j < 500; j++)
        assert_int_equal(bry_index_has(index, element(39000 + j)), BRY_PRESENT);
    bry_index_destroy(index);
}
