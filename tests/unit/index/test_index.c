/* Every call of the index, with every engine. */
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
        {{.dba.group = 64}, BRY_E_UNSUPPORTED},
        {{.dba.segmented = true}, BRY_E_UNSUPPORTED},
        {{.dba.control = BRY_INDEX_LARGER}, BRY_E_UNSUPPORTED},
        {{.dba.factor = 2}, BRY_E_UNSUPPORTED},
        {{.dba.unit_bits = 4096, .dba.hashes = 4}, BRY_E_UNSUPPORTED},
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
    bry_index_options options = BRY_INDEX_OPTIONS;
    options.struct_size = sizeof options + 1;
    assert_int_equal(bry_index_plan(&options, &shape), BRY_E_RANGE);
    options.struct_size = 0;
    assert_int_equal(bry_index_plan(&options, &shape), BRY_E_RANGE);
    /* A caller of an earlier version, which knew only the engine. */
    options.struct_size = offsetof(bry_index_options, units);
    options.error = 77;
    assert_int_equal(bry_index_plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.units, 64);

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

TEST(test_units)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bry_index *index = exact(index_engines[e], 8, 100);
        uint32_t units[8];
        assert_int_equal(bry_index_units(index, NULL, 0), 0);
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(open_unit(index, 100 + i), i);
        assert_int_equal(bry_index_units(index, units, 2), 5);
        assert_int_equal(units[0], 4);
        assert_int_equal(units[1], 3);
        assert_int_equal(bry_index_drop(index, 3), BRY_OK);
        assert_int_equal(bry_index_drop(index, 3), BRY_E_NOUNIT);
        assert_int_equal(bry_index_seal(index, 3), BRY_E_NOUNIT);
        assert_int_equal(bry_index_set_tag(index, 3, 0), BRY_E_NOUNIT);
        assert_int_equal(bry_index_drop(index, UINT32_MAX), BRY_E_NOUNIT);
        assert_int_equal(open_unit(index, 9), 5); /* numbers are not reused */
        assert_int_equal(bry_index_units(index, units, 8), 5);
        static const uint32_t order[] = {5, 4, 2, 1, 0};
        assert_memory_equal(units, order, sizeof order);

        bry_index_unit_info info = unit_of(index, 2), untouched = info;
        assert_int_equal(info.unit, 2);
        assert_int_equal(info.tag, 102);
        assert_int_equal(info.capacity, 100);
        assert_int_equal(info.elements, 0);
        assert_false(info.sealed || info.wants_refresh);
        assert_int_equal(bry_index_get_unit_info(index, 3, &info), BRY_E_NOUNIT);
        assert_memory_equal(&info, &untouched, sizeof info);
        assert_int_equal(bry_index_set_tag(index, 2, 7), BRY_OK);
        assert_int_equal(bry_index_seal(index, 2), BRY_OK);
        assert_int_equal(bry_index_seal(index, 2), BRY_OK);
        assert_int_equal(unit_of(index, 2).tag, 7);
        assert_true(unit_of(index, 2).sealed);
        bry_index_clear(index);
        assert_int_equal(bry_index_units(index, units, 8), 0);
        assert_int_equal(open_unit(index, 1), 0);
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

TEST(test_newest)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bry_index *index = exact(index_engines[e], 8, 3);
        uint32_t went = 99;
        bry_answer was = BRY_UNSURE;
        assert_int_equal(bry_index_add(index, element(0), BRY_INDEX_NEWEST, &went, &was), BRY_OK);
        assert_int_equal(went, 0);
        assert_int_equal(was, BRY_ABSENT);
        assert_int_equal(unit_of(index, 0).tag, 0);
        assert_int_equal(bry_index_add(index, element(0), BRY_INDEX_NEWEST, &went, &was), BRY_OK);
        assert_int_equal(was, BRY_PRESENT);
        assert_int_equal(unit_of(index, 0).elements, 1);
        add_many(index, 1, 2, BRY_INDEX_NEWEST);
        assert_false(unit_of(index, 0).sealed);
        /* The unit is full, but contains this element. */
        assert_int_equal(bry_index_add(index, element(2), BRY_INDEX_NEWEST, &went, &was), BRY_OK);
        assert_int_equal(went, 0);
        assert_int_equal(was, BRY_PRESENT);
        assert_int_equal(bry_index_add(index, element(3), BRY_INDEX_NEWEST, &went, &was), BRY_OK);
        assert_int_equal(went, 1);
        assert_true(unit_of(index, 0).sealed);
        open_unit(index, 0);
        add(index, 4, BRY_INDEX_NEWEST);
        assert_unit(index, 4, 2);
        assert_int_equal(bry_index_seal(index, 2), BRY_OK);
        add(index, 5, BRY_INDEX_NEWEST); /* the newest that accepts elements */
        assert_unit(index, 5, 1);
        assert_int_equal(bry_index_drop(index, 1), BRY_OK);
        add(index, 6, BRY_INDEX_NEWEST);
        assert_unit(index, 6, 3);
        bry_index_destroy(index);
    }
}

TEST(test_capacity)
{
    for (int e = 0; e < INDEX_ENGINES; e++)
        for (int fixed = 0; fixed < 2; fixed++) {
            bry_index *index = make((bry_index_options){.engine = index_engines[e],
                                                        .units = 2,
                                                        .unit_capacity = 4,
                                                        .error = 1e-9,
                                                        .fixed = fixed});
            bry_hash hashes[12];
            uint32_t went[12] = {77};
            for (uint64_t i = 0; i < 12; i++)
                hashes[i] = element(i);
            assert_int_equal(bry_index_add_n(index, hashes, 5, 0, went, NULL), BRY_E_NOUNIT);
            open_unit(index, 0);
            assert_int_equal(bry_index_add_n(index, hashes, 5, 0, went, NULL), BRY_E_FULL);
            assert_int_equal(went[0], 77);
            assert_int_equal(bry_index_add_n(index, hashes, 4, 0, went, NULL), BRY_OK);
            assert_int_equal(went[3], 0);
            assert_int_equal(bry_index_add_n(index, hashes, 1, 0, NULL, NULL), BRY_E_FULL);
            bry_answer was;
            assert_int_equal(bry_index_add(index, hashes[5], 0, NULL, NULL), BRY_E_FULL);
            assert_int_equal(bry_index_add(index, hashes[3], 0, NULL, &was), BRY_OK);
            assert_int_equal(was, BRY_PRESENT);
            assert_int_equal(bry_index_seal(index, 0), BRY_OK);
            assert_int_equal(bry_index_add(index, hashes[3], 0, NULL, NULL), BRY_E_SEALED);
            assert_int_equal(bry_index_add_n(index, hashes, 0, BRY_INDEX_NEWEST, NULL, NULL),
                             BRY_OK);
            assert_int_equal(stats_of(index).units, 1);

            bry_status status = bry_index_add_n(index, hashes + 4, 8, BRY_INDEX_NEWEST, went, NULL);
            assert_int_equal(status, fixed ? BRY_E_FULL : BRY_OK);
            assert_int_equal(stats_of(index).units, fixed ? 1 : 3);
            if (fixed) {
                assert_int_equal(
                    bry_index_add_n(index, hashes + 4, 4, BRY_INDEX_NEWEST, went, NULL), BRY_OK);
                uint32_t unit;
                assert_int_equal(bry_index_open(index, 0, &unit), BRY_E_FULL);
                assert_int_equal(bry_index_add(index, hashes[9], BRY_INDEX_NEWEST, NULL, NULL),
                                 BRY_E_FULL);
                assert_int_equal(bry_index_drop(index, 0), BRY_OK);
                add_many(index, 100, 4, open_unit(index, 0)); /* dropped units do not count */
            } else {
                assert_int_equal(went[3], 1);
                assert_int_equal(went[4], 2);
                assert_true(unit_of(index, 1).sealed && !unit_of(index, 2).sealed);
            }
            bry_index_destroy(index);
        }
}

/* Batches add every element where single calls do, including repeats. */
TEST(test_batches)
{
    enum { N = 700 };
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bry_index *one = exact(index_engines[e], 8, 60), *many = exact(index_engines[e], 8, 60);
        generator numbers = {3};
        bry_hash hashes[N];
        uint32_t went[N], singly;
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < N; i++)
                hashes[i] = element(generator_below(&numbers, 500));
            assert_int_equal(bry_index_add_n(many, hashes, N, BRY_INDEX_NEWEST, went, NULL),
                             BRY_OK);
            for (int i = 0; i < N; i++) {
                assert_int_equal(bry_index_add(one, hashes[i], BRY_INDEX_NEWEST, &singly, NULL),
                                 BRY_OK);
                assert_int_equal(went[i], singly);
            }
        }
        assert_same_index(one, many, 600);
        uint8_t answers[N];
        size_t totals[N];
        uint32_t *units = malloc(sizeof(uint32_t) * N * 5), single[5];
        for (int i = 0; i < N; i++)
            hashes[i] = element((uint64_t)i);
        bry_index_has_n(many, hashes, N, answers);
        bry_index_locate_n(many, hashes, N, units, 5, totals);
        for (int i = 0; i < N; i++) {
            size_t total = bry_index_locate(many, hashes[i], single, 5);
            assert_int_equal(totals[i], total);
            assert_memory_equal(units + 5 * i, single, (total < 5 ? total : 5) * sizeof single[0]);
            assert_int_equal(answers[i], total ? BRY_PRESENT : BRY_ABSENT);
        }
        bry_index_locate_n(many, hashes, N, NULL, 0, totals);
        assert_int_equal(totals[3], bry_index_locate(many, hashes[3], NULL, 0));
        bry_index_has_n(many, hashes, 0, NULL);
        free(units);
        bry_index_destroy(one);
        bry_index_destroy(many);
    }
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

TEST(test_delete)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bool deletes = index_engines[e] == BRY_ENGINE_COMPACT;
        bry_index *index = exact(index_engines[e], 8, 100);
        open_unit(index, 0);
        open_unit(index, 0);
        add_many(index, 0, 50, 0);
        add_many(index, 0, 20, 1);
        bry_answer was = BRY_UNSURE;
        assert_int_equal(bry_index_del(index, element(3), 7, &was), BRY_E_NOUNIT);
        assert_int_equal(was, BRY_UNSURE);
        assert_int_equal(bry_index_del(index, element(70), 0, &was), BRY_OK);
        assert_int_equal(was, BRY_ABSENT);
        for (uint64_t i = 0; i < 10; i++) {
            assert_int_equal(bry_index_del(index, element(i), 0, &was), BRY_OK);
            assert_int_equal(was, BRY_PRESENT);
        }
        bry_index_unit_info info = unit_of(index, 0);
        assert_int_equal(info.elements, deletes ? 40 : 50);
        assert_int_equal(info.dba.stale, deletes ? 0 : 10);
        assert_int_equal(stats_of(index).elements, deletes ? 60 : 70);
        assert_int_equal(stats_of(index).dba.stale, deletes ? 0 : 10);
        if (deletes)
            assert_unit(index, 3, 1);
        static const uint32_t both[] = {1, 0};
        assert_units(index, 12, both, 2);
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

TEST(test_merge_units)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bry_index *index = exact(index_engines[e], 8, 100);
        for (uint64_t i = 0; i < 4; i++)
            add_many(index, 30 * i, 40, open_unit(index, i));
        assert_int_equal(bry_index_merge_units(index, 1, 1), BRY_E_RANGE);
        assert_int_equal(bry_index_merge_units(index, 1, 9), BRY_E_NOUNIT);
        assert_int_equal(bry_index_merge_units(index, 9, 1), BRY_E_NOUNIT);
        assert_int_equal(bry_index_seal(index, 1), BRY_OK);
        assert_int_equal(bry_index_merge_units(index, 1, 2), BRY_OK);
        assert_int_equal(unit_of(index, 1).elements, 80);
        assert_int_equal(stats_of(index).units, 3);
        assert_int_equal(stats_of(index).elements, 160);
        assert_int_equal(bry_index_merge_units(index, 1, 0), BRY_E_FULL);
        assert_int_equal(stats_of(index).elements, 160);
        static const uint32_t first[] = {1, 0}, second[] = {3, 1};
        assert_units(index, 35, first, 2);
        assert_units(index, 65, (const uint32_t[]){1}, 1); /* was in both */
        assert_units(index, 95, second, 2);
        if (index_engines[e] == BRY_ENGINE_COMPACT) {
            assert_int_equal(bry_index_del(index, element(65), 1, NULL), BRY_OK);
            assert_int_equal(unit_of(index, 1).elements, 78);
            assert_absent(index, 65);
        }
        assert_int_equal(open_unit(index, 0), 4); /* the slot is used again, the number is not */
        add(index, 77, 4);
        static const uint32_t third[] = {4, 1};
        assert_units(index, 77, third, 2);
        bry_index_destroy(index);
    }
}

TEST(test_clone_and_like)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bry_index *index = exact(index_engines[e], 8, 50), *copy = NULL;
        add_many(index, 0, 120, BRY_INDEX_NEWEST);
        assert_int_equal(bry_index_drop(index, 0), BRY_OK);
        assert_int_equal(bry_index_clone(index, NULL, &copy), BRY_OK);
        assert_same_index(index, copy, 200);
        add_many(copy, 150, 50, BRY_INDEX_NEWEST);
        assert_absent(index, 160);
        assert_int_equal(open_unit(index, 0), 3);
        bry_index_destroy(copy);

        bry_index_options options = index_like(index);
        assert_null(options.allocator);
        assert_int_equal(options.seed, 1);
        assert_int_equal(options.engine, index_engines[e]);
        assert_int_equal(bry_index_create(&options, &copy), BRY_OK);
        assert_int_equal(stats_of(copy).units, 0);
        bry_index_destroy(copy);
        bry_index_destroy(index);
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
