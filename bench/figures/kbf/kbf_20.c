/* kBF, figures 20 to 23: how evenly Algorithm 8 spreads slabs over servers. */
#include "bench/figures/figure.h"

#include "apps/balance/slab_balance.h"
#include "bench/harness/keys.h"

#include <math.h>
#include <stdlib.h>

enum { SERVERS = 5, EACH = 10, SLABS = SERVERS * EACH, MOST_STEPS = 10, SETTINGS = 100 };
#define SLAB_CAPACITY 1e7 /* pairs */

enum algorithm { PUBLISHED, WITH_MOVES, ALGORITHMS };
static const char *const after_names[ALGORITHMS] = {"after: as published",
                                                    "after: with single moves (ours)"};
static const char *const names[ALGORITHMS] = {"as published", "with single moves (ours)"};

/* What one algorithm made of a setting. */
typedef struct balanced {
    double loads[SERVERS];
    double rho[MOST_STEPS + 1]; /* before, and after each step; the last value repeats */
    double copied; /* slabs */
} balanced;

/* Each slab holds up to its capacity, evenly distributed. */
static void draw_slabs(balance_slab *slabs, uint64_t seed)
{
    for (uint32_t i = 0; i < SLABS; i++) {
        double share = (double)(bench_random(seed + i) >> 11) * 0x1p-53;
        slabs[i] = (balance_slab){.load = floor(share * (SLAB_CAPACITY + 1)), .server = i / EACH};
    }
}

static balanced balance_slabs(uint64_t seed, bool as_published)
{
    balance_slab slabs[SLABS];
    balance_step steps[MOST_STEPS];
    balanced result = {.copied = 0};
    draw_slabs(slabs, seed);
    const balance_request request = {
        .slabs = slabs,
        .count = SLABS,
        .servers = SERVERS,
        .max_steps = MOST_STEPS,
        .as_published = as_published,
    };
    balance_loads(slabs, SLABS, result.loads, SERVERS);
    result.rho[0] = balance_rho(result.loads, SERVERS);
    size_t taken = balance_plan(&request, result.loads, steps);
    for (size_t i = 0; i < MOST_STEPS; i++) {
        result.rho[i + 1] = i < taken ? steps[i].rho : result.rho[i];
        if (i < taken)
            result.copied += steps[i].back == BALANCE_NONE ? 1 : 2;
    }
    return result;
}

static int by_falling_value(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a < *b) - (*a > *b);
}

/* Figure 20: servers by falling load. */
static void plot_loads(const figure_run *run, const char *series, double *loads)
{
    qsort(loads, SERVERS, sizeof *loads, by_falling_value);
    for (unsigned i = 0; i < SERVERS; i++)
        figure_point(run, "loads", series, i + 1, loads[i] / 1e6);
}

/* Figures 20 and 21, for one setting per repetition. */
static void plot_one_setting(const figure_run *run)
{
    balance_slab slabs[SLABS];
    double loads[SERVERS];
    draw_slabs(slabs, run->seed);
    balance_loads(slabs, SLABS, loads, SERVERS);
    plot_loads(run, "before", loads);
    for (unsigned i = 0; i < ALGORITHMS; i++) {
        balanced result = balance_slabs(run->seed, i == PUBLISHED);
        plot_loads(run, after_names[i], result.loads);
        for (unsigned step = 0; step <= MOST_STEPS; step++)
            figure_point(run, "steps", names[i], step, result.rho[step]);
    }
}

/* A setting of figures 22 and 23: its imbalance before and after, and by how much it fell. */
typedef struct setting {
    double before, after, gain;
} setting;

static int by_imbalance_before(const void *left, const void *right)
{
    return by_falling_value(&((const setting *)left)->before, &((const setting *)right)->before);
}

static int by_gain(const void *left, const void *right)
{
    return by_falling_value(&((const setting *)left)->gain, &((const setting *)right)->gain);
}

/* x is the rank of a setting, by its imbalance in figure 22 and by the gain in figure 23. */
static void plot_settings(const figure_run *run, unsigned algorithm, setting *settings)
{
    enum { STRIDE = SETTINGS / 20, LAST = SETTINGS - 1 }; /* the last gain is mostly 0 */
    qsort(settings, SETTINGS, sizeof *settings, by_imbalance_before);
    for (unsigned i = STRIDE - 1; i < LAST; i += STRIDE) {
        if (algorithm == PUBLISHED)
            figure_point(run, "settings", "before", i + 1, settings[i].before);
        figure_point(run, "settings", after_names[algorithm], i + 1, settings[i].after);
    }
    qsort(settings, SETTINGS, sizeof *settings, by_gain);
    for (unsigned i = STRIDE - 1; i < LAST; i += STRIDE)
        figure_point(run, "gains", names[algorithm], i + 1, settings[i].gain);
}

static void balance_settings(const figure_run *run, unsigned algorithm)
{
    setting settings[SETTINGS];
    double mean = 0, copied = 0, idle = 0;
    for (unsigned i = 0; i < SETTINGS; i++) {
        balanced result = balance_slabs(run->seed + (uint64_t)i * SLABS, algorithm == PUBLISHED);
        double before = result.rho[0], after = result.rho[MOST_STEPS];
        settings[i] = (setting){before, after, 100 * (1 - after / before)};
        mean += settings[i].gain / SETTINGS;
        copied += 100 * result.copied / SLABS / SETTINGS;
        idle += result.copied > 0 ? 0 : 100.0 / SETTINGS;
    }
    plot_settings(run, algorithm, settings);
    figure_bar(run, "mean", names[algorithm], "fall of the imbalance", mean);
    figure_bar(run, "mean", names[algorithm], "settings left alone", idle);
    figure_bar(run, "mean", names[algorithm], "slabs that move", copied);
}

static bool measure_balance(const figure_run *run)
{
    plot_one_setting(run);
    for (unsigned i = 0; i < ALGORITHMS; i++)
        balance_settings(run, i);
    return true;
}

FIGURE(kbf_20, "kbf-20", "Balancing slabs over servers", {150, 50, 50}, measure_balance);
