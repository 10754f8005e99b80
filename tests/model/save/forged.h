/*
 * Loads a stream that may be forged, and uses the object. It must not take more memory than an
 * honest object of the same options with the same operations, its time is bounded, and it can be
 * saved and loaded afterwards.
 */
#ifndef BRY_TESTS_FORGED_H
#define BRY_TESTS_FORGED_H

#include "model/save/saved_job.h"
#include "support/generator.h"

typedef struct forged_counts {
    uint64_t streams, loaded, operations, compared_memory;
} forged_counts;

/* False on failure; `failure` says why. Operations are read from `operations`. */
bool forged_stream(const saved_job *job, const bry_buffer *stream, generator *operations,
                   model_failure *failure);

/* The same for a stream of one unit, imported in an index that is made from `operations`. */
bool forged_unit(const saved_job *job, const bry_buffer *stream, generator *operations,
                 model_failure *failure);

/* Appends an honest stream of the job to `out`, or of one of its units if `unit` is set and there
 * is one. False if the numbers give none. */
bool forged_honest(const saved_job *job, generator *numbers, bool unit, bry_buffer *out);

/* Where operations are printed, or NULL. */
extern FILE *forged_listener;

forged_counts forged_counted(void);

#endif
