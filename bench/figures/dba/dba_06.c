/* DBA, figures 6 and 7: query speed by group cardinality while the array grows, at a small and at a
 * large error. */
#include "bench/figures/dba/dba_curve.h"
#include "bench/figures/figure.h"

#define ACCURATE 0x1p-14
#define GLOBAL 0x1p-7

static const dba_line lines[] = {
    {"g = 1 (DBF)", BRY_ENGINE_DBA, 1},
    {"g = 8", BRY_ENGINE_DBA, 8},
    {"g = 16", BRY_ENGINE_DBA, 16},
    {"g = 32", BRY_ENGINE_DBA, 32},
    {"g = 64", BRY_ENGINE_DBA, 64},
    {"g = 256 (ours)", BRY_ENGINE_DBA, 256},
    {"g by number (paper)", BRY_ENGINE_DBA, 0},
    {"compact (ours)", BRY_ENGINE_COMPACT, 0},
};
enum { LINES = sizeof lines / sizeof lines[0] };

static const uint32_t sizes[] = {1, 4, 8, 12, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static bool measure_groups(const figure_run *run, double threshold)
{
    dba_curve curve;
    bool good = dba_curve_make(&curve, run, lines, LINES, sizes[SIZES - 1],
                               FIGURE_SIZE(run, 64, 1 << 14, 1 << 19), threshold,
                               FIGURE_SIZE(run, 500, 5000, 20000));
    for (size_t i = 0; i < SIZES && good; i++)
        good = dba_curve_grow(&curve, sizes[i]) && dba_curve_plot_speed(&curve, run) &&
               dba_curve_plot_rows(&curve, run, "absent", 0) &&
               dba_curve_plot_rows(&curve, run, "present", 1);
    dba_curve_free(&curve);
    return good;
}

static bool measure_accurate(const figure_run *run)
{
    return measure_groups(run, ACCURATE);
}

static bool measure_global(const figure_run *run)
{
    return measure_groups(run, GLOBAL);
}

FIGURE(dba_06, "dba-06", "Speed by group cardinality", {2, 3, 1}, measure_accurate);
FIGURE(dba_07, "dba-07", "Speed by group cardinality at a larger error", {2, 3, 1}, measure_global);
