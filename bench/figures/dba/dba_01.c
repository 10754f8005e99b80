/* DBA, figure 1: how a plain array of Bloom filters slows down as filters are added. */
#include "bench/figures/dba/dba_curve.h"
#include "bench/figures/figure.h"

#define UNITS 160u
#define THRESHOLD 0x1p-14

static const dba_line lines[] = {
    {"plain array", BRY_ENGINE_DBA, 1},
    {"groups by number (paper)", BRY_ENGINE_DBA, 0},
    {"compact (ours)", BRY_ENGINE_COMPACT, 0},
};
enum { LINES = sizeof lines / sizeof lines[0] };

static bool look_at_decline(const figure_run *run, dba_curve *curve)
{
    bry_index_shape shape = {0};
    bry_index_options options = BRY_INDEX_OPTIONS;
    if (!dba_curve_plot_rows(curve, run, "rows", 0) ||
        bry_index_options_like(curve->index[0], &options) != BRY_OK ||
        bry_index_plan(&options, &shape) != BRY_OK)
        return false;
    figure_point(run, "rows", "k per filter (paper)", curve->units,
                 (double)shape.dba.hashes * curve->units);
    return dba_curve_plot_speed(curve, run);
}

static bool measure_decline(const figure_run *run)
{
    dba_curve curve;
    bool good =
        dba_curve_make(&curve, run, lines, LINES, UNITS, FIGURE_SIZE(run, 256, 1 << 14, 1 << 19),
                       THRESHOLD, FIGURE_SIZE(run, 1000, 5000, 20000));
    for (uint32_t units = 1; units <= UNITS && good; units += units == 1 ? 9 : 10)
        good = dba_curve_grow(&curve, units) && look_at_decline(run, &curve);
    dba_curve_free(&curve);
    return good;
}

FIGURE(dba_01, "dba-01", "The decline of a plain array", {2, 3, 1}, measure_decline);
