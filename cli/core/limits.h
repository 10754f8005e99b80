/* The library's limits, as text for help and messages. */
#ifndef BLOOMERY_CLI_LIMITS_H
#define BLOOMERY_CLI_LIMITS_H

#include <bloomery.h>

#define CLI_TEXT_OF(number) #number
#define CLI_TEXT(number) CLI_TEXT_OF(number) /* for macros that are one plain number */

/* "1e-9 to 0.5": the range of errors of a job. */
#define CLI_ERRORS(least) CLI_TEXT(least) " to " CLI_TEXT(BRY_ERROR_MAX)

/* Follows a list of ranges. */
#define CLI_COMBINATIONS "; some combinations are not possible"

#define CLI_CAPACITY_MOST "2^40"
_Static_assert(BRY_CAPACITY_MAX == 1099511627776, "the text above must match");
#define CLI_SPAN_MOST "2^52 ms"
_Static_assert(BRY_SPAN_MAX == 4503599627370496, "the text above must match");
#define CLI_UNITS_MOST "2^20"
_Static_assert(BRY_INDEX_UNITS_MAX == 1048576, "the text above must match");
#define CLI_VALUES_MOST "2^32 - 1"
_Static_assert(BRY_MAP_VALUES_MAX == UINT32_MAX, "the text above must match");
#define CLI_KBF_VALUES_MOST "16383"
_Static_assert(BRY_MAP_KBF_VALUES_MAX == 16383, "the text above must match");
#define CLI_KBF_BITS_MOST "13"
_Static_assert(BRY_MAP_KBF_VALUE_BITS_MAX == 13, "the text above must match");

#endif
