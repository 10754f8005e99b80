/*
 * An index compared with an exact twin; the same programs for all engines. Engine compact must
 * agree with the twin, in which elements with the same fingerprint are one, in every answer. Other
 * engines must return every unit that contains an element, and no others except those it was
 * deleted from: their error is so small that no false positive is expected.
 */
#ifndef BRY_TESTS_INDEX_MODEL_H
#define BRY_TESTS_INDEX_MODEL_H

#include "model/model.h"

extern const model index_model;

/* Operations done, and answers compared, since the start. */
uint64_t index_model_operations(void);
uint64_t index_model_answers(void);

#endif
