/*
 * The seven moments of Hu ("Visual Pattern Recognition by Moment Invariants", 1962): features of an
 * image that stay the same if what it shows is moved, turned or scaled.
 */
#ifndef BLOOMERY_BENCH_HU_MOMENTS_H
#define BLOOMERY_BENCH_HU_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

enum { HU_MOMENTS = 7 };

/* Of a rectangle of an image whose rows are `stride` apart. All are 0 for an image without a pixel
 * other than 0. */
void hu_moments(const uint8_t *pixels, size_t width, size_t height, size_t stride,
                double moments[HU_MOMENTS]);

/* The Euclidean distance of two sets of moments. */
double hu_distance(const double a[HU_MOMENTS], const double b[HU_MOMENTS]);

#endif
