/* All headers in one file: no name is defined twice, and every initializer fits its struct. */
#include <bloomery.h>

const bry_load contract_load = BRY_LOAD;
const bry_filter_options contract_filter = BRY_FILTER_OPTIONS;
const bry_map_options contract_map = BRY_MAP_OPTIONS;
const bry_window_options contract_window = BRY_WINDOW_OPTIONS;
const bry_counters_options contract_counter = BRY_COUNTERS_OPTIONS;
const bry_index_options contract_index = BRY_INDEX_OPTIONS;
