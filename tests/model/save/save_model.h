/*
 * Every object can be saved, and what is saved can be loaded. A program creates an object from any
 * options (saved_job.h), uses it, saves it and loads it again. The loaded object is the twin from
 * then on: it must look the same, save to the same bytes, and answer every further operation the
 * same.
 */
#ifndef BRY_TESTS_SAVE_MODEL_H
#define BRY_TESTS_SAVE_MODEL_H

#include "model/save/saved_job.h"

extern const model save_model;

/* The job of the programs, before the first. */
void save_model_choose(const saved_job *chosen);

/* Objects that were created and saved since the start, and saves that were loaded again. */
typedef struct save_counts {
    uint64_t objects, loads, operations;
} save_counts;
extern save_counts save_counted;

#endif
