/* One-line calls of filters for tests, which assert that they succeed. Filters are of engine bloom
 * unless the options say otherwise. */
#ifndef BRY_TESTS_FILTER_HELPERS_H
#define BRY_TESTS_FILTER_HELPERS_H

#include "support/cmocka_all.h"
#include "support/filter_bits.h"
#include "support/generator.h"
#include "support/like.h"

static inline bry_filter *make(bry_filter_options options)
{
    bry_filter *filter = NULL;
    options.struct_size = sizeof options;
    if (options.seed == 0)
        options.seed = 1;
    if (options.engine == BRY_ENGINE_AUTO)
        options.engine = BRY_ENGINE_BLOOM;
    assert_int_equal(bry_filter_create(&options, &filter), BRY_OK);
    assert_non_null(filter);
    return filter;
}

static inline bry_filter *clone(const bry_filter *filter)
{
    bry_filter *copy = NULL;
    assert_int_equal(bry_filter_clone(filter, NULL, &copy), BRY_OK);
    return copy;
}

STATS_OF(filter)

/* Adds up to n new keys from the generator. Returns how many were accepted. */
static inline uint64_t add_many(bry_filter *filter, uint64_t from, uint64_t n)
{
    generator numbers = {from};
    uint64_t taken = 0;
    for (uint64_t i = 0; i < n; i++) {
        bry_answer was = BRY_UNSURE;
        bry_status status = bry_filter_add(filter, generator_hash(&numbers), &was);
        if (status != BRY_OK) {
            assert_int_equal(status, BRY_E_FULL);
            assert_int_equal(was, BRY_UNSURE);
            break;
        }
        taken += was == BRY_ABSENT;
    }
    return taken;
}

#endif
