/* The window's memory: plan, stats and allocator agree to the byte; operations that need no memory
 * work without it; and a deleted element leaves no trace. With every engine and mode. */
#include "support/window_helpers.h"
#include "window/compact/compact_window.h"
#include "window/window_object.h"

enum { START = 50000, WINDOW = 1000 };

static bry_window_options small(const window_kind *kind, failing_allocator *memory)
{
    bry_window_options options = options_of(kind);
    options.window = WINDOW;
    options.capacity = 300; /* so that it has grown */
    options.error = 1e-9;
    options.refresh = true;
    options.allocator = &memory->allocator;
    return options;
}

/* A window with few elements in one or two generations is small, whatever their numbers are. */
TEST(test_small_window)
{
    for (uint64_t part = 0; part < 16; part++) {
        bry_window_options options = BRY_WINDOW_OPTIONS;
        options.engine = BRY_ENGINE_COMPACT;
        options.window = 13 * WINDOW;
        bry_window *window = NULL;
        assert_int_equal(bry_window_create(&options, &window), BRY_OK);
        for (uint64_t i = 0; i < 100; i++)
            assert_int_equal(bry_window_add(window, key(i), (64 + part) * WINDOW, NULL), BRY_OK);
        assert_true(bry_window_bytes(window) <= 688);
        bry_window_destroy(window);
    }
}

/* However many elements it is planned for, the first one takes less than 128 MB. */
TEST(test_first_of_very_many)
{
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        memory.limit = (size_t)1 << 27;
        bry_window_options options = small(&window_kinds[k], &memory);
        options.capacity = BRY_CAPACITY_MAX;
        options.error = 1e-3;
        bry_window *window = NULL;
        assert_int_equal(bry_window_create(&options, &window), BRY_OK);
        assert_int_equal(bry_window_add(window, key(1), START, NULL), BRY_OK);
        assert_int_equal(bry_window_has(window, key(1), START), BRY_PRESENT);
        bry_window_destroy(window);
    }
}

/* At the worst moment of a steady load: the planned size within an eighth. */
TEST(test_plan_at_capacity)
{
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_window_options options = small(&window_kinds[k], &memory);
        options.capacity = 30000;
        options.error = 1e-3;
        bry_window_shape shape = {0};
        assert_int_equal(bry_window_plan(&options, &shape), BRY_OK);
        bry_window *window = make(options);
        uint64_t worst = 0;
        for (uint64_t i = 0; i < 150000; i++) {
            add(window, i, START + i / 30);
            if (i > 60000 && i % 64 == 0 && memory.now > worst)
                worst = memory.now;
        }
        assert_int_equal(stats_of(window).bytes, memory.now);
        assert_true(worst < shape.bytes * 9 / 8 && worst > shape.bytes * 7 / 8);
        bry_window_destroy(window);
    }
}

/* Clearing never fails, nor does advancing over everything; compact deletes without memory. */
TEST(test_without_memory)
{
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_window *window = make(small(&window_kinds[k], &memory));
        bry_window *other = make(small(&window_kinds[k], &memory));
        for (uint64_t i = 0; i < 700; i++) {
            add(window, i, START + i);
            add(other, i, START + i);
        }
        failing_allocator_restart(&memory);
        memory.fail_at = 1;
        memory.keep_failing = true;
        bry_answer was = BRY_UNSURE;
        for (uint64_t i = 0; i < 100 && window_kinds[k].forgets; i++) {
            assert_int_equal(bry_window_del(window, key(i), 0, &was), BRY_OK);
            assert_int_equal(was, BRY_PRESENT);
            assert_false(has(window, i, 0));
        }
        bry_window_clear(window);
        assert_int_equal(stats_of(window).items, 0);
        for (uint64_t i = 0; i < 700; i++)
            assert_false(has(window, i, 0));
        if (window_kinds[k].engine == BRY_ENGINE_COMPACT)
            assert_int_equal(bry_window_advance(other, UINT64_MAX / 2), BRY_OK);
        memory.fail_at = 0;
        memory.keep_failing = false;
        assert_int_equal(add(window, 1, START + 900), BRY_ABSENT);
        assert_true(has(window, 1, START + 1900));
        bry_window_destroy(other);
        bry_window_destroy(window);
        assert_int_equal(memory.now, 0);
    }
}

/*
 * An element that is added and deleted at once leaves the window as if only time had advanced, to
 * the byte, including later refusals; and the deletion needs no memory. With tables that are added
 * and removed, expired entries, jumps over a generation and over all, and a limit.
 */
TEST(test_taken_back)
{
    for (int with_limit = 0; with_limit < 2; with_limit++) {
        failing_allocator memory, other_memory;
        failing_allocator_init(&memory);
        failing_allocator_init(&other_memory);
        bry_window_options options = small(&window_kinds[0], &memory);
        options.refresh = false;
        options.capacity = 40;
        options.max_bytes = with_limit ? 4000 : 0;
        options.refuse = with_limit;
        bry_window *window = make(options);
        options.allocator = &other_memory.allocator;
        bry_window *other = make(options);
        generator source = {5};
        uint64_t now = START, taken_back = 0, full = 0;
        for (unsigned i = 0; i < 6000; i++) {
            uint64_t number = generator_below(&source, 3000);
            unsigned die = (unsigned)generator_below(&source, 1000);
            now += die == 0 ? 3 * WINDOW : die < 10 ? 200 : die < 200;
            bry_answer was = BRY_UNSURE;
            bry_status status = bry_window_add(window, key(number), now, &was);
            full += status == BRY_E_FULL;
            if (die % 2 || status != BRY_OK || was == BRY_PRESENT) {
                assert_int_equal(bry_window_add(other, key(number), now, NULL), status);
            } else {
                failing_allocator_restart(&memory);
                memory.fail_at = 1;
                memory.keep_failing = true;
                assert_int_equal(bry_window_del(window, key(number), now, &was), BRY_OK);
                assert_int_equal(was, BRY_PRESENT);
                memory.fail_at = 0;
                memory.keep_failing = false;
                assert_int_equal(bry_window_advance(other, now), BRY_OK);
                taken_back++;
            }
            if (i % 16 == 0 || i > 5900)
                assert_true(alike(window, other));
        }
        assert_true(taken_back > 500);
        assert_int_equal(full > 0, with_limit);
        bry_window_destroy(window);
        bry_window_destroy(other);
    }
}

/*
 * compact, with hashes that all belong to one segment, so that it overflows: a batch is still all
 * or nothing, and copies nothing; such windows can be saved as well.
 */
TEST(test_batch_on_spilled_segment)
{
    enum { N = 2600 };
    static bry_hash hashes[N];
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry_window_options options = small(&window_kinds[0], &memory);
    options.capacity = 1 << 14;
    options.generations = 1; /* at the worst moment twice as many */
    options.error = 0.5;
    options.fixed = true;
    bry_window *window = make(options);
    /* A range of 2^16; fingerprints that are multiples of 2^4 are in one segment of up to 16. */
    for (uint64_t i = 0; i < N; i++) {
        hashes[i] = (bry_hash){i, i << 52};
        assert_int_equal(bry_window_add(window, hashes[i], START + i / 26, NULL), BRY_OK);
    }
    const bry__compact_window *inside = window->self;
    assert_int_equal(inside->maplet.table[0].range, 1 << 16);
    assert_true(bry__overflow_count(&inside->maplet.table[0].overflow) > 0);
    bry_buffer before = saved_of(window);
    uint64_t failed = 0;
    uint64_t now = START + 1000; /* the next generation, so that all are replaced */
    for (uint64_t failing = 1;; failing++) {
        failing_allocator_restart(&memory);
        memory.fail_at = failing;
        bry_status status = bry_window_add_n(window, hashes, N, now, NULL);
        memory.fail_at = 0;
        if (status == BRY_OK)
            break;
        failed++;
        assert_int_equal(status, BRY_E_NOMEM);
        job_assert_saved(BRY_JOB_WINDOW, window, &before);
    }
    assert_in_range(failed, 1, 10);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(bry_window_has(window, hashes[i], now + WINDOW), BRY_PRESENT);
    bry_buffer_free(&before);

    bry_window_destroy(job_reloaded(BRY_JOB_WINDOW, window));
    /* Half of them expire, are reclaimed, and are added again. */
    for (unsigned round = 0; round < 6; round++) {
        now += 700;
        for (unsigned i = round % 2; i < N; i += 2)
            assert_int_equal(bry_window_add(window, hashes[i], now, NULL), BRY_OK);
        for (unsigned i = round % 2; i < N; i += 2)
            assert_int_equal(bry_window_has(window, hashes[i], now + WINDOW), BRY_PRESENT);
    }
    bry_window_destroy(window);
    assert_int_equal(memory.now, 0);
}
