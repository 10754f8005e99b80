/* Counters in a directory, with every allocation failing once: the call reports it, and no applied
 * operation is lost. */
#include <stdio.h>
#include <stdlib.h>

#include "counter/counter_object.h"
#include "support/counter_helpers.h"
#include "support/failing_allocator.h"
#include "support/recording_io.h"

static bry_counters_options options_for(failing_allocator *memory)
{
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    options.engine = BRY_ENGINE_COMPACT;
    options.seed = 1;
    options.window = 1000;
    options.allocator = &memory->allocator;
    return options;
}

static bry_counters *create(failing_allocator *memory)
{
    failing_allocator_init(memory);
    bry_counters_options options = options_for(memory);
    bry_counters *counters;
    assert_int_equal(bry_counters_create(&options, &counters), BRY_OK);
    return counters;
}

static bry_status one(bry_counters *counters, uint64_t number)
{
    char name[16];
    snprintf(name, sizeof name, "%ju", (uintmax_t)number);
    return counter_try(counters, number, name, 1, 1000 + number);
}

static bry_status batch(bry_counters *counters, uint64_t number)
{
    static bry_counters_op ops[60];
    static char text[60][16];
    for (uint64_t i = 0; i < 60; i++) {
        snprintf(text[i], sizeof text[i], "%ju", (uintmax_t)(number * 3 + i % 40));
        ops[i] = (bry_counters_op){.id = counter_id(number * 100 + i % 50),
                                   .name = text[i],
                                   .name_len = strlen(text[i]),
                                   .delta = 1};
    }
    return bry_counters_apply_n(counters, ops, 60, 1000 + number);
}

/* In memory, at one time, so that the window comes first for names that may exist: a failed call
 * leaves neither name nor id. */
TEST(new_names_at_one_time)
{
    failing_allocator memory;
    bry_counters *counters = create(&memory);
    unsigned failed = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        memory.keep_failing = i % 2; /* if not, the row grows */
        char name[16];
        snprintf(name, sizeof name, "%ju", (uintmax_t)i);
        for (memory.fail_at = 1;; memory.fail_at++) {
            failing_allocator_restart(&memory);
            if (counter_try(counters, i, name, 1, 1000) == BRY_OK)
                break;
            assert_false(counter_is_there(counters, name));
            assert_int_equal(counter_stats(counters).ids, i);
            failed++;
        }
        assert_int_equal(counter_stats(counters).applied, i + 1);
    }
    assert_true(failed >= 2000);
    bry_counters_destroy(counters);
    assert_int_equal(memory.now, 0);
}

/* Batches that fail leave no memory behind where they had added a name. */
TEST(refused_batches)
{
    failing_allocator memory;
    bry_counters *counters = create(&memory);
    assert_int_equal(counter_try(counters, 0, "full", INT64_MAX, 1000), BRY_OK);
    for (uint64_t i = 1; i <= 2000; i++)
        assert_int_equal(one(counters, i), BRY_OK);
    uint64_t before = counter_stats(counters).bytes;
    for (uint64_t i = 2001; i < 4000; i++) {
        char name[16];
        int len = snprintf(name, sizeof name, "%ju", (uintmax_t)i);
        bry_counters_op ops[] = {
            {.id = counter_id(i), .name = name, .name_len = (size_t)len, .delta = 1},
            {.id = counter_id(i + 4000), .name = "full", .name_len = 4, .delta = 1}};
        assert_int_equal(bry_counters_apply_n(counters, ops, 2, 1000), BRY_E_OVERFLOW);
    }
    assert_int_equal(counter_stats(counters).counters, 2001);
    assert_int_equal(counter_stats(counters).bytes, before);
    bry_counters_destroy(counters);
}

/* max_bytes limits the table: a large batch is accepted where its operations are, with and without a
 * directory, and one that is refused takes nothing away from the operations after it. */
TEST(limit_of_a_batch)
{
    enum { LARGE = 4000 };
    static bry_counters_op ops[LARGE];
    for (int with_dir = 0; with_dir < 2; with_dir++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_counters_options options = options_for(&memory);
        options.max_bytes = 100000;
        recording_io fs;
        recording_init(&fs);
        bry_counters *counters;
        assert_int_equal(with_dir ? bry__counter_open(&fs.io, "t", &options, NULL, &counters)
                                  : bry_counters_create(&options, &counters),
                         BRY_OK);
        for (uint64_t i = 0; i < LARGE; i++)
            ops[i] =
                (bry_counters_op){.id = counter_id(i), .name = "one", .name_len = 3, .delta = 1};
        assert_int_equal(bry_counters_apply_n(counters, ops, LARGE, 1000), BRY_OK);
        uint64_t applied = LARGE;
        for (bry_status status = BRY_OK; status == BRY_OK;) {
            for (uint64_t i = 0; i < LARGE; i++)
                ops[i].id = counter_id(applied + i);
            status = bry_counters_apply_n(counters, ops, LARGE, 1000);
            applied += status == BRY_OK ? LARGE : 0;
        }
        uint64_t batches = applied;
        while (counter_try(counters, applied, "one", 1, 1000) == BRY_OK)
            applied++;
        assert_true(applied > batches);
        assert_true(counter_value(counters, "one") == (int64_t)applied);
        assert_int_equal(counter_stats(counters).applied, applied);
        bry_counters_destroy(counters);
        assert_int_equal(memory.now, 0);
        recording_free(&fs);
    }
}

/* With a directory: opening it, a new one and one with snapshot and log, and changes. */
TEST(dirs)
{
    for (int old = 0; old < 2; old++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_counters_options options = options_for(&memory);
        bry_counters *counters;
        recording_io fs;
        recording_init(&fs);
        if (old) {
            assert_int_equal(bry__counter_open(&fs.io, "t", &options, NULL, &counters), BRY_OK);
            for (uint64_t i = 0; i < 50; i++) {
                assert_int_equal(one(counters, i), BRY_OK);
                if (i == 25)
                    assert_int_equal(bry_counters_snapshot(counters), BRY_OK);
            }
            bry_counters_destroy(counters);
        }
        for (uint64_t fail_at = 1;; fail_at++) {
            failing_allocator_restart(&memory);
            memory.fail_at = fail_at;
            bry_load load = BRY_LOAD;
            bry_status status = bry__counter_open(&fs.io, "t", &options, &load, &counters);
            if (status == BRY_OK)
                break;
            assert_int_equal(status, BRY_E_NOMEM);
            assert_non_null(load.problem);
            assert_int_equal(memory.now, 0);
            assert_int_equal(recording_open_files(&fs), 0);
        }
        memory.fail_at = 0;
        assert_int_equal(counter_stats(counters).applied, old ? 50 : 0);
        for (uint64_t i = 50; i < 150; i++) {
            for (uint64_t fail_at = 1;; fail_at++) {
                failing_allocator_restart(&memory);
                memory.fail_at = fail_at;
                bry_status status = i % 3 ? batch(counters, i) : one(counters, i);
                memory.fail_at = 0;
                if (status == BRY_OK)
                    break;
                assert_int_equal(status, BRY_E_NOMEM);
            }
        }
        /* Deleting a counter succeeds or returns an error. */
        memory.fail_at = 1;
        failing_allocator_restart(&memory);
        bry_status status = bry_counters_del(counters, "150", 3, NULL);
        assert_true(status == BRY_E_NOMEM ? counter_is_there(counters, "150")
                                          : !counter_is_there(counters, "150"));
        memory.fail_at = 0;
        bry_counters_stats before = counter_stats(counters);
        bry_counters_destroy(counters);
        assert_int_equal(memory.now, 0);
        assert_int_equal(bry__counter_open(&fs.io, "t", &options, NULL, &counters), BRY_OK);
        bry_counters_stats after = counter_stats(counters);
        assert_int_equal(after.applied, before.applied);
        assert_int_equal(after.counters, before.counters);
        assert_int_equal(after.repeats, before.repeats);
        bry_counters_destroy(counters);
        recording_free(&fs);
    }
}
