/* The error of compact indexes compared with the requested and the estimated one, and their size.
 * (test_dba_rates does this for dba.) */
#include "support/band.h"
#include "support/index_helpers.h"

#include <stdlib.h>

enum { UNITS = 64, EACH = 3000, N = UNITS * EACH };

static bry_index_options options_for(double error, bool fixed)
{
    return (bry_index_options){
        .units = UNITS, .unit_capacity = EACH, .error = error, .fixed = fixed, .seed = 1};
}

/* Element i is in unit i / EACH. */
static void fill(bry_index *index, uint64_t n)
{
    bry_hash hashes[EACH];
    for (uint64_t first = 0; first < n; first += EACH) {
        uint32_t unit = open_unit(index, first);
        for (uint64_t i = 0; i < EACH; i++)
            hashes[i] = element(first + i);
        assert_int_equal(bry_index_add_n(index, hashes, EACH, unit, NULL, NULL), BRY_OK);
    }
}

typedef struct errors {
    uint64_t false_positive; /* absent elements with a candidate */
    uint64_t missing; /* elements whose unit is not a candidate */
    uint64_t besides; /* elements with a further candidate */
} errors;

static errors count(const bry_index *index, uint64_t first, uint64_t n)
{
    errors found = {0, 0, 0};
    for (uint64_t i = first; i < first + n; i++) {
        uint32_t units[UNITS * 4];
        size_t total = bry_index_locate(index, element(i), units, UNITS * 4), there = 0;
        assert_true(total <= UNITS * 4);
        for (size_t j = 0; j < total; j++)
            there += units[j] == i / EACH;
        found.missing += there != 1;
        found.besides += total > 1;
        found.false_positive +=
            bry_index_has(index, element(i + (UINT64_C(1) << 40))) == BRY_PRESENT;
    }
    return found;
}

/* Three quarters of the error if the index may grow, else all of it. Present elements find another
 * element's fingerprint as often as absent ones. */
TEST(test_at_capacity)
{
    static const double asked[] = {0.05, 0.01, 1e-3};
    for (int i = 0; i < 3; i++)
        for (int fixed = 0; fixed < 2; fixed++) {
            bry_index *index = make(options_for(asked[i], fixed));
            fill(index, N);
            bry_index_stats stats = stats_of(index);
            errors found = count(index, 0, N);
            assert_int_equal(found.missing, 0);
            band_assert(found.false_positive, N, stats.estimated_error);
            band_assert_at_most(found.false_positive, N, fixed ? asked[i] : asked[i] * 0.75);
            band_assert(found.besides, N, stats.estimated_error);
            assert_true(stats.full_error <= asked[i] && stats.promised_error == asked[i]);
            bry_index_destroy(index);
        }
}

/* The promise holds at ten times the plan, and after most of that is deleted. */
TEST(test_grown_and_shrunk)
{
    bry_index_options options = options_for(0.02, false);
    options.units = 6;
    bry_index *index = make(options);
    fill(index, N);
    errors found = count(index, 0, N);
    assert_int_equal(found.missing, 0);
    band_assert(found.false_positive, N, stats_of(index).estimated_error);
    band_assert_at_most(found.false_positive, N, 0.02);
    for (uint32_t i = 0; i < 59; i++)
        assert_int_equal(bry_index_drop(index, i), BRY_OK);
    found = count(index, 59 * EACH, 5 * EACH);
    assert_int_equal(found.missing, 0);
    band_assert_at_most(found.false_positive, 5 * EACH, 0.02);
    finish_steps(index);
    found = count(index, 59 * EACH, 5 * EACH);
    assert_int_equal(found.missing, 0);
    band_assert(found.false_positive, 5 * EACH, stats_of(index).estimated_error);
    bry_index_destroy(index);
}

/* Deleting also removes elements of the same unit with the same fingerprint, a share of error /
 * units, but never those of other units. */
TEST(test_deletion)
{
    bry_index *index = make(options_for(0.05, true));
    fill(index, N);
    for (uint64_t i = 0; i < N; i += 2)
        assert_int_equal(bry_index_del(index, element(i), (uint32_t)(i / EACH), NULL), BRY_OK);
    uint64_t lost = 0;
    for (uint64_t i = 1; i < N; i += 2) {
        uint32_t units[UNITS];
        size_t total = bry_index_locate(index, element(i), units, UNITS), there = 0;
        for (size_t j = 0; j < total && j < UNITS; j++)
            there += units[j] == i / EACH;
        lost += there == 0;
    }
    band_assert_at_most(lost, N / 2, 0.05 / UNITS);
    assert_true(lost > 0);
    bry_index_destroy(index);
}

/* 64 units, one in a thousand. */
TEST(test_bits)
{
    for (int fixed = 0; fixed < 2; fixed++) {
        bry_index_options options = options_for(1e-3, fixed);
        options.unit_capacity = 4 * EACH;
        failing_allocator memory;
        failing_allocator_init(&memory);
        options.allocator = &memory.allocator;
        bry_index_shape shape = {0};
        options.struct_size = sizeof options;
        assert_int_equal(bry_index_plan(&options, &shape), BRY_OK);
        bry_index *index = make(options);
        add_many(index, 0, (uint64_t)4 * N, BRY_INDEX_NEWEST);
        double bits = (double)memory.now * 8 / (4.0 * N);
        assert_true(bits <= (fixed ? 19.3 : 20.3));
        assert_true((double)shape.bytes * 8 / (4.0 * N) > bits - 0.4);
        bry_index_destroy(index);
    }
}
