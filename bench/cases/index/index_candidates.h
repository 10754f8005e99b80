/*
 * Indexes as candidates, through the public functions: the same elements in the same units, with
 * precomputed hashes. Look-ups call bry_index_locate(), which tests all units. Every answer is
 * compared with the exact one while it is measured.
 */
#ifndef BLOOMERY_BENCH_INDEX_CANDIDATES_H
#define BLOOMERY_BENCH_INDEX_CANDIDATES_H

#include "bench/harness/measure.h"

#include <bloomery/index.h>

#define INDEX_SEED UINT64_C(0x4442412d756e6974)

enum index_phase {
    INDEX_ADD, /* all elements, unit after unit */
    INDEX_HIT, /* from here on: `asked` elements, in any order */
    INDEX_MISS,
    INDEX_HIT_BATCH,
    INDEX_MISS_BATCH,
    INDEX_REINSERT, /* dba only: one more unit than planned, with a rebuild */
    INDEX_PHASES
};

/* The settings of one index. */
typedef struct index_settings {
    bry_engine engine;
    uint32_t units;
    uint64_t unit_capacity;
    uint32_t group; /* of dba, like the next; 0: by the number of units */
    bool segmented;
} index_settings;

/* `count` elements, number i of them in unit i / unit_capacity. */
typedef struct index_data {
    uint64_t unit_capacity;
    uint64_t count, asked;
    bry_hash *added;
    bry_hash *hits, *misses; /* looked up of each kind */
    uint32_t *hit_unit;
} index_data;

/* `first` is the number of the first element: another one makes another set. False when memory does
 * not suffice; then there is nothing to free. */
bool index_data_make(index_data *data, uint32_t units, uint64_t unit_capacity, uint64_t first);
void index_data_free(index_data *data);

/* Element number i, and absent element number i; i < 2^62. */
bry_hash index_element(uint64_t i);
bry_hash index_absent(uint64_t i);

/* Supplies the elements of units (bry_index_supplier); the units after the last one are empty. */
typedef struct index_supply {
    const index_data *data;
    uint64_t given;
} index_supply;
bry_status index_supply_unit(void *supply, uint32_t unit, uint64_t tag, uint64_t from,
                             bry_hash *hashes, size_t room, size_t *got);

/* Does all that is pending; without a supplier nothing is rebuilt. */
bry_status index_settle(bry_index *index, const bry_index_supplier *supplier);

/* Counts of the phases; the same in each round. */
typedef struct index_record {
    uint64_t bytes; /* with all elements, like the following */
    uint32_t group;
    double estimated_error;
    uint64_t exact; /* hits with the right unit as the only candidate */
    uint64_t found; /* misses with any candidate */
    uint64_t reinserted;
} index_record;

typedef struct index_work {
    const index_data *data;
    bry_index_options options;
    size_t batch;
    uint32_t *units; /* room for the candidates of a batch */
    size_t *totals;
    index_record *record;
} index_work;

/* compact may be planned for all elements; dba can always grow. */
bry_index_options index_options_for(const index_settings *settings, double error, bool grow);

/* Allocates buffers for batches. False if memory runs out; call index_work_free() in any case. */
bool index_work_make(index_work *work, const index_data *data, const bry_index_options *options,
                     size_t batch, index_record *record);
void index_work_free(index_work *work);

/* The harness divides by the same number of operations in all phases: scales the time of `done`
 * operations to that. */
void index_scale_watch(bench_watch *watch, uint64_t asked, uint64_t done);

extern const bench_candidate candidate_index;
extern const bench_candidate candidate_exact_index; /* index_exact_candidate.c */

#endif
