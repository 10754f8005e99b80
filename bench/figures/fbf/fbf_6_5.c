/* FBF, figure 6.5: the error by the number of filters, at the start and in steady state. */
#include "bench/figures/figure.h"

#include "bench/figures/fbf/row_under_load.h"

#include <math.h>

enum {
    BITS = 6250,
    ROWS = 4,
    OURS = 2,
    SECONDS = 60, /* of the start */
    ELEMENTS = 3000, /* in them, so the rate rises to 100 per second */
    LOOKS = 5, /* per interval in steady state */
};
#define PERIOD UINT64_C(5000) /* ms */
#define TARGET 1e-3

static const uint32_t filters[ROWS] = {3, 6, 12, 24};
static const char *const row_names[ROWS] = {"3 filters", "6 filters", "12 filters", "24 filters"};

static uint64_t ramp_until(uint64_t second)
{
    return (uint64_t)ELEMENTS * second * second / ((uint64_t)SECONDS * SECONDS);
}

static bool measure_ramp(const figure_run *run, int which)
{
    const unsigned step = FIGURE_SIZE(run, 10, 4, 2);
    fbf_row row = fbf_row_published(run, BRY__PAPER_OPTIMIZED, BITS, filters[which], PERIOD);
    bool done = true;
    for (uint64_t second = 1; second <= SECONDS && done; second++) {
        done = fbf_row_add(&row, ramp_until(second) - ramp_until(second - 1), second * 1000);
        if (!done || second % step != 0)
            continue;
        double rate = 2.0 * ELEMENTS * (double)second / (SECONDS * SECONDS);
        double predicted = fbf_row_predicted(&row);
        double error =
            predicted < FIGURE_SIZE(run, 1e-4, 1e-4, 1e-6) ? -1 : fbf_row_measured(&row, predicted);
        if (run->number == 0 && predicted > 1e-8)
            figure_point(run, "formula", row_names[which], rate, predicted);
        if (error >= 0)
            figure_point(run, "start", row_names[which], rate, error);
    }
    fbf_row_free(&row);
    return done;
}

/* The mean error over one interval, after the row is full. */
static bool measure_steady(fbf_row *row, const char *name, uint64_t rate, uint64_t intervals,
                           double expected)
{
    uint64_t part = PERIOD / LOOKS, time = intervals * PERIOD;
    bool done = fbf_row_add(row, rate * intervals * PERIOD / 1000, time);
    double sum = 0;
    for (unsigned i = 1; i <= LOOKS && done; i++) {
        done = fbf_row_add(row, rate * part / 1000, time + i * part);
        if (done)
            sum += fbf_row_measured(row, LOOKS * fmax(expected, fbf_row_predicted(row)));
    }
    if (done)
        figure_point(row->run, "steady", name, (double)rate, sum / LOOKS);
    return done;
}

/* Ours remember as long as the longest row, at twice the load that they are planned for. */
static bool measure_steady_ours(const figure_run *run, bry_engine engine, uint64_t rate)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.window = (filters[ROWS - 1] - 1) * PERIOD;
    options.capacity = options.window / 1000 * rate / 2;
    options.error = TARGET;
    fbf_row row = fbf_row_ours(run, engine, &options);
    bool improved = engine == BRY_ENGINE_FBF;
    bool done = measure_steady(&row, improved ? FBF_IMPROVED : FBF_COMPACT, rate,
                               UINT64_C(2) * filters[ROWS - 1],
                               improved ? TARGET * FBF_IMPROVED_PART : TARGET);
    fbf_row_free(&row);
    return done;
}

static bool measure_filter_counts(const figure_run *run)
{
    bool done = true;
    for (int i = 0; i < ROWS && done; i++)
        done = measure_ramp(run, i);
    const uint64_t step = FIGURE_SIZE(run, 50, 25, 25);
    for (uint64_t rate = 50; rate <= 100 && done; rate += step) {
        for (int i = 0; i < ROWS && done; i++) {
            fbf_row row = fbf_row_published(run, BRY__PAPER_OPTIMIZED, BITS, filters[i], PERIOD);
            done = measure_steady(&row, row_names[i], rate, filters[i] + 1, 0);
            fbf_row_free(&row);
        }
        done = done && measure_steady_ours(run, BRY_ENGINE_FBF, rate) &&
               measure_steady_ours(run, BRY_ENGINE_COMPACT, rate);
    }
    return done;
}

FIGURE(fbf_6_5, "fbf-6.5", "The error by the number of filters", {8, 10, 10},
       measure_filter_counts);
