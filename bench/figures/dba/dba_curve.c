#include "bench/figures/dba/dba_curve.h"

#include "bench/cases/index/index_candidates.h"
#include "bench/figures/dba/dba_reads.h"
#include "bench/harness/bench_fail.h"
#include "bench/harness/keys.h"
#include "bench/harness/measure.h"
#include "hash/derive.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 3 };

bool dba_curve_make(dba_curve *curve, const figure_run *run, const dba_line *lines, size_t count,
                    uint32_t planned, uint64_t unit_capacity, double error, uint64_t asked)
{
    *curve = (dba_curve){
        .lines = lines,
        .count = count,
        .unit_capacity = unit_capacity,
        .first = run->seed >> 3,
        .asked = asked,
        .index = calloc(count, sizeof *curve->index),
        .hash = malloc(asked * sizeof *curve->hash),
        .present = malloc(asked * sizeof *curve->present),
    };
    bool good = curve->index && curve->hash && curve->present;
    for (size_t i = 0; i < count && good; i++) {
        const index_settings settings = {lines[i].engine, planned, unit_capacity, lines[i].group,
                                         false};
        bry_index_options options = index_options_for(&settings, error, true);
        if (lines[i].engine == BRY_ENGINE_DBA)
            options.dba.control = BRY_INDEX_UNCONTROLLED;
        good = bry_index_create(&options, &curve->index[i]) == BRY_OK;
    }
    return good || bench_no_memory();
}

void dba_curve_free(dba_curve *curve)
{
    for (size_t i = 0; curve->index && i < curve->count; i++)
        bry_index_destroy(curve->index[i]);
    free(curve->index);
    free(curve->hash);
    free(curve->present);
    *curve = (dba_curve){0};
}

static bry_status grow_line(const dba_curve *curve, bry_index *index, uint32_t units)
{
    bry_status status = BRY_OK;
    for (uint32_t u = curve->units; u < units && status == BRY_OK; u++) {
        uint32_t unit = 0;
        uint64_t from = curve->first + u * curve->unit_capacity;
        status = bry_index_open(index, 0, &unit);
        for (uint64_t i = 0; i < curve->unit_capacity && status == BRY_OK; i++)
            status = bry_index_add(index, index_element(from + i), unit, NULL, NULL);
    }
    return status == BRY_OK ? index_settle(index, NULL) : status;
}

bool dba_curve_grow(dba_curve *curve, uint32_t units)
{
    for (size_t i = 0; i < curve->count; i++) {
        bry_status status = grow_line(curve, curve->index[i], units);
        if (status != BRY_OK)
            return bench_fail("%s, %u units: %s", curve->lines[i].name, units,
                              bry_status_text(status));
    }
    curve->units = units;
    return true;
}

void dba_curve_choose(dba_curve *curve, double present)
{
    uint64_t elements = curve->units * curve->unit_capacity;
    for (uint64_t i = 0; i < curve->asked; i++) {
        uint64_t number = bry__scale(bench_random(curve->first ^ i ^ elements << 20), elements);
        /* Present ones spread evenly among the others. */
        curve->present[i] = floor((double)(i + 1) * present) > floor((double)i * present);
        curve->hash[i] = curve->present[i] ? index_element(curve->first + number)
                                           : index_absent(curve->first + i);
    }
}

double dba_curve_rows(const dba_curve *curve, size_t line)
{
    const bry_index *index = curve->index[line];
    uint64_t rows = 0;
    for (uint64_t i = 0; i < curve->asked; i++) {
        bool found;
        rows += dba_rows_read(index, curve->hash[i], &found);
        if (found != (bry_index_has(index, curve->hash[i]) == BRY_PRESENT) ||
            (curve->present[i] && !found)) {
            cli_fail("a look-up and its rows disagree");
            return NAN;
        }
    }
    return (double)rows / (double)curve->asked;
}

bool dba_curve_plot_rows(dba_curve *curve, const figure_run *run, const char *panel, double present)
{
    dba_curve_choose(curve, present);
    for (size_t i = 0; i < curve->count; i++) {
        if (curve->lines[i].engine != BRY_ENGINE_DBA)
            continue;
        double rows = dba_curve_rows(curve, i);
        if (isnan(rows))
            return false;
        figure_point(run, panel, curve->lines[i].name, curve->units, rows);
    }
    return true;
}

/* The processor time of a look-up, in ns; NAN after a message. */
static double time_line(const dba_curve *curve, size_t line)
{
    uint64_t missing = 0;
    bench_watch watch = {0};
    bench_start(&watch);
    for (uint64_t i = 0; i < curve->asked; i++)
        missing +=
            bry_index_has(curve->index[line], curve->hash[i]) == BRY_ABSENT && curve->present[i];
    bench_stop(&watch);
    if (missing > 0)
        cli_fail("an element was not found");
    return missing > 0 ? NAN : (double)watch.spent / (double)curve->asked;
}

bool dba_curve_plot_speed(dba_curve *curve, const figure_run *run)
{
    double spent[DBA_MOST_LINES][ROUNDS];
    dba_curve_choose(curve, DBA_PRESENT);
    for (int r = -1; r < ROUNDS; r++) /* the first warms up */
        for (size_t line = 0; line < curve->count; line++) {
            double ns = time_line(curve, line);
            if (isnan(ns))
                return false;
            spent[line][r < 0 ? 0 : r] = ns;
        }
    for (size_t line = 0; line < curve->count; line++)
        figure_point(run, "speed", curve->lines[line].name, curve->units,
                     1e3 / bench_median(spent[line], ROUNDS));
    return true;
}
