/* kBF, figures 13 and 14: false negatives after JOIN and COMPRESS, by the capacity coefficient ρ. */
#include "bench/figures/figure.h"

#include "bench/figures/kbf/kbf_store.h"

static const double errors[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5};

/* Two stores that each hold a share ρ of their capacity become one. */
static bool join_at(const figure_run *run, const kbf_pairs *pairs, kbf_kind kind, double p,
                    double rho)
{
    const uint64_t capacity = pairs->count / 2, each = (uint64_t)((double)capacity * rho);
    const kbf_plan plan = {.p = p, .capacity = capacity, .size = 1, .most = 2 * each};
    kbf_store one = {0}, other = {0};
    bool good = kbf_store_make(&one, kind, pairs, &plan) && kbf_store_fill(&one, 0, each) &&
                kbf_store_make_like(&other, &one) && kbf_store_fill(&other, each, 2 * each) &&
                kbf_store_join(&one, &other);
    if (good) {
        kbf_answers present = kbf_store_ask(&one, 0, 2 * each, pairs->first);
        kbf_point(run, "join", kind, p, rho, kbf_false_negatives(&present));
    }
    kbf_store_free(&one);
    kbf_store_free(&other);
    return good;
}

/* A store that holds a share ρ of its capacity is folded into half of its cells. */
static bool fold_at(const figure_run *run, const kbf_pairs *pairs, kbf_kind kind, double p,
                    double rho)
{
    const uint64_t count = (uint64_t)((double)pairs->count * rho);
    const kbf_plan plan = {
        .p = p, .capacity = pairs->count, .size = 1, .most = count, .folds = true};
    kbf_store store;
    bool good = kbf_store_make(&store, kind, pairs, &plan) && kbf_store_fill(&store, 0, count) &&
                kbf_store_fold(&store);
    if (good) {
        kbf_answers present = kbf_store_ask(&store, 0, count, pairs->first);
        kbf_point(run, "compress", kind, p, rho, kbf_false_negatives(&present));
    }
    kbf_store_free(&store);
    return good;
}

static bool join_and_fold(const figure_run *run, const kbf_pairs *pairs, kbf_kind kind, double p)
{
    const bool small = run->scale == FIGURE_SMALL; /* 0.5, 0.75, 1 */
    const int steps = small ? 4 : 10, from = small ? 2 : 1;
    bool good = true;
    for (int step = from; step <= steps && good; step++)
        good = join_at(run, pairs, kind, p, (double)step / steps);
    for (int step = from; step <= steps && good && kind != KBF_COMPACT; step++)
        good = fold_at(run, pairs, kind, p, (double)step / steps);
    return good;
}

static bool measure_join_and_fold(const figure_run *run)
{
    static const kbf_lines lines[] = {
        {KBF_PUBLISHED, 0, 0}, {KBF_OURS, 0, 2}, {KBF_WIDE, 1, 2}, {KBF_COMPACT, 1, 2}};
    const unsigned count = FIGURE_SIZE(run, 2, 4, 5);
    kbf_pairs pairs;
    if (!kbf_pairs_make(&pairs, run, FIGURE_SIZE(run, 6000, 50000, 10000000)))
        return false;
    bool good = true;
    for (unsigned k = 0; k < sizeof lines / sizeof lines[0]; k++)
        for (unsigned i = lines[k].first; i < (lines[k].end ? lines[k].end : count) && good; i++)
            good = join_and_fold(run, &pairs, lines[k].kind, errors[i]);
    kbf_pairs_free(&pairs);
    return good;
}

FIGURE(kbf_13, "kbf-13", "False negatives after join and compress", {10, 3, 1},
       measure_join_and_fold);
