/*
 * What the engine fbf errs, measured: the thesis's check value, what sharing positions does to it,
 * the error of both rows at their planned load, and of the improved one while the load rises a
 * hundredfold and falls again.
 *
 * test_fbf_rates [QUERIES]: of the check value, in thousands.
 */
#include "common/sizing.h"
#include "support/band.h"
#include "support/fbf_helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t thousands = 10000;

/* An element that is in no window of these tests. */
static bry_hash absent(uint64_t i)
{
    return key(UINT64_C(1) << 60 | i);
}

static uint64_t false_positives(const bry_window *window, uint64_t first, uint64_t n)
{
    bry_hash hashes[250];
    uint8_t answers[250];
    uint64_t found = 0;
    assert_int_equal(n % 250, 0);
    for (uint64_t done = 0; done < n; done += 250) {
        for (uint64_t i = 0; i < 250; i++)
            hashes[i] = absent(first + done + i);
        bry_window_has_n(window, hashes, 250, bry_window_time(window), answers);
        for (uint64_t i = 0; i < 250; i++)
            found += answers[i] == BRY_PRESENT;
    }
    return found;
}

/* ---- m = 6250, k = 5, 150 and 150 elements ------------------------------------------------- */

static double formula(double l)
{
    return pow(1 - exp(-5 * l / 6250), 5);
}

/* The same three filters with positions salted by the filter, so that they are independent. */
typedef struct salted {
    bry__bloom filter[3]; /* past, present, future */
} salted;

static bry_hash salt(bry_hash hash, int filter)
{
    return (bry_hash){hash.lo + bry__fbf_salt(7, (uint32_t)filter), hash.hi};
}

static void salted_make(salted *of, uint64_t first)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(bry__bloom_init(&of->filter[i], 6250, 5, &allocator), BRY_OK);
    for (uint64_t i = 0; i < 300; i++)
        for (int j = 0; j < 2; j++) {
            int to = i < 150 ? j : j + 1;
            assert_int_equal(bry__bloom_add(&of->filter[to], salt(key(first + i), to), &allocator),
                             BRY_OK);
        }
}

/*
 * 10^7 absent elements over 1000 sets of filters, so that the band is about the formula and not
 * about one draw of bits. Unsalted, the present filter has all the bits of both others (it holds
 * the elements of both periods): any filter that errs, it errs too, and the simple check errs
 * with p(present) alone. The optimized check asks the future and the oldest filter, which share
 * nothing, and the pair is part of the latter: there the formula holds.
 */
TEST(test_check_value)
{
    double once = formula(150), twice = formula(300);
    double simple = 1 - (1 - once) * (1 - twice) * (1 - once);
    double optimized = 1 - (1 - once) * (1 - twice * once) * (1 - once);
    uint64_t sets = 1000, each = thousands, n = sets * each;
    uint64_t wrong_simple = 0, wrong_optimized = 0, salted_simple = 0, salted_optimized = 0;
    bry_allocator allocator = bry__allocator_or_default(NULL);
    for (uint64_t set = 0; set < sets; set++) {
        bry_window *windows[2];
        for (int m = 0; m < 2; m++) {
            bry_window_options options = fbf_options(modes[m + 1], 10000, 300, 0.001);
            options.generations = 2;
            options.fbf.bits = 6250;
            options.fbf.hashes = 5;
            options.fixed = true;
            windows[m] = make(options);
            /* An element that errs would not be stored: then the set has one fewer, in 10^4. */
            for (uint64_t i = 0; i < 300; i++)
                add(windows[m], set * 1000 + i, i < 150 ? 100000 : 105000);
        }
        salted filters;
        salted_make(&filters, set * 1000);
        wrong_optimized += false_positives(windows[0], set * each, each);
        wrong_simple += false_positives(windows[1], set * each, each);
        for (uint64_t i = 0; i < each; i++) {
            bool in[3];
            for (int j = 0; j < 3; j++)
                in[j] = bry__bloom_has(&filters.filter[j], salt(absent(set * each + i), j));
            salted_simple += in[0] || in[1] || in[2];
            salted_optimized += in[2] || (in[1] && in[0]) || in[0];
        }
        for (int j = 0; j < 3; j++)
            bry__bloom_free(&filters.filter[j], &allocator);
        bry_window_destroy(windows[0]);
        bry_window_destroy(windows[1]);
    }
    printf("                formula    shared positions      salted\n");
    printf("simple        %9.3g  %9.3g (%+5.1f σ)  %9.3g (%+5.1f σ)\n", simple,
           (double)wrong_simple / (double)n, band_deviation(wrong_simple, n, simple),
           (double)salted_simple / (double)n, band_deviation(salted_simple, n, simple));
    printf("optimized     %9.3g  %9.3g (%+5.1f σ)  %9.3g (%+5.1f σ)\n", optimized,
           (double)wrong_optimized / (double)n, band_deviation(wrong_optimized, n, optimized),
           (double)salted_optimized / (double)n, band_deviation(salted_optimized, n, optimized));
    printf("present alone %9.3g  %9.3g (%+5.1f σ)\n", twice, (double)wrong_simple / (double)n,
           band_deviation(wrong_simple, n, twice));
    assert_true(fabs(simple - 4.8e-4) < 0.05e-4 && fabs(optimized - 3.7e-5) < 0.05e-5);
    band_assert(wrong_optimized, n, optimized);
    band_assert(salted_optimized, n, optimized);
    band_assert(salted_simple, n, simple);
    band_assert(wrong_simple, n, twice); /* what sharing makes of the simple check */
}

/* ---- a pair of neighbours ------------------------------------------------------------------ */

/* Two filters that share half of their elements: p² when salted, about p^1.5 when not. */
TEST(test_pairs)
{
    enum { EACH = 1000, BITS = 9600, HASHES = 3, SETS = 200, QUERIES = 10000 };
    bry_allocator allocator = bry__allocator_or_default(NULL);
    uint64_t pairs[2] = {0, 0};
    for (uint64_t set = 0; set < SETS; set++)
        for (int salting = 0; salting < 2; salting++) {
            bry__bloom filter[2];
            for (int i = 0; i < 2; i++) {
                assert_int_equal(bry__bloom_init(&filter[i], BITS, HASHES, &allocator), BRY_OK);
                for (uint64_t j = 0; j < 2 * EACH; j++) {
                    bry_hash hash = key(set * 10000 + (uint64_t)i * EACH + j);
                    bry_hash own = salting ? salt(hash, i) : hash;
                    assert_int_equal(bry__bloom_add(&filter[i], own, &allocator), BRY_OK);
                }
            }
            for (uint64_t j = 0; j < QUERIES; j++) {
                bry_hash hash = absent(set * QUERIES + j);
                pairs[salting] += bry__bloom_has(&filter[0], salting ? salt(hash, 0) : hash) &&
                                  bry__bloom_has(&filter[1], salting ? salt(hash, 1) : hash);
            }
            for (int i = 0; i < 2; i++)
                bry__bloom_free(&filter[i], &allocator);
        }
    double p = bry__bloom_error(BITS, HASHES, 2 * EACH), n = SETS * (double)QUERIES;
    /* Unsalted: a bit is set in both by a shared element, or by one of each side's own. */
    double clear = exp(-(double)HASHES * EACH / BITS);
    double both = 1 - clear + clear * (1 - clear) * (1 - clear);
    double shared = pow(both, HASHES);
    printf("pair: p = %.3g, p² = %.3g, salted %.3g; shared positions %.3g = p^%.2f (formula "
           "%.3g)\n",
           p, p * p, (double)pairs[1] / n, (double)pairs[0] / n, log((double)pairs[0] / n) / log(p),
           shared);
    band_assert(pairs[1], (uint64_t)n, p * p);
    assert_true((double)pairs[0] > 2 * (double)pairs[1]);
    assert_true(fabs((double)pairs[0] / n / shared - 1) < 0.03);
}

/* ---- the planned load ---------------------------------------------------------------------- */

TEST(test_planned_load)
{
    for (int m = 0; m < 3; m++) {
        bry_window_options options = fbf_options(modes[m], 8000, 160000, 0.001);
        options.fixed = m > 0;
        bry_window_shape shape = BRY_WINDOW_SHAPE;
        assert_int_equal(bry_window_plan(&options, &shape), BRY_OK);
        uint64_t wrong = 0, asked = 0, next = 0, most = 0;
        double estimated = 0;
        bry_window *window = make(options);
        for (uint64_t now = 8000; now < 40000; now++) {
            for (int i = 0; i < 20; i++)
                bry_window_add(window, key(next++), now, NULL);
            if (now > 17000 && now % 1000 == 999) { /* a period's worst moment */
                wrong += false_positives(window, asked, 100000);
                asked += 100000;
                bry_window_stats stats = stats_of(window);
                estimated += stats.estimated_error * 100000;
                most = stats.bytes > most ? stats.bytes : most;
            }
        }
        printf("mode %d: %.2f bits an element, planned %.3g, estimated %.3g, measured %.3g\n", m,
               (double)most * 8 / 160000, shape.error, estimated / (double)asked,
               (double)wrong / (double)asked);
        band_assert_at_most(wrong, asked, 0.001);
        if (m == 0) {
            band_assert(wrong, asked, estimated / (double)asked);
            assert_true((double)most * 8 / 160000 <= 26);
        }
        bry_window_destroy(window);
    }
}

/* ---- a hundredfold load -------------------------------------------------------------------- */

TEST(test_burst)
{
    static const uint32_t parts[] = {8, 2, 32};
    for (int g = 0; g < 3; g++) {
        bry_window_options options = fbf_options(BRY_WINDOW_IMPROVED, 8000, 8000, 0.001);
        options.generations = parts[g];
        bry_window *window = make(options);
        uint64_t wrong = 0, asked = 0, next = 0, peak = 0, calm = 0, remembered = 0;
        double worst = 0, worst_measured = 0;
        for (uint64_t now = 8000; now < 60000; now++) {
            bool burst = now >= 20300 && now < 26300;
            for (int i = 0; i < (burst ? 100 : 1); i++)
                bry_window_add(window, key(next++), now, NULL);
            bool close = now >= 20300 && now < 20900; /* the rise itself */
            if (now >= 17000 && now % (close ? 50 : 500) == 49) {
                bry_window_stats stats = stats_of(window);
                uint64_t here = false_positives(window, asked, 30000);
                wrong += here;
                asked += 30000;
                worst = fmax(worst, stats.estimated_error);
                worst_measured = fmax(worst_measured, (double)here / 30000);
                assert_true(stats.predicted_error <= 0.001);
                band_assert_at_most(here, 30000, 0.001);
                if (stats.bytes > peak) {
                    peak = stats.bytes;
                    remembered = stats.items;
                }
                if (now < 20300)
                    calm = stats.bytes;
            }
        }
        bry_window_stats stats = stats_of(window);
        printf("%2u generations: estimated at most %.3g, measured %.3g (at most %.3g); %llu ended "
               "early; bytes %llu, at most %llu for %llu elements, then %llu\n",
               parts[g], worst, (double)wrong / (double)asked, worst_measured,
               (unsigned long long)stats.ended_early, (unsigned long long)calm,
               (unsigned long long)peak, (unsigned long long)remembered,
               (unsigned long long)stats.bytes);
        assert_true(worst <= 0.001);
        band_assert_at_most(wrong, asked, 0.001);
        assert_true(stats.bytes <= calm + calm / 50);
        bry_window_destroy(window);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        thousands = strtoull(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check_value),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_planned_load),
        cmocka_unit_test(test_burst),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
