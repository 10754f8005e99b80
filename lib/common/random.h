/* Randomness for seeds, from the system. */
#ifndef BRY_COMMON_RANDOM_H
#define BRY_COMMON_RANDOM_H

#include <bloomery/base.h>

/* A random number other than 0. BRY_E_IO: the system returned none. */
bry_status bry__random_seed(uint64_t *seed);

#endif
