/*
 * The window's memory: plan, stats and allocator agree to the byte, and when any one allocation of
 * any operation fails, the window is as it was. On every engine and mode.
 */
#include "support/like.h"
#include "support/window_helpers.h"
#include "window/compact_levels.h"
#include "window/window_object.h"

enum { ROOM = 400, START = 50000, WINDOW = 1000 };

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

static void test_plan_is_what_create_allocates(void **state)
{
    (void)state;
    static const uint64_t capacities[] = {1, 10, 1000, 100000, 3000000};
    static const double errors[] = {0.1, 1e-3, 1e-6};
    static const uint32_t generations[] = {1, 8, 500};
    for (size_t k = 0; k < WINDOW_KINDS; k++)
        for (int c = 0; c < 5; c++)
            for (int r = 0; r < 3; r++)
                for (int g = 0; g < 3; g++) {
                    failing_allocator memory;
                    failing_allocator_init(&memory);
                    bry_window_options options = small(&window_kinds[k], &memory);
                    options.capacity = capacities[c];
                    options.error = errors[r];
                    options.generations = generations[g];
                    bry_window_shape shape = BRY_WINDOW_SHAPE;
                    bry_window *window = NULL;
                    assert_int_equal(bry_window_plan(&options, &shape), BRY_OK);
                    assert_int_equal(memory.calls, 0);
                    assert_int_equal(bry_window_create(&options, &window), BRY_OK);
                    assert_int_equal(memory.now, shape.bytes_empty);
                    assert_int_equal(stats_of(window).bytes, memory.now);
                    bry_window_destroy(window);
                    assert_int_equal(memory.now, 0);
                }
}

/* At the worst moment of a steady load: what plan foretells, give or take an eighth. */
static void test_plan_at_capacity(void **state)
{
    (void)state;
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        if (!window_kinds[k].keeps_error)
            continue; /* as published, what it takes depends on how it adapts */
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_window_options options = small(&window_kinds[k], &memory);
        options.capacity = 30000;
        options.error = 1e-3;
        bry_window_shape shape = BRY_WINDOW_SHAPE;
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

/* ---- failing allocations ------------------------------------------------------------------- */

typedef struct operands {
    bry_window *other; /* to merge with */
    bry_hash hashes[ROOM];
    bry_window *made;
    bry_buffer saved;
} operands;

typedef bry_status operation(bry_window *window, operands *with);

static bry_status do_add(bry_window *window, operands *with)
{
    (void)with;
    return bry_window_add(window, key(100000), START + 900, NULL);
}

static bry_status do_add_later(bry_window *window, operands *with)
{
    (void)with;
    return bry_window_add(window, key(100000), START + 1300, NULL);
}

static bry_status do_add_much_later(bry_window *window, operands *with)
{
    (void)with;
    return bry_window_add(window, key(100000), START + 99999, NULL);
}

static bry_status do_add_n(bry_window *window, operands *with)
{
    return bry_window_add_n(window, with->hashes, ROOM, START + 950, NULL);
}

static bry_status do_add_n_later(bry_window *window, operands *with)
{
    return bry_window_add_n(window, with->hashes, ROOM, START + 1500, NULL);
}

static bry_status do_forget_later(bry_window *window, operands *with)
{
    bry_status status = bry_window_del(window, with->hashes[0], START + 1400, NULL);
    return status == BRY_E_UNSUPPORTED ? bry_window_advance(window, START + 1400) : status;
}

static bry_status do_advance(bry_window *window, operands *with)
{
    (void)with;
    return bry_window_advance(window, START + 1400);
}

static bry_status do_merge(bry_window *window, operands *with)
{
    return bry_window_merge(window, with->other);
}

static bry_status do_clone(bry_window *window, operands *with)
{
    return bry_window_clone(window, NULL, &with->made);
}

static bry_status do_load(bry_window *window, operands *with)
{
    bry_view view = {with->saved.bytes, with->saved.len, 0};
    bry_source source = bry_view_source(&view);
    bry_load load = BRY_LOAD;
    load.allocator = &window->allocator;
    bry_status status = bry_window_load(&source, &load, &with->made);
    if (status != BRY_OK)
        assert_non_null(load.problem);
    return status;
}

/* A window of 700 elements in as many milliseconds, and what operations on it need. */
static bry_window *prepare(const window_kind *kind, failing_allocator *memory, operands *with)
{
    bry_window *window = make(small(kind, memory));
    bry_window_options like = window_like(window);
    like.start = START;
    like.allocator = &memory->allocator;
    with->other = make(like);
    for (uint64_t i = 0; i < 700; i++)
        add(window, i, START + i);
    for (uint64_t i = 690; i < 730; i++)
        add(with->other, i, START + i);
    for (unsigned i = 0; i < ROOM; i++)
        with->hashes[i] = key(500 + i);
    with->saved = saved_of(window);
    return window;
}

static void let_go(bry_window *window, operands *with)
{
    bry_window_destroy(with->made);
    bry_window_destroy(with->other);
    bry_window_destroy(window);
    bry_buffer_free(&with->saved);
    *with = (operands){.saved = BRY_BUFFER};
}

/* Returns how many times it failed. */
static uint64_t fail_each_allocation(const window_kind *kind, operation *run, bool keep_failing)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    operands with = {.saved = BRY_BUFFER};
    bry_window *window = prepare(kind, &memory, &with);
    uint64_t failed = 0;
    for (uint64_t failing = 1;; failing++) {
        failing_allocator_restart(&memory);
        memory.fail_at = failing;
        memory.keep_failing = keep_failing;
        bry_status status = run(window, &with);
        bool met = memory.calls >= failing;
        memory.fail_at = 0;
        memory.keep_failing = false;
        assert_int_equal(stats_of(window).bytes + stats_of(with.other).bytes +
                             (with.made ? stats_of(with.made).bytes : 0),
                         memory.now);
        if (status == BRY_OK && !met)
            break;
        if (status == BRY_OK || status == BRY_E_MISMATCH) { /* it could do without; begin again */
            bool mismatch = status == BRY_E_MISMATCH;
            let_go(window, &with);
            if (mismatch)
                return 1; /* fbf does not merge these */
            window = prepare(kind, &memory, &with);
            continue;
        }
        assert_int_equal(status, BRY_E_NOMEM);
        assert_null(with.made);
        bry_buffer after = saved_of(window);
        assert_int_equal(after.len, with.saved.len);
        assert_memory_equal(after.bytes, with.saved.bytes, after.len);
        bry_buffer_free(&after);
        failed++;
    }
    let_go(window, &with);
    assert_int_equal(memory.now, 0);
    assert_int_equal(memory.blocks, 0);
    return failed;
}

static void test_failing_allocations(void **state)
{
    (void)state;
    static operation *const operations[] = {
        do_add,          do_add_later, do_add_much_later, do_add_n, do_add_n_later,
        do_forget_later, do_advance,   do_merge,          do_clone, do_load};
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        uint64_t failed = 0;
        for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
            failed += fail_each_allocation(&window_kinds[k], operations[i], false);
            failed += fail_each_allocation(&window_kinds[k], operations[i], true);
        }
        assert_true(failed > 0);
    }
    /* In compact every one of these needs memory, but for the first. */
    for (size_t i = 1; i < sizeof operations / sizeof operations[0]; i++)
        assert_true(fail_each_allocation(&window_kinds[0], operations[i], false) > 0);
}

static void test_failing_create(void **state)
{
    (void)state;
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_window_options options = small(&window_kinds[k], &memory);
        bry_window *window = NULL;
        for (uint64_t failing = 1; !window; failing++) {
            failing_allocator_restart(&memory);
            memory.fail_at = failing;
            bry_status status = bry_window_create(&options, &window);
            assert_int_equal(status, window ? BRY_OK : BRY_E_NOMEM);
            if (!window)
                assert_int_equal(memory.now, 0);
        }
        bry_window_destroy(window);
    }
}

/* Saving may fail for want of memory, and says so. */
static void test_failing_save(void **state)
{
    (void)state;
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        operands with = {.saved = BRY_BUFFER};
        bry_window *window = prepare(&window_kinds[k], &memory, &with);
        bry_status status = BRY_E_NOMEM;
        for (uint64_t failing = 1; status != BRY_OK; failing++) {
            bry_buffer buffer = BRY_BUFFER;
            bry_sink sink = bry_buffer_sink(&buffer);
            failing_allocator_restart(&memory);
            memory.fail_at = failing;
            status = bry_window_save(window, &sink, NULL);
            if (status == BRY_OK) {
                assert_int_equal(buffer.len, with.saved.len);
                assert_memory_equal(buffer.bytes, with.saved.bytes, buffer.len);
            } else {
                assert_int_equal(status, BRY_E_NOMEM);
            }
            bry_buffer_free(&buffer);
            memory.fail_at = 0;
            assert_int_equal(stats_of(window).bytes + stats_of(with.other).bytes, memory.now);
        }
        let_go(window, &with);
    }
}

/* Clearing never fails, nor does advancing over everything; compact forgets without memory. */
static void test_without_memory(void **state)
{
    (void)state;
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        operands with = {.saved = BRY_BUFFER};
        bry_window *window = prepare(&window_kinds[k], &memory, &with);
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
            assert_int_equal(bry_window_advance(with.other, UINT64_MAX / 2), BRY_OK);
        memory.fail_at = 0;
        memory.keep_failing = false;
        assert_int_equal(add(window, 1, START + 900), BRY_ABSENT);
        assert_true(has(window, 1, START + 1900));
        let_go(window, &with);
        assert_int_equal(memory.now, 0);
    }
}

/*
 * What was added and at once forgotten leaves the window that time alone would have left, to the
 * byte, whatever is refused later included; and forgetting takes no memory then. With levels that
 * open and close, expired entries in the way, jumps over a generation and over all, and a ceiling.
 */
static void test_taken_back(void **state)
{
    (void)state;
    for (int with_ceiling = 0; with_ceiling < 2; with_ceiling++) {
        failing_allocator memory, other_memory;
        failing_allocator_init(&memory);
        failing_allocator_init(&other_memory);
        bry_window_options options = small(&window_kinds[0], &memory);
        options.refresh = false;
        options.capacity = 40;
        options.max_bytes = with_ceiling ? 12000 : 0;
        options.refuse = with_ceiling;
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
        assert_int_equal(full > 0, with_ceiling);
        bry_window_destroy(window);
        bry_window_destroy(other);
    }
}

/*
 * compact, with hashes that all lead to one segment, so that it spills: a batch is all or nothing
 * then too, and copies nothing; frames hold such windows as well.
 */
static void test_batch_on_spilled_segment(void **state)
{
    (void)state;
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
    assert_int_equal(inside->level[0]->table.range, 1 << 16);
    assert_true(inside->level[0]->table.overflow.n > 0);
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
        bry_buffer after = saved_of(window);
        assert_int_equal(after.len, before.len);
        assert_memory_equal(after.bytes, before.bytes, after.len);
        bry_buffer_free(&after);
    }
    assert_in_range(failed, 1, 10);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(bry_window_has(window, hashes[i], now + WINDOW), BRY_PRESENT);
    bry_buffer_free(&before);

    before = saved_of(window);
    bry_view view = {before.bytes, before.len, 0};
    bry_source source = bry_view_source(&view);
    bry_window *loaded = NULL;
    assert_int_equal(bry_window_load(&source, NULL, &loaded), BRY_OK);
    assert_true(alike(window, loaded));
    /* Half of them expire, are reclaimed, and come again. */
    for (unsigned round = 0; round < 6; round++) {
        now += 700;
        for (unsigned i = round % 2; i < N; i += 2)
            assert_int_equal(bry_window_add(window, hashes[i], now, NULL), BRY_OK);
        for (unsigned i = round % 2; i < N; i += 2)
            assert_int_equal(bry_window_has(window, hashes[i], now + WINDOW), BRY_PRESENT);
    }
    bry_window_destroy(loaded);
    bry_window_destroy(window);
    bry_buffer_free(&before);
    assert_int_equal(memory.now, 0);
}

/* What was asked for and is new: with any allocation failing it is not added, and nothing is
 * changed. */
static void test_failing_to_add_new(void **state)
{
    (void)state;
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_window *window = make(small(&window_kinds[k], &memory));
        uint64_t failed = 0;
        memory.keep_failing = true;
        for (uint64_t i = 0; i < 700; i++) {
            uint64_t now = START + 2 * i + (i > 500 ? 400 : 0);
            bry_answer was;
            if (bry_window_has(window, key(i), now) == BRY_PRESENT)
                continue;
            for (memory.fail_at = 1;; memory.fail_at++) {
                failing_allocator_restart(&memory);
                uint64_t items = stats_of(window).items, time = bry_window_time(window);
                if (bry__window_add_new(window, key(i), now, &was) == BRY_OK)
                    break;
                assert_int_equal(stats_of(window).items, items);
                assert_int_equal(bry_window_time(window), time);
                assert_int_equal(bry_window_has(window, key(i), now), BRY_ABSENT);
                assert_int_equal(stats_of(window).bytes, memory.now);
                failed++;
            }
            assert_int_equal(bry_window_has(window, key(i), now), BRY_PRESENT);
        }
        assert_true(failed > 0);
        bry_window_destroy(window);
        assert_int_equal(memory.now, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_is_what_create_allocates),
        cmocka_unit_test(test_plan_at_capacity),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_failing_to_add_new),
        cmocka_unit_test(test_failing_create),
        cmocka_unit_test(test_failing_save),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_taken_back),
        cmocka_unit_test(test_batch_on_spilled_segment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
