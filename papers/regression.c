#include "papers/regression.h"

#include <math.h>
#include <stddef.h>

bry__regression bry__regression_fit(const uint32_t *table, uint32_t n)
{
    bry__regression fit = {.constant = table[0], .gap = 1};
    if (n > 1)
        fit.gap = ((double)table[n - 1] - table[0]) / (n - 1);
    if (n < 3) {
        fit.linear = n > 1 ? fit.gap : 0;
        return fit;
    }
    /*
     * With t = x - (n-1)/2 the sums of odd powers vanish, so the normal equations separate: the
     * linear term stands alone, the other two are a system of two.
     */
    double middle = (n - 1) / 2.0, t2 = 0, t4 = 0, y0 = 0, y1 = 0, y2 = 0;
    for (uint32_t x = 0; x < n; x++) {
        double t = x - middle;
        t2 += t * t;
        t4 += t * t * t * t;
        y0 += table[x];
        y1 += t * table[x];
        y2 += t * t * table[x];
    }
    double square = (n * y2 - t2 * y0) / (n * t4 - t2 * t2);
    double linear = y1 / t2, constant = (y0 - square * t2) / n;
    fit.square = square;
    fit.linear = linear - 2 * square * middle;
    fit.constant = constant - linear * middle + square * middle * middle;
    return fit;
}

/* The index at which the parabola reaches v, within the table. */
static uint32_t regression_guess(const bry__regression *fit, uint32_t n, double v)
{
    double x, c = fit->constant - v;
    if (fit->square == 0) {
        x = fit->linear == 0 ? 0 : -c / fit->linear;
    } else {
        double inside = fit->linear * fit->linear - 4 * fit->square * c;
        x = (-fit->linear + sqrt(fmax(0, inside))) / (2 * fit->square);
    }
    if (!(x > 0))
        return 0;
    return x >= n - 1 ? n - 1 : (uint32_t)(x + 0.5);
}

uint32_t bry__regression_find(const bry__regression *fit, const uint32_t *table, uint32_t n,
                              uint32_t v, uint32_t *reads)
{
    /* The steps stay between a lower and an upper bound that move, so they end. */
    int64_t low = 0, high = (int64_t)n - 1, at = regression_guess(fit, n, v);
    uint32_t looked = 0, found = UINT32_MAX;
    while (low <= high && found == UINT32_MAX) {
        at = at < low ? low : at > high ? high : at;
        looked++;
        double missing = (double)v - table[at];
        int64_t step = (int64_t)(missing / fit->gap);
        if (missing == 0)
            found = (uint32_t)at;
        else if (missing > 0)
            low = at + 1;
        else
            high = at - 1;
        if (step == 0)
            step = missing > 0 ? 1 : -1;
        at += step;
    }
    if (reads)
        *reads = looked;
    return found;
}
