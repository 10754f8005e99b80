/* kBF, figures 7 and 8: false negatives and false positives by the size of the table. */
#include "bench/figures/figure.h"

#include "bench/figures/kbf/kbf_store.h"

static const double errors[] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
/* The papers end at m/2. */
static const double sizes[] = {1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3};
/* At small scale those that have no errors, or enough of them to tell a rate. */
static const double small_sizes[] = {1, 0.5, 0.4, 0.3};

enum {
    SIZES = sizeof sizes / sizeof sizes[0],
    SMALL_SIZES = sizeof small_sizes / sizeof small_sizes[0],
    OURS = 2, /* of the errors, for which the library is measured too */
};

static void report_size(const figure_run *run, const kbf_store *store, double p, double size,
                        const kbf_answers *present, const kbf_answers *absent)
{
    kbf_point(run, "negatives", store->kind, p, size, kbf_false_negatives(present));
    kbf_point(run, "positives", store->kind, p, size, kbf_false_positives(absent));
    kbf_point(run, "bytes", store->kind, p, size,
              kbf_store_bytes_per_key(store, store->pairs->count));
}

static bool ask_at_size(const figure_run *run, const kbf_store *store, double p, double size)
{
    const kbf_pairs *pairs = store->pairs;
    kbf_answers present = kbf_store_ask(store, 0, pairs->count, pairs->first),
                absent = kbf_store_ask(store, pairs->count, 2 * pairs->count, NULL);
    report_size(run, store, p, size, &present, &absent);
    if (store->kind != KBF_COMPACT) /* nothing but compact mistakes a value for another */
        return kbf_only_right(&present);
    report_size(run, store, p, sizes[SIZES - 1], &present, &absent); /* it has one size: a line */
    return true;
}

static bool measure_size(const figure_run *run, const kbf_pairs *pairs, kbf_kind kind, double p,
                         double size)
{
    const kbf_plan plan = {.p = p, .capacity = pairs->count, .size = size, .most = pairs->count};
    kbf_store store;
    bool good = kbf_store_make(&store, kind, pairs, &plan) &&
                kbf_store_fill(&store, 0, pairs->count) && ask_at_size(run, &store, p, size);
    kbf_store_free(&store);
    return good;
}

static bool measure_sizes(const figure_run *run, const kbf_pairs *pairs, kbf_kind kind, double p)
{
    const bool small = run->scale == FIGURE_SMALL;
    const double *at = small ? small_sizes : sizes;
    const unsigned count = small ? SMALL_SIZES : SIZES;
    for (unsigned i = 0; i < count; i++)
        if (!measure_size(run, pairs, kind, p, at[i]))
            return false;
    return true;
}

/* It errs as rarely as it promises, so the tests need more keys. */
static bool measure_compact(const figure_run *run)
{
    kbf_pairs pairs;
    if (!kbf_pairs_make(&pairs, run, FIGURE_SIZE(run, 60000, 100000, 10000000)))
        return false;
    bool good = measure_size(run, &pairs, KBF_COMPACT, errors[1], 1);
    kbf_pairs_free(&pairs);
    return good;
}

static bool measure_errors_by_size(const figure_run *run)
{
    const unsigned count = FIGURE_SIZE(run, OURS, 4, 5);
    kbf_pairs pairs;
    if (!kbf_pairs_make(&pairs, run, FIGURE_SIZE(run, 10000, 100000, 10000000)))
        return false;
    bool good = true;
    for (unsigned i = 0; i < count && good; i++)
        good = measure_sizes(run, &pairs, KBF_PUBLISHED, errors[i]);
    for (unsigned i = 0; i < OURS && good; i++)
        good = measure_sizes(run, &pairs, KBF_OURS, errors[i]);
    good = good && measure_sizes(run, &pairs, KBF_WIDE, errors[0]);
    kbf_pairs_free(&pairs);
    return good && measure_compact(run);
}

FIGURE(kbf_07, "kbf-07", "False negatives and positives by size", {8, 3, 1},
       measure_errors_by_size);
