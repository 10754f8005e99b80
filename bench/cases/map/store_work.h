/* The workload of the papers, carried out on a store: `at_once` keys per request, at most
 * MAP_STORE_MOST_KEYS. Functions return false on failure. */
#ifndef BLOOMERY_BENCH_STORE_WORK_H
#define BLOOMERY_BENCH_STORE_WORK_H

#include "bench/cases/map/map_stores.h"

typedef struct store_work {
    const map_store *store;
    void *state;
    const kbf_workload *load;
    size_t at_once;
} store_work;

/* All pairs, with their first values. */
bool store_fill(const store_work *work);
/* The `asked` pairs of the workload, with their later values. */
bool store_update(const store_work *work);
/* The `asked` pairs, or as many absent keys; counts answers that are not the first value. */
bool store_look_up(const store_work *work, bool there, uint64_t *wrong);
/* The `asked` pairs; counts those that were not there. */
bool store_delete(const store_work *work, uint64_t *wrong);

#endif
