#include "support/band.h"

#include "support/cmocka_all.h"

#include <math.h>

static double sigma_of(uint64_t trials, double p)
{
    return sqrt((double)trials * p * (1 - p));
}

double band_deviation(uint64_t observed, uint64_t trials, double p)
{
    return ((double)observed - (double)trials * p) / sigma_of(trials, p);
}

bool band_tells(uint64_t trials, double p)
{
    return (double)trials * p > BAND_SIGMAS * sigma_of(trials, p);
}

static void demand(bool holds, uint64_t observed, uint64_t trials, double p, const char *file,
                   int line)
{
    if (!band_tells(trials, p)) {
        print_error("%ju trials at %g: too few, the band of five sigma reaches zero\n",
                    (uintmax_t)trials, p);
        _fail(file, line);
    }
    if (!holds) {
        print_error("%ju of %ju, a rate of %g where %g is expected: %+.1f sigma\n",
                    (uintmax_t)observed, (uintmax_t)trials, (double)observed / (double)trials, p,
                    band_deviation(observed, trials, p));
        _fail(file, line);
    }
}

void band__assert(uint64_t observed, uint64_t trials, double p, const char *file, int line)
{
    demand(fabs(band_deviation(observed, trials, p)) <= BAND_SIGMAS, observed, trials, p, file,
           line);
}

void band__assert_at_most(uint64_t observed, uint64_t trials, double p, const char *file, int line)
{
    demand(band_deviation(observed, trials, p) <= BAND_SIGMAS, observed, trials, p, file, line);
}

void band_mean_take(band_mean *values, double value)
{
    double off = value - values->mean;
    values->count++;
    values->mean += off / (double)values->count;
    values->squares += off * (value - values->mean);
}

double band_mean_sigma(const band_mean *values)
{
    double n = (double)values->count;
    return sqrt(values->squares / (n - 1) / n);
}

void band__assert_mean(const band_mean *values, double expected, double precision, const char *file,
                       int line)
{
    double sigma = band_mean_sigma(values);
    if (values->count < 8 || !(sigma <= precision * fabs(values->mean))) {
        print_error("%ju values, mean %g +- %g: too few or too scattered to tell anything\n",
                    (uintmax_t)values->count, values->mean, sigma);
        _fail(file, line);
    }
    if (!(fabs(values->mean - expected) <= BAND_SIGMAS * sigma)) {
        print_error("mean %g +- %g where %g is expected: %+.1f sigma\n", values->mean, sigma,
                    expected, (values->mean - expected) / sigma);
        _fail(file, line);
    }
}
