/*
 * Several indexes that grow side by side, unit after unit, with the same elements; at any number of
 * units the rows that their look-ups read are counted, and the look-ups are timed in turns.
 */
#ifndef BLOOMERY_BENCH_DBA_CURVE_H
#define BLOOMERY_BENCH_DBA_CURVE_H

#include "bench/figures/figure.h"

#include <bloomery/index.h>

/* In the paper 2,026,005,927 look-ups meet 83,733,597 distinct elements: the others are present. */
#define DBA_PRESENT (1 - 83733597.0 / 2026005927.0)

/* One of the indexes. */
typedef struct dba_line {
    const char *name; /* of the series */
    bry_engine engine;
    uint32_t group; /* of dba; 0: by the number of units */
} dba_line;

enum { DBA_MOST_LINES = 8 };

typedef struct dba_curve {
    const dba_line *lines;
    size_t count; /* of lines */
    uint32_t units; /* all indexes have */
    uint64_t unit_capacity;
    uint64_t first; /* number of the first element */
    uint64_t asked; /* look-ups of a measurement */
    bry_index **index; /* of each line */
    bry_hash *hash; /* what is looked up */
    bool *present;
} dba_curve;

/* Makes empty indexes planned for `planned` units at `error`, which accept more units and then err
 * more often. False after a message; dba_curve_free() in any case. */
bool dba_curve_make(dba_curve *curve, const figure_run *run, const dba_line *lines, size_t count,
                    uint32_t planned, uint64_t unit_capacity, double error, uint64_t asked);
void dba_curve_free(dba_curve *curve);

/* Fills units until there are that many, and finishes pending work. False after a message. */
bool dba_curve_grow(dba_curve *curve, uint32_t units);

/* Chooses elements to look up, of which this share is present. */
void dba_curve_choose(dba_curve *curve, double present);

/* The mean number of rows that a line of engine dba reads for a chosen element. NAN, after a message,
 * if an answer was wrong. */
double dba_curve_rows(const dba_curve *curve, size_t line);

/* Chooses elements of which this share is present, and reports for each line of engine dba how many
 * rows it reads for one. False after a message. */
bool dba_curve_plot_rows(dba_curve *curve, const figure_run *run, const char *panel,
                         double present);

/* Chooses elements as in the paper, and reports for each line how many of them it looks up in a
 * microsecond of processor time, in the panel "speed". False, after a message, if one was lost. */
bool dba_curve_plot_speed(dba_curve *curve, const figure_run *run);

#endif
