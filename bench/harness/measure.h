/*
 * How everything here is measured. Candidates do the same work in different ways, in phases (add,
 * look up, …). A round gives each candidate a fresh state and runs it through all phases; rounds
 * are interleaved, beginning with a different candidate each time, so that a change in the
 * machine's speed affects all candidates alike. A warm-up round is not counted. The report has the
 * median of the rounds and the fastest. The clock measures the processor time of this thread, so
 * that other programs disturb less; nothing here waits, so on an idle machine this equals
 * wall-clock time.
 *
 * A phase also counts what it found. The count must be the same in every round, and the case checks
 * that it is correct: speed is only reported for correct answers.
 */
#ifndef BLOOMERY_BENCH_MEASURE_H
#define BLOOMERY_BENCH_MEASURE_H

#include "cli/core/json/json_write.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define BENCH_MOST_ROUNDS 99u
#define BENCH_MOST_PHASES 8u

/* Measures the time between start and stop. */
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
    /* Creates a fresh state for one round; NULL on failure. */
    void *(*make)(const void *work);
    void (*drop)(void *state);
    /* Runs a phase, with the watch running during the measured part, and stores what it found.
     * False on failure. */
    bool (*run)(const void *work, void *state, unsigned phase, bench_watch *watch, uint64_t *found);
    unsigned skips; /* bit p: the candidate has no phase p */
} bench_candidate;

typedef struct bench_time {
    double median, min; /* ns per operation; NAN: the phase was skipped */
} bench_time;

typedef struct bench_result {
    bench_time time[BENCH_MOST_PHASES];
    uint64_t found[BENCH_MOST_PHASES];
} bench_result;

typedef struct bench_plan {
    const bench_candidate *candidates;
    const void *const *works; /* NULL, or one for each candidate instead of the shared work */
    size_t count;
    unsigned phases;
    uint64_t operations; /* in each phase */
    unsigned rounds; /* without the warm-up, 1 to BENCH_MOST_ROUNDS */
} bench_plan;

/* One result for each candidate. False, with a message on stderr, if one failed or gave different
 * answers in different rounds. */
bool bench_measure(const bench_plan *plan, const void *work, bench_result *results);

/* "ns_NAME", the median, and "ns_NAME_min". */
void bench_time_json(cli_json *json, const char *name, bench_time time);

/* The median of `count` values, which are sorted in place. */
double bench_median(double *values, size_t count);

#endif
