/*
 * Increments over a network that loses acknowledgements: each is retried with a probability of 6 %,
 * some time later but within the window.
 *
 *     counter_retries INCREMENTS
 *
 * With a window the sums are exact, up to the error that the table states. Without one they are too
 * large by the number of retries.
 */
#include <bloomery/counters.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/generator.h"

enum {
    NAMES = 1000,
    WINDOW = 10000 /* ms */,
    RATE = 20 /* increments per ms */,
    RETRY = 6 /* % */
};

/* Retries by the ms in which they are due, in lists. */
typedef struct retries {
    uint32_t *next; /* for each operation, the next one due at the same time, plus one */
    uint32_t due[WINDOW]; /* the first one, plus one */
    bool *applied; /* by operation */
} retries;

static void fail(const char *what)
{
    fprintf(stderr, "counter_retries: %s\n", what);
    exit(1);
}

typedef struct outcome {
    uint64_t retried; /* retries that were sent */
    uint64_t lost; /* increments that are not applied */
    int64_t plain; /* the sum without a window */
    bry_counters_stats stats;
} outcome;

static void send(bry_counters *counters, uint64_t i, uint64_t now, bool first, bool *applied,
                 outcome *seen)
{
    char name[8];
    int len = snprintf(name, sizeof name, "%u", (unsigned)(i % NAMES));
    bry_hash id = bry_hash_key(bry_counters_seed(counters), &i, sizeof i);
    bry_counters_outcome what;
    if (bry_counters_apply(counters, id, name, (size_t)len, 1, now, &what, NULL) != BRY_OK)
        fail("an increment was refused");
    if (what == BRY_COUNTERS_APPLIED) { /* a retry counts, too, if the first try was lost */
        if (*applied)
            fail("a retry counted twice");
        *applied = true;
        seen->lost -= !first;
    } else {
        seen->lost += first;
    }
    seen->retried += !first;
    seen->plain++;
}

static outcome run(bry_engine engine, double error, uint64_t increments)
{
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    options.engine = engine;
    options.window = WINDOW;
    options.capacity = (uint64_t)WINDOW * RATE;
    options.error = error;
    options.seed = 5;
    bry_counters *counters;
    retries waiting = {.next = calloc(increments, sizeof *waiting.next),
                       .applied = calloc(increments, sizeof *waiting.applied)};
    if (!waiting.next || !waiting.applied || bry_counters_create(&options, &counters) != BRY_OK)
        fail("no memory");
    generator from = {9};
    outcome seen = {.stats = {0}};
    uint64_t left = 0;
    for (uint64_t ms = 0, i = 0; i < increments || left > 0; ms++) {
        uint32_t due = waiting.due[ms % WINDOW];
        waiting.due[ms % WINDOW] = 0;
        uint64_t end = i + RATE < increments ? i + RATE : increments, fresh = i;
        while (fresh < end || due) {
            uint64_t op = due ? due - 1 : fresh;
            bool first = !due;
            if (due)
                due = waiting.next[op];
            else
                fresh++;
            send(counters, op, ms, first, &waiting.applied[op], &seen);
            left -= !first;
            if (generator_below(&from, 100) < RETRY && first) {
                uint64_t when = (ms + 1 + generator_below(&from, WINDOW - 1)) % WINDOW;
                waiting.next[op] = waiting.due[when];
                waiting.due[when] = (uint32_t)op + 1;
                left++;
            }
        }
        i = end;
    }
    bry_counters_get_stats(counters, &seen.stats);
    int64_t sum = 0;
    bry_counters_entry entries[64];
    uint64_t cursor = 0;
    do
        for (size_t n = bry_counters_scan(counters, &cursor, entries, 64); n > 0; n--)
            sum += entries[n - 1].value;
    while (cursor != 0);
    if (sum != (int64_t)(increments - seen.lost) || seen.stats.applied != increments - seen.lost)
        fail("the sums are not what was applied");
    bry_counters_destroy(counters);
    free(waiting.next);
    free(waiting.applied);
    return seen;
}

int main(int argc, char **argv)
{
    uint64_t increments = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    if (increments == 0 || increments >= UINT32_MAX) {
        fputs("usage: counter_retries INCREMENTS\n", stderr);
        return 2;
    }
    static const bry_engine engines[] = {BRY_ENGINE_COMPACT, BRY_ENGINE_FBF};
    static const double errors[] = {1e-9, 1e-2};
    for (int e = 0; e < 4; e++) {
        outcome seen = run(engines[e % 2], errors[e / 2], increments);
        double n = (double)increments, p = RETRY / 100.0, expected = seen.stats.expected_lost;
        printf("%s at %.0e: %" PRIu64 " lost (%.3g expected, at most %.3g promised), "
               "%.2f %% too many without a window\n",
               bry_engine_name(engines[e % 2]), errors[e / 2], seen.lost, expected,
               n * errors[e / 2], 100 * ((double)seen.plain - n) / n);
        /* 5σ. At 1e-9 this is: none. */
        if ((double)seen.lost > expected + 5 * sqrt(expected) || expected > n * errors[e / 2])
            fail("more increments were lost than stated");
        if (e / 2 && (double)seen.lost < 0.3 * expected)
            fail("the stated losses are far too high");
        if (fabs((double)seen.plain - n - n * p) > 5 * sqrt(n * p * (1 - p)))
            fail("retries are not 6 %");
    }
    return 0;
}
