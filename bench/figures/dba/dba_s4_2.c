/* DBA, section 4.2: how many units an index may have at an equal query rate, and the bound by
 * Amdahl's law. The rows that a query reads stand for its time. */
#include "bench/figures/dba/dba_curve.h"
#include "bench/figures/dba/dba_reads.h"
#include "bench/figures/figure.h"

#include <math.h>

#define PLANNED 160u
#define THRESHOLD 0x1p-14
#define PLAIN_UNITS 20u /* of the plain array that the others are compared with, as in the paper */
#define PAPER_ONE 5.5e5 /* look-ups per second of a plain array of one unit, */
#define PAPER_MANY 1.5e5 /* of PLANNED units, */
#define PAPER_MANY_64 4.46e5 /* and of as many in groups of 64 */
#define STEP 4u
#define HALF_FULL 64u /* planned units for which the number of hashes is whole */
#define MOST_UNITS 4096u

static const dba_line lines[] = {
    {"g = 1", BRY_ENGINE_DBA, 1},   {"g = 8", BRY_ENGINE_DBA, 8},
    {"g = 16", BRY_ENGINE_DBA, 16}, {"g = 32", BRY_ENGINE_DBA, 32},
    {"g = 64", BRY_ENGINE_DBA, 64}, {"g = 256", BRY_ENGINE_DBA, 256},
};
enum { LINES = sizeof lines / sizeof lines[0] };
static const unsigned paper_units[LINES] = {20, 44, 66, 120, 154, 0};

enum work { ABSENT, MIXED, WORKS };
static const double shares[WORKS] = {0, DBA_PRESENT};
static const char *const names[WORKS] = {"absent elements", "96 % present as in the paper"};

/* What one line reads: with 1, PLAIN_UNITS and PLANNED units, and up to how many units it reads no
 * more than a limit. */
typedef struct reads {
    double one[WORKS], few[WORKS], many[WORKS], most[WORKS];
} reads;

static void keep_reads(reads *seen, uint32_t units, const double rows[WORKS])
{
    double *at = units == 1             ? seen->one
                 : units == PLAIN_UNITS ? seen->few
                 : units == PLANNED     ? seen->many
                                        : NULL;
    for (int w = 0; at && w < WORKS; w++)
        at[w] = rows[w];
}

static bool line_rows(dba_curve *curve, double rows[WORKS])
{
    for (int w = 0; w < WORKS; w++) {
        dba_curve_choose(curve, shares[w]);
        rows[w] = dba_curve_rows(curve, 0);
        if (isnan(rows[w]))
            return false;
    }
    return true;
}

/* limit NULL: the line is the one that the others are compared with. */
static bool read_group_line(const figure_run *run, const dba_line *line, const double *limit,
                            reads *seen)
{
    dba_curve curve;
    double rows[WORKS] = {0};
    bool within = true;
    bool good = dba_curve_make(&curve, run, line, 1, PLANNED, FIGURE_SIZE(run, 64, 256, 4096),
                               THRESHOLD, FIGURE_SIZE(run, 500, 4000, 20000));
    for (uint32_t units = 1; good && units <= MOST_UNITS && (within || units <= PLANNED);
         units = units == 1 ? STEP : units + STEP) {
        good = dba_curve_grow(&curve, units);
        if (!good || (!limit && units != 1 && units != PLAIN_UNITS && units != PLANNED))
            continue;
        good = line_rows(&curve, rows);
        keep_reads(seen, units, rows);
        within = !limit;
        for (int w = 0; w < WORKS; w++)
            if (limit && rows[w] <= limit[w]) {
                seen->most[w] = units;
                within = true;
            }
    }
    dba_curve_free(&curve);
    return good;
}

/* One full group of g units, half of whose bits are set, and the same units as a plain array. */
static bool report_group(const figure_run *run, uint32_t g)
{
    const dba_line pair[] = {{"one group", BRY_ENGINE_DBA, g}, {"plain array", BRY_ENGINE_DBA, 1}};
    dba_curve curve;
    bry_index_stats stats = {0};
    bool good = dba_curve_make(&curve, run, pair, 2, HALF_FULL, FIGURE_SIZE(run, 64, 256, 4096),
                               THRESHOLD, FIGURE_SIZE(run, 500, 4000, 20000)) &&
                dba_curve_grow(&curve, g) && bry_index_get_stats(curve.index[0], &stats) == BRY_OK;
    good = good && dba_curve_plot_rows(&curve, run, "rows", 0);
    if (good)
        figure_point(run, "rows", "one group by formula", g,
                     dba_rows_expected(g, dba_hashes_last(curve.index[0]), stats.fill));
    dba_curve_free(&curve);
    return good;
}

/* The speed-up of the whole when a share q of its time is that of look-ups. */
static void report_amdahl(const figure_run *run, const dba_line *line, const reads *plain,
                          const reads *seen)
{
    char name[64];
    double ratio = seen->many[MIXED] / plain->many[MIXED];
    for (int tenths = 0; tenths <= 10; tenths++) {
        double q = tenths / 10.0;
        snprintf(name, sizeof name, "%s by rows read", line->name);
        figure_point(run, "speed-up", name, q, 1 / (1 - q + q * ratio));
        snprintf(name, sizeof name, "%s as published", line->name);
        figure_point(run, "speed-up", name, q, 1 / (1 - q + q / line->group));
    }
}

/*
 * The paper's speeds of a plain array with 1 and with 160 units give the time of a row and the time of
 * all else. Together with the rows of the others they predict the speeds of these.
 */
static void report_prediction(const figure_run *run, const dba_line *line, const reads *plain,
                              const reads *seen)
{
    double row = (1 / PAPER_MANY - 1 / PAPER_ONE) / (plain->many[MIXED] - plain->one[MIXED]);
    double rest = 1 / PAPER_ONE - row * plain->one[MIXED];
    figure_point(run, "speed", "predicted by rows read", line->group,
                 1e-5 / (rest + row * seen->many[MIXED]));
    if (line->group == 64)
        figure_point(run, "speed", "measured in the paper", line->group, 1e-5 * PAPER_MANY_64);
}

static bool measure_scalability(const figure_run *run)
{
    reads plain = {0};
    for (uint32_t g = 8; g <= BRY_INDEX_DBA_GROUP_MAX; g *= 2)
        if (!report_group(run, g))
            return false;
    if (!read_group_line(run, &lines[0], NULL, &plain))
        return false;
    for (size_t i = 1; i < LINES; i++) {
        reads seen = {0};
        if (!read_group_line(run, &lines[i], plain.few, &seen))
            return false;
        double g = lines[i].group;
        figure_point(run, "units", "bound of the paper", g, PLAIN_UNITS * g);
        if (paper_units[i])
            figure_point(run, "units", "measured in the paper", g, paper_units[i]);
        for (int w = 0; w < WORKS; w++)
            figure_point(run, "units", names[w], g, seen.most[w]);
        report_prediction(run, &lines[i], &plain, &seen);
        if (lines[i].group == 8 || lines[i].group >= 64)
            report_amdahl(run, &lines[i], &plain, &seen);
    }
    return true;
}

FIGURE(dba_s4_2, "dba-s4.2", "Units at an equal query rate", {1, 3, 1}, measure_scalability);
