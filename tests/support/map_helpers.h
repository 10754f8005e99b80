/* One-line calls of maps for tests, which assert that they succeed. */
#ifndef BRY_TESTS_MAP_HELPERS_H
#define BRY_TESTS_MAP_HELPERS_H

#include "map/map_object.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"
#include "support/key_by_number.h"
#include "support/like.h"

#include <stdio.h>
#include <string.h>

static const bry_engine map_engines[] = {BRY_ENGINE_COMPACT, BRY_ENGINE_KBF};

MAKE(map)

STATS_OF(map)

static inline bry_map_value text(const char *string)
{
    return bry_map_value_bytes(string, strlen(string));
}

/* Value number i as a byte string, valid until the next call. */
static inline bry_map_value numbered(uint64_t i)
{
    static char bytes[32];
    return bry_map_value_bytes(bytes,
                               (size_t)snprintf(bytes, sizeof bytes, "value %ju", (uintmax_t)i));
}

static inline bool has(const bry_map *map, bry_hash hash, bry_map_value wanted)
{
    bry_map_value value = {NULL, 0, 0};
    return bry_map_get(map, hash, &value) == BRY_PRESENT && value.len == wanted.len &&
           value.number == wanted.number &&
           (value.len == 0 || memcmp(value.bytes, wanted.bytes, value.len) == 0);
}

static inline void set(bry_map *map, bry_hash hash, bry_map_value value)
{
    assert_int_equal(bry_map_set(map, hash, value, NULL), BRY_OK);
}

/* Keys from `first` on, with values i modulo `values`. */
static inline void set_many(bry_map *map, uint64_t first, uint64_t n, uint64_t values)
{
    for (uint64_t i = first; i < first + n; i++)
        set(map, key(i), numbered(i % values));
}

#endif
