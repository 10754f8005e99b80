/*
 * Assertions about rates. An event of probability p, tried n times, happens np times give or take
 * σ = sqrt(np(1 - p)); five σ are exceeded by chance less than once in a million. With fixed seeds
 * a test either always passes or always fails, so the band only has to be narrow enough to notice
 * a mistake: an assertion whose band reaches down to zero is refused.
 */
#ifndef BRY_TESTS_BAND_H
#define BRY_TESTS_BAND_H

#include <stdbool.h>
#include <stdint.h>

#define BAND_SIGMAS 5.0

/* The distance of `observed` from the expected number, in σ; negative if it is below. */
double band_deviation(uint64_t observed, uint64_t trials, double p);

/* Whether the band excludes zero, so that the test can fail on either side. */
bool band_tells(uint64_t trials, double p);

/* Fail the current test if the number is outside of the band; above it; or if the band includes
 * zero. */
#define band_assert(observed, trials, p) band__assert((observed), (trials), (p), __FILE__, __LINE__)
#define band_assert_at_most(observed, trials, p)                                                   \
    band__assert_at_most((observed), (trials), (p), __FILE__, __LINE__)

void band__assert(uint64_t observed, uint64_t trials, double p, const char *file, int line);
void band__assert_at_most(uint64_t observed, uint64_t trials, double p, const char *file, int line);

/*
 * The same for the mean of measured numbers, whose variance is measured as well: start with
 * BAND_MEAN and add at least 8 values.
 */
typedef struct band_mean {
    uint64_t count;
    double mean, squares; /* sum of squared distances from the mean */
} band_mean;
#define BAND_MEAN                                                                                  \
    {                                                                                              \
        0, 0, 0                                                                                    \
    }

void band_mean_take(band_mean *values, double value);

/* The standard error of the mean. */
double band_mean_sigma(const band_mean *values);

/* Fails the current test if `expected` is more than five standard errors from the mean, or if the
 * standard error is more than `precision` of the mean, which is too imprecise. */
#define band_assert_mean(values, expected, precision)                                              \
    band__assert_mean((values), (expected), (precision), __FILE__, __LINE__)
void band__assert_mean(const band_mean *values, double expected, double precision, const char *file,
                       int line);

#endif
