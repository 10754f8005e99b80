/* The exact contents of a map: a value for each key, and which values have a code. Keys and values
 * have numbers. */
#ifndef BRY_TESTS_MAP_TWIN_H
#define BRY_TESTS_MAP_TWIN_H

#include <bloomery/map.h>

enum { TWIN_KEYS = 1024, TWIN_VALUES = 320, TWIN_NONE = -1, TWIN_LONGEST = 4000 };

typedef struct map_twin {
    int16_t value[TWIN_KEYS];
    unsigned count; /* of keys with a value */
} map_twin;

void map_twin_clear(map_twin *twin);
void map_twin_set(map_twin *twin, unsigned key, int value); /* TWIN_NONE deletes */

/* Distinct values that keys have. */
unsigned map_twin_values(const map_twin *twin);

/* Whether a key has a value in both, and how many keys have one in either. */
bool map_twin_overlap(const map_twin *a, const map_twin *b);
unsigned map_twin_union(const map_twin *a, const map_twin *b);

/* The hash of a key: all keys have different fingerprints, for any range. */
bry_hash map_twin_key(unsigned key);

/* Value number v: a fixed byte string, or a number of this many bits. */
bry_map_value map_twin_value(unsigned v, unsigned value_bits);
bool map_twin_is(bry_map_value value, unsigned v, unsigned value_bits);

#endif
