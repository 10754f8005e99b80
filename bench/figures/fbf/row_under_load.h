/*
 * A window under the load of a figure: the published forgetful Bloom filter, or one of the
 * library's engines. Each repetition has other elements.
 */
#ifndef BLOOMERY_BENCH_ROW_UNDER_LOAD_H
#define BLOOMERY_BENCH_ROW_UNDER_LOAD_H

#include "bench/cases/window/window_candidates.h"
#include "bench/figures/figure.h"

#define FBF_IMPROVED "improved fbf (ours)"
#define FBF_COMPACT "compact (ours)"
#define FBF_IMPROVED_PART 0.25 /* of its promised error, at most, is seen at twice the load */

typedef struct fbf_row {
    const figure_run *run;
    const window_calls *calls;
    void *state; /* NULL: it could not be created */
    window_work work;
    uint64_t added, now; /* elements so far, and the time of the last one */
    uint64_t asked; /* absent elements so far */
} fbf_row;

/* A basic filter of the thesis: no adaptation, k = 5. */
fbf_row fbf_row_published(const figure_run *run, bry__paper_check check, uint64_t bits,
                          uint32_t filters, uint64_t period);
/* An engine of the library. The options need neither seed nor size. */
fbf_row fbf_row_ours(const figure_run *run, bry_engine engine, const bry_window_options *options);
/* Any window: the work needs kind and options alone. */
fbf_row fbf_row_make(const figure_run *run, const window_work *work);
void fbf_row_free(fbf_row *row);

/* Adds `count` new elements, spread evenly over the time until `until`. False if memory ran out
 * or the row was not created. */
bool fbf_row_add(fbf_row *row, uint64_t count, uint64_t until);

/* The error by the formula of the row. */
double fbf_row_predicted(const fbf_row *row);

/* The share of absent elements that are found, with as many queries as an error rate of `expected`
 * needs for enough errors. Negative if that is too rare for the scale. */
double fbf_row_measured(fbf_row *row, double expected);

/* The number of the element or of the absent element in the sequence of this repetition. */
bry_hash fbf_element(const figure_run *run, uint64_t number);
bry_hash fbf_absent(const figure_run *run, uint64_t number);

/* Bits per element that the engine plans for this error with `elements` in a window. Several
 * thousand elements at least, so that the fixed part does not matter. */
double fbf_planned_bits(bry_engine engine, uint64_t elements, double error);

/* Eq. 4.3, or its variant for the simple check, for three filters just before a refresh, with as
 * many elements in each interval: after two intervals from the start, and in steady state. */
double fbf_start_error(bry__paper_check check, uint64_t bits, uint64_t each);
double fbf_steady_error(bry__paper_check check, uint64_t bits, uint64_t each);

#endif
