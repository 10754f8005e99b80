/* How much memory a table takes that grows, changes and shrinks, with and without areas. The model of
 * maplets tests the rest of areas. */
#include "support/one_table.h"

#include <math.h>

/* ---- bytes ---- */

static double bits(void)
{
    return (double)bry__table_bytes(&table) * 8 / (double)table.n;
}

static uint32_t numbered_value(uint64_t i)
{
    return (uint32_t)i & ((1u << table.value_bits) - 1);
}

static void insert_numbered(uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        generator one = {i};
        uint64_t fingerprint = generator_below(&one, table.range);
        assert_int_equal(bry__table_add(&table, fingerprint, numbered_value(i), &memory.allocator),
                         BRY_OK);
    }
}

static void remove_numbered(uint64_t from, uint64_t to, uint64_t step)
{
    for (uint64_t i = from; i < to; i += step) {
        generator one = {i};
        uint64_t fingerprint = generator_below(&one, table.range);
        assert_true(bry__table_del(&table, fingerprint, numbered_value(i), &memory.allocator));
    }
}

/* What is counted is what is allocated, and that is little more than the entries need. */
static void count_bytes(uint64_t n)
{
    const uint64_t range = n * 1000;
    start(range, 16);
    insert_numbered(0, n);
    check();
    double fresh = bits();
    assert_true(fresh <= 29.4);
    assert_true(fabs((double)bry__table_plan_bytes(range, 16, n) * 8 / (double)n / fresh - 1) <=
                0.01);

    /* Half is removed and inserted again. */
    remove_numbered(0, n, 2);
    assert_true(bits() <= 1.12 * fresh);
    insert_numbered(n, n + n / 2);
    check();
    assert_true(bits() <= 1.02 * fresh);

    /* Nine of ten are removed. */
    remove_numbered(1, n, 2);
    remove_numbered(n, n + n * 4 / 10, 1);
    check();
    uint64_t left = table.n, bytes = bry__table_bytes(&table);
    finish();
    start(range, 16);
    insert_numbered(0, left);
    assert_true((double)bytes <= 1.15 * (double)bry__table_bytes(&table));
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
    start(N * 3 / 2, 0);
    insert_numbered(0, N);
    check();
    remove_numbered(0, N, 1);
    assert_int_equal(memory.now, bry__table_bytes_empty());
    finish();
}

/* Small tables have no areas, and take no more than their blocks. */
TEST(test_small)
{
    start(UINT64_C(1) << 30, 8);
    insert_numbered(0, 60 * 384);
    assert_null(table.arena);
    insert_numbered(60 * 384, 70 * 384);
    assert_non_null(table.arena);
    remove_numbered(0, 60 * 384, 1);
    assert_null(table.arena);
    check();
    remove_numbered(60 * 384, 70 * 384, 1);
    assert_int_equal(memory.now, bry__table_bytes_empty());
    finish();
}
