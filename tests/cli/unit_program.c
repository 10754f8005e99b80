/* The name that a program of the unit tests has in messages. */
#include "cli/core/output/output.h"

const char cli_program[] = "unit-test";
