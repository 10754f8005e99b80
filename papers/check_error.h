/*
 * Eq. 4.3 of the thesis on the forgetful Bloom filter: the error of a check from the errors of the
 * filters, which are assumed to be independent. Take the filters one by one, newest first.
 */
#ifndef BRY_PAPERS_CHECK_ERROR_H
#define BRY_PAPERS_CHECK_ERROR_H

#include "common/sizing.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum bry__paper_check {
    BRY__PAPER_OPTIMIZED, /* the future filter, two neighbours, or the oldest filter */
    BRY__PAPER_SIMPLE, /* any filter */
} bry__paper_check;

/* Initialize with check and none = 1; the error is 1 - none. */
typedef struct bry__check_error {
    bry__paper_check check;
    uint64_t place;
    double newer; /* error of the filter before */
    double none; /* probability that no stage so far errs */
} bry__check_error;

/* alone: the filter is asked by itself, as the oldest one is. */
static inline void bry__check_error_take(bry__check_error *sum, double error, bool alone)
{
    bool simple = sum->check == BRY__PAPER_SIMPLE;
    if (simple || alone || sum->place == 0)
        sum->none *= 1 - error;
    if (!simple && sum->place > 1)
        sum->none *= 1 - error * sum->newer;
    sum->newer = error;
    sum->place++;
}

/* Eq. 4.1; 0 for an empty filter. */
static inline double bry__filter_error(uint64_t bits, unsigned hashes, uint64_t items)
{
    return items > 0 ? bry__bloom_error((double)bits, hashes, (double)items) : 0;
}

#endif
