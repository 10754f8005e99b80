/* An index with more elements than planned. */
#ifndef BLOOMERY_BENCH_INDEX_GROWTH_H
#define BLOOMERY_BENCH_INDEX_GROWTH_H

#include "bench/cases/index/index_candidates.h"

/* Looks at an index whenever it has got `every` more elements, a multiple of INDEX_GROWTH_BATCH. */
typedef struct index_observer {
    uint64_t every;
    void (*look)(void *opaque, const bry_index *index, uint64_t elements);
    void *opaque;
} index_observer;
#define INDEX_GROWTH_BATCH 256u

/* The result for an index with more units than planned. */
typedef struct control_report {
    uint32_t units;
    uint64_t bytes, rebuilds, reinserted;
    double full_error, estimated_error, observed;
    double ns_reinsert; /* of one element; NAN if none was inserted again */
} control_report;

/* Adds all elements, unit after unit, and lets the index keep its error by rebuilding. There are
 * fewer than most_units units. observer may be NULL. False if it fails or loses an element. */
bool index_grow(const bry_index_options *options, const index_data *data, uint32_t most_units,
                const index_observer *observer, control_report *report);

/* Whether the index has all of data->hits. */
bool index_none_lost(const bry_index *index, const index_data *data);

#endif
