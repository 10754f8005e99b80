#include "bench/harness/hu_moments.h"

#include <math.h>

/* Sums of x^p · y^q over the pixels, for p + q <= 3, with x and y relative to the centre. */
typedef struct central_sums {
    double sum[4][4];
} central_sums;

static void centre_of(const uint8_t *pixels, size_t width, size_t height, size_t stride,
                      double *mass, double *x, double *y)
{
    *mass = *x = *y = 0;
    for (size_t row = 0; row < height; row++)
        for (size_t column = 0; column < width; column++) {
            double pixel = pixels[row * stride + column];
            *mass += pixel;
            *x += pixel * (double)column;
            *y += pixel * (double)row;
        }
}

static central_sums sums_around(const uint8_t *pixels, size_t width, size_t height, size_t stride,
                                double x, double y)
{
    central_sums sums = {{{0}}};
    for (size_t row = 0; row < height; row++)
        for (size_t column = 0; column < width; column++) {
            double dx = (double)column - x, dy = (double)row - y,
                   pixel = pixels[row * stride + column];
            const double xs[4] = {1, dx, dx * dx, dx * dx * dx},
                         ys[4] = {1, dy, dy * dy, dy * dy * dy};
            for (int p = 0; p <= 3; p++)
                for (int q = 0; p + q <= 3; q++)
                    sums.sum[p][q] += pixel * xs[p] * ys[q];
        }
    return sums;
}

void hu_moments(const uint8_t *pixels, size_t width, size_t height, size_t stride,
                double moments[HU_MOMENTS])
{
    double mass, x, y;
    centre_of(pixels, width, height, stride, &mass, &x, &y);
    for (int i = 0; i < HU_MOMENTS; i++)
        moments[i] = 0;
    if (mass == 0)
        return;
    central_sums sums = sums_around(pixels, width, height, stride, x / mass, y / mass);
    double second = pow(mass, 2), third = pow(mass, 2.5); /* scales to the size of the object */
    double n20 = sums.sum[2][0] / second, n02 = sums.sum[0][2] / second,
           n11 = sums.sum[1][1] / second, n30 = sums.sum[3][0] / third,
           n03 = sums.sum[0][3] / third, n21 = sums.sum[2][1] / third, n12 = sums.sum[1][2] / third;
    double a = n30 + n12, b = n21 + n03, c = n30 - 3 * n12, d = 3 * n21 - n03;
    moments[0] = n20 + n02;
    moments[1] = pow(n20 - n02, 2) + 4 * n11 * n11;
    moments[2] = c * c + d * d;
    moments[3] = a * a + b * b;
    moments[4] = c * a * (a * a - 3 * b * b) + d * b * (3 * a * a - b * b);
    moments[5] = (n20 - n02) * (a * a - b * b) + 4 * n11 * a * b;
    moments[6] = d * a * (a * a - 3 * b * b) - c * b * (3 * a * a - b * b);
}

double hu_distance(const double a[HU_MOMENTS], const double b[HU_MOMENTS])
{
    double sum = 0;
    for (int i = 0; i < HU_MOMENTS; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}
