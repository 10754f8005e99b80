/* The sizing formulae: compared with known numbers, with each other, and with simulations. */
#include "common/sizing.h"

#include "support/band.h"
#include "support/cmocka_all.h"
#include "support/generator.h"

#include <math.h>
#include <string.h>

static void assert_close(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.17g is not %.17g within %g", value, expected, relative);
}

/* ---- the standard filter ---- */

/* Computed with 50 digits from m = ceil(n·ln(1/p)/ln²2) and k = round(m/n·ln 2). */
static const struct {
    double n, p, bits;
    unsigned hashes;
} textbook[] = {
    {1, 0.5, 2, 1},
    {1000, 0.05, 6236, 4},
    {1000, 0.01, 9586, 7},
    {1e6, 0.01, 9585059, 7},
    {1e6, 0.001, 14377588, 10},
    {1e7, 0.01, 95850584, 7},
    {1e9, 1e-6, 28755175133, 20},
    {0x1p40, 1e-9, 47424974124723, 30},
};
enum { TEXTBOOK = sizeof textbook / sizeof textbook[0] };

TEST(test_textbook_numbers)
{
    for (int i = 0; i < TEXTBOOK; i++) {
        double n = textbook[i].n, p = textbook[i].p;
        assert_true(bry__bloom_bits(n, p) == textbook[i].bits);
        assert_int_equal(bry__bloom_hashes(textbook[i].bits, n), textbook[i].hashes);
        assert_int_equal(bry__bloom_hashes_for_error(p), textbook[i].hashes);
    }
    assert_int_equal(bry__bloom_hashes(10, 1000), 1);
    assert_int_equal(bry__bloom_hashes_for_error(0.9), 1);
}

TEST(test_standard_error)
{
    /* One key, one bit in two: half of all keys look the same. */
    assert_close(bry__bloom_error(2, 1, 1), 0.5, 1e-15);
    /* Two keys of one bit each in four: 1 - (3/4)². */
    assert_close(bry__bloom_fill(4, 1, 2), 7.0 / 16, 1e-15);
    assert_close(bry__bloom_error(4, 2, 1), 7.0 / 16 * 7.0 / 16, 1e-15);
    /* Full size at the textbook's shape: just above the error, since k is a whole number. */
    assert_close(bry__bloom_error(9585059, 7, 1e6), 0.0100395, 1e-4);
    assert_true(bry__bloom_fill(1e6, 7, 0) == 0);
    assert_true(bry__bloom_fill(1, 7, 0) == 0 && bry__bloom_fill(1, 7, 1) == 1);
    /* Tiny fills keep their precision. */
    assert_close(bry__bloom_fill(0x1p50, 1, 1), 0x1p-50, 1e-12);
}

TEST(test_standard_directions_agree)
{
    for (int i = 1; i < TEXTBOOK; i++) {
        double n = textbook[i].n, m = textbook[i].bits;
        unsigned k = textbook[i].hashes;
        double error = bry__bloom_error(m, k, n);
        assert_close(error, textbook[i].p, 0.07);
        assert_close(bry__bloom_capacity(m, k, error), n, 1e-9);
        assert_close(bry__bloom_count(m, k, bry__bloom_fill(m, k, n)), n, 1e-9);
        assert_true(bry__bloom_error(m, k, n * 1.01) > error);
        assert_true(bry__bloom_error(m * 1.01, k, n) < error);
    }
    assert_true(bry__bloom_count(1000, 3, 0) == 0);
    assert_true(isinf(bry__bloom_count(1000, 3, 1)));
}

/* ---- the blocked filter ---- */

/* The formula evaluated with 60 digits. */
static const struct {
    uint64_t blocks;
    unsigned k;
    double n, error;
} exact[] = {
    {1, 1, 1, 0.001953125},
    {1, 1, 5000, 0.99994315453879379},
    {1, 21, 1000, 1},
    {8, 6, 300, 0.0024651660080289377},
    {20, 5, 1000, 0.009531039772355877},
    {19372, 6, 1e6, 0.0099979569109607831},
    {30363, 9, 1e6, 0.00099985308633423141},
    {75830, 16, 1e6, 9.9992759153620847e-07},
    {123966, 20, 1e6, 9.9939254620725292e-09},
    {156408, 21, 1e6, 1.0202407420879641e-09},
    {21298717359, 6, 0x1p40, 0.0099999999993448333},
    {172329166369, 21, 0x1p40, 9.9978890580017885e-10},
};

TEST(test_blocked_error_is_exact_and_never_too_bold)
{
    /* If long double is double, rounding errors are larger; the result must still be an upper
     * bound. */
    double rounding = sizeof(long double) > sizeof(double) ? 3e-12 : 6e-9;
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
        double error = bry__blocked_error(exact[i].blocks, exact[i].k, exact[i].n);
        double low = exact[i].error * (1 - 1e-14), high = exact[i].error * (1 + 1e-14) + rounding;
        if (!(error >= low && error <= high))
            fail_msg("%.17g for %ju blocks, k = %u: not %.17g", error, (uintmax_t)exact[i].blocks,
                     exact[i].k, exact[i].error);
    }
    assert_true(bry__blocked_error(1, 21, 1e12) <= 1);
    assert_true(bry__blocked_error(100, 7, 0) < 1e-12);
}

TEST(test_blocked_directions_agree)
{
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
        double fill = bry__blocked_fill(exact[i].blocks, exact[i].k, exact[i].n);
        if (fill < 0.999)
            assert_close(bry__blocked_count(exact[i].blocks, exact[i].k, fill), exact[i].n, 1e-9);
        assert_true(bry__blocked_error(exact[i].blocks, exact[i].k, exact[i].n) >=
                    bry__bloom_error((double)exact[i].blocks * 512, exact[i].k, exact[i].n) *
                        0.9999999);
    }
    assert_close(bry__blocked_fill(1, 1, 1), 1.0 / 512, 1e-12);
    assert_true(bry__blocked_count(10, 5, 0) == 0);
}

/* A filter of few blocks, filled at random: the bits that are set, by block. */
enum { DICE_BLOCKS = 8, DICE_FILTERS = 20000 };

static void throw_filter(generator *dice, unsigned k, unsigned n,
                         unsigned char bits[DICE_BLOCKS][512])
{
    memset(bits, 0, DICE_BLOCKS * 512);
    for (unsigned key = 0; key < n; key++) {
        unsigned block = (unsigned)generator_below(dice, DICE_BLOCKS);
        for (unsigned i = 0; i < k; i++)
            bits[block][generator_next(dice) >> 55] = 1;
    }
}

TEST(test_blocked_error_against_dice)
{
    static const struct {
        unsigned k, n;
    } shapes[] = {{1, 100}, {3, 400}, {6, 400}, {12, 400}};
    static unsigned char bits[DICE_BLOCKS][512];
    for (int s = 0; s < 4; s++) {
        unsigned k = shapes[s].k, n = shapes[s].n;
        double expected = bry__blocked_error(DICE_BLOCKS, k, n);
        generator dice = {1000 + (unsigned)s};
        uint64_t hits = 0;
        band_mean errors = BAND_MEAN, fills = BAND_MEAN;
        for (int filter = 0; filter < DICE_FILTERS; filter++) {
            throw_filter(&dice, k, n, bits);
            /* One absent key per filter, so that the trials are independent … */
            const unsigned char *block = bits[generator_below(&dice, DICE_BLOCKS)];
            bool all = true;
            for (unsigned i = 0; i < k; i++)
                all &= block[generator_next(&dice) >> 55];
            hits += all;
            /* … and the rate over all absent keys. */
            double error = 0, fill = 0;
            for (int b = 0; b < DICE_BLOCKS; b++) {
                unsigned set = 0;
                for (int i = 0; i < 512; i++)
                    set += bits[b][i];
                error += pow(set / 512.0, k) / DICE_BLOCKS;
                fill += set / 512.0 / DICE_BLOCKS;
            }
            band_mean_take(&errors, error);
            band_mean_take(&fills, fill);
        }
        band_assert(hits, DICE_FILTERS, expected);
        band_assert_mean(&errors, expected, 0.02);
        band_assert_mean(&fills, bry__blocked_fill(DICE_BLOCKS, k, n), 0.002);
    }
}

TEST(test_plan_is_minimal)
{
    static const uint64_t keys[] = {1, 2, 10, 100, 999, 1000, 12345, 1000000, 100000000};
    static const double errors[] = {0.5, 0.3, 0.1, 0.02, 0.01, 1e-3, 1e-4, 1e-6, 1e-9};
    for (int i = 0; i < 9; i++) {
        for (int j = 0; j < 9; j++) {
            double n = (double)keys[i], p = errors[j];
            bry__blocked_shape shape = bry__blocked_plan(keys[i], p);
            assert_in_range(shape.hashes, 1, BRY__BLOCKED_MAX_HASHES);
            assert_true(shape.error == bry__blocked_error(shape.blocks, shape.hashes, n));
            assert_true(shape.error <= p);
            for (unsigned k = 1; k <= BRY__BLOCKED_MAX_HASHES && shape.blocks > 1; k++)
                if (!(bry__blocked_error(shape.blocks - 1, k, n) > p))
                    fail_msg("%g keys at %g: %ju blocks planned, one fewer would do with k = %u", n,
                             p, (uintmax_t)shape.blocks, k);
        }
    }
}

TEST(test_plan_at_the_ends)
{
    bry__blocked_shape least = bry__blocked_plan(1, 0.5);
    assert_int_equal(least.blocks, 1);
    bry__blocked_shape most = bry__blocked_plan(UINT64_C(1) << 40, 1e-9);
    assert_true(most.error <= 1e-9 && most.error > 0.99e-9);
    /* The cost of blocking at an error of 1 % is as stated in bloom_blocked.c. */
    bry__blocked_shape usual = bry__blocked_plan(1000000, 0.01);
    assert_close((double)usual.blocks * 512, bry__bloom_bits(1e6, 0.01) * 1.035, 0.005);
    bry__blocked_shape finer = bry__blocked_plan(1000000, 0.001);
    assert_close((double)finer.blocks * 512, bry__bloom_bits(1e6, 0.001) * 1.085, 0.01);
}
