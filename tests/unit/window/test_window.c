/* Every call of the window, and its promise, with every engine and mode
 * (support/window_kinds.h). */
#include "support/like.h"
#include "support/window_helpers.h"

#include <stddef.h>

/* ---- options -------------------------------------------------------------------------------- */

static bry_status status_of(bry_window_options options)
{
    bry_window_shape shape = {0};
    memset(&shape, 0x5a, sizeof shape);
    bry_window_shape before = shape;
    options.struct_size = sizeof options;
    bry_status status = bry_window_plan(&options, &shape);
    bry_window *window = NULL;
    assert_int_equal(bry_window_create(&options, &window), status);
    if (status != BRY_OK) {
        assert_memory_equal(&shape, &before, sizeof shape);
        assert_null(window);
    }
    bry_window_destroy(window);
    return status;
}

TEST(test_defaults)
{
    bry_window *window = NULL;
    assert_int_equal(bry_window_create(NULL, &window), BRY_OK);
    bry_window_options like = window_like(window);
    assert_int_equal(like.engine, BRY_ENGINE_COMPACT);
    assert_int_equal(like.window, 60000);
    assert_int_equal(like.capacity, 1000);
    assert_true(like.error == 0.001);
    assert_int_equal(like.generations, 13);
    assert_int_not_equal(like.seed, 0);
    assert_int_equal(like.seed, bry_window_seed(window));
    assert_null(like.allocator);
    assert_int_equal(bry_window_time(window), 0);
    bry_window_destroy(window);
    bry_window_destroy(NULL);
}

TEST(test_ranges_of_options)
{
    assert_int_equal(status_of((bry_window_options){.engine = BRY_ENGINE_BLOOM}),
                     BRY_E_UNSUPPORTED);
    assert_int_equal(status_of((bry_window_options){.engine = (bry_engine)77}), BRY_E_RANGE);
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        const bry_window_options good = options_of(&window_kinds[k]);
        bry_window_options options = good;
        assert_int_equal(status_of(options), BRY_OK);
        options.window = 1;
        assert_int_equal(status_of(options), BRY_OK);
        options.window = UINT64_C(1) << 52;
        assert_int_equal(status_of(options), BRY_OK);
        options.window++;
        assert_int_equal(status_of(options), BRY_E_RANGE);
        options = good;
        options.capacity = (UINT64_C(1) << 40) + 1;
        assert_int_equal(status_of(options), BRY_E_RANGE);
        options = good;
        static const double errors[] = {-1, 9e-13, 0.51, 1.0 / 0.0, 0.0 / 0.0};
        for (int i = 0; i < 5; i++) {
            options.error = errors[i];
            assert_int_equal(status_of(options), BRY_E_RANGE);
        }
        options = good;
        options.generations = 1024;
        assert_int_equal(status_of(options), BRY_OK);
        options.generations = 1025;
        assert_int_equal(status_of(options), BRY_E_RANGE);
        options = good;
        options.fbf.hashes = 5;
        assert_int_equal(status_of(options),
                         good.engine == BRY_ENGINE_FBF ? BRY_E_RANGE : BRY_E_UNSUPPORTED);
        options = good;
        options.refuse = true;
        options.max_bytes = 1;
        assert_int_equal(status_of(options), BRY_E_RANGE);
        bry_window_shape shape = {0};
        options.max_bytes = 0;
        assert_int_equal(bry_window_plan(&options, &shape), BRY_OK);
        options.max_bytes = shape.bytes_least - 1;
        assert_int_equal(status_of(options), BRY_E_RANGE);
        options.max_bytes = shape.bytes_least;
        assert_int_equal(status_of(options), BRY_OK);
    }
}

TEST(test_options_of_compact)
{
    bry_window_options compact = BRY_WINDOW_OPTIONS;
    compact.engine = BRY_ENGINE_COMPACT;
    compact.max_bytes = 1 << 20;
    assert_int_equal(status_of(compact), BRY_E_UNSUPPORTED);
    compact.refuse = true;
    assert_int_equal(status_of(compact), BRY_OK);
    compact = (bry_window_options)BRY_WINDOW_OPTIONS;
    compact.engine = BRY_ENGINE_COMPACT;
    compact.capacity = UINT64_C(1) << 40;
    compact.error = 1e-12;
    assert_int_equal(status_of(compact), BRY_E_RANGE);
}

/* With the smallest limit, elements are accepted, now and after time has advanced. */
TEST(test_least_limit)
{
    for (size_t k = 0; k < WINDOW_KINDS; k++)
        for (int refuse = 0; refuse < 2; refuse++) {
            bry_window_options options = options_of(&window_kinds[k]);
            options.capacity = 100;
            options.refuse = refuse;
            bry_window_shape shape = {0};
            assert_int_equal(bry_window_plan(&options, &shape), BRY_OK);
            options.max_bytes = shape.bytes_least;
            if (!refuse && options.engine == BRY_ENGINE_COMPACT)
                continue;
            assert_int_equal(bry_window_plan(&options, &shape), BRY_OK);
            assert_int_equal(shape.bytes_least, options.max_bytes);
            bry_window *window = make(options);
            for (uint64_t i = 0; i < 20; i++) {
                bry_status status = bry_window_add(window, key(i), 50000 * i, NULL);
                assert_true(status == BRY_OK || (status == BRY_E_FULL && refuse && i % 2 == 1));
                assert_true(stats_of(window).bytes <= options.max_bytes);
            }
            bry_window *copy = make(window_like(window));
            bry_window_destroy(copy);
            bry_window_destroy(window);
        }
}

TEST(test_plan)
{
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        bry_window_options options = options_of(&window_kinds[k]);
        options.capacity = 100000;
        options.generations = 8;
        bry_window_shape shape = {0};
        assert_int_equal(bry_window_plan(&options, &shape), BRY_OK);
        assert_int_equal(shape.engine, options.engine);
        assert_int_equal(shape.window, 60000);
        assert_int_equal(shape.capacity, 100000);
        assert_true(shape.longest > shape.window && shape.longest <= 2 * shape.window);
        assert_true(shape.generations >= 9);
        assert_true(shape.error > 0 && shape.error <= 0.001);
        assert_true(shape.bytes_empty < shape.bytes);
    }
    /* The size of compact: at most 21.5 bits per element with 8 generations, and 19 with the
     * default number. */
    bry_window_options compact = BRY_WINDOW_OPTIONS;
    compact.capacity = 1000000;
    bry_window_shape shape = {0};
    assert_int_equal(bry_window_plan(&compact, &shape), BRY_OK);
    assert_true((double)shape.bytes * 8 / 1e6 < 19);
    compact.generations = 8;
    assert_int_equal(bry_window_plan(&compact, &shape), BRY_OK);
    assert_true((double)shape.bytes * 8 / 1e6 < 21.5);
}

/* ---- time ----------------------------------------------------------------------------------- */

TEST(test_start_and_skew)
{
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        bry_window_options options = exact(&window_kinds[k], 1000, 100);
        options.max_skew = 300;
        bry_window *window = make(options);
        bry_answer was = BRY_UNSURE;
        assert_int_equal(bry_window_time(window), 0);
        assert_int_equal(add(window, 1, UINT64_C(1700000000000)), BRY_ABSENT); /* sets T */
        bry_window *before = NULL;
        assert_int_equal(bry_window_clone(window, NULL, &before), BRY_OK);
        assert_int_equal(bry_window_add(window, key(2), UINT64_C(1700000000301), &was), BRY_E_SKEW);
        assert_int_equal(bry_window_add_n(window, &(bry_hash){1, 2}, 1, UINT64_MAX, NULL),
                         BRY_E_SKEW);
        assert_int_equal(was, BRY_UNSURE);
        assert_int_equal(stats_of(window).refused_skew, 2);
        if (window_kinds[k].forgets) {
            assert_int_equal(bry_window_del(window, key(1), UINT64_MAX, &was), BRY_E_SKEW);
            assert_int_equal(stats_of(window).refused_skew, 3);
        }
        assert_true(alike(window, before));
        assert_int_equal(bry_window_add(window, key(2), UINT64_C(1700000000300), &was), BRY_OK);
        assert_int_equal(bry_window_advance(window, UINT64_C(1800000000000)), BRY_OK);
        assert_int_equal(bry_window_time(window), UINT64_C(1800000000000));
        bry_window_destroy(window);
        bry_window_destroy(before);

        options.start = 1000;
        window = make(options);
        assert_int_equal(bry_window_time(window), 1000);
        assert_int_equal(bry_window_add(window, key(2), 1301, &was), BRY_E_SKEW);
        assert_int_equal(bry_window_add(window, key(2), 1300, &was), BRY_OK);
        bry_window_destroy(window);
    }
}

/* ---- load ----------------------------------------------------------------------------------- */

/* A hundred times the load for a while: always within the error, and memory is freed afterwards. */
TEST(test_burst)
{
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        bry_window_options options = options_of(&window_kinds[k]);
        options.window = 10000;
        options.capacity = 1000;
        options.error = 0.01;
        bry_window *window = make(options);
        uint64_t next = 0, wrong = 0, asked = 0, calm = 0, peak = 0, stranger = UINT64_C(1) << 40;
        for (uint64_t now = 100000; now < 180000; now += 10) {
            bool burst = now >= 130000 && now < 131000;
            for (unsigned i = 0; i < (burst ? 1000 : 1); i++)
                add(window, next++, now);
            for (unsigned i = 0; i < (burst ? 400 : 10); i++, asked++)
                wrong += has(window, stranger++, now);
            uint64_t bytes = stats_of(window).bytes;
            if (now == 129990)
                calm = bytes;
            if (bytes > peak)
                peak = bytes;
            assert_true(stats_of(window).estimated_error <= 0.01);
        }
        assert_true(wrong <= asked / 100);
        assert_true(peak > 20 * calm);
        assert_true(stats_of(window).bytes < calm + calm / 8);
        bry_window_destroy(window);
    }
}

TEST(test_refusing)
{
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        bry_window_options options = exact(&window_kinds[k], 1000, 1000);
        bry_window_shape shape = {0};
        options.refuse = true;
        options.max_bytes = 0;
        assert_int_equal(bry_window_plan(&options, &shape), BRY_OK);
        options.max_bytes = shape.bytes * 3;
        bry_window *window = make(options), *before = NULL;
        uint64_t now = 5000, added = 0;
        bry_status status = BRY_OK;
        while (status == BRY_OK) {
            bry_answer was;
            status = bry_window_add(window, key(added), now, &was);
            added += status == BRY_OK;
            assert_true(stats_of(window).bytes <= options.max_bytes);
            assert_true(added < 100000);
        }
        assert_int_equal(status, BRY_E_FULL);
        assert_true(added >= 1000);
        assert_true(stats_of(window).at_limit);
        assert_int_equal(stats_of(window).refused_full, 1);
        assert_int_equal(bry_window_clone(window, NULL, &before), BRY_OK);
        assert_int_equal(bry_window_add(window, key(added), now + 1, NULL), BRY_E_FULL);
        assert_int_equal(
            bry_window_add_n(window, (bry_hash[]){key(0), key(added)}, 2, now + 1, NULL),
            BRY_E_FULL);
        assert_true(alike(window, before));
        assert_int_equal(bry_window_time(window), now);
        assert_int_equal(add(window, 0, now), BRY_PRESENT); /* known elements need no room */
        for (uint64_t i = 0; i < added; i++)
            assert_true(has(window, i, now + 1000));
        /* Expired elements make room. */
        now += shape.longest;
        assert_int_equal(add(window, added, now), BRY_ABSENT);
        assert_false(stats_of(window).at_limit);
        bry_window_destroy(window);
        bry_window_destroy(before);
    }
}

/* A steady load with a sufficient limit: never refused, and never above the limit. */
TEST(test_limit_in_steady_state)
{
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        bry_window_options options = options_of(&window_kinds[k]);
        options.window = 5000;
        options.capacity = 20000;
        bry_window_shape shape = {0};
        assert_int_equal(bry_window_plan(&options, &shape), BRY_OK);
        options.refuse = true;
        options.max_bytes = shape.bytes + shape.bytes / 8;
        bry_window *window = make(options);
        uint64_t next = 0;
        for (uint64_t now = 1; now < 30000; now++) {
            for (unsigned i = 0; i < 4; i++, next++)
                assert_int_equal(bry_window_add(window, key(next), now, NULL), BRY_OK);
            if (now % 16 == 0)
                assert_true(stats_of(window).bytes <= options.max_bytes);
        }
        bry_window_destroy(window);
    }
}
