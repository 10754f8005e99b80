/*
 * A table of counters, in memory or in a folder, beside an exact twin. An id that was applied is
 * remembered for the window for certain and forgotten after `longest` for certain; in between the
 * twin takes the table's word. The error is so small that no id is taken for another.
 */
#ifndef BRY_TESTS_COUNTER_MODEL_H
#define BRY_TESTS_COUNTER_MODEL_H

#include "model/model.h"

extern const model counter_model;

/* Since the start: operations that were compared, those of them that were repeats, those that the
 * limit refused, and how often a folder was opened again. */
typedef struct counter_model_counts {
    uint64_t operations, repeats, full, reopened;
} counter_model_counts;
counter_model_counts counter_model_counted(void);

#endif
