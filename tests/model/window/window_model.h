/*
 * Two windows, each with a replica that gets the same changes, compared with an exact twin with
 * times. The same programs for every engine. A window must never forget an element within the
 * window; an element remembered for longer than `longest` is a false positive, and these must be
 * within the error; replicas must save to the same bytes.
 */
#ifndef BRY_TESTS_WINDOW_MODEL_H
#define BRY_TESTS_WINDOW_MODEL_H

#include "model/model.h"

extern const model window_model;

enum { WINDOW_MODEL_ERRORS = 4 };

/* Since the start. */
typedef struct window_model_counts {
    uint64_t operations; /* elements added, forgotten and queried */
    uint64_t remembered; /* of these, how many had to be remembered; every one was */
    double may_be_wrong[WINDOW_MODEL_ERRORS]; /* by the error asked for: strangers times error */
    uint64_t wrong[WINDOW_MODEL_ERRORS]; /* strangers that were "seen" */
} window_model_counts;
window_model_counts window_model_counted(void);

/* Programs use only this one of window_kinds; -1: the program chooses. */
extern int window_model_kind;

#endif
