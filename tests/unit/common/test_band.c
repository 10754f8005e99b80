/* Tests of the assertions that statistical tests use. */
#include "support/band.h"
#include "support/cmocka_all.h"
#include "support/generator.h"

#include <math.h>

TEST(test_deviation)
{
    /* 10,000 throws of a coin: σ is 50. */
    assert_true(band_deviation(5000, 10000, 0.5) == 0);
    assert_true(band_deviation(5250, 10000, 0.5) == 5);
    assert_true(band_deviation(4900, 10000, 0.5) == -2);
    band_assert(5250, 10000, 0.5);
    band_assert(4750, 10000, 0.5);
    band_assert_at_most(5250, 10000, 0.5);
    band_assert_at_most(0, 10000, 0.5);
    assert_true(band_tells(10000, 0.01));
    assert_false(band_tells(1000, 0.01)); /* 10 ± 5·3.1 */
}

TEST(test_mean)
{
    band_mean values = BAND_MEAN;
    for (int i = 0; i < 100; i++)
        band_mean_take(&values, i % 2 ? 9 : 11);
    assert_true(fabs(values.mean - 10) < 1e-12);
    /* The distances are 1 each: 100/99 in the mean of squares, over 100 values. */
    assert_true(fabs(band_mean_sigma(&values) - sqrt(100.0 / 99 / 100)) < 1e-12);
    band_assert_mean(&values, 10.5, 0.02);
    band_assert_mean(&values, 9.5, 0.02);
}

/* Fair dice stay within the band; dice that are off by a tenth do not. */
TEST(test_dice)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        generator dice = {seed};
        uint64_t fair = 0, loaded = 0;
        for (int i = 0; i < 60000; i++) {
            fair += generator_below(&dice, 6) == 0;
            loaded += generator_below(&dice, 60) < 11;
        }
        band_assert(fair, 60000, 1.0 / 6);
        assert_true(band_deviation(loaded, 60000, 1.0 / 6) > BAND_SIGMAS);
    }
}

/* ---- assertions that must fail: main() counts on it ---- */

TEST(outside)
{
    band_assert(5251, 10000, 0.5);
}

TEST(outside_below)
{
    band_assert(4749, 10000, 0.5);
}

TEST(above)
{
    band_assert_at_most(5251, 10000, 0.5);
}

TEST(says_nothing)
{
    band_assert(10, 1000, 0.01);
}

TEST(mean_off)
{
    band_mean values = BAND_MEAN;
    for (int i = 0; i < 100; i++)
        band_mean_take(&values, i % 2 ? 9 : 11);
    band_assert_mean(&values, 10.51, 0.02);
}

TEST(mean_too_wide)
{
    band_mean values = BAND_MEAN;
    for (int i = 0; i < 100; i++)
        band_mean_take(&values, i % 2 ? 9 : 11);
    band_assert_mean(&values, 10, 0.005);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deviation),
        cmocka_unit_test(test_mean),
        cmocka_unit_test(test_dice),
    };
    int failed = cmocka_run_group_tests_name("band", tests, NULL, NULL);
    const struct CMUnitTest failures[] = {
        cmocka_unit_test(outside),  cmocka_unit_test(outside_below),
        cmocka_unit_test(above),    cmocka_unit_test(says_nothing),
        cmocka_unit_test(mean_off), cmocka_unit_test(mean_too_wide),
    };
    print_message("The six that follow must fail.\n");
    return failed || cmocka_run_group_tests_name("band failures", failures, NULL, NULL) != 6;
}
