/* Keys by number. */
#ifndef BRY_TESTS_KEY_BY_NUMBER_H
#define BRY_TESTS_KEY_BY_NUMBER_H

#include <bloomery/hash.h>

/* Key, element or id number i, under seed 1. */
static inline bry_hash key(uint64_t i)
{
    return bry_hash_key(1, &i, sizeof i);
}

#endif
