/* An index with more elements than planned. */
#ifndef BLOOMERY_BENCH_INDEX_GROWTH_H
#define BLOOMERY_BENCH_INDEX_GROWTH_H

#include "bench/cases/bench_cases.h"

/* Adds all elements, unit after unit, and lets the index keep its error by rebuilding. There are
 * fewer than most_units units. False if it fails or loses an element. */
bool index_grow(const bry_index_options *options, const index_data *data, uint32_t most_units,
                control_report *report);

#endif
