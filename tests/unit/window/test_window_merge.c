/* Copies and merges of windows, and pauses, with every engine. */
#include "support/like.h"
#include "support/window_helpers.h"
#include "window/window_object.h"

#include <stdlib.h>

/* Asking first, and then adding new elements or else advancing the time, equals adding: the same
 * bytes, at a load that fills several tables, with jumps of time over a part of the window and over
 * all of it. */
TEST(test_asked_before_added)
{
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        bry_window_options options = exact(&window_kinds[k], 1000, 50);
        bry_window *added = make(options), *asked = make(options);
        generator from = {31};
        uint64_t now = 5000, fresh = 0, repeats = 0;
        for (int step = 0; step < 6000; step++) {
            if (generator_below(&from, 3) == 0)
                now += generator_below(&from, 12);
            if (generator_below(&from, 900) == 0)
                now += 300 + generator_below(&from, 4000);
            uint64_t item = generator_below(&from, 1500);
            bry_answer was = bry_window_has(asked, key(item), now);
            assert_int_equal(add(added, item, now), was);
            if (was == BRY_ABSENT) {
                bry_answer then = BRY_PRESENT;
                assert_int_equal(bry_window_add(asked, key(item), now, &then), BRY_OK);
                assert_int_equal(then, BRY_ABSENT);
                fresh++;
            } else {
                assert_int_equal(bry_window_advance(asked, now), BRY_OK);
                repeats++;
            }
            assert_int_equal(bry_window_time(asked), bry_window_time(added));
            if (step % 500 == 0)
                assert_true(alike(added, asked));
        }
        assert_true(alike(added, asked));
        assert_true(fresh > 1000 && repeats > 1000);
        bry_window_destroy(added);
        bry_window_destroy(asked);
    }
}

TEST(test_merge)
{
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        bry_window_options options = exact(&window_kinds[k], 1000, 300);
        options.start = 10000;
        uint64_t longest = longest_of(&options);
        bry_window *a = make(options);
        for (uint64_t i = 0; i < 100; i++)
            add(a, i, 10000 + i);
        bry_window_options like = window_like(a);
        assert_int_equal(like.start, 10099);
        bry_window *b = make(like), *ab = NULL, *ba = NULL;
        for (uint64_t i = 50; i < 150; i++)
            add(b, i, 10050 + 6 * i);
        assert_int_equal(bry_window_clone(a, NULL, &ab), BRY_OK);
        assert_int_equal(bry_window_clone(b, NULL, &ba), BRY_OK);
        bry_status status = bry_window_merge(ab, b);
        if (status == BRY_E_MISMATCH) { /* fbf, if generations did not begin at the same time */
            assert_int_equal(options.engine, BRY_ENGINE_FBF);
            assert_true(alike(ab, a));
        } else {
            assert_int_equal(status, BRY_OK);
            assert_int_equal(bry_window_merge(ba, a), BRY_OK);
            assert_int_equal(bry_window_time(ab), 10050 + 6 * 149);
            assert_int_equal(bry_window_time(ba), bry_window_time(ab));
            for (uint64_t i = 0; i < 150; i++) {
                uint64_t last = i < 50 ? 10000 + i : 10050 + 6 * i;
                assert_true(has(ab, i, last + 1000));
                assert_true(has(ba, i, last + 1000));
                assert_false(has(ab, i, last + longest));
                assert_false(has(ba, i, last + longest));
            }
            assert_true(alike(ab, ba));
            /* Merging again, or with itself, changes nothing. */
            assert_int_equal(bry_window_merge(ab, b), BRY_OK);
            assert_int_equal(bry_window_merge(ab, ab), BRY_OK);
            assert_true(alike(ab, ba));
        }
        bry_window_destroy(ab);
        bry_window_destroy(ba);

        /* A window without changes; and windows that cannot be merged. */
        like.start = 0;
        bry_window *fresh = make(like);
        assert_int_equal(bry_window_merge(b, fresh), BRY_OK);
        assert_int_equal(bry_window_time(b), 10050 + 6 * 149);
        assert_int_equal(bry_window_merge(fresh, b), BRY_OK);
        assert_int_equal(bry_window_time(fresh), bry_window_time(b));
        assert_true(has(fresh, 149, 10050 + 6 * 149));
        bry_window_destroy(fresh);
        for (int which = 0; which < 4; which++) {
            bry_window_options other = like;
            other.seed += which == 0;
            other.window += which == 1;
            other.generations += which == 2;
            other.fixed = which == 3;
            bry_window *c = make(other);
            assert_int_equal(bry_window_merge(b, c), BRY_E_MISMATCH);
            bry_window_destroy(c);
        }
        bry_window_destroy(a);
        bry_window_destroy(b);
    }
}

/* compact: fingerprints cannot be extended, so the error is the limit. */
TEST(test_merge_past_the_error)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.engine = BRY_ENGINE_COMPACT;
    options.capacity = 5000;
    options.seed = 1;
    bry_window *a = make(options), *b = make(options), *before = NULL;
    for (uint64_t i = 0; i < 5000; i++) {
        add(a, i, 1000);
        add(b, i + 5000, 1000);
    }
    assert_int_equal(bry_window_clone(a, NULL, &before), BRY_OK);
    assert_int_equal(bry_window_merge(a, b), BRY_E_FULL);
    assert_true(alike(a, before));
    assert_int_equal(stats_of(a).refused_full, 1);
    bry_window_destroy(b);
    b = make(options);
    for (uint64_t i = 0; i < 1700; i++)
        add(b, i + 5000, 1000);
    assert_int_equal(bry_window_merge(a, b), BRY_OK);
    assert_true(stats_of(a).estimated_error <= 0.001);
    /* It still accepts more, as far as the error allows. */
    bry_status status = BRY_OK;
    for (uint64_t i = 7000; i < 17000 && status == BRY_OK; i++)
        status = bry_window_add(a, key(i), 1000, NULL);
    assert_true(stats_of(a).estimated_error <= 0.001);
    bry_window_destroy(a);
    bry_window_destroy(b);
    bry_window_destroy(before);
}

/* A grown window can be merged into an empty one of its options, and the two are equal then. */
TEST(test_merge_into_an_empty_one)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.engine = BRY_ENGINE_COMPACT;
    options.capacity = 100;
    options.error = 1e-6;
    options.seed = 1;
    for (uint64_t n = 50; n < 100000; n *= 3) {
        bry_window *full = make(options), *empty = make(options);
        for (uint64_t i = 0; i < n; i++)
            add(full, i, 1000 + i / 100);
        assert_int_equal(bry_window_merge(empty, full), BRY_OK);
        assert_true(alike(full, empty));
        for (uint64_t i = n; i < 2 * n; i++) { /* both behave the same */
            add(full, i, 3000);
            add(empty, i, 3000);
        }
        assert_true(alike(full, empty));
        assert_true(stats_of(empty).estimated_error <= options.error);
        bry_window_destroy(full);
        bry_window_destroy(empty);
    }
}

TEST(test_looking_in)
{
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        bry_window_options options = exact(&window_kinds[k], 1000, 1000);
        options.generations = 10;
        bry_window *window = make(options);
        for (uint64_t i = 0; i < 3000; i++)
            add(window, i, 100000 + i);
        bry_window_stats stats = stats_of(window);
        assert_int_equal(stats.engine, options.engine);
        assert_int_equal(stats.time, 102999);
        assert_int_equal(stats.window, 1000);
        assert_true(stats.covered >= 1000 && stats.covered <= longest_of(&options));
        assert_true(stats.promised_error == 1e-9);
        assert_true(stats.estimated_error > 0 && stats.estimated_error <= 1e-9);
        assert_true(stats.items >= 1000 && stats.items <= 1100);
        bry_window_generation some[64];
        size_t n = bry_window_generations(window, NULL, 0);
        assert_true(n >= 10 && n <= 64);
        assert_int_equal(stats.generations, n);
        memset(some, 0x5a, sizeof some);
        assert_int_equal(bry_window_generations(window, some, 2), n);
        assert_true(some[2].items == UINT64_C(0x5a5a5a5a5a5a5a5a));
        assert_int_equal(bry_window_generations(window, some, 64), n);
        for (size_t i = 0; i < n; i++) {
            assert_true(some[i].begin < some[i].end);
            if (i > 0)
                assert_true(some[i].begin <= some[i - 1].begin);
            assert_true(some[i].fill >= 0 && some[i].fill <= 1);
        }
        assert_true(some[0].end == UINT64_MAX);
        if (window_kinds[k].counts) {
            uint64_t items = 0;
            for (size_t i = 0; i < n; i++)
                items += some[i].items;
            assert_int_equal(items, stats.items);
            assert_int_equal(some[1].items, 100);
            assert_int_equal(some[1].begin, 102800);
            assert_int_equal(some[1].end, 102900);
        }
        bry_window_destroy(window);
    }
}

/* Counts freed blocks. */
typedef struct frees {
    uint64_t blocks;
} frees;

static void *counted_alloc(void *opaque, size_t size)
{
    (void)opaque;
    return malloc(size);
}

static void counted_free(void *opaque, void *block, size_t size)
{
    (void)size;
    ((frees *)opaque)->blocks++;
    free(block);
}

/* After a pause of any length, the next change frees a few blocks, and later changes free the rest;
 * elements in blocks that are not freed yet are not found. */
TEST(test_pauses_in_steps)
{
    enum { N = 3000000, STEP = 3000, BLOCKS = 6000 };
    static const uint64_t pauses[][3] = {
        {3000, 3000, 3000},
        {9000, 9000, 9000},
        {10500, 10500, 10500},
        {14000, 14000, 14000},
        {1000000, 1000000, 1000000},
        {3000, 4000, 12000}, /* two jumps beyond all generations, the second with few elements */
    };
    frees counted = {0};
    bry_allocator allocator = {counted_alloc, counted_free, &counted};
    bry_window_options options = exact(&window_kinds[0], 13000, N);
    options.allocator = &allocator;
    bry_window *full = make(options), *window = NULL;
    bry_hash hashes[STEP];
    for (uint64_t i = 0; i < N; i += STEP) {
        for (uint64_t j = 0; j < STEP; j++)
            hashes[j] = key(i + j);
        assert_int_equal(bry_window_add_n(full, hashes, STEP, 13000 + i * 13000 / N, NULL), BRY_OK);
    }
    for (size_t p = 0; p < sizeof pauses / sizeof pauses[0]; p++) {
        assert_int_equal(bry_window_clone(full, NULL, &window), BRY_OK);
        uint64_t now = 26000, all = stats_of(window).bytes;
        for (int round = 0; round < 3; round++) {
            now += pauses[p][round];
            for (uint64_t i = 0; i < 40; i++) {
                uint64_t before = counted.blocks;
                add(window, N + i, now);
                assert_true(counted.blocks - before < BLOCKS);
            }
            for (uint64_t i = 0; i < N; i += 997) {
                uint64_t at = 13000 + i / STEP * STEP * 13000 / N;
                assert_true(has(window, i, now) == (at / 1000 * 1000 + 1000 + 13000 > now));
            }
        }
        assert_true(stats_of(window).bytes <= all / 100 * (pauses[p][2] > 9000 ? 1 : 101));
        bry_window_destroy(window);
    }
    bry_window_destroy(full);
}

/* The same for engine fbf: large filters, of which a few elements use nearly all pieces. */
TEST(test_filters_freed_in_steps)
{
    enum { N = 600, MOST = 1100 };
    frees counted = {0};
    bry_allocator allocator = {counted_alloc, counted_free, &counted};
    bry_window_options options = {.struct_size = sizeof options,
                                  .engine = BRY_ENGINE_FBF,
                                  .window = 10000,
                                  .capacity = 100000,
                                  .fbf.bits = UINT64_C(1) << 27,
                                  .fbf.hashes = 16,
                                  .max_skew = UINT64_MAX,
                                  .allocator = &allocator};
    bry_window *window = make(options);
    for (uint64_t i = 0; i < N; i++)
        add(window, i, 1);
    uint64_t all = stats_of(window).bytes, most = 0;
    assert_true(all > 25 << 20);
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t before = counted.blocks;
        add(window, N + i, 1000000);
        most = counted.blocks - before > most ? counted.blocks - before : most;
        if (i == 0)
            assert_true(stats_of(window).bytes > all / 2);
    }
    assert_true(most > 500 && most < MOST);
    assert_true(stats_of(window).bytes < all / 4);
    bry_window_destroy(window);
}
