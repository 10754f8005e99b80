/*
 * The error of the maplet compared with the requested one: absent keys that are found, and keys
 * that share their fingerprint with another. Seeds are fixed.
 */
#include "maplet/maplet.h"

#include "common/allocator.h"
#include "support/band.h"
#include "support/cmocka_all.h"
#include "support/generator.h"

#include <math.h>
#include <stdlib.h>

enum { BATCH = 1000 };

/* Key number i; numbers from different ranges are different keys. */
static bry_hash key(uint64_t i)
{
    return bry_hash_key(42, &i, sizeof i);
}

static void make(bry__maplet *maplet, uint64_t capacity, double error, unsigned value_bits,
                 bool fixed)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__maplet_options options = {capacity, error, value_bits, fixed};
    assert_true(bry__maplet_init(maplet, &options, &allocator));
}

static uint32_t value_of(const bry__maplet *maplet, uint64_t i)
{
    generator mixed = {i};
    unsigned bits = maplet->value_bits;
    return bits ? (uint32_t)generator_next(&mixed) >> (32 - bits) : 0;
}

static void put(bry__maplet *maplet, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        assert_int_equal(bry__maplet_add(maplet, key(i), value_of(maplet, i)), BRY_OK);
}

static void take(bry__maplet *maplet, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        assert_int_equal(bry__maplet_del_value(maplet, key(i), value_of(maplet, i)), BRY_PRESENT);
}

/* The number of n absent keys that are found. */
static uint64_t false_positives(const bry__maplet *maplet, uint64_t n)
{
    static bry_hash hashes[BATCH];
    static uint8_t answers[BATCH];
    uint64_t count = 0;
    for (uint64_t done = 0; done < n; done += BATCH) {
        for (uint64_t i = 0; i < BATCH; i++)
            hashes[i] = key((UINT64_C(1) << 48) + done + i);
        bry__maplet_has_n(maplet, hashes, BATCH, answers);
        for (uint64_t i = 0; i < BATCH; i++)
            count += answers[i];
    }
    return count;
}

/* The number of keys in [from, to), all added once, that find more than their own value. */
static uint64_t collided(const bry__maplet *maplet, uint64_t from, uint64_t to)
{
    uint64_t count = 0;
    for (uint64_t i = from; i < to; i++)
        count += bry__maplet_get_all(maplet, key(i), NULL, 0) > 1;
    return count;
}

/* The expected error. Every table is queried; some keys share a fingerprint, so the rate is a
 * little below n / range. */
static double expected_error(const bry__maplet *maplet)
{
    return -expm1(-bry__maplet_error_now(maplet));
}

/*
 * Both rates have their expected value and are not above the requested error. Keys [from, to) are
 * in it.
 *
 * A collision is one of two keys: with half as many independent events that count double, the
 * deviation is √2 times that of single ones.
 */
static void check_rates(const bry__maplet *maplet, uint64_t from, uint64_t to, uint64_t asked,
                        const char *when)
{
    double error = maplet->chain.error, expected = expected_error(maplet);
    uint64_t found = false_positives(maplet, asked), shared = collided(maplet, from, to);
    double n = (double)(to - from);
    double about = n * expected, sigma = sqrt(2 * about), most = n * error;
    print_message("%-28s n %7ju, error %-7.2g  false positives %.3g of %.3g, collided %.3g\n", when,
                  (uintmax_t)(to - from), error, (double)found / (double)asked, expected,
                  (double)shared / n);
    assert_int_equal(bry__maplet_count(maplet), to - from);
    assert_true(bry__maplet_error_now(maplet) <= error);
    band_assert(found, asked, expected);
    band_assert_at_most(found, asked, error);
    if (fabs((double)shared - about) > BAND_SIGMAS * sigma + 1)
        fail_msg("%s: %ju collided, expected %.1f ± %.1f", when, (uintmax_t)shared, about, sigma);
    assert_true((double)shared <= most + BAND_SIGMAS * sqrt(2 * most));
}

static const struct {
    uint64_t capacity;
    double error;
    unsigned value_bits;
    uint64_t asked; /* enough for a meaningful band at the capacity */
} shapes[] = {
    {20000, 0.1, 8, 100000},   {50000, 0.01, 16, 300000}, {100000, 1e-3, 12, 500000},
    {100000, 1e-3, 0, 500000}, {30000, 1e-3, 32, 500000}, {100000, 4e-4, 1, 800000},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* From a hundredth of the capacity to the capacity, and back to a tenth. */
TEST(test_growing_and_shrinking)
{
    for (unsigned i = 0; i < SHAPES; i++) {
        for (unsigned fixed = 0; fixed < 2; fixed++) {
            bry__maplet maplet;
            uint64_t n = shapes[i].capacity;
            make(&maplet, n, shapes[i].error, shapes[i].value_bits, fixed);
            put(&maplet, 0, n / 100);
            /* Few entries need many more look-ups; done only where that is affordable. */
            if (shapes[i].error >= 0.01)
                check_rates(&maplet, 0, n / 100, 20 * shapes[i].asked, "a hundredth");
            put(&maplet, n / 100, n);
            check_rates(&maplet, 0, n, shapes[i].asked, fixed ? "full, fixed" : "full, growing");
            take(&maplet, 0, n - n / 10);
            check_rates(&maplet, n - n / 10, n, 10 * shapes[i].asked, "back to a tenth");
            bry__maplet_free(&maplet);
        }
    }
}

/* The number of keys that find something when first upserted: half of the final error, because the
 * maplet was empty in the beginning. */
TEST(test_collisions_when_upserting)
{
    for (unsigned i = 0; i < SHAPES; i++) {
        bry__maplet maplet;
        uint64_t n = shapes[i].capacity, found = 0;
        make(&maplet, n, shapes[i].error, shapes[i].value_bits, false);
        double sum = 0;
        for (uint64_t j = 0; j < n; j++) {
            bry_answer was = BRY_UNSURE;
            sum += (double)bry__maplet_count(&maplet) /
                   (double)maplet.chain.range; /* each has its own */
            assert_int_equal(bry__maplet_upsert(&maplet, key(j), value_of(&maplet, j), &was, NULL),
                             BRY_OK);
            found += was == BRY_PRESENT;
        }
        assert_int_equal(bry__maplet_count(&maplet), n - found);
        if (fabs((double)found - sum) > BAND_SIGMAS * sqrt(sum))
            fail_msg("%ju collisions, expected %.1f", (uintmax_t)found, sum);
        bry__maplet_free(&maplet);
    }
}
