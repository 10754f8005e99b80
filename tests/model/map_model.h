/*
 * Two maps beside an exact twin keyed by key; the same programs for both engines. Keys are chosen
 * so that no two share a fingerprint, so engine compact must be exact. Engine kbf may refuse with
 * UNSURE; an answer that is wrong otherwise, which is allowed once in many thousand, ends the
 * comparison of that program and is counted.
 */
#ifndef BRY_TESTS_MAP_MODEL_H
#define BRY_TESTS_MAP_MODEL_H

#include "model/model.h"

extern const model map_model;

/* Since the program started: keys asked or changed and compared; keys that kbf was unsure of; and
 * programs in which kbf gave a wrong answer. */
typedef struct map_model_counts {
    uint64_t compared, unsure, programs_wrong, programs_kbf;
} map_model_counts;
map_model_counts map_model_counted(void);

#endif
