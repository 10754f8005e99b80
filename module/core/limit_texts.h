/* The limits of the library as text, for the descriptions of commands. */
#ifndef BLOOMERY_MODULE_LIMIT_TEXTS_H
#define BLOOMERY_MODULE_LIMIT_TEXTS_H

#include <bloomery.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number) /* for macros that expand to one plain number */

#define CAPACITY_MOST "2^40"
_Static_assert(BRY_CAPACITY_MAX == 1099511627776, "the text above must match");
#define SPAN_MOST "2^52 ms"
_Static_assert(BRY_SPAN_MAX == 4503599627370496, "the text above must match");
#define UNITS_MOST "2^20"
_Static_assert(BRY_INDEX_UNITS_MAX == 1048576, "the text above must match");
#define VALUES_MOST "2^32 - 1"
_Static_assert(BRY_MAP_VALUES_MAX == UINT32_MAX, "the text above must match");
#define KBF_VALUES_MOST "16,383"
_Static_assert(BRY_MAP_KBF_VALUES_MAX == 16383, "the text above must match");
#define VALUE_BITS_MOST "32"
_Static_assert(BRY_MAP_VALUE_BITS_MAX == 32, "the text above must match");
#define KBF_VALUE_BITS_MOST "13"
_Static_assert(BRY_MAP_KBF_VALUE_BITS_MAX == 13, "the text above must match");

#endif
