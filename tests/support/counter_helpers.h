/* Short forms for tests of counters. */
#ifndef BRY_TESTS_COUNTER_HELPERS_H
#define BRY_TESTS_COUNTER_HELPERS_H

#include <bloomery/counters.h>
#include <string.h>

#include "support/cmocka_all.h"

/* Operation number i, under seed 1. */
static inline bry_hash counter_id(uint64_t i)
{
    return bry_hash_key(1, &i, sizeof i);
}

static inline bry_status counter_try(bry_counters *counters, uint64_t i, const char *name,
                                     int64_t delta, uint64_t now)
{
    return bry_counters_apply(counters, counter_id(i), name, strlen(name), delta, now, NULL, NULL);
}

/* Applies an operation and checks the result. */
#define counter_expect(counters, i, name, delta, now, want_outcome, want_value)                    \
    do {                                                                                           \
        bry_counters_outcome outcome_ = (bry_counters_outcome)7;                                   \
        int64_t value_ = 77;                                                                       \
        assert_int_equal(bry_counters_apply((counters), counter_id(i), (name), strlen(name),       \
                                            (delta), (now), &outcome_, &value_),                   \
                         BRY_OK);                                                                  \
        assert_int_equal(outcome_, (want_outcome));                                                \
        assert_true(value_ == (want_value));                                                       \
    } while (0)
#define counter_applied(counters, i, name, delta, now, value)                                      \
    counter_expect(counters, i, name, delta, now, BRY_COUNTERS_APPLIED, value)
#define counter_repeat(counters, i, name, delta, now, value)                                       \
    counter_expect(counters, i, name, delta, now, BRY_COUNTERS_REPEAT, value)

static inline int64_t counter_value(const bry_counters *counters, const char *name)
{
    int64_t value;
    assert_int_equal(bry_counters_get(counters, name, strlen(name), &value), BRY_PRESENT);
    return value;
}

static inline bool counter_is_there(const bry_counters *counters, const char *name)
{
    int64_t value = 1;
    bool there = bry_counters_get(counters, name, strlen(name), &value) == BRY_PRESENT;
    assert_true(there || value == 1); /* it is not written */
    return there;
}

static inline bry_counters_stats counter_stats(const bry_counters *counters)
{
    bry_counters_stats stats = {0};
    bry_counters_get_stats(counters, &stats);
    return stats;
}

#endif
