/*
 * Two maps compared with exact twins; the same programs for both engines. No two keys share a
 * fingerprint, so engine compact must be exact. Engine kbf may refuse with UNSURE; another wrong
 * answer, which the map's error allows, is counted and ends the comparison of that program.
 */
#ifndef BRY_TESTS_MAP_MODEL_H
#define BRY_TESTS_MAP_MODEL_H

#include "model/model.h"

extern const model map_model;

enum { MAP_MODEL_ERRORS = 5 };

/*
 * Since the start: keys asked or changed and compared, keys that kbf was unsure of, programs with
 * kbf and those in which it gave a wrong answer. And by the error asked for, of kbf alone: how many
 * programs might have met a wrong answer, which is the error times the answers up to the first one,
 * and how many did.
 */
typedef struct map_model_counts {
    uint64_t operations, operations_kbf; /* of both engines, and of kbf alone */
    uint64_t compared, unsure, programs_wrong, programs_kbf;
    double may_be_wrong[MAP_MODEL_ERRORS];
    uint64_t wrong[MAP_MODEL_ERRORS];
} map_model_counts;
map_model_counts map_model_counted(void);

#endif
