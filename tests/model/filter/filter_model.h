/* The filter compared with a plain array of bits. */
#ifndef BRY_TESTS_FILTER_MODEL_H
#define BRY_TESTS_FILTER_MODEL_H

#include "model/model.h"

extern const model filter_model;

#endif
