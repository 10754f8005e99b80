/* The filter's internals, shared by filter.c (operations), filter_save.c (frames) and the engines.
 */
#ifndef BRY_FILTER_FILTER_OBJECT_H
#define BRY_FILTER_FILTER_OBJECT_H

#include "bloom/bloom_blocked.h"
#include "maplet/maplet.h"

#include <bloomery/filter.h>

#define BRY__FILTER_MAX_BLOCKS ((uint64_t)1 << 45)

/* Whether an exact shape, or a file, may have this many blocks: at most a hundred times what any
 * error needs, plus 1 MiB. */
static inline bool bry__filter_blocks_allowed(uint64_t blocks, uint64_t capacity)
{
    return blocks <= BRY__FILTER_MAX_BLOCKS && blocks / 16 <= capacity + 1024;
}

struct bry__filter_engine;

struct bry_filter {
    bry_allocator allocator;
    const struct bry__filter_engine *engine;
    uint64_t seed;
    uint64_t capacity;
    uint64_t items;
    double error; /* promised */
    union {
        bry__blocked bloom;
        bry__maplet compact; /* with values of 0 bits */
    };
};

#endif
