/* Copies and merges of windows, and pauses, with every engine. */
#include "support/like.h"
#include "support/window_helpers.h"
#include "window/window_object.h"

#include <stdlib.h>

/* What cannot be merged; and the next window of the same options, without changes, and with. */
TEST(test_merge)
{
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        bry_window_options options = exact(&window_kinds[k], 1000, 300);
        options.start = 10000;
        bry_window *window = make(options);
        for (uint64_t i = 0; i < 100; i++)
            add(window, i, 10000 + i);
        bry_window_options like = window_like(window);
        assert_int_equal(like.start, 10099);
        like.start = 0;
        bry_window *fresh = make(like);
        assert_int_equal(bry_window_merge(window, fresh), BRY_OK);
        assert_int_equal(bry_window_time(window), 10099);
        assert_int_equal(bry_window_merge(fresh, window), BRY_OK);
        assert_int_equal(bry_window_time(fresh), 10099);
        assert_true(has(fresh, 99, 11099));
        bry_window_destroy(fresh);
        for (int which = 0; which < 4; which++) {
            bry_window_options other = like;
            other.seed += which == 0;
            other.window += which == 1;
            other.generations += which == 2;
            other.fixed = which == 3;
            bry_window *unlike = make(other);
            assert_int_equal(bry_window_merge(window, unlike), BRY_E_MISMATCH);
            bry_window_destroy(unlike);
        }
        bry_window_destroy(window);
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
