/* FBF, figure 6.9: counters under retries, guarded by windows of the same memory. */
#include "bench/figures/figure.h"

#include "bench/cases/window/window_trial.h"
#include "bench/figures/fbf/row_under_load.h"
#include "bench/harness/bench_fail.h"

static const char *const guard_names[RETRY_ROWS] = {
    [RETRY_RBF] = "RBF",
    [RETRY_RING] = "ring of plain filters",
    [RETRY_PAPER] = "published FBF",
    [RETRY_IMPROVED] = FBF_IMPROVED,
    [RETRY_COMPACT] = FBF_COMPACT,
};

static bool measure_retries(const figure_run *run)
{
    static const double shares[] = {0.05, 0.1, 0.2, 0.4, 0.8};
    const uint64_t operations = FIGURE_SIZE(run, 80000, 200000, 2000000);
    /* With few retries, lost and double counts nearly cancel: the difference needs many. */
    const size_t first = FIGURE_SIZE(run, 1, 0, 0), step = FIGURE_SIZE(run, 3, 1, 1);
    for (size_t i = first; i < sizeof shares / sizeof *shares; i += step) {
        retry_facts facts;
        bry_status status = window_retries(shares[i], operations, run->number, &facts);
        if (status != BRY_OK)
            return bench_fail("counters under retries: %s", bry_status_text(status));
        for (int row = 0; row < RETRY_ROWS; row++)
            figure_point(run, "", guard_names[row], 100 * shares[i], 100 * facts.error[row]);
    }
    return true;
}

FIGURE(fbf_6_9, "fbf-6.9", "Counters under retries", {8, 10, 10}, measure_retries);
