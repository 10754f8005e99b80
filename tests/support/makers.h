/* make() and stats_of() of one job, such as `map`: they assert that they succeed. */
#ifndef BRY_TESTS_MAKERS_H
#define BRY_TESTS_MAKERS_H

#include "support/cmocka_all.h"

#include <bloomery.h>
#include <string.h>

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
