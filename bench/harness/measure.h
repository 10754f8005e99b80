/*
 * How everything here is measured. Candidates do the same work in different ways, in phases (add,
 * look up, …). A round gives each candidate a fresh state and runs it through all phases; rounds
 * repeat, with the candidates in turn and a different one first each time, so that a machine which
 * slows down or speeds up meanwhile does so for all of them. One round goes ahead to warm up and is
 * not counted. Reported are the median of the rounds, and the fastest. The clock is the processor's
 * time of this thread, so that other programs on the machine disturb less; here nothing waits, so
 * on an idle machine it is the time on the wall.
 *
 * A phase also counts what it found. That count must be the same in every round, and what it must
 * be is checked by the case: speed is only reported for right answers.
 */
#ifndef BLOOMERY_BENCH_MEASURE_H
#define BLOOMERY_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define BENCH_MOST_ROUNDS 99u
#define BENCH_MOST_PHASES 8u

/* Counts the time between start and stop. */
typedef struct bench_watch {
    uint64_t started, spent; /* ns */
} bench_watch;

static inline uint64_t bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void bench_start(bench_watch *watch)
{
    watch->started = bench_now();
}

static inline void bench_stop(bench_watch *watch)
{
    watch->spent += bench_now() - watch->started;
}

typedef struct bench_candidate {
    const char *name;
    /* A fresh state for one round; NULL when it cannot be made. */
    void *(*make)(const void *work);
    void (*drop)(void *state);
    /* Runs a phase with the watch running where it counts, and stores what it found. False when the
     * candidate failed at it. */
    bool (*run)(const void *work, void *state, unsigned phase, bench_watch *watch, uint64_t *found);
    unsigned skips; /* bit p: there is no phase p */
} bench_candidate;

typedef struct bench_time {
    double median, min; /* ns per operation; NAN where a phase was skipped */
} bench_time;

typedef struct bench_result {
    bench_time time[BENCH_MOST_PHASES];
    uint64_t found[BENCH_MOST_PHASES];
} bench_result;

typedef struct bench_plan {
    const bench_candidate *candidates;
    const void *const *works; /* one for each candidate, in place of the work they share; or NULL */
    size_t count;
    unsigned phases;
    uint64_t operations; /* in each phase */
    unsigned rounds; /* counted ones, 1 to BENCH_MOST_ROUNDS */
} bench_plan;

/* One result for each candidate. False, with a message on stderr, when one failed or answered
 * differently from one round to the next. */
bool bench_measure(const bench_plan *plan, const void *work, bench_result *results);

/* The middle one of `count` values, which are sorted in place; the mean of two for an even count.
 */
double bench_median(double *values, size_t count);

#endif
