/* Features of engine fbf only; the model tests what all engines have in common. */
#include "common/sizing.h"
#include "support/fbf_helpers.h"
#include "support/like.h"

#include <math.h>
#include <stdio.h>

/* ---- shapes --------------------------------------------------------------------------------- */

TEST(test_plan_is_what_is_used)
{
    bry_window_options options = fbf_options(8000, 80000, 0.001);
    bry_window_shape shape = {0};
    assert_int_equal(bry_window_plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.generations, 10);
    assert_true(shape.error <= 0.001 && shape.error > 0.0001);
    bry_window *window = make(options);
    assert_int_equal(stats_of(window).bytes, shape.bytes_empty);
    /* Ten elements per millisecond, as planned, so that nothing is adapted. */
    uint64_t most = 0, next = 0;
    double worst = 0;
    for (uint64_t now = 8000; now < 40000; now++) {
        for (int i = 0; i < 10; i++)
            add(window, next++, now);
        if (now % 250 == 249) {
            bry_window_stats stats = stats_of(window);
            most = stats.bytes > most ? stats.bytes : most;
            worst = fmax(worst, stats.fbf.predicted_error);
            assert_true(stats.estimated_error < 1.1 * shape.error);
            assert_int_equal(stats.fbf.ended_early, 0);
            assert_int_equal(stats.fbf.resizes, 0);
        }
    }
    assert_int_equal(most, shape.bytes);
    assert_true(fabs(worst / shape.error - 1) < 0.01);
    printf("%.2f bits per element of the promised window, error %.3g\n",
           (double)shape.bytes * 8 / 80000, shape.error);
    bry_window_destroy(window);
    options = fbf_options(0, 1000000, 0.001);
    assert_int_equal(bry_window_plan(&options, &shape), BRY_OK);
    assert_true((double)shape.bytes * 8 / 1e6 <= 26);
}

TEST(test_exact_shape)
{
    bry_window_options options = fbf_options(10000, 300, 0.01);
    options.generations = 2;
    options.fbf.bits = 6250;
    options.fbf.hashes = 5;
    options.fixed = true;
    bry_window_shape shape = {0};
    assert_int_equal(bry_window_plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.fbf.bits, 6250);
    assert_int_equal(shape.fbf.hashes, 5);
    bry_window *window = make(options);
    for (uint64_t i = 0; i < 900; i++)
        add(window, i, 20000 + i * 20);
    uint64_t filters = 0;
    for (const bry__fbf_filter *f = row_of(window)->oldest; f; f = f->newer, filters++) {
        assert_int_equal(f->bloom.bits, 6250);
        assert_int_equal(f->bloom.hashes, 5);
    }
    assert_int_equal(filters, 4);
    bry_window_options like = window_like(window);
    assert_int_equal(like.fbf.bits, 6250);
    assert_int_equal(like.fbf.hashes, 5);
    bry_window_destroy(window);
    options = fbf_options(10000, 300, 0.01);
    options.fbf.bits = BRY__FBF_MAX_BITS + 1;
    options.fbf.hashes = 5;
    assert_int_equal(bry_window_plan(&options, &shape), BRY_E_RANGE);
    options.fbf.bits = 1 << 20; /* ten of them are more than this */
    options.max_bytes = 1 << 20;
    assert_int_equal(bry_window_plan(&options, &shape), BRY_E_RANGE);
    /* The planned shape, given explicitly, makes the same window. */
    bry_window *planned = make(fbf_options(5000, 777, 1e-4));
    bry_window *given = make(window_like(planned));
    for (uint64_t i = 0; i < 5000; i++) {
        bry_answer was = add(planned, i, 5000 + i / 2);
        assert_int_equal(add(given, i, 5000 + i / 2), was);
    }
    assert_true(alike(planned, given));
    bry_window_destroy(planned);
    bry_window_destroy(given);
}

/* ---- load, limit, refresh ------------------------------------------------------------------- */

TEST(test_limits_follow_the_load)
{
    bry_window *window = make(fbf_options(60000, 6000, 0.001));
    uint64_t next = 0, now = 60000, peak = 0, calm = 0;
    for (; now < 300000; now += 10) { /* 0.1 per ms, as planned; a hundred times that for 20 s */
        bool burst = now >= 150000 && now < 170000;
        for (int i = 0; i < (burst ? 100 : 1); i++)
            add(window, next++, now);
        if (burst || now % 1000 == 0) {
            bry_window_stats stats = stats_of(window);
            assert_true(stats.fbf.predicted_error <= 0.001);
            if (now < 150000)
                assert_int_equal(stats.fbf.ended_early, 0);
            if (now == 149000)
                calm = stats.bytes;
            peak = stats.bytes > peak ? stats.bytes : peak;
        }
    }
    bry_window_stats stats = stats_of(window);
    printf("burst: %llu periods ended early, %llu resizes, bytes %llu, %llu, %llu\n",
           (unsigned long long)stats.fbf.ended_early, (unsigned long long)stats.fbf.resizes,
           (unsigned long long)calm, (unsigned long long)peak, (unsigned long long)stats.bytes);
    assert_true(stats.fbf.ended_early >= 4 && stats.fbf.ended_early <= 12);
    assert_true(peak > 10 * calm);
    assert_true(stats.bytes <= calm + calm / 50);
    bry_window_destroy(window);
}

/* A period that ended early expires a window later, not with the next cell. */
TEST(test_early_ends_go_on_time)
{
    bry_window_options options = fbf_options(1000, 100, 0.001);
    options.generations = 1;
    bry_window *window = make(options);
    uint64_t n = row_of(window)->setting.limit;
    for (uint64_t i = 0; i < n; i++)
        add(window, i, 1100);
    add(window, n, 1150);
    bry_window_stats stats = stats_of(window);
    assert_int_equal(stats.fbf.ended_early, 1);
    assert_int_equal(stats.items, n + 1);
    advance(window, 2100);
    assert_int_equal(stats_of(window).items, n + 1);
    assert_true(has(window, 0, 2100) && has(window, n, 2100));
    advance(window, 2101);
    assert_int_equal(stats_of(window).items, 1);
    assert_true(has(window, n, 2999));
    assert_int_equal(stats_of(window).generations, 3);
    advance(window, 3000); /* the second one ended with its cell, at 2000 */
    assert_int_equal(stats_of(window).items, 0);
    bry_window_destroy(window);
}

TEST(test_limit)
{
    bry_window_options options = fbf_options(10000, 4000, 0.001);
    bry_window_shape shape = {0};
    assert_int_equal(bry_window_plan(&options, &shape), BRY_OK);
    for (int refuse = 0; refuse < 2; refuse++) {
        options.refuse = refuse;
        options.max_bytes = 3 * shape.bytes;
        bry_window *window = make(options);
        uint64_t now = 10000, stored = 0, refused = 0, first = 0;
        for (; now < 14000; now++)
            for (int i = 0; i < 20; i++) { /* fifty times the plan */
                bry_status status = bry_window_add(window, key(stored), now, NULL);
                if (status == BRY_E_FULL) {
                    first = refused++ ? first : stored;
                } else {
                    assert_int_equal(status, BRY_OK);
                    stored++;
                }
            }
        bry_window_stats stats = stats_of(window);
        assert_true(stats.bytes <= options.max_bytes);
        assert_true(stats.at_limit);
        assert_int_equal(stats.refused_full, refused);
        for (uint64_t i = 0; i < stored; i++)
            assert_true(has(window, i, 20000 - 1));
        if (refuse) {
            assert_true(refused > 0 && first > 6000);
            assert_true(stats.fbf.predicted_error <= 0.001);
        } else {
            assert_int_equal(refused, 0);
            assert_true(stats.fbf.predicted_error > 0.01);
        }
        now = 40000;
        add(window, stored, now);
        assert_false(stats_of(window).at_limit);
        assert_true(stats_of(window).estimated_error <= 0.001);
        bry_window_destroy(window);
    }
    /* Three times the plan for three windows, at a limit of half as much again. */
    options.refuse = false;
    options.max_bytes = shape.bytes + shape.bytes / 2;
    bry_window *busy = make(options);
    for (uint64_t i = 0; i < 36000; i++) {
        add(busy, i, 10000 + i * 10 / 12);
        if (i % 50 == 0)
            assert_true(stats_of(busy).bytes <= options.max_bytes);
    }
    assert_true(stats_of(busy).bytes > shape.bytes);
    assert_true(stats_of(busy).at_limit);
    bry_window_destroy(busy);
    /* A limit below the plan: small filters, and as many as time needs. */
    options.refuse = false;
    options.max_bytes = shape.bytes / 3;
    bry_window *window = make(options);
    static bool new[6000];
    for (uint64_t i = 0; i < 6000; i++) {
        new[i] = add(window, i, 10000 + 5 * i) == BRY_ABSENT;
        assert_true(stats_of(window).bytes <= options.max_bytes);
        assert_true(i < 1900 || !new[i - 1900] || has(window, i - 1900, 10000 + 5 * i));
    }
    assert_true(stats_of(window).at_limit);
    assert_true(stats_of(window).estimated_error > 0.001);
    bry_window_destroy(window);
}

/* ---- merging -------------------------------------------------------------------------------- */

/* A period that ended early has no counterpart, unless the other side is empty. */
TEST(test_merge_of_early_ends)
{
    bry_window_options options = fbf_options(8000, 800, 1e-6);
    bry_window *a = make(options), *b = make(options), *empty = make(options);
    for (uint64_t i = 0; i < 1000; i++)
        add(a, i, 10000);
    add(b, 5000, 10000);
    assert_true(stats_of(a).fbf.ended_early > 0);
    bry_window *before = clone_of(b);
    assert_int_equal(bry_window_merge(b, a), BRY_E_MISMATCH);
    assert_true(alike(b, before));
    assert_int_equal(bry_window_merge(empty, a), BRY_OK);
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(has(empty, i, 18000));
    assert_true(alike(empty, a));
    bry_window_destroy(before);
    bry_window_destroy(empty);
    bry_window_destroy(a);
    bry_window_destroy(b);
}
