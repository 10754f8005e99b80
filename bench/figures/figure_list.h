/* The figures, each in a file of its own below kbf/, fbf/ or dba/. */
#ifndef BLOOMERY_BENCH_FIGURE_LIST_H
#define BLOOMERY_BENCH_FIGURE_LIST_H

#include "bench/figures/figure.h"

extern const figure kbf_02_figure;
extern const figure kbf_03_figure;
extern const figure kbf_04_figure;
extern const figure kbf_05_figure;
extern const figure kbf_07_figure;
extern const figure kbfi_08_figure;
extern const figure kbf_09_figure;
extern const figure kbf_11_figure;
extern const figure kbf_13_figure;
extern const figure kbf_15_figure;
extern const figure kbf_16_figure;
extern const figure kbf_17_figure;
extern const figure kbf_19_figure;
extern const figure kbf_20_figure;
extern const figure kbf_24_figure;
extern const figure fbf_6_1_figure;
extern const figure fbf_6_2_figure;
extern const figure fbf_6_3_figure;
extern const figure fbf_6_4_figure;
extern const figure fbf_6_5_figure;
extern const figure fbf_6_6_figure;
extern const figure fbf_6_9_figure;
extern const figure dba_01_figure;
extern const figure dba_06_figure;
extern const figure dba_07_figure;
extern const figure dba_s4_2_figure;
extern const figure dba_08_figure;
extern const figure dba_09_figure;
extern const figure dba_10_figure;
extern const figure dba_s4_5_figure;

#endif
