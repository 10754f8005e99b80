/* The maplet's calls: options, statuses, batches, the chain of tables, merging. tests/model has
 * random programs. */
#include "maplet/maplet.h"

#include "kernel/kernel.h"
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

static bry_hash key(uint64_t number)
{
    generator numbers = {number * 77};
    return generator_hash(&numbers);
}

static void put(bry__maplet *maplet, uint64_t from, uint64_t to, uint32_t mask)
{
    for (uint64_t i = from; i < to; i++)
        assert_int_equal(bry__maplet_upsert(maplet, key(i), (uint32_t)i & mask, NULL, NULL),
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
            assert_int_equal(
                bry__maplet_add(&maplet, key(j), (uint32_t)j & ((1u << shape->value_bits) - 1)),
                BRY_OK);
            assert_int_equal(bry__maplet_bytes(&maplet), memory.now);
        }
        double planned = (double)bry__maplet_plan_bytes(shape, shape->capacity);
        if (fabs(planned - (double)memory.now) > 0.02 * (double)memory.now)
            fail_msg("shape %u: planned %.0f, is %ju", i, planned, (uintmax_t)memory.now);
        finish(&maplet);
    }
}

/* ---- statuses ---- */

TEST(test_full_when_fixed)
{
    bry__maplet maplet;
    start(&maplet, 500, 1e-6, 8, true);
    put(&maplet, 0, 500, 255);
    bry_buffer before = maplet_saved(&maplet);
    bry_answer was = BRY_UNSURE;
    uint32_t old = 12345;
    assert_int_equal(bry__maplet_upsert(&maplet, key(500), 1, &was, &old), BRY_E_FULL);
    assert_int_equal(bry__maplet_add(&maplet, key(3), 1), BRY_E_FULL);
    assert_int_equal(was, BRY_UNSURE);
    assert_int_equal(old, 12345);

    /* A batch is all or nothing. */
    bry_hash hashes[4] = {key(1), key(2), key(777), key(3)};
    uint32_t values[4] = {1, 2, 3, 4};
    uint8_t answers[4] = {9, 9, 9, 9};
    maplet_assert_saved(&maplet, &before);
    assert_int_equal(bry__maplet_upsert_n(&maplet, hashes, values, 4, NULL, answers), BRY_E_FULL);
    assert_true(answers[0] == 9 && answers[1] == 9 && answers[2] == 9);
    maplet_assert_saved(&maplet, &before);
    assert_int_equal(bry__maplet_upsert_n(&maplet, hashes, values, 2, NULL, NULL), BRY_OK);

    assert_int_equal(bry__maplet_upsert(&maplet, key(3), 200, &was, &old), BRY_OK);
    assert_true(was == BRY_PRESENT && old == 3);
    assert_int_equal(bry__maplet_del(&maplet, key(3)), 1);
    assert_int_equal(bry__maplet_add(&maplet, key(1000), 1), BRY_OK);
    assert_int_equal(bry__maplet_add(&maplet, key(1001), 1), BRY_E_FULL);
    assert_int_equal(bry__maplet_open_table(&maplet), BRY_E_FULL);
    bry_buffer_free(&before);
    finish(&maplet);
}

TEST(test_values_too_wide)
{
    for (unsigned bits = 0; bits < 32; bits += 5) {
        bry__maplet maplet;
        start(&maplet, 100, 0.01, bits, false);
        uint32_t most = (1u << bits) - 1;
        assert_int_equal(bry__maplet_upsert(&maplet, key(1), most, NULL, NULL), BRY_OK);
        bry_buffer before = maplet_saved(&maplet);
        bry_answer was = BRY_UNSURE;
        bry_hash hash = key(1);
        uint32_t wide = most + 1;
        assert_int_equal(bry__maplet_upsert(&maplet, hash, wide, &was, NULL), BRY_E_RANGE);
        assert_int_equal(bry__maplet_add(&maplet, hash, wide), BRY_E_RANGE);
        assert_int_equal(bry__maplet_add(&maplet, key(2), UINT32_MAX), BRY_E_RANGE);
        assert_int_equal(bry__maplet_replace(&maplet, hash, most, wide, &was), BRY_E_RANGE);
        assert_int_equal(bry__maplet_replace(&maplet, key(2), most, wide, &was), BRY_E_RANGE);
        assert_int_equal(bry__maplet_upsert_n(&maplet, &hash, &wide, 1, NULL, NULL), BRY_E_RANGE);
        assert_int_equal(was, BRY_UNSURE);
        assert_int_equal(bry__maplet_del_value(&maplet, hash, wide), BRY_ABSENT);
        assert_int_equal(bry__maplet_replace(&maplet, hash, wide, most, &was), BRY_OK);
        assert_int_equal(was, BRY_ABSENT);
        if (bits > 0)
            assert_int_equal(bry__maplet_widen(&maplet, bits - 1), BRY_E_RANGE);
        assert_int_equal(bry__maplet_widen(&maplet, 33), BRY_E_RANGE);
        maplet_assert_saved(&maplet, &before);
        assert_int_equal(bry__maplet_widen(&maplet, bits + 1), BRY_OK);
        assert_int_equal(bry__maplet_upsert(&maplet, hash, wide, &was, NULL), BRY_OK);
        assert_int_equal(was, BRY_PRESENT);
        bry_buffer_free(&before);
        finish(&maplet);
    }
}

/* Segments are rewritten one by one as they get wider values; all answers stay. */
TEST(test_widen_gradually)
{
    bry__maplet maplet;
    start(&maplet, 40000, 1e-9, 4, false);
    put(&maplet, 0, 40000, 15);
    for (unsigned bits = 5; bits <= 32; bits += 9) {
        uint64_t before = memory.now;
        assert_int_equal(bry__maplet_widen(&maplet, bits), BRY_OK);
        assert_int_equal(memory.now, before); /* nothing happens immediately */
        for (uint64_t i = 0; i < 40000; i += 1000) {
            assert_int_equal(
                bry__maplet_upsert(&maplet, key(i), UINT32_MAX >> (32 - bits), NULL, NULL), BRY_OK);
            assert_int_equal(bry__maplet_bytes(&maplet), memory.now);
        }
        for (uint64_t i = 0; i < 40000; i++) {
            uint32_t value = 99;
            assert_int_equal(bry__maplet_get(&maplet, key(i), &value), BRY_PRESENT);
            assert_int_equal(value, i % 1000 ? i & 15 : UINT32_MAX >> (32 - bits));
        }
    }
    finish(&maplet);
}

/* ---- batches ---- */

static void compare_batches(const bry__maplet *maplet, uint64_t keys, size_t n)
{
    enum { ROOM = 3 };
    bry_hash *hashes = malloc((n + 1) * sizeof *hashes);
    uint32_t *values = malloc((n + 1) * sizeof *values);
    uint32_t *all = malloc((n + 1) * ROOM * sizeof *all);
    uint64_t *totals = malloc((n + 1) * sizeof *totals);
    uint8_t *answers = malloc(n + 1), *has = malloc(n + 1);
    assert_true(hashes && values && all && totals && answers && has);
    generator numbers = {n};
    for (size_t i = 0; i < n; i++)
        hashes[i] = key(generator_below(&numbers, keys));
    memset(answers, 77, n + 1);
    memset(has, 77, n + 1);
    memset(all, 0, (n + 1) * ROOM * sizeof *all);
    bry__maplet_get_n(maplet, hashes, n, values, answers);
    bry__maplet_has_n(maplet, hashes, n, has);
    bry__maplet_get_all_n(maplet, hashes, n, all, ROOM, totals);
    for (size_t i = 0; i < n; i++) {
        uint32_t value = 0, single[ROOM] = {0};
        assert_int_equal(bry__maplet_get(maplet, hashes[i], &value), answers[i]);
        assert_int_equal(has[i], answers[i]);
        if (answers[i] == BRY_PRESENT)
            assert_int_equal(value, values[i]);
        assert_int_equal(bry__maplet_get_all(maplet, hashes[i], single, ROOM), totals[i]);
        assert_memory_equal(all + i * ROOM, single, sizeof single);
    }
    assert_true(answers[n] == 77 && has[n] == 77);
    free(hashes);
    free(values);
    free(all);
    free(totals);
    free(answers);
    free(has);
}

TEST(test_batches)
{
    bry__maplet maplet;
    start(&maplet, 100, 0.02, 9, false);
    for (uint64_t n = 0; n < 30000; n += 1 + n) { /* three tables */
        for (uint64_t i = n; i < 2 * n + 1; i++)
            assert_int_equal(bry__maplet_add(&maplet, key(i % 20000), (uint32_t)i & 511), BRY_OK);
        for (uint64_t i = 0; i < 30; i++)
            assert_int_equal(bry__maplet_add(&maplet, key(7), (uint32_t)i), BRY_OK);
        static const size_t sizes[] = {0, 1, 2, 31, 47, 48, 49, 63, 64, 65, 127, 128, 129, 1000};
        for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            compare_batches(&maplet, 2 * n + 10, sizes[i]);
    }
    compare_batches(&maplet, 60000, 20000);
    assert_true(maplet.tables >= 3);
    finish(&maplet);
}

/* The same key several times in one batch equals single calls. */
TEST(test_upserts_in_order)
{
    bry__maplet one, many;
    start(&one, 300, 0.01, 16, false);
    make(&many, 300, 0.01, 16, false);
    enum { N = 4000 };
    static bry_hash hashes[N];
    static uint32_t values[N];
    static uint8_t was[N];
    for (uint32_t i = 0; i < N; i++) {
        hashes[i] = key(i % 1500 == 0 ? 5 : i % 1700);
        values[i] = i;
    }
    assert_int_equal(bry__maplet_upsert_n(&many, hashes, values, N, NULL, was), BRY_OK);
    for (uint32_t i = 0; i < N; i++) {
        bry_answer answer = BRY_UNSURE;
        assert_int_equal(bry__maplet_upsert(&one, hashes[i], values[i], &answer, NULL), BRY_OK);
        assert_int_equal(answer, was[i]);
    }
    assert_int_equal(many.tables, one.tables);
    for (unsigned i = 0; i < one.tables; i++)
        assert_int_equal(many.table[i].n, one.table[i].n);
    assert_int_equal(maplet_sum(&many), maplet_sum(&one));
    bry_buffer bytes = maplet_saved(&one);
    maplet_assert_saved(&many, &bytes);
    bry_buffer_free(&bytes);
    maplet_check(&many);
    bry__maplet_free(&many);
    finish(&one);
}

/* A batch of present keys adds no table, and is accepted by a full fixed maplet. */
TEST(test_upserts_of_known_keys)
{
    enum { N = 300 };
    static bry_hash hashes[N];
    static uint32_t values[N];
    for (uint32_t i = 0; i < N; i++) {
        hashes[i] = key(i);
        values[i] = i;
    }
    for (int fixed = 0; fixed <= 1; fixed++) {
        bry__maplet maplet;
        start(&maplet, N, 1e-6, 16, fixed);
        assert_int_equal(bry__maplet_upsert_n(&maplet, hashes, values, N, NULL, NULL), BRY_OK);
        assert_int_equal(bry__maplet_count(&maplet), N);
        assert_int_equal(bry__maplet_upsert_n(&maplet, hashes, values, N, NULL, NULL), BRY_OK);
        assert_int_equal(maplet.tables, 1);
        finish(&maplet);
    }
}

/* ---- the chain ---- */

TEST(test_past_capacity)
{
    bry__maplet maplet;
    start(&maplet, 500, 0.01, 20, false);
    for (uint64_t i = 0; i < 40000; i++) {
        assert_int_equal(bry__maplet_add(&maplet, key(i), (uint32_t)i), BRY_OK);
        assert_int_equal(bry__maplet_bytes(&maplet), memory.now);
        assert_true(bry__maplet_error_now(&maplet) < 0.01);
    }
    assert_int_equal(maplet.tables, 3); /* of 500 and 32,000, and 7,500 more */
    for (unsigned t = 0; t < 2; t++) {
        assert_int_equal(maplet.table[t].n, UINT64_C(500) << (6 * t));
        assert_int_equal(maplet.table[t].range, maplet.chain.range << (10 * t));
    }
    for (uint64_t i = 0; i < 40000; i++) {
        static uint32_t values[40];
        uint64_t n = bry__maplet_get_all(&maplet, key(i), values, 40);
        bool found = false;
        for (uint64_t j = 0; j < n; j++)
            found = found || values[j] == i;
        assert_true(found);
    }
    assert_int_equal(bry__maplet_foldable(&maplet), 0);
    assert_int_equal(bry__maplet_fold(&maplet, 1000000), BRY_OK);
    assert_int_equal(maplet.tables, 3); /* too many to fold */

    /* Down to the capacity of the first table: then all entries move there, in steps. */
    for (uint64_t i = 0; i < 39600; i++)
        assert_int_equal(bry__maplet_del_value(&maplet, key(i), (uint32_t)i), BRY_PRESENT);
    uint64_t sum = maplet_sum(&maplet);
    while (bry__maplet_foldable(&maplet) > 0) {
        assert_int_equal(bry__maplet_fold(&maplet, 10), BRY_OK);
        assert_int_equal(maplet_sum(&maplet), sum);
        assert_int_equal(bry__maplet_bytes(&maplet), memory.now);
    }
    assert_int_equal(maplet.tables, 1);
    assert_int_equal(maplet.table[0].n, 400);
    for (uint64_t i = 39600; i < 40000; i++)
        assert_int_equal(bry__maplet_del_value(&maplet, key(i), (uint32_t)i), BRY_PRESENT);
    assert_int_equal(bry__maplet_count(&maplet), 0);
    bry__maplet_close_empty(&maplet);
    assert_int_equal(memory.now, 0);
    finish(&maplet);
}

/* Fingerprints cannot get longer than 62 bits. */
TEST(test_end_of_the_chain)
{
    bry__maplet maplet;
    start(&maplet, 4000, 1e-12, 8, false);
    maplet.chain.last_shift = (uint8_t)bry__chain_shift(&maplet.chain, 1);
    maplet.chain.tables = 2;
    maplet.chain.last_capacity = 3000; /* or it would be a million */
    uint64_t n = 0;
    while (bry__maplet_add(&maplet, key(n), 1) == BRY_OK)
        n++;
    assert_int_equal(n, 7000);
    bry_buffer before = maplet_saved(&maplet);
    assert_int_equal(bry__maplet_upsert(&maplet, key(n), 1, NULL, NULL), BRY_E_FULL);
    maplet_assert_saved(&maplet, &before);
    bry_buffer_free(&before);
    assert_int_equal(bry__maplet_del(&maplet, key(0)), 1);
    assert_int_equal(bry__maplet_add(&maplet, key(n), 1), BRY_OK);
    finish(&maplet);
}

/* ---- whole maplets ---- */

TEST(test_clear_and_clone)
{
    bry__maplet maplet, copy;
    start(&maplet, 1000, 0.01, 10, false);
    put(&maplet, 0, 5000, 1023);
    assert_int_equal(bry__maplet_widen(&maplet, 12), BRY_OK);
    bry_buffer before = maplet_saved(&maplet);
    assert_int_equal(bry__maplet_clone(&maplet, &copy, &maplet.allocator), BRY_OK);
    maplet_assert_saved(&copy, &before);
    assert_int_equal(bry__maplet_bytes(&maplet) + bry__maplet_bytes(&copy), memory.now);
    bry__maplet_clear(&maplet);
    assert_int_equal(bry__maplet_count(&maplet), 0);
    assert_int_equal(bry__maplet_bytes(&maplet), 0);
    maplet_assert_saved(&copy, &before);
    uint32_t value;
    assert_int_equal(bry__maplet_get(&maplet, key(1), &value), BRY_ABSENT);
    assert_int_equal(bry__maplet_get(&copy, key(1), &value), BRY_PRESENT);
    assert_int_equal(bry__maplet_add(&maplet, key(1), 4095), BRY_OK); /* still as wide */
    bry_buffer_free(&before);
    bry__maplet_free(&copy);
    finish(&maplet);
}

TEST(test_merge_halves)
{
    bry__maplet all, odd, even;
    start(&all, 8000, 1e-3, 16, false);
    make(&odd, 8000, 1e-3, 16, false);
    make(&even, 8000, 1e-3, 16, false);
    for (uint64_t i = 0; i < 6000; i++) {
        assert_int_equal(bry__maplet_add(&all, key(i), (uint32_t)i), BRY_OK);
        assert_int_equal(bry__maplet_add(i % 2 ? &odd : &even, key(i), (uint32_t)i), BRY_OK);
    }
    for (uint32_t i = 0; i < 100; i++) { /* a crowd in both */
        assert_int_equal(bry__maplet_add(&all, key(1), i), BRY_OK);
        assert_int_equal(bry__maplet_add(i % 2 ? &odd : &even, key(1), i), BRY_OK);
    }
    bry_buffer from = maplet_saved(&even);
    assert_int_equal(bry__maplet_merge(&odd, &even, BRY__MERGE_ALL, NULL), BRY_OK);
    maplet_assert_saved(&even, &from);
    maplet_check(&odd);
    assert_int_equal(bry__maplet_count(&odd), 6100);
    assert_int_equal(maplet_sum(&odd), maplet_sum(&all));
    bry_buffer_free(&from);
    bry__maplet_free(&odd);
    bry__maplet_free(&even);
    finish(&all);
}

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
            assert_int_equal(bry__maplet_upsert(&into, key(i), wide ? i & 511 : 0, NULL, NULL),
                             BRY_OK);
        assert_int_equal(bry__maplet_clone(&into, &both, &into.allocator), BRY_OK);
        for (uint64_t i = n / 2; i < n / 2 + more; i++) {
            uint32_t value = wide ? i & 255 : 0;
            assert_int_equal(bry__maplet_upsert(&from, key(i), value, NULL, NULL), BRY_OK);
            assert_int_equal(bry__maplet_upsert(&both, key(i), value + (wide > 0), NULL, NULL),
                             BRY_OK);
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

/* The merged entries win, as if upserted. */
TEST(test_merge_replacing)
{
    bry__maplet into, from, upserted;
    start(&into, 8000, 1e-6, 16, false);
    make(&from, 8000, 1e-6, 16, false);
    make(&upserted, 8000, 1e-6, 16, false);
    put(&into, 0, 3000, 255);
    put(&upserted, 0, 3000, 255);
    for (uint64_t i = 1500; i < 5000; i++) {
        assert_int_equal(bry__maplet_upsert(&from, key(i), (uint32_t)i, NULL, NULL), BRY_OK);
        assert_int_equal(bry__maplet_upsert(&upserted, key(i), (uint32_t)i, NULL, NULL), BRY_OK);
    }
    assert_int_equal(bry__maplet_merge(&into, &from, BRY__MERGE_REPLACE, NULL), BRY_OK);
    assert_int_equal(bry__maplet_count(&into), bry__maplet_count(&upserted));
    assert_int_equal(maplet_sum(&into), maplet_sum(&upserted));
    bry__maplet_free(&from);
    bry__maplet_free(&upserted);
    finish(&into);
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

    /* Up to the limit of the error, and not one more. */
    make(&from, 5000, 1e-3, 8, false);
    for (uint64_t i = 0; i < 2001; i++)
        assert_int_equal(bry__maplet_add(&from, key(50000 + i), 1), BRY_OK);
    assert_int_equal(bry__maplet_merge(&into, &from, BRY__MERGE_ALL, NULL), BRY_OK);
    assert_int_equal(bry__maplet_merge(&from, &from, BRY__MERGE_ALL, NULL), BRY_OK);
    refuse_merge(&into, &from, BRY_E_FULL);
    assert_int_equal(bry__maplet_count(&into), 6001);
    bry__maplet_clear(&from);
    for (uint64_t i = 0; i < 6666 - bry__maplet_count(&into); i++)
        assert_int_equal(bry__maplet_add(&from, key(90000 + i), 1), BRY_OK);
    assert_int_equal(bry__maplet_merge(&into, &from, BRY__MERGE_ALL, NULL), BRY_OK);
    assert_true(bry__maplet_error_now(&into) <= 1e-3);
    assert_int_equal(bry__maplet_upsert(&into, key(1), 7, NULL, NULL), BRY_OK);
    assert_int_equal(bry__maplet_del(&into, key(1)), 1);
    assert_int_equal(bry__maplet_add(&into, key(1), 1), BRY_OK);
    bry__maplet_free(&from);
    finish(&into);
}

TEST(test_merge_of_fixed)
{
    bry__maplet into, from;
    start(&into, 1000, 1e-3, 8, true);
    make(&from, 1000, 1e-3, 8, true);
    put(&into, 0, 600, 255);
    put(&from, 600, 1001, 255);
    refuse_merge(&into, &from, BRY_E_FULL);
    assert_int_equal(bry__maplet_del(&from, key(1000)), 1);
    assert_int_equal(bry__maplet_merge(&into, &from, BRY__MERGE_ALL, NULL), BRY_OK);
    bry__maplet_free(&from);
    finish(&into);
}

/* ---- instruction sets ---- */

/* Thousands of operations of all kinds on each: the saved bytes are the same. */
TEST(test_instruction_sets_agree)
{
    bry__isa before = bry__kernels()->isa;
    bry_buffer first = BRY_BUFFER;
    for (int isa = 0; isa < BRY__ISA_COUNT; isa++) {
        if (!bry__kernel_force((bry__isa)isa))
            continue;
        bry__maplet maplet;
        start(&maplet, 30000, 1e-4, 13, false);
        generator numbers = {5};
        for (unsigned i = 0; i < 100000; i++) {
            bry_hash hash = key(generator_below(&numbers, 70000));
            uint32_t value = (uint32_t)generator_below(&numbers, 8192);
            bry_answer was;
            switch (generator_below(&numbers, 6)) {
            case 0:
                bry__maplet_del(&maplet, hash);
                break;
            case 1:
                bry__maplet_add(&maplet, hash, value);
                break;
            case 2:
                bry__maplet_replace(&maplet, hash, value, value / 2, &was);
                break;
            case 3:
                bry__maplet_add(&maplet, key(3), value);
                break;
            default:
                bry__maplet_upsert(&maplet, hash, value, &was, NULL);
            }
        }
        maplet_check(&maplet);
        bry_buffer saved = maplet_saved(&maplet);
        if (first.len == 0) {
            first = saved;
        } else {
            assert_int_equal(saved.len, first.len);
            assert_memory_equal(saved.bytes, first.bytes, first.len);
            bry_buffer_free(&saved);
        }
        finish(&maplet);
    }
    bry_buffer_free(&first);
    bry__kernel_force(before);
}
