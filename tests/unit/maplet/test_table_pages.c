/*
 * Values of one fingerprint, page by page: every value is returned, and no page counts further than
 * one more than fits, so that any number of values is read in linear time.
 */
#include "maplet/table.h"

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"

#include <stdlib.h>

static failing_allocator memory;
static bry__table table;

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Equal values are skipped together: the next page begins above the last value. */
static void expect_pages(uint64_t fingerprint, const uint32_t *sorted, size_t n, size_t room)
{
    uint32_t page[64], from = 0;
    size_t at = 0;
    for (bool more = true; more;) {
        uint64_t total = bry__table_get_from(&table, fingerprint, from, page, room);
        size_t left = n - at;
        assert_int_equal(total, left > room ? room + 1 : left);
        more = total > room;
        assert_memory_equal(page, sorted + at, (more ? room : left) * sizeof *page);
        if (more)
            from = page[room - 1] + 1;
        while (more && at < n && sorted[at] < from)
            at++;
    }
    assert_int_equal(bry__table_get_from(&table, fingerprint, 0, NULL, 0), n > 0);
}

/* n values below `below` of one fingerprint, and others, which let its segment overflow if
 * `spill`. */
static void crowd(size_t n, uint64_t below, bool spill)
{
    static uint32_t values[5000];
    const uint64_t fingerprint = 1 << 14;
    generator numbers = {n + below};
    failing_allocator_init(&memory);
    assert_int_equal(bry__table_init(&table, UINT64_C(1) << 20, 20, &memory.allocator), BRY_OK);
    for (size_t i = 0; i < n || (spill && i < 3000); i++) {
        uint32_t value = (uint32_t)generator_below(&numbers, below);
        /* Multiples of a high power of two stay in one segment, however often it is split. */
        uint64_t other = spill ? i % 4000 << 8 : generator_below(&numbers, 1 << 20);
        if (other != fingerprint)
            assert_int_equal(bry__table_add(&table, other, value, &memory.allocator), BRY_OK);
        if (i >= n)
            continue;
        assert_int_equal(bry__table_add(&table, fingerprint, value, &memory.allocator), BRY_OK);
        values[i] = value;
    }
    assert_int_equal(bry__table_segment(&table, 0)->spilled, spill);
    qsort(values, n, sizeof *values, by_value);
    static const size_t rooms[] = {1, 7, 8, 9, 16, 64};
    for (int i = 0; i < 6; i++)
        expect_pages(fingerprint, values, n, rooms[i]);
    bry__table_free(&table, &memory.allocator);
    assert_int_equal(memory.now, 0);
}

TEST(test_pages)
{
    for (size_t n = 0; n < 40; n++)
        for (int spill = 0; spill < 2; spill++) {
            crowd(n, 1 << 20, spill);
            crowd(n, 5, spill);
        }
    for (int spill = 0; spill < 2; spill++) {
        crowd(5000, 1 << 20, spill);
        crowd(5000, 300, spill);
    }
}
