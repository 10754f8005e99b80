/* Size and errors of a window, without times: sampled often, and queried for everything that it
 * must remember. */
#ifndef BLOOMERY_BENCH_WINDOW_TRIAL_H
#define BLOOMERY_BENCH_WINDOW_TRIAL_H

#include "bench/cases/window/window_candidates.h"

/* Over the last window, at the end of each of its generations; bytes more often. */
typedef struct window_facts {
    uint64_t bytes; /* at the worst point of a generation */
    double bits_per_element; /* of one window */
    double false_positive; /* measured */
    double predicted; /* the mean of the formulae at the same times */
    uint64_t absent; /* queries for elements that were never added */
    uint64_t promised; /* queries for elements that were new at most a window ago */
    uint64_t forgotten_early; /* of these, not found */
} window_facts;

/* BRY_E_NOMEM. */
bry_status window_trial(const window_work *work, window_facts *facts);

/* ---- a burst ------------------------------------------------------------------------------- */

#define BURST_TIMES 100u

typedef struct burst_facts {
    double worst_error; /* measured, the maximum over all samples */
    double error; /* measured over all samples together */
    uint64_t asked; /* at each moment */
    uint64_t elements_before, elements_peak;
    uint64_t bytes_before, bytes_peak, bytes_after;
    uint64_t ended_early, resizes;
} burst_facts;

/* A window planned for `elements` in 8 s gets this number; then, for 6 s, a hundred times as many;
 * then the first number again, until two windows are over. The published row adapts itself by
 * Algorithm 3. */
bry_status window_burst(const window_settings *settings, burst_facts *facts);

/* ---- retries: Fig. 6.9 --------------------------------------------------------------------- */

enum retry_row { RETRY_RBF, RETRY_RING, RETRY_PAPER, RETRY_IMPROVED, RETRY_COMPACT, RETRY_ROWS };

typedef struct retry_facts {
    uint64_t bytes; /* of each window */
    double error[RETRY_ROWS]; /* deviation of a counter, as a share of the operations */
} retry_facts;

/* A counter with each of the windows, in the same memory; this share of the operations is retried
 * once, within the window. Another trial has other operations. */
bry_status window_retries(double share, uint64_t operations, uint64_t trial, retry_facts *facts);

#endif
