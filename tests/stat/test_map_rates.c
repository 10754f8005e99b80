/* The error of compact maps compared with the requested and the estimated one. (test_kbf_rates does
 * this for kbf.) */
#include "support/band.h"
#include "support/map_helpers.h"

enum { N = 200000, VALUES = 300 };

static bry_map_options options_for(double error, bool fixed)
{
    return (bry_map_options){
        .capacity = N, .error = error, .fixed = fixed, .values = VALUES, .seed = 1};
}

typedef struct errors {
    uint64_t false_positive, false_negative, incorrect;
} errors;

/* For n present keys from `first` on, and as many absent ones. */
static errors count(const bry_map *map, uint64_t first, uint64_t n)
{
    errors found = {0, 0, 0};
    for (uint64_t i = first; i < first + n; i++) {
        bry_map_value value;
        if (bry_map_get(map, key(i), &value) != BRY_PRESENT)
            found.false_negative++;
        else
            found.incorrect += !has(map, key(i), numbered(i % VALUES));
        found.false_positive += bry_map_get(map, key(i + (UINT64_C(1) << 40)), NULL) == BRY_PRESENT;
    }
    return found;
}

/* The measured error is three quarters of the requested one if a map may grow, else all of it. Of
 * two keys with the same fingerprint one is wrong, unless their values are equal. */
TEST(test_at_capacity)
{
    static const double asked[] = {0.05, 0.01, 1e-3};
    for (int i = 0; i < 3; i++)
        for (int fixed = 0; fixed < 2; fixed++) {
            bry_map *map = make(options_for(asked[i], fixed));
            double expected = fixed ? asked[i] : asked[i] * 0.75;
            set_many(map, 0, N, VALUES);
            bry_map_stats stats = stats_of(map);
            errors found = count(map, 0, N);
            band_assert(found.false_positive, N, stats.estimated.false_positive);
            band_assert_at_most(found.false_positive, N, expected);
            band_assert(found.incorrect, N, stats.estimated.incorrect * (VALUES - 1) / VALUES);
            assert_int_equal(found.false_negative, 0);
            assert_true(stats.planned.false_positive <= asked[i]);
            assert_true(stats.planned.incorrect + stats.planned.false_negative <= asked[i]);
            bry_map_destroy(map);
        }
}

/* The promise holds far beyond the capacity, and after merging parts. */
TEST(test_grown_and_joined)
{
    bry_map_options options = options_for(0.02, false);
    options.capacity = N / 10;
    bry_map *map = make(options);
    set_many(map, 0, N, VALUES);
    assert_int_equal(stats_of(map).tables, 2);
    errors found = count(map, 0, N);
    band_assert_at_most(found.false_positive, N, 0.02);
    band_assert_at_most(found.incorrect + found.false_negative, N, 0.02);
    band_assert(found.false_positive, N, stats_of(map).estimated.false_positive);
    bry_map_destroy(map);

    map = make(options_for(0.02, false));
    bry_map *part = make(options_for(0.02, false));
    for (uint64_t i = 0; i < N; i++) /* values are numbered in another order */
        set(i % 2 ? map : part, key(i), numbered(i % VALUES));
    assert_int_equal(bry_map_merge(map, part), BRY_OK);
    found = count(map, 0, N);
    band_assert(found.false_positive, N, stats_of(map).estimated.false_positive);
    band_assert_at_most(found.incorrect, N, 0.01);
    assert_int_equal(found.false_negative, 0);
    bry_map_destroy(part);

    /* Deleting half of the keys removes some others: those with the same fingerprint. */
    for (uint64_t i = 0; i < N / 2; i++)
        assert_int_equal(bry_map_del(map, key(i), NULL), BRY_OK);
    found = count(map, N / 2, N / 2);
    band_assert_at_most(found.false_negative + found.incorrect, N / 2, 0.02);
    band_assert(found.false_positive, N / 2, stats_of(map).estimated.false_positive);
    bry_map_destroy(map);
}

/* Growth to hundreds of thousands of times the capacity, within the promise. */
TEST(test_growth_goes_on)
{
    static const struct {
        uint64_t capacity, n;
        double error;
    } shapes[] = {{1, 200000, 1e-3}, {2, 200000, 1e-8}};
    for (int i = 0; i < 2; i++) {
        bry_map_options options = options_for(shapes[i].error, false);
        options.capacity = shapes[i].capacity;
        bry_map *map = make(options);
        set_many(map, 0, shapes[i].n, VALUES);
        errors found = count(map, 0, shapes[i].n);
        if (i == 0) {
            band_assert_at_most(found.false_positive, shapes[i].n, shapes[i].error);
            band_assert_at_most(found.incorrect, shapes[i].n, shapes[i].error);
        } else { /* 0.002 are expected */
            assert_true(found.false_positive == 0 && found.incorrect == 0);
        }
        assert_int_equal(found.false_negative, 0);
        assert_true(stats_of(map).estimated.false_positive <= shapes[i].error);
        bry_map_destroy(map);
    }
}
