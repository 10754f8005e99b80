#include "bench/figures/figure_list.h"

#include <stddef.h>

const figure *const figure_list[] = {
    &kbf_02_figure,
    &kbf_20_figure,
    &kbf_24_figure,
    NULL,
};
