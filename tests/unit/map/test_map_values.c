/* Long values that are added and removed: unused values do not accumulate. */
#include "support/job_calls.h"
#include "support/map_helpers.h"

#include <stdlib.h>

enum { LONG = 60000, LONG_VALUES = 400 };

/* Value number i in LONG bytes, valid until the next call. */
static bry_map_value long_value(uint64_t i)
{
    static unsigned char bytes[LONG];
    generator numbers = {i + 1};
    for (size_t at = 0; at + 8 <= LONG; at += 8) {
        uint64_t word = generator_next(&numbers);
        memcpy(bytes + at, &word, 8);
    }
    return bry_map_value_bytes(bytes, LONG);
}

static bry_map *make_small(bry_engine engine, failing_allocator *memory)
{
    failing_allocator_init(memory);
    return make((bry_map_options){
        .engine = engine, .capacity = 1000, .error = 1e-9, .allocator = &memory->allocator});
}

static void finish(bry_map *map, const failing_allocator *memory)
{
    assert_int_equal(stats_of(map).bytes, memory->now);
    bry_map_destroy(map);
    assert_int_equal(memory->now, 0);
    assert_int_equal(memory->blocks, 0);
}

static void del(bry_map *map, uint64_t i)
{
    bry_answer was = BRY_ABSENT;
    assert_int_equal(bry_map_del(map, key(i), &was), BRY_OK);
    assert_int_equal(was, BRY_PRESENT);
}

/* ---- compact ---- */

/* At most about half of the stored values are unused. */
static void assert_few_unused(const bry_map *map, uint64_t in_use)
{
    uint64_t values = stats_of(map).values;
    assert_in_range(values - in_use, 0, values / 2 + 1);
}

/* One key after another gets a new value, `keys` of them in turn. */
static void replace_in_turn(uint64_t keys)
{
    failing_allocator memory;
    bry_map *map = make_small(BRY_ENGINE_COMPACT, &memory);
    for (uint64_t i = 0; i < LONG_VALUES; i++) {
        set(map, key(i % keys), long_value(i));
        assert_few_unused(map, i < keys ? i + 1 : keys);
    }
    for (uint64_t i = LONG_VALUES - keys; i < LONG_VALUES; i++)
        assert_true(has(map, key(i % keys), long_value(i)));
    assert_int_equal(bry_map_compress(map, 0), BRY_OK);
    assert_int_equal(stats_of(map).values, keys);
    finish(map, &memory);
}

TEST(test_replaced)
{
    replace_in_turn(1);
    replace_in_turn(2);
    replace_in_turn(17);
}

/* Keys are deleted, or all get the same short value: memory shrinks accordingly. */
TEST(test_taken_from_all)
{
    for (int shared = 0; shared < 2; shared++) {
        failing_allocator memory;
        bry_map *map = make_small(BRY_ENGINE_COMPACT, &memory);
        for (uint64_t i = 0; i < LONG_VALUES; i++)
            set(map, key(i), long_value(i));
        for (uint64_t i = 0; i < LONG_VALUES; i++) {
            if (shared)
                set(map, key(i), text("short"));
            else
                del(map, i);
            uint64_t left = LONG_VALUES - i - 1;
            assert_few_unused(map, shared ? left + 1 : left);
            if (left > 0 && i % 20 == 0)
                assert_true(has(map, key(i + 1), long_value(i + 1)));
        }
        assert_true(memory.now < 5 * LONG);
        finish(map, &memory);
    }
}

/* Few values of many keys stay, and stay correct, however often keys change. */
TEST(test_shared)
{
    enum { KEYS = 3000, SHARED = 5 };
    failing_allocator memory;
    bry_map *map = make_small(BRY_ENGINE_COMPACT, &memory);
    generator numbers = {3};
    unsigned char now[KEYS] = {0};
    for (uint64_t i = 0; i < KEYS; i++)
        set(map, key(i), long_value(0));
    for (unsigned i = 0; i < 3 * KEYS; i++) {
        uint64_t k = generator_below(&numbers, KEYS);
        now[k] = (unsigned char)generator_below(&numbers, SHARED);
        set(map, key(k), long_value(now[k]));
    }
    assert_int_equal(stats_of(map).values, SHARED);
    for (uint64_t i = 0; i < KEYS; i += 7)
        assert_true(has(map, key(i), long_value(now[i])));
    finish(map, &memory);
}

enum { VALUES = 10 };

/* Half of the values have gone. */
static bry_map *make_half(failing_allocator *memory)
{
    bry_map *map = make_small(BRY_ENGINE_COMPACT, memory);
    for (uint64_t i = 0; i < VALUES; i++)
        set(map, key(i), long_value(i));
    for (uint64_t i = 0; i < VALUES / 2; i++)
        set(map, key(i), long_value(VALUES - 1));
    assert_int_equal(stats_of(map).values, VALUES / 2);
    return map;
}

/* A value that is refused changes nothing. */
TEST(test_refused)
{
    enum { BATCH = 100 }; /* more than fit on the stack */
    static const unsigned char bytes[BRY_MAP_VALUE_MAX + 1];
    bry_map_value too_long = bry_map_value_bytes(bytes, sizeof bytes), values[BATCH];
    bry_hash hashes[BATCH];
    failing_allocator memory;
    bry_map *map = make_half(&memory);
    bry_buffer before = job_saved(BRY_JOB_MAP, map);
    for (uint64_t i = 0; i < BATCH; i++) {
        hashes[i] = key(i);
        values[i] = i == BATCH - 1 ? too_long : text("short");
    }
    assert_int_equal(bry_map_set(map, key(1), too_long, NULL), BRY_E_TOOLONG);
    job_assert_saved(BRY_JOB_MAP, map, &before);
    assert_int_equal(bry_map_update(map, key(1), too_long, NULL), BRY_E_TOOLONG);
    job_assert_saved(BRY_JOB_MAP, map, &before);
    assert_int_equal(bry_map_add(map, key(100), too_long), BRY_E_TOOLONG);
    job_assert_saved(BRY_JOB_MAP, map, &before);
    for (size_t n = 2; n <= BATCH; n += BATCH - 2) {
        const bry_map_value *last = values + BATCH - n;
        assert_int_equal(bry_map_set_n(map, hashes, last, n, NULL), BRY_E_TOOLONG);
        job_assert_saved(BRY_JOB_MAP, map, &before);
        assert_int_equal(bry_map_add_n(map, hashes, last, n), BRY_E_TOOLONG);
        job_assert_saved(BRY_JOB_MAP, map, &before);
    }
    bry_buffer_free(&before);
    set(map, key(1), text("short"));
    assert_int_equal(stats_of(map).values, VALUES / 2 + 1);
    finish(map, &memory);
}

/* Values are removed without allocations. */
TEST(test_goes_without_memory)
{
    failing_allocator memory;
    bry_map *map = make_small(BRY_ENGINE_COMPACT, &memory);
    for (uint64_t i = 0; i < VALUES; i++)
        set(map, key(i), long_value(i));
    failing_allocator_restart(&memory);
    memory.fail_at = 1;
    memory.keep_failing = true;
    bry_map_value known = long_value(VALUES - 1);
    for (uint64_t i = 0; i < VALUES - 1; i++) {
        if (i % 2)
            set(map, key(i), known);
        else
            del(map, i);
        assert_int_equal(stats_of(map).values, VALUES - 1 - i);
    }
    memory.fail_at = 0;
    memory.keep_failing = false;
    assert_true(memory.now < 4 * LONG);
    finish(map, &memory);
}

/* A batch may set the same key to two new values. */
TEST(test_new_value_is_replaced)
{
    enum { BATCH = 40000 };
    bry_hash *hashes = malloc(BATCH * sizeof *hashes);
    bry_map_value *values = malloc(BATCH * sizeof *values);
    uint32_t *bytes = malloc(BATCH * sizeof *bytes);
    for (uint32_t i = 0; i < BATCH; i++) {
        bytes[i] = i;
        hashes[i] = key(i % 3);
        values[i] = bry_map_value_bytes(&bytes[i], sizeof bytes[i]);
    }
    failing_allocator memory;
    bry_map *map = make_small(BRY_ENGINE_COMPACT, &memory);
    assert_int_equal(bry_map_set_n(map, hashes, values, BATCH, NULL), BRY_OK);
    assert_int_equal(stats_of(map).values, 3);
    for (uint32_t i = BATCH - 3; i < BATCH; i++)
        assert_true(has(map, hashes[i], values[i]));
    finish(map, &memory);
    free(bytes);
    free(values);
    free(hashes);
}

/* ---- kbf ---- */

/* The last deletion frees the values if they take much memory or many codes. */
TEST(test_emptied)
{
    for (int by_pair = 0; by_pair < 2; by_pair++) {
        failing_allocator memory;
        bry_map *map = make_small(BRY_ENGINE_KBF, &memory);
        uint64_t empty = stats_of(map).bytes_values;
        for (uint64_t i = 0; i < 20; i++)
            set(map, key(i), long_value(i));
        uint64_t full = memory.now;
        assert_true(full > 20 * LONG);
        for (uint64_t i = 0; i < 20; i++) {
            assert_int_equal(stats_of(map).values, 20);
            if (by_pair)
                assert_int_equal(bry_map_del_pair(map, key(i), long_value(i), NULL), BRY_OK);
            else
                del(map, i);
        }
        assert_int_equal(stats_of(map).values, 0);
        assert_int_equal(stats_of(map).bytes_values, empty);
        assert_true(memory.now < full - 20 * LONG);
        set(map, key(3), long_value(3));
        assert_true(has(map, key(3), long_value(3)));
        finish(map, &memory);
    }
}

/* A map that is sometimes empty never runs out of codes, even if it is not empty when they would
 * run out. */
TEST(test_emptied_before_codes_run_out)
{
    failing_allocator memory;
    bry_map *map = make_small(BRY_ENGINE_KBF, &memory);
    for (uint64_t i = 0; i < 20000; i += 100) {
        set_many(map, i, 100, UINT64_MAX);
        for (uint64_t j = i; j < i + 100; j++)
            del(map, j);
        set(map, key(i), numbered(0)); /* there when the next ones come */
        set(map, key(i + 100), numbered(i + 100));
        del(map, i);
        del(map, i + 100);
    }
    assert_int_equal(stats_of(map).refused_full, 0);
    finish(map, &memory);
}

/* Few short values stay, so that maps of the same options can be merged after one was empty;
 * compressing an empty map removes them. */
TEST(test_emptied_keeps_few)
{
    failing_allocator memory;
    bry_map *map = make_small(BRY_ENGINE_KBF, &memory), *like = NULL;
    set_many(map, 0, 100, 10);
    assert_int_equal(bry_map_create_like(map, NULL, &like), BRY_OK);
    set(like, key(1000), text("value 7"));
    del(like, 1000);
    set(like, key(1001), text("value 9"));
    assert_int_equal(bry_map_merge(map, like), BRY_OK);
    assert_true(has(map, key(1001), text("value 9")));

    assert_int_equal(bry_map_compress(like, 0), BRY_OK);
    assert_int_equal(stats_of(like).values, 10);
    del(like, 1001);
    assert_int_equal(stats_of(like).values, 10);
    assert_int_equal(bry_map_compress(like, 0), BRY_OK);
    assert_int_equal(stats_of(like).values, 0);
    bry_map_destroy(like);
    finish(map, &memory);
}

/* Deleting an absent key from an empty map removes no value. */
TEST(test_empty_stays)
{
    failing_allocator memory;
    bry_map *map = make_small(BRY_ENGINE_KBF, &memory), *like = NULL;
    for (uint64_t i = 0; i < 3; i++)
        set(map, key(i), long_value(i));
    assert_int_equal(bry_map_create_like(map, NULL, &like), BRY_OK);
    assert_int_equal(bry_map_del(like, key(1), NULL), BRY_OK);
    assert_int_equal(stats_of(like).values, 3);
    bry_map_destroy(like);
    finish(map, &memory);
}
