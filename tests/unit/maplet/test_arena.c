/* Tables whose blocks lie in areas, where memory is short while values become wider or entries are
 * removed; and how much memory a table takes that grows, changes and shrinks. */
#include "support/failing_allocator.h"
#include "support/maplet_entries.h"

#include <math.h>
#include <string.h>

enum { MOST = 20000 };

typedef struct both {
    failing_allocator memory;
    generator numbers;
    bry__table table;
    uint32_t n;
    uint64_t fingerprint[MOST];
    uint32_t value[MOST];
} both;

static both it;

static void start(uint64_t range, unsigned value_bits, uint32_t area, uint32_t least, uint64_t seed)
{
    memset(&it, 0, sizeof it);
    failing_allocator_init(&it.memory);
    it.numbers = (generator){seed};
    assert_int_equal(bry__table_init(&it.table, range, value_bits, &it.memory.allocator), BRY_OK);
    if (area)
        assert_int_equal(bry__arena_begin(&it.table, area, least, &it.memory.allocator), BRY_OK);
}

static void finish(void)
{
    bry__table_free(&it.table, &it.memory.allocator);
    assert_int_equal(it.memory.now, 0);
    assert_int_equal(it.memory.blocks, 0);
}

/* ---- comparing ---- */

static void compare(const bry__table *table)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < it.n; i++)
        sum += entry_sum(it.fingerprint[i], it.value[i]);
    assert_int_equal(table->n, it.n);
    assert_int_equal(table_sum(table), sum);
}

static void check(const bry__table *table, const failing_allocator *memory)
{
    table_check(table);
    assert_int_equal(bry__table_bytes(table), memory->now);
}

/* ---- changing ---- */

static void add_value(uint32_t value)
{
    uint64_t fingerprint = generator_below(&it.numbers, it.table.range);
    bry_status status = bry__table_add(&it.table, fingerprint, value, &it.memory.allocator);
    if (status == BRY_E_NOMEM) {
        assert_true(it.memory.fail_at > 0);
        return;
    }
    assert_int_equal(status, BRY_OK);
    it.fingerprint[it.n] = fingerprint;
    it.value[it.n++] = value;
}

static void add(void)
{
    add_value((uint32_t)generator_below(&it.numbers, UINT64_C(1) << it.table.value_bits));
}

static void take(void)
{
    uint32_t i = (uint32_t)generator_below(&it.numbers, it.n);
    assert_true(bry__table_del(&it.table, it.fingerprint[i], it.value[i], &it.memory.allocator));
    it.n--;
    it.fingerprint[i] = it.fingerprint[it.n];
    it.value[i] = it.value[it.n];
}

/* Values that become wider while segments are narrow: a half of a segment that is split may need
 * more than the whole did. */
TEST(test_wider_values)
{
    static const uint32_t areas[] = {0, 2048, 5000, 16384, 40000};
    for (unsigned i = 0; i < 20; i++) {
        start(UINT64_C(1) << (15 + i % 4), 0, areas[i % 5], 1, i);
        bool without_memory = i >= 10;
        while (it.n < MOST / 2)
            add();
        for (unsigned bits = 1; it.n < MOST; bits++) {
            it.table.value_bits = (uint8_t)(bits < 16 ? bits : 16);
            for (unsigned step = 0; step < 1000 && it.n < MOST; step++) {
                failing_allocator_restart(&it.memory);
                it.memory.fail_at = without_memory && step % 4 == 3 ? 1 + step / 4 % 4 : 0;
                add_value(step % 100 ? 0 : (uint32_t)generator_below(&it.numbers, 1u << bits % 16));
                it.memory.fail_at = 0;
            }
            check(&it.table, &it.memory);
            compare(&it.table);
        }
        while (it.n > 0)
            take();
        finish();
    }
}

/* Removals move blocks also if the last area cannot get a smaller allocation. */
TEST(test_removals_without_memory)
{
    static const uint32_t areas[] = {2048, 5000, 16384, 40000, 100000};
    for (unsigned i = 0; i < 20; i++) {
        start(UINT64_C(1) << (20 + i % 3), i % 4 * 4, areas[i % 5], 1, i);
        while (it.n < MOST)
            add();
        while (it.n > 0) {
            failing_allocator_restart(&it.memory);
            it.memory.fail_at = it.n % 3 ? 1 : 0;
            it.memory.keep_failing = true;
            take();
            it.memory.fail_at = 0;
            if (it.n % 1000 == 0) {
                check(&it.table, &it.memory);
                compare(&it.table);
            }
        }
        finish();
    }
}

/* ---- bytes ---- */

static double bits(void)
{
    return (double)bry__table_bytes(&it.table) * 8 / (double)it.table.n;
}

static uint32_t numbered_value(uint64_t i)
{
    return (uint32_t)i & ((1u << it.table.value_bits) - 1);
}

static void insert_numbered(uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        generator one = {i};
        uint64_t fingerprint = generator_below(&one, it.table.range);
        assert_int_equal(
            bry__table_add(&it.table, fingerprint, numbered_value(i), &it.memory.allocator),
            BRY_OK);
    }
}

static void remove_numbered(uint64_t from, uint64_t to, uint64_t step)
{
    for (uint64_t i = from; i < to; i += step) {
        generator one = {i};
        uint64_t fingerprint = generator_below(&one, it.table.range);
        assert_true(
            bry__table_del(&it.table, fingerprint, numbered_value(i), &it.memory.allocator));
    }
}

/* What is counted is what is allocated, and that is little more than the entries need. */
static void count_bytes(uint64_t n)
{
    const uint64_t range = n * 1000;
    start(range, 16, 0, 0, 1);
    insert_numbered(0, n);
    check(&it.table, &it.memory);
    double fresh = bits();
    assert_true(fresh <= 29.4);
    assert_true(fabs((double)bry__table_plan_bytes(range, 16, n) * 8 / (double)n / fresh - 1) <=
                0.01);

    /* Half is removed and inserted again. */
    remove_numbered(0, n, 2);
    assert_true(bits() <= 1.12 * fresh);
    insert_numbered(n, n + n / 2);
    check(&it.table, &it.memory);
    assert_true(bits() <= 1.02 * fresh);

    /* Nine of ten are removed. */
    remove_numbered(1, n, 2);
    remove_numbered(n, n + n * 4 / 10, 1);
    check(&it.table, &it.memory);
    uint64_t left = it.table.n, bytes = bry__table_bytes(&it.table);
    finish();
    start(range, 16, 0, 0, 1);
    insert_numbered(0, left);
    assert_true((double)bytes <= 1.15 * (double)bry__table_bytes(&it.table));
    finish();
}

TEST(test_bytes)
{
    count_bytes(1 << 17);
    count_bytes(1 << 19); /* with large areas, of which a small table is left */
}

/* Blocks so small that an area may have more than can be arranged together. */
TEST(test_crowded_areas)
{
    enum { N = 600000 };
    start(N * 3 / 2, 0, 0, 0, 1);
    insert_numbered(0, N);
    check(&it.table, &it.memory);
    remove_numbered(0, N, 1);
    assert_int_equal(it.memory.now, bry__table_bytes_empty());
    finish();
}

/* Small tables have no areas, and take no more than their blocks. */
TEST(test_small)
{
    start(UINT64_C(1) << 30, 8, 0, 0, 1);
    insert_numbered(0, 60 * 384);
    assert_null(it.table.arena);
    insert_numbered(60 * 384, 70 * 384);
    assert_non_null(it.table.arena);
    remove_numbered(0, 60 * 384, 1);
    assert_null(it.table.arena);
    check(&it.table, &it.memory);
    remove_numbered(60 * 384, 70 * 384, 1);
    assert_int_equal(it.memory.now, bry__table_bytes_empty());
    finish();
}
