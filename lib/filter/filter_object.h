/* The filter's internals, shared by filter.c (operations), filter_save.c (frames) and the engines.
 */
#ifndef BRY_FILTER_FILTER_OBJECT_H
#define BRY_FILTER_FILTER_OBJECT_H

#include "bloom/bloom_blocked.h"
#include "maplet/maplet.h"

#include <bloomery/filter.h>

#include <stddef.h>

#define BRY__FILTER_MAX_BLOCKS ((uint64_t)1 << 45)

/* Whether an exact shape, or a file, may have this many blocks: at most a hundred times what any
 * error needs, plus 1 MiB. */
static inline bool bry__filter_blocks_allowed(uint64_t blocks, uint64_t capacity)
{
    return blocks <= BRY__FILTER_MAX_BLOCKS && blocks / 16 <= capacity + 1024;
}

struct bry__filter_engine;

/* People keep filters by the million, so only the part that the engine uses is allocated
 * (bry__filter_engine.size): copy filters with bry__filter_new() only. */
struct bry_filter {
    const struct bry__filter_engine *engine;
    uint64_t seed;
    union {
        bry_allocator allocator; /* both engines' first field */
        bry__maplet compact; /* with values of 0 bits; has the capacity, the error and the items */
        struct {
            bry_allocator bloom_allocator;
            bry__blocked bloom;
            uint64_t capacity;
            uint64_t items;
            double error; /* promised */
        };
    };
};

/* A filter of zeros with this engine, seed and allocator. NULL: out of memory. */
bry_filter *bry__filter_new(const struct bry__filter_engine *engine, uint64_t seed,
                            const bry_allocator *allocator);

_Static_assert(offsetof(struct bry_filter, compact.allocator) ==
                   offsetof(struct bry_filter, allocator),
               "the allocator of every engine is in one place");

#endif
