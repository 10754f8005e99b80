/* An index that gets more elements than it was planned for. */
#ifndef BLOOMERY_BENCH_INDEX_GROWTH_H
#define BLOOMERY_BENCH_INDEX_GROWTH_H

#include "bench/cases/bench_cases.h"

/* Fills an index with all elements, unit after unit, and lets it keep its error as it goes. There
 * will be fewer than most_units units. False when it fails or loses an element. */
bool index_grow(const bry_index_options *options, const index_data *data, uint32_t most_units,
                control_report *report);

#endif
