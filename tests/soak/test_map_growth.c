/* Maps that grow to many times their capacity: growth does not end, and the error is within the
 * promise.
 */
#include "support/band.h"
#include "support/cmocka_all.h"
#include "support/generator.h"

#include <bloomery/map.h>
#include <stdlib.h>

enum { BATCH = 5000, VALUES = 1000 };

static bry_hash key(uint64_t number)
{
    generator numbers = {number * 77 + 1};
    return generator_hash(&numbers);
}

/* Adds keys one by one, in small batches and in large ones. */
static void fill(bry_map *map, uint64_t from, uint64_t n)
{
    static bry_hash hashes[BATCH];
    static bry_map_value values[BATCH];
    for (uint64_t i = 0; i < n; i++) {
        hashes[i] = key(from + i);
        values[i] = bry_map_value_number((from + i) % VALUES);
    }
    uint64_t step = from / BATCH % 3 == 0 ? 1 : from / BATCH % 3 == 1 ? 40 : BATCH;
    for (uint64_t i = 0; i < n; i += step)
        assert_int_equal(
            bry_map_set_n(map, hashes + i, values + i, step < n - i ? step : n - i, NULL), BRY_OK);
}

static void check(const bry_map *map, uint64_t n, double error)
{
    uint64_t wrong = 0, found = 0, asked = 2000000;
    for (uint64_t i = 0; i < asked; i++) {
        uint64_t number = i * (n / asked ? n / asked : 1) % n;
        bry_map_value value;
        assert_int_equal(bry_map_get(map, key(number), &value), BRY_PRESENT);
        wrong += value.number != number % VALUES;
        found += bry_map_get(map, key(number + (UINT64_C(1) << 50)), NULL) == BRY_PRESENT;
    }
    if ((double)asked * error > 100) {
        band_assert_at_most(found, asked, error);
        band_assert_at_most(wrong, asked, error);
    } else { /* 0.002 are expected */
        assert_true(found == 0 && wrong == 0);
    }
}

static void grow(uint64_t capacity, double error, uint64_t n)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    options.engine = BRY_ENGINE_COMPACT;
    options.capacity = capacity;
    options.error = error;
    options.value_bits = 10;
    options.seed = 1;
    bry_map *map = NULL;
    assert_int_equal(bry_map_create(&options, &map), BRY_OK);
    for (uint64_t i = 0; i < n; i += BATCH)
        fill(map, i, BATCH < n - i ? BATCH : n - i);
    check(map, n, error);
    bry_map_destroy(map);
}

TEST(test_a_hundred_to_20_million)
{
    grow(100, 1e-3, 20000000);
}

TEST(test_a_thousand_to_10_million)
{
    grow(1000, 1e-9, 10000000);
}
