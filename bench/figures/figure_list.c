#include "bench/figures/figure_list.h"

#include <stddef.h>

/* clang-format off */
const figure *const figure_list[] = {
    &kbf_02_figure,
    &kbf_03_figure,
    &kbf_04_figure,
    &kbf_05_figure,
    &kbf_07_figure,
    &kbfi_08_figure,
    &kbf_09_figure,
    &kbf_11_figure,
    &kbf_13_figure,
    &kbf_15_figure,
    &kbf_16_figure,
    &kbf_17_figure,
    &kbf_19_figure,
    &kbf_20_figure,
    &kbf_24_figure,
    &fbf_6_1_figure,
    &fbf_6_2_figure,
    &fbf_6_3_figure,
    &fbf_6_4_figure,
    &fbf_6_5_figure,
    &fbf_6_6_figure,
    &fbf_6_9_figure,
    &dba_01_figure,
    &dba_06_figure,
    &dba_07_figure,
    &dba_s4_2_figure,
    &dba_08_figure,
    &dba_09_figure,
    &dba_10_figure,
    &dba_s4_5_figure,
    NULL,
};
/* clang-format on */
