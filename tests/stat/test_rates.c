/*
 * Measured errors of filters compared with plan and stats. Seeds are fixed: the bands say how close
 * the numbers must be, not how often a test may fail.
 */
#include "bloom/bloom_standard.h"
#include "common/allocator.h"
#include "common/sizing.h"
#include "support/band.h"
#include "support/cmocka_all.h"
#include "support/generator.h"

#include <bloomery/filter.h>
#include <math.h>
#include <stdlib.h>

enum { BATCH = 1000 };

/* The hash of key number i; numbers from different ranges are different keys. */
static bry_hash key(uint64_t seed, uint64_t i)
{
    return bry_hash_key(seed, &i, sizeof i);
}

static bry_filter *filled(bry_filter_options options, uint64_t seed)
{
    bry_filter *filter = NULL;
    options.struct_size = sizeof options;
    options.seed = seed;
    assert_int_equal(bry_filter_create(&options, &filter), BRY_OK);
    bry_hash hashes[BATCH];
    for (uint64_t done = 0; done < options.capacity; done += BATCH) {
        size_t here = options.capacity - done < BATCH ? (size_t)(options.capacity - done) : BATCH;
        for (size_t i = 0; i < here; i++)
            hashes[i] = key(seed, done + i);
        assert_int_equal(bry_filter_add_n(filter, hashes, here, NULL), BRY_OK);
    }
    return filter;
}

/* The number of n absent keys that are reported as present. */
static uint64_t false_positives(const bry_filter *filter, uint64_t n)
{
    uint64_t seed = bry_filter_seed(filter), count = 0;
    bry_hash hashes[BATCH];
    uint8_t answers[BATCH];
    for (uint64_t done = 0; done < n; done += BATCH) {
        size_t here = n - done < BATCH ? (size_t)(n - done) : BATCH;
        for (size_t i = 0; i < here; i++)
            hashes[i] = key(seed, (UINT64_C(1) << 48) + done + i);
        bry_filter_has_n(filter, hashes, here, answers);
        for (size_t i = 0; i < here; i++)
            count += answers[i];
    }
    return count;
}

static const struct {
    bry_filter_options options;
    unsigned filters;
    uint64_t asked; /* absent keys per filter */
} shapes[] = {
    {{.capacity = 1000, .error = 0.5}, 40, 2000},
    {{.capacity = 1000, .error = 0.01}, 100, 2000},
    {{.capacity = 100, .error = 0.05}, 200, 500},
    {{.capacity = 50000, .error = 0.1}, 10, 10000},
    {{.capacity = 100000, .error = 0.01}, 10, 50000},
    {{.capacity = 50000, .error = 0.001}, 10, 100000},
    {{.capacity = 20000, .error = 1e-4}, 10, 200000},
    /* Shapes that no plan gives: k from one to beyond the first three words of the hash. */
    {{.capacity = 5000, .bloom.bits = 512 * 100, .bloom.hashes = 1}, 20, 5000},
    {{.capacity = 5000, .bloom.bits = 512 * 100, .bloom.hashes = 3}, 20, 5000},
    {{.capacity = 5000, .bloom.bits = 512 * 100, .bloom.hashes = 8}, 20, 20000},
    {{.capacity = 5000, .bloom.bits = 512 * 100, .bloom.hashes = 15}, 20, 20000},
    {{.capacity = 5000, .bloom.bits = 512 * 100, .bloom.hashes = 21}, 20, 20000},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* Over filters of many seeds: what is observed is what was planned. */
TEST(test_observed_error_is_the_planned_one)
{
    for (int s = 0; s < SHAPES; s++) {
        bry_filter_options options = shapes[s].options;
        options.struct_size = sizeof options;
        options.engine = BRY_ENGINE_BLOOM;
        bry_filter_shape shape = {0};
        assert_int_equal(bry_filter_plan(&options, &shape), BRY_OK);
        uint64_t observed = 0, trials = 0;
        band_mean estimates = BAND_MEAN;
        for (unsigned i = 0; i < shapes[s].filters; i++) {
            bry_filter *filter = filled(options, 1000 * (unsigned)s + i + 1);
            uint64_t here = false_positives(filter, shapes[s].asked);
            bry_filter_stats stats = {0};
            bry_filter_get_stats(filter, &stats);
            band_mean_take(&estimates, stats.estimated_error);
            /* The bits of a filter give its exact rate. */
            if (band_tells(shapes[s].asked, stats.estimated_error))
                band_assert(here, shapes[s].asked, stats.estimated_error);
            observed += here;
            trials += shapes[s].asked;
            bry_filter_destroy(filter);
        }
        band_assert(observed, trials, shape.error);
        if (!options.bloom.bits)
            band_assert_at_most(observed, trials, options.error);
        /* The rate from the bits needs no trials, and so is the sharper test of the plan. */
        band_assert_mean(&estimates, shape.error, 0.03);
    }
}

/* At half of the capacity the rate is below the promise, and still equals that from the bits. */
TEST(test_error_before_capacity)
{
    enum { CAPACITY = 100000, ASKED = 1000000 };
    bry_filter_options half = {.engine = BRY_ENGINE_BLOOM, .capacity = CAPACITY / 2, .seed = 7};
    bry_filter_options whole = half;
    whole.struct_size = half.struct_size = sizeof half;
    whole.capacity = CAPACITY;
    bry_filter_shape shape = {0};
    assert_int_equal(bry_filter_plan(&whole, &shape), BRY_OK);
    half.bloom.bits = shape.bits;
    half.bloom.hashes = shape.bloom.hashes;
    bry_filter_shape planned = {0};
    assert_int_equal(bry_filter_plan(&half, &planned), BRY_OK);
    assert_true(planned.error < shape.error / 10);
    bry_filter *filter = filled(half, 7);
    uint64_t observed = false_positives(filter, ASKED);
    bry_filter_stats stats = {0};
    bry_filter_get_stats(filter, &stats);
    band_assert(observed, ASKED, stats.estimated_error);
    band_assert(observed, ASKED, planned.error);
    bry_filter_destroy(filter);
}

/* No false negatives and no lost keys: items is less than the number of keys by the false positives
 * during the additions, whose rate grows from zero to the error. */
TEST(test_items_counts_new_keys)
{
    enum { CAPACITY = 200000 };
    bry_filter_options options = {.engine = BRY_ENGINE_BLOOM, .capacity = CAPACITY, .error = 0.1};
    bry_filter *filter = filled(options, 3);
    bry_filter_stats stats = {0};
    bry_filter_get_stats(filter, &stats);
    double expected = 0; /* the mean of the planned error while adding, by midpoints */
    for (int i = 0; i < 100; i++)
        expected +=
            bry__blocked_error(stats.bits / 512, stats.bloom.hashes, CAPACITY * (i + 0.5) / 100) /
            100;
    band_assert(CAPACITY - stats.items, CAPACITY, expected);
    for (uint64_t i = 0; i < CAPACITY; i++)
        assert_int_equal(bry_filter_has(filter, key(3, i)), BRY_PRESENT);
    bry_filter_destroy(filter);
}

/* After a merge of disjoint sets the count is an estimate from the bits. */
TEST(test_merged_count)
{
    band_mean ratios = BAND_MEAN;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        bry_filter_options options = BRY_FILTER_OPTIONS;
        options.engine = BRY_ENGINE_BLOOM;
        options.capacity = 20000;
        options.seed = seed;
        bry_filter *a = NULL, *b = NULL;
        assert_int_equal(bry_filter_create(&options, &a), BRY_OK);
        assert_int_equal(bry_filter_create(&options, &b), BRY_OK);
        for (uint64_t i = 0; i < 10000; i++) /* half of each is in both */
            assert_int_equal(bry_filter_add(a, key(seed, i), NULL), BRY_OK);
        for (uint64_t i = 5000; i < 15000; i++)
            assert_int_equal(bry_filter_add(b, key(seed, i), NULL), BRY_OK);
        assert_int_equal(bry_filter_merge(a, b), BRY_OK);
        bry_filter_stats stats = {0};
        bry_filter_get_stats(a, &stats);
        band_mean_take(&ratios, (double)stats.items / 15000);
        bry_filter_destroy(a);
        bry_filter_destroy(b);
    }
    band_assert_mean(&ratios, 1, 0.005);
}

TEST(test_standard_filter_errs_as_the_formula_says)
{
    static const struct {
        uint64_t n, bits, asked;
        unsigned k, filters;
    } standard[] = {
        {1000, 9586, 20000, 7, 20},          {1000, 2000, 5000, 1, 20},
        {50000, 50000 * 8, 50000, 5, 10},    {100000, 100000 * 10, 100000, 7, 10},
        {20000, 20000 * 10, 100000, 20, 10},
    };
    bry_allocator allocator = bry__allocator_or_default(NULL);
    for (int s = 0; s < 5; s++) {
        uint64_t observed = 0, trials = 0;
        double expected =
            bry__bloom_error((double)standard[s].bits, standard[s].k, (double)standard[s].n);
        band_mean fills = BAND_MEAN;
        for (unsigned f = 0; f < standard[s].filters; f++) {
            uint64_t seed = 100 * (unsigned)s + f;
            bry__bloom bloom;
            assert_int_equal(bry__bloom_init(&bloom, standard[s].bits, standard[s].k, &allocator),
                             BRY_OK);
            for (uint64_t i = 0; i < standard[s].n; i++)
                assert_int_equal(bry__bloom_add(&bloom, key(seed, i), &allocator), BRY_OK);
            for (uint64_t i = 0; i < standard[s].asked; i++)
                observed += bry__bloom_has(&bloom, key(seed, (UINT64_C(1) << 48) + i));
            trials += standard[s].asked;
            band_mean_take(&fills, bry__bloom_fill_now(&bloom));
            bry__bloom_free(&bloom, &allocator);
        }
        band_assert(observed, trials, expected);
        band_assert_mean(
            &fills, bry__bloom_fill((double)standard[s].bits, standard[s].k, (double)standard[s].n),
            0.01);
    }
}
