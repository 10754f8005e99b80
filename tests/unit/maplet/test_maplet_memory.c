/*
 * Out of memory: for every kind of operation, each of its allocations fails in turn. Either it
 * returns BRY_E_NOMEM and the entries are unchanged, or it succeeds nevertheless.
 */
#include "maplet/maplet.h"

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"
#include "support/maplet_entries.h"

static failing_allocator memory;
static bry__maplet maplet;

static bry_hash key(uint64_t number)
{
    generator numbers = {number * 77};
    return generator_hash(&numbers);
}

static void make(bry__maplet *it, uint64_t capacity)
{
    bry__maplet_options options = {capacity, 1e-4, 8, false};
    assert_true(bry__maplet_init(it, &options, &memory.allocator));
}

static void put(bry__maplet *it, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        assert_int_equal(bry__maplet_add(it, key(i), (uint32_t)i & 255), BRY_OK);
}

static void start(uint64_t capacity, uint64_t n)
{
    failing_allocator_init(&memory);
    make(&maplet, capacity);
    put(&maplet, 0, n);
}

static void finish(void)
{
    maplet_check(&maplet);
    assert_int_equal(bry__maplet_bytes(&maplet), memory.now);
    bry__maplet_free(&maplet);
    assert_int_equal(memory.now, 0);
    assert_int_equal(memory.blocks, 0);
}

/* The input of an operation; anything besides the maplet is static. */
typedef struct trial {
    uint64_t number;
    bool finished; /* of operations in steps: this was the last one */
} trial;
typedef bry_status operation(trial *given);

/* Fails allocation 1, 2, … of the operation until it has fewer. Returns the number of failures.
 * With `steps` a part may have been done. */
static unsigned refuse_in_turn(operation *run, uint64_t number, bool steps)
{
    unsigned refused = 0;
    for (memory.fail_at = 1;; memory.fail_at++) {
        uint64_t n = bry__maplet_count(&maplet), sum = maplet_sum(&maplet);
        unsigned tables = maplet.tables;
        trial given = {number, true};
        failing_allocator_restart(&memory);
        bry_status status = run(&given);
        bool failed = memory.calls >= memory.fail_at;
        if (status != BRY_OK) {
            assert_int_equal(status, BRY_E_NOMEM);
            assert_true(failed);
            assert_int_equal(maplet_sum(&maplet), sum);
            if (!steps) {
                assert_int_equal(bry__maplet_count(&maplet), n);
                assert_int_equal(maplet.tables, tables);
            }
            refused++;
        }
        assert_int_equal(bry__maplet_bytes(&maplet), memory.now);
        maplet_check(&maplet);
        if (status == BRY_OK && given.finished)
            break;
    }
    memory.fail_at = 0;
    return refused;
}

/* ---- one key ---- */

static bry_status insert(trial *given)
{
    return bry__maplet_add(&maplet, key(given->number), (uint32_t)given->number & 255);
}

static bry_status upsert(trial *given)
{
    bry_answer was = BRY_UNSURE;
    uint32_t old = 4711;
    bry_status status = bry__maplet_upsert(&maplet, key(given->number),
                                           (uint32_t)given->number * 7 & 255, &was, &old);
    assert_int_equal(status == BRY_OK, was != BRY_UNSURE);
    assert_int_equal(old != 4711, was == BRY_PRESENT);
    return status;
}

static bry_status insert_crowd(trial *given)
{
    return bry__maplet_add(&maplet, key(1), (uint32_t)(given->number * 7 & 255));
}

static bry_status insert_wider(trial *given)
{
    return bry__maplet_add(&maplet, key(given->number), 256 + (uint32_t)given->number);
}

static bry_status replace(trial *given)
{
    bry_answer was = BRY_UNSURE;
    uint32_t from = 0;
    assert_int_equal(bry__maplet_get(&maplet, key(given->number), &from), BRY_PRESENT);
    bry_status status =
        bry__maplet_replace(&maplet, key(given->number), from, (from + 77) & 255, &was);
    assert_int_equal(status == BRY_OK, was == BRY_PRESENT);
    return status;
}

/* Growth of segments, of the directory, of the chain. */
TEST(test_insert)
{
    start(1000, 0);
    unsigned refused = 0;
    for (uint64_t i = 0; i < 2500; i++)
        refused += refuse_in_turn(insert, i, false);
    assert_int_equal(bry__maplet_count(&maplet), 2500);
    assert_int_equal(maplet.tables, 2);
    assert_true(refused > 100);
    finish();
}

TEST(test_upsert)
{
    start(600, 0);
    unsigned refused = 0;
    for (uint64_t i = 0; i < 1500; i++)
        refused += refuse_in_turn(upsert, i % 900, false);
    assert_true(refused > 50);
    finish();
}

TEST(test_crowd)
{
    start(5000, 500);
    unsigned refused = 0;
    for (uint64_t i = 0; i < 1200; i++)
        refused += refuse_in_turn(insert_crowd, i, false);
    assert_true(refused > 5 && bry__overflow_count(&maplet.table[0].overflow) > 1000);
    for (uint64_t i = 0; i < 200; i++)
        refuse_in_turn(replace, 1, false);
    finish();
}

TEST(test_widening)
{
    start(5000, 4000);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(bry__maplet_add(&maplet, key(1), i), BRY_OK);
    assert_int_equal(bry__maplet_widen(&maplet, 20), BRY_OK);
    unsigned refused = 0;
    for (uint64_t i = 0; i < 100; i++)
        refused += refuse_in_turn(insert_wider, i, false);
    assert_true(refused >= 10);
    finish();
}

/* Removing frees memory if it can, and succeeds if it cannot. */
TEST(test_remove)
{
    start(1000, 6000);
    memory.fail_at = 1;
    memory.keep_failing = true;
    for (uint64_t i = 0; i < 6000; i++) {
        failing_allocator_restart(&memory);
        if (i % 2)
            assert_true(bry__maplet_del(&maplet, key(i)) >= 1);
        else
            assert_int_equal(bry__maplet_del_value(&maplet, key(i), (uint32_t)i & 255),
                             BRY_PRESENT);
        if (i % 100 == 0)
            maplet_check(&maplet);
        assert_int_equal(bry__maplet_bytes(&maplet), memory.now);
    }
    memory.fail_at = 0;
    memory.keep_failing = false;
    finish();
}

enum { BATCH_SIZE = 600 }; /* sorted, or key by key if memory is short */
static bry_hash hashes[BATCH_SIZE];
static uint32_t values[BATCH_SIZE];

static bry_status upsert_n(trial *given)
{
    uint64_t before = bry__maplet_count(&maplet), sum = maplet_sum(&maplet);
    uint8_t was[BATCH_SIZE] = {0};
    unsigned tables = maplet.tables;
    (void)given;
    bry_status status = bry__maplet_upsert_n(&maplet, hashes, values, BATCH_SIZE, NULL, was);
    for (size_t i = 0; i < BATCH_SIZE && status == BRY_OK; i++) {
        uint32_t value = 0;
        assert_int_equal(bry__maplet_get(&maplet, hashes[i], &value), BRY_PRESENT);
    }
    if (status != BRY_OK) { /* all or nothing */
        assert_int_equal(bry__maplet_count(&maplet), before);
        assert_int_equal(maplet_sum(&maplet), sum);
        assert_int_equal(maplet.tables, tables);
        assert_int_equal(was[0], 0);
    }
    return status;
}

/* Batches of all sizes relative to what is there; each allocation fails once. */
static void fail_batches(bry_status (*change)(trial *given), bool keep_failing)
{
    for (unsigned round = 0; round < 3; round++) {
        start(200, round * 190); /* round 2: the batch fills the first table and a second */
        for (unsigned i = 0; i < BATCH_SIZE; i++) {
            hashes[i] = key(i % 7 == 0 ? i : 1000 * round + i);
            values[i] = i & 255;
        }
        unsigned refused = 0;
        for (memory.fail_at = 1;; memory.fail_at++) {
            failing_allocator_restart(&memory);
            memory.keep_failing = keep_failing;
            trial given = {0, true};
            bry_status status = change(&given);
            maplet_check(&maplet);
            assert_int_equal(bry__maplet_bytes(&maplet), memory.now);
            if (status == BRY_OK)
                break;
            assert_int_equal(status, BRY_E_NOMEM);
            refused++;
        }
        memory.fail_at = 0;
        memory.keep_failing = false;
        assert_true(refused > 0 || !keep_failing);
        finish();
    }
}

TEST(test_upsert_n)
{
    fail_batches(upsert_n, false);
    fail_batches(upsert_n, true);
}

/* ---- all entries ---- */

static uint32_t wider(void *context, uint32_t value)
{
    (void)context;
    return value * 16 + 3;
}

static bry_status remap(trial *given)
{
    (void)given;
    return bry__maplet_remap(&maplet, wider, NULL);
}

TEST(test_remap)
{
    for (unsigned kind = 0; kind < 4; kind++) { /* a chain, an overflow, both, neither */
        start(kind % 2 ? 500 : 5000, 1400);
        for (uint32_t i = 0; i < (kind / 2 ? 600u : 0); i++)
            assert_int_equal(bry__maplet_add(&maplet, key(1), i & 255), BRY_OK);
        assert_int_equal(bry__maplet_widen(&maplet, 12), BRY_OK);
        assert_true(refuse_in_turn(remap, 0, false) >= 3);
        finish();
    }
}

static bry_status fold(trial *given)
{
    bry_status status = bry__maplet_fold(&maplet, 30);
    given->finished = bry__maplet_foldable(&maplet) == 0;
    return status;
}

TEST(test_fold)
{
    start(500, 1500);
    for (uint64_t i = 0; i < 1050; i++)
        assert_int_equal(bry__maplet_del_value(&maplet, key(i), (uint32_t)i & 255), BRY_PRESENT);
    assert_int_equal(maplet.tables, 2);
    assert_true(refuse_in_turn(fold, 0, true) > 0);
    assert_int_equal(maplet.tables, 1);
    assert_int_equal(bry__maplet_count(&maplet), 450);
    finish();
}

/* ---- whole maplets ---- */

static bry__maplet other;

static bry_status clone(trial *given)
{
    (void)given;
    bry__maplet made;
    bry_status status = bry__maplet_clone(&maplet, &made, &maplet.allocator);
    if (status == BRY_OK) {
        assert_int_equal(maplet_sum(&made), maplet_sum(&maplet));
        bry__maplet_free(&made);
    }
    return status;
}

static bry_status load(trial *given)
{
    (void)given;
    bry_buffer saved = maplet_saved(&maplet);
    bry_view view = {saved.bytes, saved.len, 0};
    bry_source source = bry_view_source(&view);
    bry_load how = BRY_LOAD;
    how.allocator = &memory.allocator;
    bry__maplet made;
    bry_status status = bry__maplet_load(&made, &source, &how);
    if (status == BRY_OK) {
        maplet_assert_saved(&made, &saved);
        assert_int_equal(maplet_sum(&made), maplet_sum(&maplet));
        bry__maplet_free(&made);
    } else {
        assert_non_null(how.problem);
    }
    bry_buffer_free(&saved);
    return status;
}

static bry_status clear(trial *given)
{
    (void)given;
    bry__maplet_clear(&maplet);
    return BRY_OK;
}

TEST(test_making)
{
    start(400, 1500);
    for (uint32_t i = 0; i < 700; i++)
        assert_int_equal(bry__maplet_add(&maplet, key(1), i & 255), BRY_OK);
    assert_true(refuse_in_turn(clone, 0, false) > 5);
    assert_true(refuse_in_turn(load, 0, false) > 5);
    assert_int_equal(refuse_in_turn(clear, 0, false), 0);
    assert_int_equal(bry__maplet_count(&maplet), 0);
    finish();
}

TEST(test_merge)
{
    for (unsigned mode = 0; mode < 2; mode++) {
        failing_allocator_init(&memory);
        make(&maplet, 1000);
        make(&other, 1000);
        put(&maplet, 0, 300);
        put(&other, 100, 1300); /* two tables */
        uint64_t count = bry__maplet_count(&maplet), sum = maplet_sum(&maplet);
        uint64_t from = maplet_sum(&other);
        unsigned refused = 0;
        bry_status status;
        for (memory.fail_at = 1;; memory.fail_at++) {
            failing_allocator_restart(&memory);
            status = bry__maplet_merge(&maplet, &other, mode ? BRY__MERGE_REPLACE : BRY__MERGE_ALL,
                                       NULL);
            assert_int_equal(maplet_sum(&other), from);
            assert_int_equal(bry__maplet_bytes(&maplet) + bry__maplet_bytes(&other), memory.now);
            if (status == BRY_OK)
                break;
            assert_int_equal(status, BRY_E_NOMEM);
            assert_int_equal(bry__maplet_count(&maplet), count);
            assert_int_equal(maplet_sum(&maplet), sum);
            refused++;
        }
        memory.fail_at = 0;
        assert_true(refused > 10);
        assert_int_equal(bry__maplet_count(&maplet), mode ? 1300 : 1500);
        bry__maplet_free(&other);
        finish();
    }
}
