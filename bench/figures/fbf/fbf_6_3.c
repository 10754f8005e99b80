/* FBF, figure 6.3: Eq. 4.3 and the measured error, by the size of a filter. */
#include "bench/figures/figure.h"

#include "bench/figures/fbf/row_under_load.h"

enum { ELEMENTS = 300 };
#define MANY UINT64_C(32) /* times as many for the plans: one for 300 has a large fixed part */
#define PERIOD UINT64_C(5000) /* ms */

static bool measure_filter_size(const figure_run *run, uint64_t bits)
{
    double formula = fbf_start_error(BRY__PAPER_OPTIMIZED, bits, ELEMENTS / 2);
    double steady = fbf_steady_error(BRY__PAPER_OPTIMIZED, bits, ELEMENTS / 2);
    fbf_row row = fbf_row_published(run, BRY__PAPER_OPTIMIZED, bits, 3, PERIOD);
    bool done =
        fbf_row_add(&row, ELEMENTS / 2, PERIOD) && fbf_row_add(&row, ELEMENTS / 2, 2 * PERIOD);
    double error = done ? fbf_row_measured(&row, formula) : -1;
    if (error >= 0)
        figure_point(run, "error", "measured", (double)bits, error);
    if (run->number == 0) {
        figure_point(run, "error", "Equation 4.3", (double)bits, formula);
        figure_point(run, "memory", "published", (double)bits, 3.0 * (double)bits / ELEMENTS);
        figure_point(run, "memory", FBF_IMPROVED, (double)bits,
                     fbf_planned_bits(BRY_ENGINE_FBF, MANY * ELEMENTS, steady));
        figure_point(run, "memory", FBF_COMPACT, (double)bits,
                     fbf_planned_bits(BRY_ENGINE_COMPACT, MANY * ELEMENTS, steady));
    }
    fbf_row_free(&row);
    return done;
}

static bool measure_filter_sizes(const figure_run *run)
{
    bool done = true;
    for (uint64_t bits = 5000; bits <= 30000 && done; bits += 1250)
        done = measure_filter_size(run, bits);
    return done;
}

FIGURE(fbf_6_3, "fbf-6.3", "The formula by the size of a filter", {8, 10, 10},
       measure_filter_sizes);
