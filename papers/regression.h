/*
 * The index of a number in an ascending table, found with a curve: section 3.6 of "kBF: Towards
 * Approximate and Bloom Filter based Key-Value Storage for Cloud Computing Systems".
 *
 * The table's numbers roughly follow a parabola. It is fitted once; the search for a number starts
 * where the parabola reaches it, and continues in steps of (remaining difference) / (average gap).
 */
#ifndef BRY_PAPERS_REGRESSION_H
#define BRY_PAPERS_REGRESSION_H

#include <stdint.h>

typedef struct bry__regression {
    double constant, linear, square; /* table[x] ≈ constant + linear·x + square·x² */
    double gap; /* the mean difference of neighbours */
} bry__regression;

/* Least squares. n is at least 1. */
bry__regression bry__regression_fit(const uint32_t *table, uint32_t n);

/* The index of v, or UINT32_MAX; *reads, if not NULL, counts the numbers read. */
uint32_t bry__regression_find(const bry__regression *fit, const uint32_t *table, uint32_t n,
                              uint32_t v, uint32_t *reads);

#endif
