/* The figures, each in a file of its own below kbf/, fbf/ or dba/. */
#ifndef BLOOMERY_BENCH_FIGURE_LIST_H
#define BLOOMERY_BENCH_FIGURE_LIST_H

#include "bench/figures/figure.h"

extern const figure kbf_02_figure;
extern const figure kbf_20_figure;
extern const figure kbf_24_figure;

#endif
