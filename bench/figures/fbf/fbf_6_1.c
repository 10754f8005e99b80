/* FBF, figure 6.1: the optimized and the simple check. */
#include "bench/figures/figure.h"

#include "bench/figures/fbf/row_under_load.h"

enum { BITS = 6250 };
#define PERIOD UINT64_C(5000) /* ms */

/* Half of the elements in each interval: two intervals from the start, as in the thesis, and three
 * more for the steady state. */
static bool measure_check(const figure_run *run, bry__paper_check check, uint64_t elements)
{
    bool simple = check == BRY__PAPER_SIMPLE;
    const char *name = simple ? "simple check" : "optimized check";
    fbf_row row = fbf_row_published(run, check, BITS, 3, PERIOD);
    bool done = true;
    for (uint64_t i = 1; i <= 5 && done; i++) {
        done = fbf_row_add(&row, elements / 2, i * PERIOD);
        double expected = i == 2 ? fbf_start_error(check, BITS, elements / 2)
                                 : fbf_steady_error(check, BITS, elements / 2);
        double error = done && (i == 2 || i == 5) ? fbf_row_measured(&row, expected) : -1;
        if (error >= 0)
            figure_point(run, i == 2 ? "start" : "steady", name, (double)elements, error);
    }
    fbf_row_free(&row);
    return done;
}

/* Ours in steady state, planned for the error of the optimized check. A window for 300 elements
 * has a large fixed part, so there are `many` times as many. */
static bool measure_as_good(const figure_run *run, bry_engine engine, uint64_t elements)
{
    const uint64_t many = FIGURE_SIZE(run, 8, 32, 32);
    const char *name = engine == BRY_ENGINE_FBF ? FBF_IMPROVED : FBF_COMPACT;
    double error = fbf_steady_error(BRY__PAPER_OPTIMIZED, BITS, elements / 2);
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.window = 2 * PERIOD;
    options.capacity = many * elements;
    options.error = error;
    fbf_row row = fbf_row_ours(run, engine, &options);
    bool done = fbf_row_add(&row, many * elements * 5 / 2, 5 * PERIOD);
    if (done)
        figure_point(run, "steady", name, (double)elements, fbf_row_measured(&row, error));
    if (done && run->number == 0)
        figure_point(run, "memory", name, (double)elements,
                     fbf_planned_bits(engine, many * elements, error));
    fbf_row_free(&row);
    return done;
}

static bool measure_checks(const figure_run *run)
{
    const uint64_t step = FIGURE_SIZE(run, 300, 100, 100);
    bool done = true;
    for (uint64_t n = step < 200 ? 200 : step; n <= 1500 && done; n += step) {
        if (run->number == 0)
            figure_point(run, "memory", "optimized check", (double)n, 3.0 * BITS / (double)n);
        done = measure_check(run, BRY__PAPER_SIMPLE, n) &&
               measure_check(run, BRY__PAPER_OPTIMIZED, n) &&
               measure_as_good(run, BRY_ENGINE_FBF, n) &&
               measure_as_good(run, BRY_ENGINE_COMPACT, n);
    }
    return done;
}

FIGURE(fbf_6_1, "fbf-6.1", "The optimized check and the simple one", {8, 10, 10}, measure_checks);
