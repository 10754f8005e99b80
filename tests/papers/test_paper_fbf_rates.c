/*
 * The measured error of the published forgetful Bloom filter: the thesis's check value and the effect
 * of shared positions. `bloomery-bench window --mode` measures the error at the planned load.
 *
 * test_paper_fbf_rates [QUERIES]: of the check value, in thousands.
 */
#include "papers/paper_fbf.h"
#include "support/band.h"
#include "support/cmocka_all.h"
#include "support/key_by_number.h"
#include "window/fbf/fbf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t thousands = 10000;
static bry_allocator memory;

/* An element that is in no row of these tests. */
static bry_hash absent(uint64_t i)
{
    return key(UINT64_C(1) << 60 | i);
}

static uint64_t false_positives(const bry__paper_fbf *fbf, uint64_t first, uint64_t n)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < n; i++)
        found += bry__paper_fbf_has(fbf, absent(first + i));
    return found;
}

static bry__paper_fbf make(const bry__paper_fbf_options *options)
{
    bry__paper_fbf fbf;
    assert_int_equal(bry__paper_fbf_init(&fbf, options, &memory), BRY_OK);
    return fbf;
}

static void add(bry__paper_fbf *fbf, uint64_t i, uint64_t now)
{
    bry_answer was;
    assert_int_equal(bry__paper_fbf_add(fbf, key(i), now, &was, &memory), BRY_OK);
}

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
    for (int i = 0; i < 3; i++)
        assert_int_equal(bry__bloom_init(&of->filter[i], 6250, 5, &memory), BRY_OK);
    for (uint64_t i = 0; i < 300; i++)
        for (int j = 0; j < 2; j++) {
            int to = i < 150 ? j : j + 1;
            assert_int_equal(bry__bloom_add(&of->filter[to], salt(key(first + i), to), &memory),
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
    for (uint64_t set = 0; set < sets; set++) {
        bry__paper_fbf rows[2];
        for (int c = 0; c < 2; c++) {
            bry__paper_fbf_options options = {
                .check = c ? BRY__PAPER_SIMPLE : BRY__PAPER_OPTIMIZED,
                .window = 10000,
                .capacity = 300,
                .error = 0.001,
                .generations = 2,
                .bits = 6250,
                .hashes = 5,
                .fixed = true,
            };
            rows[c] = make(&options);
            /* An element that errs would not be stored: then the set has one fewer, in 10^4. */
            for (uint64_t i = 0; i < 300; i++)
                add(&rows[c], set * 1000 + i, i < 150 ? 100000 : 105000);
        }
        salted filters;
        salted_make(&filters, set * 1000);
        wrong_optimized += false_positives(&rows[0], set * each, each);
        wrong_simple += false_positives(&rows[1], set * each, each);
        for (uint64_t i = 0; i < each; i++) {
            bool in[3];
            for (int j = 0; j < 3; j++)
                in[j] = bry__bloom_has(&filters.filter[j], salt(absent(set * each + i), j));
            salted_simple += in[0] || in[1] || in[2];
            salted_optimized += in[2] || (in[1] && in[0]) || in[0];
        }
        for (int j = 0; j < 3; j++)
            bry__bloom_free(&filters.filter[j], &memory);
        bry__paper_fbf_free(&rows[0], &memory);
        bry__paper_fbf_free(&rows[1], &memory);
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

int main(int argc, char **argv)
{
    if (argc > 1)
        thousands = strtoull(argv[1], NULL, 10);
    memory = bry__allocator_or_default(NULL);
    return run_all_tests(NULL, NULL);
}
