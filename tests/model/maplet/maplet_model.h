/*
 * The maplet beside an exact twin keyed by fingerprint. At times a second copy of the maplet runs
 * along on another instruction set: it must stay the same to the byte of its saved form.
 */
#ifndef BRY_TESTS_MAPLET_MODEL_H
#define BRY_TESTS_MAPLET_MODEL_H

#include "model/model.h"

extern const model maplet_model;

/* Calls to maplets that were compared since the program started: single ones, items of batches,
 * and operations on whole maplets. */
uint64_t maplet_model_operations(void);

#endif
