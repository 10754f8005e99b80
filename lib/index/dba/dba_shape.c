#include "index/dba/dba_shape.h"

#include "common/sizing.h"

#include <math.h>

double bry__dba_unit_error(double error, uint32_t units)
{
    return -expm1(log1p(-error) / units);
}

/* The share of bits set with n elements. */
static double dba_shape_fill(const bry__dba_shape *shape, double n)
{
    if (n <= 0) /* also for a single row, whose logarithm is infinite */
        return 0;
    return bry__bloom_fill((double)shape->range, shape->segmented ? 1 : shape->hashes, n);
}

/*
 * Segments fill independently of each other, so the mean of the product of their fills is the
 * product of the means. The k positions of a plain filter ask one and the same table, whose fill
 * varies a little between filters: with variance v the mean of fill^k is larger than the k-th
 * power of the mean by about exp(k(k-1)/2 · v/fill²). That is negligible for thousands of elements,
 * and a quarter for ten.
 */
double bry__dba_shape_error(const bry__dba_shape *shape, double n)
{
    double fill = dba_shape_fill(shape, n), k = shape->hashes, m = (double)shape->range;
    if (fill <= 0)
        return 0;
    double error = pow(fill, k);
    if (!shape->segmented) {
        double load = k * n / m, empty = 1 - fill;
        double variance = empty * (1 - empty * (1 + load)) / m;
        if (variance > 0)
            error *= exp(k * (k - 1) / 2 * variance / (fill * fill));
    }
    return error < 1 ? error : 1;
}

static unsigned hashes_for(double error, double fill)
{
    /* Values within rounding of a whole number become that number. */
    double k = ceil(log(error) / log(fill) - 1e-9);
    return k < 1 ? 1 : k > BRY__DBA_MAX_HASHES ? BRY__DBA_MAX_HASHES : (unsigned)k;
}

bry__dba_shape bry__dba_shape_plan(uint64_t capacity, double error, bool segmented)
{
    bry__dba_shape shape = {
        .capacity = capacity, .hashes = hashes_for(error, 0.5), .segmented = segmented};
    /* log2(e)·log2(1/error) bits per element are exact if log2(1/error), the number of hashes, is a
     * whole number. In general it is rounded up, which needs a few more rows. */
    double n = (double)capacity, fill = pow(error, 1.0 / shape.hashes);
    double positions = segmented ? n : n * shape.hashes;
    double low = ceil(-1 / expm1(log1p(-fill) / positions));
    shape.range = low < 1 ? 1 : (uint64_t)low;
    if (bry__dba_shape_error(&shape, n) <= error)
        return shape;
    uint64_t below = shape.range, above = 2 * below + 64;
    for (shape.range = above; bry__dba_shape_error(&shape, n) > error;)
        shape.range = above *= 2;
    while (above - below > 1) {
        shape.range = below + (above - below) / 2;
        if (bry__dba_shape_error(&shape, n) <= error)
            above = shape.range;
        else
            below = shape.range;
    }
    shape.range = above;
    return shape;
}

bry__dba_shape bry__dba_shape_tighten(bry__dba_shape segmented, double error)
{
    double fill = dba_shape_fill(&segmented, (double)segmented.capacity);
    unsigned hashes = hashes_for(error, fill < 0.99 ? fill : 0.99);
    if (hashes > segmented.hashes)
        segmented.hashes = hashes;
    return segmented;
}

bool bry__dba_shape_same(const bry__dba_shape *a, const bry__dba_shape *b)
{
    return a->capacity == b->capacity && a->range == b->range && a->hashes == b->hashes &&
           a->segmented == b->segmented;
}

bool bry__dba_shape_valid(const bry__dba_shape *shape)
{
    return shape->capacity >= 1 && shape->capacity <= BRY_CAPACITY_MAX && shape->range >= 1 &&
           shape->range <= BRY__DBA_MAX_ROWS && shape->hashes >= 1 &&
           shape->hashes <= BRY__DBA_MAX_HASHES && bry__dba_rows(shape) <= BRY__DBA_MAX_ROWS;
}
