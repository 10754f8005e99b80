/*
 * kBF, figures 9 to 12: false positives among deleted keys after each of ten batches of deletions,
 * and false negatives after each of ten batches of updates.
 */
#include "bench/figures/figure.h"

#include "bench/figures/kbf/kbf_store.h"
#include "cli/core/output/output.h"

#include <stdlib.h>
#include <string.h>

/* The papers begin at 0.001, where there are few errors to count. */
static const double errors[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5};

typedef struct batch_work {
    const figure_run *run;
    const kbf_pairs *pairs;
    uint32_t *now; /* the values of the pairs */
    uint64_t stride; /* every which key is looked up: decoding greedy codes is slow */
    /* Changes a batch of the keys, and returns the error that is counted. */
    double (*step)(const struct batch_work *work, kbf_store *store, uint64_t from, uint64_t end);
    kbf_lines lines[KBF_KINDS];
    unsigned line_count, error_count;
} batch_work;

/* The error among the keys deleted so far. */
static double delete_batch(const batch_work *work, kbf_store *store, uint64_t from, uint64_t end)
{
    kbf_store_delete(store, from, end);
    kbf_answers gone = kbf_store_sample(store, 0, end, work->stride, NULL);
    return kbf_false_positives(&gone);
}

/* The error among all keys. */
static double update_batch(const batch_work *work, kbf_store *store, uint64_t from, uint64_t end)
{
    const kbf_pairs *pairs = work->pairs;
    kbf_store_update(store, from, end);
    memcpy(work->now + from, pairs->later + from, (end - from) * sizeof *work->now);
    kbf_answers present = kbf_store_sample(store, 0, pairs->count, work->stride, work->now);
    return kbf_false_negatives(&present);
}

static bool run_batches(const batch_work *work, kbf_kind kind, double p, double size)
{
    const uint64_t count = work->pairs->count;
    const kbf_plan plan = {.p = p, .capacity = count, .size = size, .most = count};
    kbf_store store;
    bool good =
        kbf_store_make(&store, kind, work->pairs, &plan) && kbf_store_fill(&store, 0, count);
    memcpy(work->now, work->pairs->first, count * sizeof *work->now);
    const unsigned batches = work->run->scale == FIGURE_SMALL ? 4 : 10;
    for (unsigned batch = 1; batch <= batches && good; batch++) {
        uint64_t from = count * (batch - 1) / batches, end = count * batch / batches;
        kbf_point(work->run, size < 1 ? "half" : "full", kind, p, batch,
                  work->step(work, &store, from, end));
    }
    kbf_store_free(&store);
    return good;
}

static bool run_all_batches(const batch_work *work, double size)
{
    for (unsigned k = 0; k < work->line_count; k++) {
        const kbf_lines *lines = &work->lines[k];
        for (unsigned i = lines->first; i < (lines->end ? lines->end : work->error_count); i++)
            if (!run_batches(work, lines->kind, errors[i], size))
                return false;
    }
    return true;
}

static bool measure_batches(batch_work work, uint64_t count)
{
    kbf_pairs pairs;
    if (!kbf_pairs_make(&pairs, work.run, count))
        return false;
    work.pairs = &pairs;
    work.stride = work.run->scale == FIGURE_FULL ? 10 : 1;
    work.now = malloc(pairs.count * sizeof *work.now);
    bool good = work.now && run_all_batches(&work, 1) && run_all_batches(&work, 0.5);
    if (!work.now)
        cli_no_memory();
    free(work.now);
    kbf_pairs_free(&pairs);
    return good;
}

static bool measure_deletions(const figure_run *run)
{
    batch_work work = {.run = run,
                       .step = delete_batch,
                       .lines = {{KBF_PUBLISHED, 0, 0}, {KBF_OURS, 0, 2}, {KBF_COMPACT, 1, 2}},
                       .line_count = 3,
                       .error_count = FIGURE_SIZE(run, 2, 4, 5)};
    return measure_batches(work, FIGURE_SIZE(run, 6000, 100000, 10000000));
}

static bool measure_updates(const figure_run *run)
{
    batch_work work = {.run = run,
                       .step = update_batch,
                       .lines = {{KBF_LITERAL, 0, 0},
                                 {KBF_PUBLISHED, 0, 2},
                                 {KBF_WIDE, 0, 2},
                                 {KBF_COMPACT, 1, 2}},
                       .line_count = 4,
                       .error_count = run->scale == FIGURE_SMALL ? 2 : 4};
    return measure_batches(work, FIGURE_SIZE(run, 6000, 30000, 10000000));
}

FIGURE(kbf_09, "kbf-09", "False positives after deletions", {12, 3, 1}, measure_deletions);
FIGURE(kbf_11, "kbf-11", "False negatives after updates", {8, 3, 1}, measure_updates);
