/* The engine fbf without memory, at its ceiling in a batch, as frames, and as forged frames. */
#include "support/fbf_helpers.h"
#include "support/repair.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- without memory ------------------------------------------------------------------------ */

enum { CALLS = 8 };

static bry_status call(int which, bry_window *window, const bry_window *other, bry_window **made,
                       const bry_hash *hashes, uint8_t *was)
{
    uint64_t now = bry_window_time(window);
    bry_answer answer = BRY_UNSURE;
    bry_status status;
    switch (which) {
    case 0:
        status = bry_window_add(window, hashes[0], now, &answer);
        break;
    case 1:
        status = bry_window_add(window, hashes[0], now + 1500, &answer);
        break;
    case 2:
        status = bry_window_add(window, hashes[0], now + 100000, &answer);
        break;
    case 3:
        return bry_window_add_n(window, hashes, 1500, now, was);
    case 4:
        return bry_window_add_n(window, hashes, 1500, now + 2500, was);
    case 5:
        return bry_window_advance(window, now + 3500);
    case 6:
        return bry_window_clone(window, NULL, made);
    default:
        return bry_window_merge(window, other);
    }
    if (status != BRY_OK)
        assert_int_equal(answer, BRY_UNSURE);
    return status;
}

/* Every allocation of every call fails once: the window stays as it was. */
static void test_no_memory(void **state)
{
    (void)state;
    static bry_hash hashes[1500];
    static uint8_t was[1500], untouched[1500];
    memset(untouched, 0x5a, sizeof untouched);
    for (uint64_t i = 0; i < 1500; i++)
        hashes[i] = key(100000 + i % 1400);
    failing_allocator memory;
    failing_allocator_init(&memory);
    for (int m = 0; m < 3; m++) {
        bry_window_options options = fbf_options(modes[m], 8000, 800, 1e-4);
        options.allocator = &memory.allocator;
        options.fixed = m > 0;
        bry_window *window = NULL, *other, *fresh = NULL;
        for (memory.fail_at = 1; !window; memory.fail_at++) {
            failing_allocator_restart(&memory);
            bry_status status = bry_window_create(&options, &window);
            assert_int_equal(status, window ? BRY_OK : BRY_E_NOMEM);
            assert_true(window || memory.now == 0);
        }
        memory.fail_at = 0;
        other = make(options);
        fresh = make(options);
        for (uint64_t i = 0; i < 600; i++) {
            add(window, i, 10000 + 12 * i);
            if (i >= 500)
                add(other, 1000 + i, 10000 + 12 * i);
        }
        /* The last one merges the longer row into the shorter, which takes filters over. */
        for (int which = 0; which < CALLS + 2; which++) {
            const bry_window *start = which < CALLS ? window : which == CALLS ? other : fresh;
            const bry_window *from = which < CALLS ? other : window;
            bry_buffer image = saved_of(start);
            uint64_t failures = 0;
            bry_status status = BRY_E_NOMEM;
            for (uint64_t at = 1; status != BRY_OK; at++) {
                bry_window *made = NULL, *copy = clone_of(start);
                memcpy(was, untouched, sizeof was);
                failing_allocator_restart(&memory);
                memory.fail_at = at;
                status = call(which < CALLS ? which : CALLS - 1, copy, from, &made, hashes, was);
                memory.fail_at = 0;
                if (status != BRY_OK) {
                    failures++;
                    assert_int_equal(status, BRY_E_NOMEM);
                    assert_null(made);
                    assert_memory_equal(was, untouched, sizeof was);
                    assert_int_equal(bry_window_time(copy), bry_window_time(start));
                    bry_buffer now = saved_of(copy);
                    assert_int_equal(now.len, image.len);
                    assert_memory_equal(now.bytes, image.bytes, image.len);
                    bry_buffer_free(&now);
                    /* And it works when there is memory again. */
                    assert_int_equal(
                        call(which < CALLS ? which : CALLS - 1, copy, from, &made, hashes, was),
                        BRY_OK);
                }
                bry_window_destroy(made);
                bry_window_destroy(copy);
            }
            /* Storing in filters that are there, and ending nothing, needs none. */
            assert_true(failures > 0 || which == 0 || (which == 3 && options.fixed));
            bry_buffer_free(&image);
        }
        bry_window_destroy(window);
        bry_window_destroy(other);
        bry_window_destroy(fresh);
        assert_int_equal(memory.now, 0);
    }
}

/* A batch that the ceiling refuses half way leaves no bit behind. */
static void test_refused_batch(void **state)
{
    (void)state;
    static bry_hash hashes[20000];
    for (uint64_t i = 0; i < 20000; i++)
        hashes[i] = key(i);
    bry_window_options options = fbf_options(BRY_WINDOW_IMPROVED, 8000, 800, 1e-4);
    bry_window_shape shape = BRY_WINDOW_SHAPE;
    assert_int_equal(bry_window_plan(&options, &shape), BRY_OK);
    options.max_bytes = 4 * shape.bytes;
    options.refuse = true;
    bry_window *window = make(options);
    for (uint64_t i = 0; i < 50; i++)
        add(window, 30000 + i, 10000 + i);
    bry_window *before = clone_of(window);
    assert_int_equal(bry_window_add_n(window, hashes, 20000, 11500, NULL), BRY_E_FULL);
    assert_true(alike(window, before));
    assert_int_equal(stats_of(window).items, 50);
    assert_int_equal(bry_window_add_n(window, hashes, 500, 11500, NULL), BRY_OK);
    assert_int_equal(stats_of(window).items, 550);
    bry_window_destroy(window);
    bry_window_destroy(before);
}

/* ---- frames -------------------------------------------------------------------------------- */

static bry_window *loaded(const bry_buffer *image, bry_load *how, bry_status *status)
{
    bry_view view = {image->bytes, image->len, 0};
    bry_source source = bry_view_source(&view);
    bry_window *window = NULL;
    *status = bry_window_load(&source, how, &window);
    return window;
}

static bry_window *eventful(bry_window_mode mode, const bry_allocator *allocator)
{
    bry_window_options options = fbf_options(mode, 12000, 600, 1e-3);
    options.generations = 4;
    options.allocator = allocator;
    bry_window *window = make(options);
    uint64_t next = 0;
    for (uint64_t now = 50000; now < 62000; now += 50)
        for (uint64_t i = 0; i < (now > 58000 ? 12 : 2); i++)
            add(window, next++, now);
    return window;
}

static void test_frames(void **state)
{
    (void)state;
    failing_allocator memory;
    failing_allocator_init(&memory);
    for (int m = 0; m < 3; m++) {
        bry_window *window = eventful(modes[m], NULL);
        if (m == 0)
            assert_true(stats_of(window).ended_early > 1);
        bry_buffer image = saved_of(window);
        bry_status status;
        bry_load how = BRY_LOAD;
        how.max_bytes = stats_of(window).bytes;
        bry_window *copy = loaded(&image, &how, &status);
        assert_int_equal(status, BRY_OK);
        assert_true(alike(window, copy));
        /* Both go on alike. */
        for (uint64_t i = 0; i < 3000; i++) {
            assert_int_equal(add(window, 5000 + i, 62000 + 3 * i),
                             add(copy, 5000 + i, 62000 + 3 * i));
        }
        assert_true(alike(window, copy));
        bry_window_destroy(copy);
        how.max_bytes--;
        assert_null(loaded(&image, &how, &status));
        assert_int_equal(status, BRY_E_LIMIT);
        how.max_bytes = 0;
        how.allocator = &memory.allocator;
        copy = NULL;
        for (memory.fail_at = 1; !copy; memory.fail_at++) {
            failing_allocator_restart(&memory);
            copy = loaded(&image, &how, &status);
            assert_int_equal(status, copy ? BRY_OK : BRY_E_NOMEM);
            assert_true(copy || memory.now == 0);
        }
        memory.fail_at = 0;
        bry_window_destroy(copy);
        bry_buffer_free(&image);
        bry_window_destroy(window);
    }
}

/* Rows that are far over their load, of tiny filters, and merged over and over: all are loaded. */
static void test_frames_of_full_rows(void **state)
{
    (void)state;
    static const uint64_t bits[] = {1, 8, 64, 700, 5000};
    for (int m = 0; m < 3; m++)
        for (int b = 0; b < 5; b++)
            for (int fixed = 0; fixed < 2; fixed++) {
                bry_window_options options = fbf_options(modes[m], 4000, 100, 0.01);
                options.fbf.bits = bits[b];
                options.fbf.hashes = 1 + 2 * (uint32_t)b;
                options.fixed = fixed;
                if (!fixed) /* as much as the ordinary row takes */
                    options.max_bytes = 1000 + 12 * bry__fbf_cost(bits[b]);
                bry_window *window = make(options), *other = clone_of(window);
                for (uint64_t i = 0; i < 20000; i++) {
                    add(window, i, 10000 + i / 4);
                    if (i % 2)
                        add(other, i, 10000 + i / 4);
                }
                for (int again = 0; again < 3 && bry_window_merge(window, other) == BRY_OK; again++)
                    (void)bry_window_merge(other, window);
                bry_buffer image = saved_of(window);
                bry_status status;
                bry_window *copy = loaded(&image, NULL, &status);
                assert_int_equal(status, BRY_OK);
                assert_true(alike(window, copy));
                bry_buffer_free(&image);
                bry_window_destroy(copy);
                bry_window_destroy(window);
                bry_window_destroy(other);
            }
}

/* That its counts agree: a filter has what its older neighbour has of the period that they share.
 */
static void assert_loads_and_agrees(const bry_window *window)
{
    const bry__fbf *row = row_of(window);
    bool paper = row->setting.mode != BRY_WINDOW_IMPROVED;
    uint64_t items = paper ? row->oldest->before : 0;
    for (const bry__fbf_filter *filter = row->oldest; filter; filter = filter->newer) {
        items += filter->items;
        if (filter == row->oldest)
            continue;
        assert_int_equal(filter->from, filter->older->begin);
        assert_true(filter->before >= filter->older->items);
        assert_true(!paper || filter->before == filter->older->items);
    }
    assert_int_equal(items, stats_of(window).items);
    bry_buffer image = saved_of(window);
    bry_status status;
    bry_window *copy = loaded(&image, NULL, &status);
    assert_int_equal(status, BRY_OK);
    assert_true(alike(window, copy));
    bry_buffer_free(&image);
    bry_window_destroy(copy);
}

/* The shorter row has in its own period what the longer one had in the period before: the same
 * bits, in the filter where the two rows meet, for another reason. */
static void test_merge_of_the_same_in_other_periods(void **state)
{
    (void)state;
    for (int m = 0; m < 3; m++)
        for (uint64_t n = 1; n < 60; n += 29) {
            bry_window_options options = fbf_options(modes[m], 8000, 800, 1e-3);
            options.fixed = m > 0; /* or Algorithm 3 tells the rows apart */
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
            /* Time takes the periods away one by one, and the counts with them. */
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

/* A period that was full ended at its last element, in the two rows not at the same time; so there
 * is a moment at which one has forgotten it and the other has not. Both kept the bits in the filter
 * after it. */
static void test_merge_when_one_forgot_sooner(void **state)
{
    (void)state;
    bry_window_options options = fbf_options(BRY_WINDOW_IMPROVED, 8000, 80, 1e-3);
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
    assert_int_equal(row_of(ab)->oldest->newer->before, 2 * limit); /* its bits are of so many */
    assert_loads_and_agrees(ab);
    for (uint64_t i = 0; i < limit; i++)
        assert_true(has(ab, 1000 + i, 18050));
    assert_true(has(ab, 5000, 18050) && has(ab, 6000, 18050));
    bry_window_destroy(ab);
    bry_window_destroy(ba);
    bry_window_destroy(a);
    bry_window_destroy(b);
}

/* Numbers that somebody altered, with checksums made right: refused, or a window that works. */
static void test_forged_frames(void **state)
{
    (void)state;
    unsigned refused = 0, taken = 0;
    for (int m = 0; m < 2; m++) {
        bry_window *window = eventful(modes[m], NULL);
        bry_buffer image = saved_of(window);
        generator from = {77};
        unsigned char *bytes = malloc(image.len);
        for (int round = 0; round < 4000; round++) {
            memcpy(bytes, image.bytes, image.len);
            /* Most of a file is bits; the numbers are at the front of it and of each filter. */
            uint64_t range = round % 2 ? image.len : 400;
            for (uint64_t i = 1 + generator_below(&from, 3); i > 0; i--) {
                size_t at = 64 + (size_t)generator_below(&from, range - 64);
                bytes[at] = round % 3 ? (unsigned char)generator_next(&from)
                                      : (unsigned char)(bytes[at] ^ (1u << (i & 7)));
            }
            repair_stream(bytes, image.len);
            bry_status status;
            bry_load how = BRY_LOAD;
            how.max_bytes = 1 << 22;
            bry_window *copy = loaded(&(bry_buffer){bytes, image.len, image.len}, &how, &status);
            if (!copy) {
                refused++;
                assert_non_null(how.problem);
                continue;
            }
            taken++;
            uint64_t now = bry_window_time(copy);
            if (copy->options.max_bytes == 0 && copy->options.capacity < 100000)
                for (uint64_t i = 0; i < 20; i++)
                    assert_int_equal(bry_window_add(copy, key(90000 + i), now, NULL), BRY_OK);
            if (now < UINT64_MAX - 100000)
                advance(copy, now + 9000);
            (void)stats_of(copy);
            bry_window_destroy(copy);
        }
        free(bytes);
        bry_buffer_free(&image);
        bry_window_destroy(window);
    }
    printf("forged: %u refused, %u taken\n", refused, taken);
    assert_true(refused > 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_refused_batch),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_frames_of_full_rows),
        cmocka_unit_test(test_merge_of_the_same_in_other_periods),
        cmocka_unit_test(test_merge_when_one_forgot_sooner),
        cmocka_unit_test(test_forged_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
