/* The size of tables, for every number of entries; and reclaiming while they change. The model of
 * maplets tests the rest. */
#include "support/one_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put(uint64_t fingerprint, uint32_t value)
{
    assert_int_equal(bry__table_add(&table, fingerprint, value, &memory.allocator), BRY_OK);
}

static void take(uint64_t fingerprint, uint32_t value)
{
    assert_true(bry__table_del(&table, fingerprint, value, &memory.allocator));
}

static void fill(generator *numbers, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t fingerprint = generator_below(numbers, table.range);
        put(fingerprint, (uint32_t)(generator_next(numbers) & ((1u << table.value_bits) - 1)));
    }
}

/* ---- bytes ---- */

typedef struct measured {
    uint64_t n, bytes;
} measured;

/* Bits per entry beyond its value and the information in its fingerprint, if n of them share the
 * range. */
static double overhead(const measured *at, uint64_t range, unsigned value_bits)
{
    return 8 * (double)at->bytes / (double)at->n - value_bits - log2((double)range / (double)at->n);
}

/* Grows to 400,000 entries and shrinks back. From 100,000 on, at every moment, an entry takes at
 * most 1.25 times the size at the densest point. */
TEST(test_bytes_at_every_size)
{
    enum { MOST = 400000, LEAST = 100000, STEPS = 2000 };
    static const struct {
        uint64_t range;
        unsigned value_bits;
    } shapes[] = {{UINT64_C(1) << 31, 0}, {UINT64_C(3000000000), 16}, {UINT64_C(1) << 27, 3}};
    for (unsigned s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        uint64_t range = shapes[s].range;
        unsigned value_bits = shapes[s].value_bits, taken = 0;
        static measured at[STEPS];
        start(range, value_bits);
        generator numbers = {s};
        uint32_t mask = (1u << value_bits) - 1;
        for (uint64_t i = 0; i < MOST; i++) {
            uint64_t fingerprint = generator_below(&numbers, range);
            put(fingerprint, (uint32_t)generator_next(&numbers) & mask);
            assert_int_equal(bry__table_bytes(&table), memory.now);
            if (table.n >= LEAST && table.n % 331 == 0)
                at[taken++] = (measured){table.n, memory.now};
            if (table.n % 65536 == 0) {
                uint64_t planned = bry__table_plan_bytes(range, value_bits, table.n);
                assert_true(fabs((double)planned - (double)memory.now) < 0.02 * (double)memory.now);
            }
        }
        check();
        generator again = {s};
        for (uint64_t i = 0; i < MOST; i++) {
            uint64_t fingerprint = generator_below(&again, range);
            take(fingerprint, (uint32_t)generator_next(&again) & mask);
            assert_int_equal(bry__table_bytes(&table), memory.now);
            if (table.n >= LEAST && table.n % 331 == 0)
                at[taken++] = (measured){table.n, memory.now};
        }
        check();
        assert_int_equal(table.n, 0);
        assert_int_equal(table.segments, 1);

        double least = 100, worst = 0;
        for (unsigned i = 0; i < taken; i++)
            least = fmin(least, overhead(&at[i], range, value_bits));
        for (unsigned i = 0; i < taken; i++) {
            double full = value_bits + log2((double)range / (double)at[i].n) + least;
            worst = fmax(worst, 8 * (double)at[i].bytes / (double)at[i].n / full);
        }
        print_message("%u value bits: %.2f bits beyond at the densest, %.3f times at the worst\n",
                      value_bits, least, worst);
        assert_true(taken > STEPS * 8 / 10 && worst <= 1.25);
        finish();
    }
}

/* ---- reclaiming ---- */

enum { NAMES = 65536 };

static void note_gone(void *context, uint32_t value)
{
    (void)value;
    ++*(uint64_t *)context;
}

/* Values whose remainder by `by` is 1 have no name, and are reclaimed. */
static bry__kept_values names_but(unsigned by)
{
    static uint32_t name[NAMES];
    for (uint32_t value = 0; value < NAMES; value++)
        name[value] = value % by == 1 % by ? BRY__NOT_KEPT : value;
    return bry__keep_named(name, NAMES);
}

/* Returns the number of entries that are gone. */
static uint64_t reclaim(const bry__kept_values *names, uint64_t budget, bool *done)
{
    uint64_t gone = 0, before = table.n;
    assert_int_equal(
        bry__table_reclaim(&table, names, note_gone, &gone, budget, done, &memory.allocator),
        BRY_OK);
    assert_int_equal(table.n, before - gone);
    return gone;
}

static uint64_t count_odd(void)
{
    bry__table_cursor cursor = {0};
    uint64_t fingerprint, odd = 0;
    uint32_t value;
    while (bry__table_next(&table, &cursor, &fingerprint, &value))
        odd += value & 1;
    return odd;
}

/* Meanwhile the table grows and shrinks, and gets and loses many entries of one fingerprint,
 * always with even values: in the end no odd value is left, and every even one is. */
TEST(test_reclaim_while_the_table_changes)
{
    static uint64_t added[100000];
    bry__kept_values names = names_but(2);
    for (unsigned kind = 0; kind < 6; kind++) {
        generator numbers = {kind};
        unsigned shift = kind % 2 ? 20 : 0;
        start(UINT64_C(1) << 40, 16);
        for (unsigned i = 0; i < 20000; i++) {
            uint64_t fingerprint = (uint64_t)generator_below(&numbers, 1 << 19) << shift;
            put(i % 10 ? fingerprint : 5, (uint32_t)generator_below(&numbers, 65536));
        }
        uint64_t even = table.n - count_odd(), steps = 0;
        size_t extra = 0;
        bool done = false;
        while (!done) {
            assert_true(steps++ < 100000);
            reclaim(&names, 1 + generator_below(&numbers, 300), &done);
            bool grows = (kind / 2 == 0) || (kind / 2 == 2 && steps % 60 < 30);
            for (unsigned i = 0; i < 60 && !done && extra < 90000; i++) {
                if (grows) {
                    uint64_t fingerprint = (uint64_t)generator_below(&numbers, 1 << 19) << shift;
                    added[extra] = i % 20 ? fingerprint : 5;
                    put(added[extra++], 2);
                } else if (extra > 0) {
                    take(added[--extra], 2);
                }
            }
            if (steps % 50 == 0)
                check();
        }
        check();
        assert_int_equal(count_odd(), 0);
        assert_int_equal(table.n, even + extra);
        finish();
    }
}

/* Removing an entry moves others out of the overflow, to where reclaiming has already been. */
TEST(test_reclaim_while_a_crowd_is_pulled_in)
{
    start(UINT64_C(1) << 40, 16);
    generator numbers = {9};
    for (unsigned i = 0; i < 30000; i++)
        put(generator_below(&numbers, table.range), 2);
    for (uint32_t i = 0; i < 60; i++)
        put(5, 2 * i);
    for (uint32_t i = 0; i < 60; i++)
        put(5, 1001 + 2 * i);
    bry__kept_values names = names_but(2);
    bool done = false;
    uint32_t steps = 0;
    for (; !done; steps++) {
        assert_true(steps < 1000);
        reclaim(&names, 1, &done);
        if (steps < 60)
            take(5, 2 * steps); /* the smallest */
    }
    assert_true(steps > 70);
    assert_int_equal(count_odd(), 0);
    assert_int_equal(table.n, 30000);
    check();
    finish();
}

/* A step visits about as many entries as its budget, also in the overflow. */
TEST(test_steps_of_reclaiming)
{
    start(UINT64_C(1) << 36, 16);
    generator numbers = {8};
    fill(&numbers, 30000);
    for (uint32_t i = 0; i < 10000; i++)
        put(99, i);
    uint64_t odd = count_odd();
    for (unsigned by = 2; by > 0; by--) { /* the odd values, then all */
        bry__kept_values names = names_but(by);
        uint64_t most = 0, calls = 0, before = table.n, total = 0;
        for (bool done = false; !done; calls++) {
            uint64_t gone = reclaim(&names, 500, &done);
            most = gone > most ? gone : most;
            total += gone;
        }
        /* A segment is visited as a whole, up to three times. */
        assert_true(most <= 500 + 3 * (uint64_t)BRY__SEGMENT_MAX);
        assert_true(calls > before / (500 + 3 * (uint64_t)BRY__SEGMENT_MAX));
        assert_int_equal(total, by == 2 ? odd : before);
        assert_int_equal(count_odd(), 0);
        check();
    }
    assert_int_equal(table.n, 0);
    finish();
}

/* If few entries are left, many segments are folded, and each entry is visited only a few times. */
TEST(test_reclaim_of_most_entries)
{
    enum { N = 60000, BUDGET = 100 };
    start(UINT64_C(1) << 46, 16);
    generator numbers = {12};
    for (uint32_t i = 0; i < N; i++)
        put(generator_below(&numbers, table.range), i % 8 ? 1 : 0);
    bry__kept_values names = names_but(2);
    uint64_t calls = 0;
    for (bool done = false; !done; calls++)
        reclaim(&names, BUDGET, &done);
    assert_int_equal(table.n, N / 8);
    assert_true(calls <= 4 * N / BUDGET);
    check();
    finish();
}

/* Reclaiming needs no memory, unless values get wider meanwhile. Then every second allocation fails:
 * nothing is lost, and in the end all is reclaimed. */
static void reclaim_without_memory(bool wider)
{
    start(UINT64_C(1) << 26, wider ? 3 : 16);
    generator numbers = {13};
    fill(&numbers, 20000);
    for (uint32_t i = 0; i < 300; i++)
        put(99, i & 7);
    table.value_bits = wider ? 32 : 16;
    memory.keep_failing = !wider;
    bry__kept_values names = names_but(2);
    uint64_t even = table.n - count_odd(), gone = 0;
    unsigned failed = 0;
    memory.fail_at = wider ? 2 : 1;
    for (bool done = false; !done;) {
        failing_allocator_restart(&memory);
        failed += bry__table_reclaim(&table, &names, note_gone, &gone, 1000, &done,
                                     &memory.allocator) != BRY_OK;
        assert_int_equal(table.n - count_odd(), even);
        assert_true(failed < 1000);
    }
    memory.fail_at = 0;
    assert_int_equal(failed > 0, wider);
    assert_int_equal(table.n, even);
    check();
    finish();
}

TEST(test_reclaim_out_of_memory)
{
    reclaim_without_memory(false);
    reclaim_without_memory(true);
}

/* ---- memory that is short ---- */

/* Half of all allocations fail for a while: failed additions change nothing, the others succeed,
 * and deferred splits are done later. */
TEST(test_growth_catches_up)
{
    start(UINT64_C(1) << 34, 10);
    generator numbers = {10};
    uint64_t refused = 0, n = 0;
    for (unsigned i = 0; i < 30000; i++) {
        uint64_t fingerprint = generator_below(&numbers, table.range);
        uint32_t value = (uint32_t)generator_below(&numbers, 1024);
        failing_allocator_restart(&memory);
        memory.fail_at = 1 + i % 3;
        memory.keep_failing = i % 5 == 0;
        bry_status status = bry__table_add(&table, fingerprint, value, &memory.allocator);
        assert_true(status == BRY_OK || status == BRY_E_NOMEM);
        assert_int_equal(bry__table_has_entry(&table, fingerprint, value), status == BRY_OK);
        refused += status != BRY_OK;
        n += status == BRY_OK;
        assert_int_equal(table.n, n);
        assert_int_equal(bry__table_bytes(&table), memory.now);
    }
    check();
    assert_true(refused > 100 && n > 10000);
    memory.fail_at = 0;
    fill(&numbers, 2000);
    check();
    uint64_t segments = table.segments;
    double bytes = (double)memory.now;
    finish();

    start(UINT64_C(1) << 34, 10);
    fill(&numbers, n + 2000);
    assert_int_equal(table.segments, segments);
    /* Areas that could not grow have small ones beside them. */
    assert_true(bytes < 1.25 * (double)memory.now);
    finish();
}
