/*
 * What an object accepts, it can save; what it saves, loads. A program makes an object from any
 * options (saved_job.h), uses it, saves it and loads that. From there on the loaded one is the
 * twin: it must look the same, save to the same bytes, and answer every further operation alike.
 */
#ifndef BRY_TESTS_SAVE_MODEL_H
#define BRY_TESTS_SAVE_MODEL_H

#include "model/save/saved_job.h"

extern const model save_model;

/* The job that the model's programs are about; the first of saved_jobs unless set. */
void save_model_choose(const saved_job *chosen);

/* Since the start: objects that were made and kept, and saves that were loaded again. */
typedef struct save_counts {
    uint64_t objects, loads, operations, too_large;
} save_counts;
save_counts save_model_counted(void);

#endif
