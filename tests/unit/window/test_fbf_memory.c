/* The engine fbf at its limit in a batch, and rows that are full or merged, as frames. */
#include "support/fbf_helpers.h"
#include "support/job_calls.h"

/* Rows far beyond their load, with tiny filters, and merged many times: all can be loaded. */
TEST(test_frames_of_full_rows)
{
    static const uint64_t bits[] = {1, 8, 64, 700, 5000};
    for (int b = 0; b < 5; b++)
        for (int fixed = 0; fixed < 2; fixed++) {
            bry_window_options options = fbf_options(4000, 100, 0.01);
            options.fbf.bits = bits[b];
            options.fbf.hashes = 1 + 2 * (uint32_t)b;
            options.fixed = fixed;
            if (!fixed) /* the size of the ordinary row */
                options.max_bytes = 1000 + 12 * bry__fbf_cost(bits[b]);
            bry_window *window = make(options), *other = clone_of(window);
            for (uint64_t i = 0; i < 20000; i++) {
                add(window, i, 10000 + i / 4);
                if (i % 2)
                    add(other, i, 10000 + i / 4);
            }
            for (int again = 0; again < 3 && bry_window_merge(window, other) == BRY_OK; again++)
                (void)bry_window_merge(other, window);
            bry_window_destroy(job_reloaded(BRY_JOB_WINDOW, window));
            bry_window_destroy(window);
            bry_window_destroy(other);
        }
}

/* Checks the counts: a filter has the elements of the period that it shares with its older
 * neighbour.
 */
static void assert_loads_and_agrees(const bry_window *window)
{
    const bry__fbf *row = row_of(window);
    uint64_t items = 0;
    for (const bry__fbf_filter *filter = row->oldest; filter; filter = filter->newer) {
        items += filter->items;
        if (filter == row->oldest)
            continue;
        assert_int_equal(filter->from, filter->older->begin);
        assert_true(filter->before >= filter->older->items);
    }
    assert_int_equal(items, stats_of(window).items);
    bry_window_destroy(job_reloaded(BRY_JOB_WINDOW, window));
}

/* The shorter row has in its present period the elements that the longer one had in the period
 * before: the same bits in the filter where the rows meet, for another reason. */
TEST(test_merge_of_the_same_in_other_periods)
{
    for (int fixed = 0; fixed < 2; fixed++)
        for (uint64_t n = 1; n < 60; n += 29) {
            bry_window_options options = fbf_options(8000, 800, 1e-3);
            options.fixed = fixed;
            bry_window *a = make(options), *b = make(options);
            for (uint64_t i = 0; i < n; i++)
                add(a, i, 10500);
            advance(a, 11500);
            for (uint64_t i = 0; i < n; i++)
                add(b, i, 11500);
            bry_window *ab = clone_of(a), *ba = clone_of(b);
            assert_int_equal(bry_window_merge(ab, b), BRY_OK);
            assert_int_equal(bry_window_merge(ba, a), BRY_OK);
            assert_true(alike(ab, ba));
            assert_int_equal(row_of(ba)->row, row_of(a)->row);
            assert_int_equal(row_of(ba)->present->before, n);
            assert_int_equal(row_of(ba)->present->items, n);
            assert_loads_and_agrees(ab);
            assert_loads_and_agrees(ba);
            /* Time removes the periods one by one, and their counts. */
            for (uint64_t now = 12500; now <= 26500; now += 1000) {
                advance(ab, now);
                assert_loads_and_agrees(ab);
            }
            assert_int_equal(stats_of(ab).items, 0);
            bry_window_destroy(ab);
            bry_window_destroy(ba);
            bry_window_destroy(a);
            bry_window_destroy(b);
        }
}

/* A full period ended at its last element, at different times in the two rows; so at some time one
 * has forgotten it and the other has not. Both have its bits in the filter after it. */
TEST(test_merge_when_one_forgot_sooner)
{
    bry_window_options options = fbf_options(8000, 80, 1e-3);
    bry_window *a = make(options), *b = make(options);
    uint64_t limit = row_of(a)->present->limit;
    for (uint64_t i = 0; i < limit; i++) {
        add(a, i, 10000);
        add(b, 1000 + i, i + 1 < limit ? 10000 : 10100);
    }
    add(a, 5000, 10200); /* the present periods of both begin here */
    add(b, 6000, 10200);
    assert_int_equal(row_of(a)->row, 3);
    advance(a, 18050);
    advance(b, 18050);
    assert_int_equal(row_of(b)->row, row_of(a)->row + 1);
    uint64_t gone = row_of(a)->oldest->before;
    assert_int_equal(gone, limit);
    bry_window *ab = clone_of(a), *ba = clone_of(b);
    assert_int_equal(bry_window_merge(ab, b), BRY_OK);
    assert_int_equal(bry_window_merge(ba, a), BRY_OK);
    assert_true(alike(ab, ba));
    assert_int_equal(row_of(ab)->oldest->items, limit);
    assert_int_equal(row_of(ab)->oldest->newer->before, 2 * limit); /* elements in its bits */
    assert_loads_and_agrees(ab);
    for (uint64_t i = 0; i < limit; i++)
        assert_true(has(ab, 1000 + i, 18050));
    assert_true(has(ab, 5000, 18050) && has(ab, 6000, 18050));
    bry_window_destroy(ab);
    bry_window_destroy(ba);
    bry_window_destroy(a);
    bry_window_destroy(b);
}
