/*
 * The index of a number in an ascending table, by a curve: section 3.6 of "kBF: Towards Approximate
 * and Bloom Filter based Key-Value Storage for Cloud Computing Systems".
 *
 * The table's numbers follow a parabola roughly. It is fitted once; a number is looked up where the
 * parabola has it, and from there in steps of (what is missing) / (the average gap).
 */
#ifndef BRY_PAPERS_REGRESSION_H
#define BRY_PAPERS_REGRESSION_H

#include <stdint.h>

typedef struct bry__regression {
    double constant, linear, square; /* table[x] ≈ constant + linear·x + square·x² */
    double gap; /* the mean difference of neighbours */
} bry__regression;

/* By least squares. n is at least 1. */
bry__regression bry__regression_fit(const uint32_t *table, uint32_t n);

/* The index of v, or UINT32_MAX; *reads, where not NULL, counts the numbers looked at. */
uint32_t bry__regression_find(const bry__regression *fit, const uint32_t *table, uint32_t n,
                              uint32_t v, uint32_t *reads);

#endif
