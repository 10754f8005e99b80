/* The maplet's options, its plan, a large chain of tables, and merging beyond what the random
 * programs of tests/model do. */
#include "maplet/maplet.h"

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"
#include "support/maplet_entries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static failing_allocator memory;

static void make(bry__maplet *maplet, uint64_t capacity, double error, unsigned value_bits,
                 bool fixed)
{
    bry__maplet_options options = {capacity, error, value_bits, fixed};
    assert_true(bry__maplet_init(maplet, &options, &memory.allocator));
}

static void start(bry__maplet *maplet, uint64_t capacity, double error, unsigned value_bits,
                  bool fixed)
{
    failing_allocator_init(&memory);
    make(maplet, capacity, error, value_bits, fixed);
    assert_int_equal(memory.now, 0);
}

static void finish(bry__maplet *maplet)
{
    maplet_check(maplet);
    bry__maplet_free(maplet);
    assert_int_equal(memory.now, 0);
    assert_int_equal(memory.blocks, 0);
}

static void put(bry__maplet *maplet, uint64_t from, uint64_t to, uint32_t mask)
{
    for (uint64_t i = from; i < to; i++)
        assert_int_equal(bry__maplet_upsert(maplet, maplet_key(i), (uint32_t)i & mask, NULL, NULL),
                         BRY_OK);
}

/* ---- options ---- */

TEST(test_options)
{
    static const bry__maplet_options wrong[] = {
        {0, 0.01, 8, false},
        {((uint64_t)1 << 40) + 1, 0.01, 8, false},
        {UINT64_MAX, 0.01, 8, false},
        {100, 0.9e-12, 8, false},
        {100, 0.51, 8, false},
        {100, 0, 8, false},
        {100, -0.1, 8, false},
        {100, NAN, 8, false},
        {100, INFINITY, 8, false},
        {100, 0.01, 33, false},
        {(uint64_t)1 << 40, 1e-7, 8, false}, /* fingerprints of more than 62 bits */
        {(uint64_t)1 << 40, 2e-7, 8, true},
    };
    failing_allocator_init(&memory);
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        bry__maplet maplet;
        assert_int_equal(bry__maplet_range(&wrong[i]), 0);
        assert_false(bry__maplet_init(&maplet, &wrong[i], &memory.allocator));
    }
    assert_int_equal(memory.calls, 0);

    bry__maplet_options right = {1000, 1e-3, 32, true};
    assert_int_equal(bry__maplet_range(&right), 1000000);
    right.fixed = false;
    assert_int_equal(bry__maplet_range(&right), 1333334); /* 3/4 of the error */
    right.error = 0.5;
    right.capacity = 1;
    assert_int_equal(bry__maplet_range(&right), BRY__TABLE_MIN_RANGE);
    right.error = 1e-12;
    assert_int_equal(bry__maplet_range(&right), UINT64_C(1333333333334));
    right.capacity = (uint64_t)1 << 40;
    right.error = 0.001;
    assert_int_equal(bry__maplet_range(&right), (((uint64_t)1 << 40) * 4000 + 2) / 3);
}

TEST(test_plan)
{
    static const bry__maplet_options shapes[] = {{20000, 0.01, 0, false},
                                                 {30000, 1e-3, 12, true},
                                                 {100000, 1e-6, 16, false},
                                                 {150000, 1e-3, 1, true}};
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const bry__maplet_options *shape = &shapes[i];
        bry__maplet maplet;
        start(&maplet, shape->capacity, shape->error, shape->value_bits, shape->fixed);
        for (uint64_t j = 0; j < shape->capacity; j++) {
            assert_int_equal(bry__maplet_add(&maplet, maplet_key(j),
                                             (uint32_t)j & ((1u << shape->value_bits) - 1)),
                             BRY_OK);
            assert_int_equal(bry__maplet_bytes(&maplet), memory.now);
        }
        double planned = (double)bry__maplet_plan_bytes(shape, shape->capacity);
        if (fabs(planned - (double)memory.now) > 0.02 * (double)memory.now)
            fail_msg("shape %u: planned %.0f, is %ju", i, planned, (uintmax_t)memory.now);
        finish(&maplet);
    }
}

/* ---- the chain ---- */

/* Fingerprints cannot get longer than 62 bits. */
TEST(test_end_of_the_chain)
{
    bry__maplet maplet;
    start(&maplet, 4000, 1e-12, 8, false);
    maplet.chain.last_shift = (uint8_t)bry__chain_shift(&maplet.chain, 1);
    maplet.chain.tables = 2;
    maplet.chain.last_capacity = 3000; /* or it would be a million */
    uint64_t n = 0;
    while (bry__maplet_add(&maplet, maplet_key(n), 1) == BRY_OK)
        n++;
    assert_int_equal(n, 7000);
    bry_buffer before = maplet_saved(&maplet);
    assert_int_equal(bry__maplet_upsert(&maplet, maplet_key(n), 1, NULL, NULL), BRY_E_FULL);
    assert_int_equal(bry__maplet_open_table(&maplet), BRY_E_FULL);
    maplet_assert_saved(&maplet, &before);
    bry_buffer_free(&before);
    assert_int_equal(bry__maplet_del(&maplet, maplet_key(0)), 1);
    assert_int_equal(bry__maplet_add(&maplet, maplet_key(n), 1), BRY_OK);
    finish(&maplet);
}

/* ---- whole maplets ---- */

static void add_up(void *context, uint32_t value)
{
    *(uint64_t *)context += value;
}

/* The values in the order of a walk. */
static void check_told(const bry__maplet *maplet)
{
    uint64_t told = 0, sum = 0, fingerprint;
    bry__maplet_cursor cursor = {0};
    uint32_t value;
    while (bry__maplet_next(maplet, &cursor, &fingerprint, &value))
        sum += value;
    bry__maplet_tell_values(maplet, add_up, &told);
    assert_int_equal(told, sum);
}

/* Tables of all sizes, so that one, two or many segments of either side become one; with changed
 * values, and slots that are narrow, without a value, or wider than a word. */
TEST(test_merge_uneven)
{
    static const unsigned sizes[] = {0, 1, 300, 500, 1300, 9000}, bits[] = {0, 9, 32};
    uint32_t plus_one[256];
    for (uint32_t i = 0; i < 256; i++)
        plus_one[i] = i + 1;
    for (unsigned turn = 0; turn < 6 * 6 * 3; turn++) {
        unsigned n = sizes[turn % 6], more = sizes[turn / 6 % 6], wide = bits[turn / 36];
        bry__maplet into, from, both;
        start(&into, 20000, wide == 32 ? 1e-9 : 1e-6, wide, false);
        make(&from, 20000, wide == 32 ? 1e-9 : 1e-6, wide, false);
        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(
                bry__maplet_upsert(&into, maplet_key(i), wide ? i & 511 : 0, NULL, NULL), BRY_OK);
        assert_int_equal(bry__maplet_clone(&into, &both, &into.allocator), BRY_OK);
        for (uint64_t i = n / 2; i < n / 2 + more; i++) {
            uint32_t value = wide ? i & 255 : 0;
            assert_int_equal(bry__maplet_upsert(&from, maplet_key(i), value, NULL, NULL), BRY_OK);
            assert_int_equal(
                bry__maplet_upsert(&both, maplet_key(i), value + (wide > 0), NULL, NULL), BRY_OK);
        }
        assert_int_equal(
            bry__maplet_merge(&into, &from, BRY__MERGE_REPLACE, wide ? plus_one : NULL), BRY_OK);
        maplet_check(&into);
        check_told(&into);
        bry_buffer expected = maplet_saved(&both);
        maplet_assert_saved(&into, &expected);
        bry_buffer_free(&expected);
        bry__maplet_free(&both);
        bry__maplet_free(&from);
        finish(&into);
    }
}

static void refuse_merge(bry__maplet *into, const bry__maplet *from, bry_status expected)
{
    bry_buffer before = maplet_saved(into);
    assert_int_equal(bry__maplet_merge(into, from, BRY__MERGE_ALL, NULL), expected);
    assert_int_equal(bry__maplet_merge(into, from, BRY__MERGE_REPLACE, NULL), expected);
    maplet_assert_saved(into, &before);
    bry_buffer_free(&before);
}

TEST(test_merges_refused)
{
    bry__maplet into, from;
    static const bry__maplet_options others[] = {
        {5001, 1e-3, 8, false}, {5000, 2e-3, 8, false}, {5000, 1e-3, 8, true}};
    start(&into, 5000, 1e-3, 8, false);
    put(&into, 0, 4000, 255);
    for (unsigned i = 0; i < 3; i++) {
        make(&from, others[i].capacity, others[i].error, 8, others[i].fixed);
        refuse_merge(&into, &from, BRY_E_MISMATCH);
        bry__maplet_free(&from);
    }
    make(&from, 5000, 1e-3, 9, false); /* wider, though without entries */
    refuse_merge(&into, &from, BRY_E_RANGE);
    assert_int_equal(bry__maplet_merge(&from, &into, BRY__MERGE_ALL, NULL), BRY_OK);
    bry__maplet_free(&from);
    finish(&into);
}
