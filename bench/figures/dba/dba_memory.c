#include "bench/figures/dba/dba_memory.h"

#include "bench/cases/index/index_candidates.h"
#include "bench/harness/bench_fail.h"
#include "index/dba/dba_shape.h"

#include <math.h>

#define TIDY_BUDGET 65536u

double dba_one_filter(double error)
{
    return M_LOG2E * log2(1 / error);
}

double dba_memory_ratio(double error, uint32_t units)
{
    return log(bry__dba_unit_error(error, units)) / log(error);
}

bool dba_memory_fill(const dba_memory_set *set, uint64_t elements, double *bits)
{
    const index_settings settings = {set->engine, set->units, set->unit_capacity, 0, false};
    bry_index_options options = index_options_for(&settings, set->error, true);
    bry_index *index = NULL;
    bry_status status = bry_index_create(&options, &index);
    for (uint64_t i = 0; i < elements && status == BRY_OK; i++)
        status = bry_index_add(index, index_element(set->first + i), BRY_INDEX_NEWEST, NULL, NULL);
    for (uint64_t left = 1; left > 0 && status == BRY_OK;)
        status = bry_index_step(index, NULL, TIDY_BUDGET, &left);
    *bits = index ? 8 * (double)bry_index_bytes(index) : 0;
    bry_index_destroy(index);
    return status == BRY_OK ||
           bench_fail("an index of %u units: %s", set->units, bry_status_text(status));
}
