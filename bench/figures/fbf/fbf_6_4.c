/* FBF, figure 6.4: the error by the refresh period, while the load grows exponentially. */
#include "bench/figures/figure.h"

#include "bench/figures/fbf/row_under_load.h"

#include <math.h>

enum {
    BITS = 25000,
    FILTERS = 3,
    PERIODS = 4,
    OURS = 2,
    SECONDS = 240,
    STEP = 30, /* seconds from look to look: all rows are just before a refresh then */
    WINDOW = 10000, /* of ours: what three filters with t = 5 s remember for certain */
    PLANNED = 500, /* elements in it */
};
#define TARGET 1e-3

static const uint64_t periods[PERIODS] = {5, 3, 2, 1};
static const char *const period_names[PERIODS] = {"t = 5 s", "t = 3 s", "t = 2 s", "t = 1 s"};

#define GROWTH 52.5 /* seconds in which the load grows e-fold: 5000 elements in all */

/* Elements until this second, from one per second to about a hundred. */
static uint64_t elements_until(uint64_t second)
{
    return (uint64_t)(GROWTH * expm1((double)second / GROWTH));
}

static double rate_at(uint64_t second)
{
    return exp((double)second / GROWTH);
}

static void report_period(fbf_row *row, const char *name, double rate)
{
    double predicted = fbf_row_predicted(row);
    if (predicted < 1e-12) /* rounding */
        return;
    if (row->run->number == 0)
        figure_point(row->run, "formula", name, rate, predicted);
    double least = FIGURE_SIZE(row->run, 1e-5, 0, 0);
    double error = predicted < least ? -1 : fbf_row_measured(row, predicted);
    if (error >= 0)
        figure_point(row->run, "measured", name, rate, error);
}

/* Each at the end of every few seconds, all at the same load. */
static bool measure_rows(const figure_run *run, fbf_row *rows, fbf_row *ours)
{
    const unsigned step = FIGURE_SIZE(run, 2 * STEP, STEP, STEP);
    bool done = true;
    for (uint64_t second = 1; second <= SECONDS && done; second++) {
        uint64_t more = elements_until(second) - elements_until(second - 1);
        for (int i = 0; i < PERIODS && done; i++)
            done = fbf_row_add(&rows[i], more, second * 1000);
        for (int i = 0; i < OURS && done; i++)
            done = fbf_row_add(&ours[i], more, second * 1000);
        if (!done || second % step != 0)
            continue;
        for (int i = 0; i < PERIODS; i++)
            report_period(&rows[i], period_names[i], rate_at(second));
        for (int i = 0; i < OURS; i++) {
            const char *name = i ? FBF_COMPACT : FBF_IMPROVED;
            if (rate_at(second) * WINDOW / 1000 >= PLANNED / 2.0)
                figure_point(run, "measured", name, rate_at(second),
                             fbf_row_measured(&ours[i], i ? TARGET : TARGET * FBF_IMPROVED_PART));
            figure_point(run, "memory", name, rate_at(second),
                         (double)ours[i].calls->bytes(ours[i].state));
        }
        figure_point(run, "memory", "published; any t", rate_at(second), FILTERS * BITS / 8.0);
    }
    return done;
}

static bool measure_periods(const figure_run *run)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.window = WINDOW;
    options.capacity = PLANNED;
    options.error = TARGET;
    fbf_row rows[PERIODS], ours[OURS] = {fbf_row_ours(run, BRY_ENGINE_FBF, &options),
                                         fbf_row_ours(run, BRY_ENGINE_COMPACT, &options)};
    for (int i = 0; i < PERIODS; i++)
        rows[i] = fbf_row_published(run, BRY__PAPER_OPTIMIZED, BITS, FILTERS, 1000 * periods[i]);
    bool done = measure_rows(run, rows, ours);
    for (int i = 0; i < PERIODS; i++)
        fbf_row_free(&rows[i]);
    for (int i = 0; i < OURS; i++)
        fbf_row_free(&ours[i]);
    return done;
}

FIGURE(fbf_6_4, "fbf-6.4", "The error by the refresh period", {8, 10, 10}, measure_periods);
