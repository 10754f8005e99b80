/*
 * The maplet compared with an exact twin of fingerprints. Sometimes a copy of the maplet gets the
 * same operations with another instruction set; its saved form must be identical.
 */
#ifndef BRY_TESTS_MAPLET_MODEL_H
#define BRY_TESTS_MAPLET_MODEL_H

#include "model/model.h"

extern const model maplet_model;

/* Calls that were compared since the program started: single ones, items of batches, and operations
 * on whole maplets. */
uint64_t maplet_model_operations(void);

#endif
