/* kBF, figure 3: how encodings grow with their index, and how the index is found from one. */
#include "bench/figures/figure.h"

#include "bench/harness/bench_fail.h"
#include "papers/greedy.h"

#define CURVE_POINTS 40u
#define CLAIMED_READS 3 /* the paper's example, which it takes for typical */

/* As a binary search reads the table until it finds number x of n. */
static unsigned binary_reads(uint32_t n, uint32_t x)
{
    unsigned reads = 0;
    for (uint32_t low = 0, high = n; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        reads++;
        if (middle == x)
            break;
        if (middle < x)
            low = middle + 1;
        else
            high = middle;
    }
    return reads;
}

/* The mean number of reads to find each of the first n encodings, from a curve fitted to them. */
static bool plot_reads(const figure_run *run, const uint32_t *code, uint32_t n)
{
    const bry__regression fit = bry__regression_fit(code, n);
    double regression = 0, binary = 0;
    for (uint32_t x = 0; x < n; x++) {
        uint32_t reads;
        if (bry__regression_find(&fit, code, n, code[x], &reads) != x)
            return bench_fail("an encoding is not found by its curve");
        regression += (double)reads / n;
        binary += (double)binary_reads(n, x) / n;
    }
    figure_point(run, "reads", "claimed", n, CLAIMED_READS);
    figure_point(run, "reads", "regression", n, regression);
    figure_point(run, "reads", "binary search", n, binary);
    figure_point(run, "reads", "algebraic (ours)", n, 1); /* the table of cubes */
    return true;
}

static bool measure_encoding_curve(const figure_run *run)
{
    const uint32_t most = FIGURE_SIZE(run, 1000, 3000, 5000);
    const bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__greedy greedy;
    bry_status status = bry__greedy_search(&greedy, most, 0, &allocator);
    if (status != BRY_OK)
        return bench_fail("search for %u encodings: %s", most, bry_status_text(status));
    for (uint32_t i = 0; i <= CURVE_POINTS; i++) {
        uint32_t at = i * (most - 1) / CURVE_POINTS;
        double x = at;
        figure_point(run, "curve", "greedy search", x, greedy.code[at]);
        figure_point(run, "curve", "fitted parabola", x,
                     greedy.fit.constant + x * (greedy.fit.linear + x * greedy.fit.square));
    }
    static const uint32_t counts[] = {125, 250, 500, 1000, 2000, 3000, 5000};
    bool good = true;
    for (unsigned i = 0; good && i < sizeof counts / sizeof counts[0] && counts[i] <= most; i++)
        good = plot_reads(run, greedy.code, counts[i]);
    bry__greedy_free(&greedy);
    return good;
}

FIGURE(kbf_03, "kbf-03", "Encodings by index, and back", {1, 1, 1}, measure_encoding_curve);
