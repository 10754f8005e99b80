/* Every allocation fails once: each call then says so, changes nothing and leaks nothing. */
#include <stdio.h>
#include <stdlib.h>

#include "support/counter_helpers.h"
#include "support/failing_allocator.h"
#include "support/recording_io.h"
#include "window/counter_object.h"

static const bry_engine engines[] = {BRY_ENGINE_COMPACT, BRY_ENGINE_FBF};
enum { ENGINES = sizeof engines / sizeof *engines };

static bry_counter_options options_for(bry_engine engine, failing_allocator *memory)
{
    bry_counter_options options = BRY_COUNTER_OPTIONS;
    options.engine = engine;
    options.seed = 1;
    options.window = 1000;
    options.allocator = &memory->allocator;
    return options;
}

/* All that can be seen of a table, as the bytes that it is saved as. */
static bry_buffer image(const bry_counter *counters)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    assert_int_equal(bry_counter_save(counters, &sink, NULL), BRY_OK);
    return buffer;
}

static void unchanged(const bry_counter *counters, bry_buffer *before)
{
    bry_buffer after = image(counters);
    assert_int_equal(after.len, before->len);
    assert_memory_equal(after.bytes, before->bytes, after.len);
    bry_buffer_free(&after);
}

static void creating(void **state)
{
    (void)state;
    for (int e = 0; e < ENGINES; e++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_counter_options options = options_for(engines[e], &memory);
        bry_counter *counters = NULL;
        for (memory.fail_at = 1;; memory.fail_at++) {
            failing_allocator_restart(&memory);
            bry_status status = bry_counter_create(&options, &counters);
            if (status == BRY_OK)
                break;
            assert_int_equal(status, BRY_E_NOMEM);
            assert_null(counters);
            assert_int_equal(memory.now, 0);
        }
        assert_true(memory.fail_at > 4);
        bry_counter_destroy(counters);
        assert_int_equal(memory.blocks, 0);
    }
}

/* One change of a table that has some content; true when it was done. */
typedef bry_status change(bry_counter *counters, uint64_t number);

static bry_status one(bry_counter *counters, uint64_t number)
{
    char name[16];
    snprintf(name, sizeof name, "%ju", (uintmax_t)number);
    return counter_try(counters, number, name, 1, 1000 + number);
}

static bry_status batch(bry_counter *counters, uint64_t number)
{
    static bry_counter_op ops[60];
    static char text[60][16];
    for (uint64_t i = 0; i < 60; i++) {
        snprintf(text[i], sizeof text[i], "%ju", (uintmax_t)(number * 3 + i % 40));
        ops[i] = (bry_counter_op){.id = counter_id(number * 100 + i % 50),
                                  .name = text[i],
                                  .name_len = strlen(text[i]),
                                  .delta = 1};
    }
    return bry_counter_apply_n(counters, ops, sizeof *ops, 60, 1000 + number);
}

/* Sums that fit in their order alone, so that a copy of the window is asked. */
static bry_status edge(bry_counter *counters, uint64_t number)
{
    bry_counter_op ops[12];
    for (uint64_t i = 0; i < 12; i++)
        ops[i] = (bry_counter_op){.id = counter_id(number * 100 + i),
                                  .name = i >= 10 ? "edge and new" : "edge",
                                  .name_len = i >= 10 ? 12 : 4,
                                  .delta = i % 2 ? INT64_MIN + 1 : INT64_MAX};
    return bry_counter_apply_n(counters, ops, sizeof *ops, 12, 1000 + number);
}

static bry_status repeat(bry_counter *counters, uint64_t number)
{
    return counter_try(counters, 1, "1", 1, 1000 + number * 7);
}

static bry_status forward(bry_counter *counters, uint64_t number)
{
    return bry_counter_advance(counters, 1000 + number * 7);
}

static void fails_everywhere(change *what, bry_engine engine, uint64_t rounds)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry_counter_options options = options_for(engine, &memory);
    bry_counter *counters;
    assert_int_equal(bry_counter_create(&options, &counters), BRY_OK);
    for (uint64_t i = 0; i < 300; i++)
        assert_int_equal(one(counters, i), BRY_OK);
    uint64_t failures = 0;
    for (uint64_t number = 300; number < 300 + rounds; number++) {
        bry_buffer before = image(counters);
        for (uint64_t fail_at = 1;; fail_at++) {
            failing_allocator_restart(&memory);
            memory.fail_at = fail_at;
            memory.keep_failing = fail_at % 2; /* soft failures are tried with and without more */
            bry_status status = what(counters, number);
            bool met = memory.calls >= fail_at;
            memory.fail_at = 0;
            if (status == BRY_OK) {
                if (!met)
                    break;
                /* It did without: back to where it was, for the next. */
                bry_counter *again;
                bry_view view = {before.bytes, before.len, 0};
                bry_source source = bry_view_source(&view);
                bry_load load = BRY_LOAD;
                load.allocator = &memory.allocator;
                assert_int_equal(bry_counter_load(&source, &load, &again), BRY_OK);
                bry_counter_destroy(counters);
                counters = again;
                continue;
            }
            assert_int_equal(status, BRY_E_NOMEM);
            unchanged(counters, &before);
            failures++;
        }
        bry_buffer_free(&before);
    }
    assert_true(failures > 0);
    bry_counter_destroy(counters);
    assert_int_equal(memory.blocks, 0);
}

static void changing(void **state)
{
    (void)state;
    for (int e = 0; e < ENGINES; e++) {
        fails_everywhere(one, engines[e], 300);
        fails_everywhere(batch, engines[e], 20);
        fails_everywhere(edge, engines[e], 4);
    }
    fails_everywhere(repeat, BRY_ENGINE_FBF, 200); /* compact needs none for time to pass */
    fails_everywhere(forward, BRY_ENGINE_FBF, 200);
}

static void copying_and_loading(void **state)
{
    (void)state;
    for (int e = 0; e < ENGINES; e++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_counter_options options = options_for(engines[e], &memory);
        bry_counter *counters, *copy = NULL;
        assert_int_equal(bry_counter_create(&options, &counters), BRY_OK);
        for (uint64_t i = 0; i < 700; i++)
            assert_int_equal(one(counters, i), BRY_OK);
        bry_buffer bytes = image(counters);
        uint64_t now = memory.now, blocks = memory.blocks;
        for (uint64_t fail_at = 1;; fail_at++) {
            failing_allocator_restart(&memory);
            memory.fail_at = fail_at;
            bry_status status = bry_counter_clone(counters, NULL, &copy);
            if (status == BRY_OK && memory.calls < fail_at)
                break;
            if (status == BRY_OK) { /* a smaller row of buckets, perhaps */
                bry_counter_destroy(copy);
                copy = NULL;
            } else {
                assert_int_equal(status, BRY_E_NOMEM);
            }
            assert_null(copy);
            assert_int_equal(memory.now, now);
            assert_int_equal(memory.blocks, blocks);
        }
        memory.fail_at = 0;
        unchanged(copy, &bytes);
        bry_counter_destroy(copy);
        bry_counter_destroy(counters);
        assert_int_equal(memory.blocks, 0);

        for (uint64_t fail_at = 1;; fail_at++) {
            failing_allocator_restart(&memory);
            memory.fail_at = fail_at;
            bry_load load = BRY_LOAD;
            load.allocator = &memory.allocator;
            bry_view view = {bytes.bytes, bytes.len, 0};
            bry_source source = bry_view_source(&view);
            bry_status status = bry_counter_load(&source, &load, &counters);
            if (status == BRY_OK) {
                bry_counter_destroy(counters);
                if (memory.calls < fail_at)
                    break;
            } else {
                assert_int_equal(status, BRY_E_NOMEM);
                assert_non_null(load.problem);
            }
            assert_int_equal(memory.now, 0);
        }
        bry_buffer_free(&bytes);
    }
}

/* With a folder: opening it, a new one and one with snapshot and log, and changes. */
static void folders(void **state)
{
    (void)state;
    for (int old = 0; old < 2; old++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_counter_options options = options_for(BRY_ENGINE_COMPACT, &memory);
        bry_counter *counters;
        recording_io fs;
        recording_init(&fs);
        if (old) {
            assert_int_equal(bry__counter_open(&fs.io, "t", &options, NULL, &counters), BRY_OK);
            for (uint64_t i = 0; i < 50; i++) {
                assert_int_equal(one(counters, i), BRY_OK);
                if (i == 25)
                    assert_int_equal(bry_counter_snapshot(counters), BRY_OK);
            }
            bry_counter_destroy(counters);
        }
        for (uint64_t fail_at = 1;; fail_at++) {
            failing_allocator_restart(&memory);
            memory.fail_at = fail_at;
            bry_load load = BRY_LOAD;
            bry_status status = bry__counter_open(&fs.io, "t", &options, &load, &counters);
            if (status == BRY_OK)
                break;
            assert_int_equal(status, BRY_E_NOMEM);
            assert_null(load.problem);
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
        /* A counter goes, or it is said that it did not. */
        memory.fail_at = 1;
        failing_allocator_restart(&memory);
        bry_status status = bry_counter_del(counters, "150", 3, NULL);
        assert_true(status == BRY_E_NOMEM ? counter_is_there(counters, "150")
                                          : !counter_is_there(counters, "150"));
        memory.fail_at = 0;
        bry_counter_stats before = counter_stats(counters);
        bry_counter_destroy(counters);
        assert_int_equal(memory.now, 0);
        assert_int_equal(bry__counter_open(&fs.io, "t", &options, NULL, &counters), BRY_OK);
        bry_counter_stats after = counter_stats(counters);
        assert_int_equal(after.applied, before.applied);
        assert_int_equal(after.counters, before.counters);
        assert_int_equal(after.repeats, before.repeats);
        bry_counter_destroy(counters);
        recording_free(&fs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creating),
        cmocka_unit_test(changing),
        cmocka_unit_test(copying_and_loading),
        cmocka_unit_test(folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
