/* bry_…_options_like() with the options as return value: filter_like(), map_like() and so on. */
#ifndef BLOOMERY_TESTS_LIKE_H
#define BLOOMERY_TESTS_LIKE_H

#include <bloomery.h>

#define LIKE(job, initializer)                                                                     \
    static inline bry_##job##_options job##_like(const bry_##job *other)                           \
    {                                                                                              \
        bry_##job##_options options = initializer;                                                 \
        (void)bry_##job##_options_like(other, &options);                                           \
        return options;                                                                            \
    }

LIKE(filter, BRY_FILTER_OPTIONS)
LIKE(map, BRY_MAP_OPTIONS)
LIKE(window, BRY_WINDOW_OPTIONS)
LIKE(counters, BRY_COUNTERS_OPTIONS)
LIKE(index, BRY_INDEX_OPTIONS)
#undef LIKE

#endif
