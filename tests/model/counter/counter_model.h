/*
 * A table of counters, in memory or in a directory, with an exact twin. An applied id must be
 * remembered for the window and forgotten after `longest`; in between the twin accepts either
 * answer. The error is so small that no id is taken for another.
 */
#ifndef BRY_TESTS_COUNTER_MODEL_H
#define BRY_TESTS_COUNTER_MODEL_H

#include "model/model.h"

extern const model counter_model;

/* Since the start: operations compared, repeats among them, refusals by the limit, and reopened
 * directories. */
typedef struct counter_model_counts {
    uint64_t operations, repeats, full, reopened;
} counter_model_counts;
counter_model_counts counter_model_counted(void);

#endif
