/* bry_…_options_like() with the options as return value: filter_like(), map_like() and so on; and
 * make() and stats_of() of one job, such as `map`, for tests that include cmocka_all.h. */
#ifndef BLOOMERY_TESTS_LIKE_H
#define BLOOMERY_TESTS_LIKE_H

#include <bloomery.h>
#include <string.h>

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

/* NOLINTBEGIN(bugprone-macro-parentheses): names */
#define MAKE(job)                                                                                  \
    static inline bry_##job *make(bry_##job##_options options)                                     \
    {                                                                                              \
        bry_##job *made = NULL;                                                                    \
        options.struct_size = sizeof options;                                                      \
        if (options.seed == 0)                                                                     \
            options.seed = 1;                                                                      \
        assert_int_equal(bry_##job##_create(&options, &made), BRY_OK);                             \
        assert_non_null(made);                                                                     \
        return made;                                                                               \
    }

#define STATS_OF(job)                                                                              \
    static inline bry_##job##_stats stats_of(const bry_##job *object)                              \
    {                                                                                              \
        bry_##job##_stats stats;                                                                   \
        memset(&stats, 0x5a, sizeof stats);                                                        \
        bry_##job##_get_stats(object, &stats);                                                     \
        return stats;                                                                              \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
