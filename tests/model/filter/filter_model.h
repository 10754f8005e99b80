/* The filter, beside a bit array that does the same the slow way. */
#ifndef BRY_TESTS_FILTER_MODEL_H
#define BRY_TESTS_FILTER_MODEL_H

#include "model/model.h"

extern const model filter_model;

#endif
