/* The overflow list compared with a sorted array. */
#include "maplet/overflow.h"

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"

#include <string.h>

enum { MOST = 6000 };

typedef struct pair_of {
    uint64_t fingerprint;
    uint32_t value;
} pair_of;

typedef struct beside {
    failing_allocator memory;
    generator numbers;
    bry__overflow overflow;
    size_t n;
    pair_of entry[MOST];
} beside;

static beside it;

static int order(pair_of a, pair_of b)
{
    if (a.fingerprint != b.fingerprint)
        return a.fingerprint < b.fingerprint ? -1 : 1;
    return a.value < b.value ? -1 : a.value > b.value;
}

static size_t lower_bound(pair_of entry)
{
    size_t low = 0, high = it.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (order(it.entry[middle], entry) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void start(uint64_t seed)
{
    memset(&it, 0, sizeof it);
    failing_allocator_init(&it.memory);
    it.numbers = (generator){seed};
}

static void note(pair_of entry)
{
    size_t at = lower_bound(entry);
    memmove(it.entry + at + 1, it.entry + at, (it.n - at) * sizeof entry);
    it.entry[at] = entry;
    it.n++;
}

static void insert(pair_of entry)
{
    assert_int_equal(
        bry__overflow_insert(&it.overflow, entry.fingerprint, entry.value, &it.memory.allocator),
        BRY_OK);
    note(entry);
}

/* Entry number i after the position of a found entry. */
static void compare_find(pair_of entry)
{
    size_t at = lower_bound(entry);
    bry__overflow_place place = bry__overflow_find(&it.overflow, entry.fingerprint, entry.value);
    for (size_t i = at; i < it.n && i < at + 3; i++) {
        pair_of here;
        assert_true(bry__overflow_next(&it.overflow, &place, &here.fingerprint, &here.value));
        assert_int_equal(order(here, it.entry[i]), 0);
    }
    pair_of end;
    if (at == it.n)
        assert_false(bry__overflow_next(&it.overflow, &place, &end.fingerprint, &end.value));
}

static void compare_list(const bry__overflow *overflow)
{
    bry__overflow_place place = {0};
    pair_of here;
    for (size_t i = 0; i < it.n; i++) {
        assert_true(bry__overflow_next(overflow, &place, &here.fingerprint, &here.value));
        assert_int_equal(order(here, it.entry[i]), 0);
    }
    assert_false(bry__overflow_next(overflow, &place, &here.fingerprint, &here.value));
    assert_int_equal(bry__overflow_count(overflow), it.n);
    const bry__chunk_list *list = overflow->list;
    for (size_t i = 0; list && i < list->chunks; i++)
        assert_in_range(list->chunk[i]->n, 1, BRY__CHUNK_MAX);
    for (size_t i = 1; list && i < list->chunks; i++) /* otherwise memory would not be freed */
        assert_true(list->chunk[i - 1]->n + list->chunk[i]->n > BRY__CHUNK_MAX / 2);
}

static void compare_all(void)
{
    compare_list(&it.overflow);
    assert_int_equal(bry__overflow_bytes(&it.overflow), it.memory.now);
    if (it.n == 0)
        assert_int_equal(it.memory.blocks, 0);
}

static void remove_at(size_t i)
{
    pair_of entry = it.entry[i];
    bry__overflow_remove(&it.overflow,
                         bry__overflow_find(&it.overflow, entry.fingerprint, entry.value),
                         &it.memory.allocator);
    it.n--;
    memmove(it.entry + i, it.entry + i + 1, (it.n - i) * sizeof entry);
}

static void finish(void)
{
    bry__overflow_free(&it.overflow, &it.memory.allocator);
    assert_int_equal(it.memory.now, 0);
    assert_int_equal(it.memory.blocks, 0);
}

static pair_of some_entry(uint64_t fingerprints, uint64_t values)
{
    uint64_t f = generator_below(&it.numbers, fingerprints);
    if (f % 5 == 0)
        f = UINT64_MAX - f;
    uint32_t v = (uint32_t)generator_below(&it.numbers, values);
    return (pair_of){f, v % 7 ? v : UINT32_MAX - v};
}

TEST(test_random_changes)
{
    static const uint64_t fingerprints[] = {1, 3, 50, 1000, UINT64_C(1) << 62};
    static const uint64_t values[] = {1, 2, 300, UINT32_MAX};
    for (unsigned shape = 0; shape < 20; shape++) {
        start(shape);
        bool grows = true;
        size_t most = shape % 3 ? 1500 : MOST - 1;
        for (unsigned i = 0; i < 4 * most; i++) {
            if (it.n == most || it.n == 0)
                grows = it.n == 0;
            if (it.n > 0 && (generator_below(&it.numbers, 4) == 0) == grows)
                remove_at((size_t)generator_below(&it.numbers, it.n));
            else if (it.n < most)
                insert(some_entry(fingerprints[shape % 5], values[shape / 5]));
            compare_find(some_entry(fingerprints[shape % 5], values[shape / 5]));
            if (i % 256 == 0)
                compare_all();
        }
        compare_all();
        while (it.n > 0) {
            remove_at((size_t)generator_below(&it.numbers, it.n));
            if (it.n % 64 == 0)
                compare_all();
        }
        finish();
    }
}

/* In ascending and descending order, and from both ends: splits at the ends of chunks. */
TEST(test_in_order)
{
    for (unsigned way = 0; way < 6; way++) {
        start(way);
        for (uint32_t i = 0; i < 3000; i++) {
            uint32_t at = way % 3 == 0 ? i : way % 3 == 1 ? 9999 - i : i % 2 ? i : 9999 - i;
            insert(way < 3 ? (pair_of){7, at} : (pair_of){at, 7});
            if (i % 100 == 0)
                compare_all();
        }
        compare_all();
        while (it.n > 0) {
            remove_at(way % 2 ? it.n - 1 : 0);
            if (it.n % 100 == 0)
                compare_all();
        }
        finish();
    }
}

TEST(test_empty)
{
    start(0);
    compare_all();
    compare_find((pair_of){0, 0});
    bry__overflow copy;
    assert_int_equal(bry__overflow_clone(&it.overflow, &copy, &it.memory.allocator), BRY_OK);
    assert_null(copy.list);
    bry__overflow_free(&copy, &it.memory.allocator);
    finish();
}

TEST(test_clone)
{
    start(3);
    for (unsigned i = 0; i < 2000; i++) {
        insert(some_entry(100, 1000));
        if (i % 400 != 17)
            continue;
        uint64_t before = it.memory.now;
        bry__overflow copy = {NULL};
        for (it.memory.fail_at = 1;; it.memory.fail_at++) {
            failing_allocator_restart(&it.memory);
            if (bry__overflow_clone(&it.overflow, &copy, &it.memory.allocator) == BRY_OK)
                break;
            assert_int_equal(it.memory.now, before);
            assert_null(copy.list);
        }
        assert_int_equal(it.memory.fail_at, it.overflow.list->chunks + 2);
        it.memory.fail_at = 0;
        compare_list(&copy);
        assert_int_equal(it.memory.now, before + bry__overflow_bytes(&copy));
        bry__overflow_free(&copy, &it.memory.allocator);
        compare_all();
    }
    finish();
}

TEST(test_without_memory)
{
    start(4);
    unsigned refused = 0;
    while (it.n < 3000) {
        pair_of entry = some_entry(UINT64_C(1) << 40, 100);
        for (it.memory.fail_at = 1;; it.memory.fail_at++) {
            failing_allocator_restart(&it.memory);
            bry_status status = bry__overflow_insert(&it.overflow, entry.fingerprint, entry.value,
                                                     &it.memory.allocator);
            if (status == BRY_OK)
                break;
            assert_int_equal(status, BRY_E_NOMEM);
            compare_all();
            refused++;
        }
        it.memory.fail_at = 0;
        note(entry);
    }
    compare_all();
    assert_true(refused > 10);
    finish();
}
