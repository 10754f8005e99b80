/*
 * Loads a stream that may be forged, and uses what loads: bounded in memory by what an honest
 * object of the same options takes for the same operations, bounded in time, and what it becomes
 * can be saved and loaded.
 */
#ifndef BRY_TESTS_FORGED_H
#define BRY_TESTS_FORGED_H

#include "model/save/saved_job.h"
#include "support/generator.h"

typedef struct forged_counts {
    uint64_t streams, loaded, operations, compared_memory;
} forged_counts;

/* False when something is wrong; `failure` says what. Operations are read from `operations`. */
bool forged_stream(const saved_job *job, const bry_buffer *stream, generator *operations,
                   model_failure *failure);

/* The same for a stream of one unit, installed in an index that is made from `operations`. */
bool forged_unit(const saved_job *job, const bry_buffer *stream, generator *operations,
                 model_failure *failure);

/* Appends an honest stream of the job to `out`; of one of its units where `unit` is set and there
 * is one. False where the numbers give none. */
bool forged_honest(const saved_job *job, generator *numbers, bool unit, bry_buffer *out);

/* For a program that is to tell what is wrong: where operations are told, or NULL. */
extern FILE *forged_listener;

forged_counts forged_counted(void);

#endif
