/* The filter's inside, shared by filter.c (operations) and filter_save.c (frames). */
#ifndef BRY_FILTER_FILTER_OBJECT_H
#define BRY_FILTER_FILTER_OBJECT_H

#include "bloom/bloom_blocked.h"

#include <bloomery/filter.h>

#define BRY__FILTER_MAX_CAPACITY ((uint64_t)1 << 40)
#define BRY__FILTER_MIN_ERROR 1e-9
#define BRY__FILTER_MAX_ERROR 0.5
#define BRY__FILTER_MAX_BLOCKS ((uint64_t)1 << 45)

struct bry_filter {
    bry_allocator allocator;
    uint64_t seed;
    uint64_t capacity;
    uint64_t items;
    double error; /* promised */
    bry__blocked bloom;
};

#endif
