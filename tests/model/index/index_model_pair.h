/* Internals of the index model, shared by index_model.c (units, whole indexes) and
 * index_model_elements.c (elements). */
#ifndef BRY_TESTS_INDEX_MODEL_PAIR_H
#define BRY_TESTS_INDEX_MODEL_PAIR_H

#include "index/index_object.h"
#include "model/index/index_twin.h"
#include "model/model_steps.h"
#include "support/failing_allocator.h"
#include "support/recording_io.h"

enum { MODEL_BATCH = 150 };

typedef struct index_pair {
    failing_allocator memory;
    recording_io disk; /* contains the directory "f" */
    bry_index *index;
    index_twin twin;
    bry_engine engine;
    bool exact; /* engine compact */
    bool errs; /* any unit may be a candidate */
    bool crowded; /* units were imported beyond the plan: elements may be refused */
    bry_index_options options;
    bool is_watched; /* compared with … */
    struct index_pair *unsaved; /* … this one, which is never saved, loaded or cloned */
    bool is_unsaved;
    unsigned window;
    unsigned elements[MODEL_BATCH];
    bry_hash hashes[MODEL_BATCH];
    uint32_t went[MODEL_BATCH];
    uint8_t answers[MODEL_BATCH];
    size_t totals[MODEL_BATCH];
    uint32_t units[MODEL_BATCH * TWIN_UNITS];
} index_pair;

typedef void index_operation(index_pair *both, model_reader *reader);

/* index_model_elements.c */
index_operation index_do_add, index_do_add_newest, index_do_add_n, index_do_add_everywhere,
    index_do_del, index_do_del_many;

/* Looks up n elements from `first` on, in all ways. */
void index_compare(index_pair *both, model_reader *reader, unsigned first, unsigned n);

/* For inexact engines: copies the index's counts of its units. */
void index_learn(index_pair *both, model_reader *reader);

/* Usually the number of a unit that exists. */
uint32_t index_pick_unit(index_pair *both, model_reader *reader);

#endif
