/* DBA, figure 1: how a plain array of Bloom filters slows down as filters are added. */
#include "bench/figures/dba/dba_curve.h"
#include "bench/figures/figure.h"

#include <math.h>

#define UNITS 160u
#define THRESHOLD 0x1p-14

static const dba_line lines[] = {
    {"plain array", BRY_ENGINE_DBA, 1},
    {"groups by number (ours)", BRY_ENGINE_DBA, 0},
    {"compact (ours)", BRY_ENGINE_COMPACT, 0},
};
enum { LINES = sizeof lines / sizeof lines[0] };

static bool look_at_decline(const figure_run *run, dba_curve *curve)
{
    uint32_t units = curve->units;
    double ns[LINES];
    dba_curve_choose(curve, 0);
    for (size_t i = 0; i < LINES; i++) {
        if (curve->lines[i].engine != BRY_ENGINE_DBA)
            continue;
        double rows = dba_curve_rows(curve, i);
        if (isnan(rows))
            return false;
        figure_point(run, "rows", curve->lines[i].name, units, rows);
    }
    bry_index_shape shape = {0};
    bry_index_options options = BRY_INDEX_OPTIONS;
    if (bry_index_options_like(curve->index[0], &options) != BRY_OK ||
        bry_index_plan(&options, &shape) != BRY_OK)
        return false;
    figure_point(run, "rows", "k per filter (paper)", units, (double)shape.dba.hashes * units);
    dba_curve_choose(curve, DBA_PRESENT);
    if (!dba_curve_time(curve, ns))
        return false;
    for (size_t i = 0; i < LINES; i++)
        figure_point(run, "speed", curve->lines[i].name, units, 1e3 / ns[i]);
    return true;
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
