/* FBF, figure 6.2: Eq. 4.3 and the measured error, by the number of elements. */
#include "bench/figures/figure.h"

#include "bench/figures/fbf/row_under_load.h"

enum {
    BITS = 6250,
    LONG_ROW = 10, /* filters in steady state */
};
#define PERIOD UINT64_C(5000) /* ms */

static void compare_errors(fbf_row *row, const char *panel, const char *formula,
                           const char *measured, double x)
{
    double predicted = fbf_row_predicted(row);
    double error =
        predicted < FIGURE_SIZE(row->run, 2e-4, 1e-5, 0) ? -1 : fbf_row_measured(row, predicted);
    if (error < 0)
        return;
    figure_point(row->run, panel, formula, x, predicted);
    figure_point(row->run, panel, measured, x, error);
}

/* As in the thesis: three filters, and half of the elements in each of the first two intervals. */
static bool measure_start(const figure_run *run, uint64_t elements)
{
    fbf_row row = fbf_row_published(run, BRY__PAPER_OPTIMIZED, BITS, 3, PERIOD);
    bool done =
        fbf_row_add(&row, elements / 2, PERIOD) && fbf_row_add(&row, elements / 2, 2 * PERIOD);
    if (done)
        compare_errors(&row, "start", "Equation 4.3", "measured", (double)elements);
    fbf_row_free(&row);
    return done;
}

/* Just before a refresh, with as many elements in each interval since long. */
static bool fill_intervals(fbf_row *row, uint64_t each)
{
    bool done = true;
    for (uint64_t i = 1; i <= LONG_ROW + 2 && done; i++)
        done = fbf_row_add(row, each, i * PERIOD);
    return done;
}

static bool measure_long_row(const figure_run *run, uint64_t each)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.window = (LONG_ROW - 2) * PERIOD; /* it has two filters more, too */
    options.generations = LONG_ROW - 2;
    options.capacity = each * options.generations;
    options.fbf.bits = BITS;
    options.fbf.hashes = 5;
    options.fixed = true;
    fbf_row rows[] = {fbf_row_published(run, BRY__PAPER_OPTIMIZED, BITS, LONG_ROW, PERIOD),
                      fbf_row_ours(run, BRY_ENGINE_FBF, &options)};
    bool done = true;
    for (int i = 0; i < 2 && done; i++)
        done = fill_intervals(&rows[i], each);
    if (done) {
        compare_errors(&rows[0], "steady", "Equation 4.3", "measured", (double)each);
        compare_errors(&rows[1], "steady", "improved fbf (ours): formula",
                       "improved fbf (ours): measured", (double)each);
    }
    for (int i = 0; i < 2; i++)
        fbf_row_free(&rows[i]);
    return done;
}

static bool measure_formula(const figure_run *run)
{
    const uint64_t step = FIGURE_SIZE(run, 300, 100, 100);
    bool done = true;
    for (uint64_t n = step < 200 ? 200 : step; n <= 1500 && done; n += step)
        done = measure_start(run, n);
    for (uint64_t each = 100; each <= 500 && done; each += FIGURE_SIZE(run, 100, 50, 50))
        done = measure_long_row(run, each);
    return done;
}

FIGURE(fbf_6_2, "fbf-6.2", "The formula by the number of elements", {8, 10, 10}, measure_formula);
