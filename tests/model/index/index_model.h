/*
 * An index beside an exact twin; the same programs for all engines. Engine compact must agree with
 * the twin, in which elements of one fingerprint are one, to the last answer. Other engines must
 * name every unit that holds an element, and no unit besides but those that it was deleted from:
 * they are made with errors so small that a false positive is not to be expected.
 */
#ifndef BRY_TESTS_INDEX_MODEL_H
#define BRY_TESTS_INDEX_MODEL_H

#include "model/model.h"

extern const model index_model;

/* Operations done, and answers compared, since the start. */
uint64_t index_model_operations(void);
uint64_t index_model_answers(void);

#endif
