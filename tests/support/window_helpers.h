/* Windows in one line, for tests that would be all set-up otherwise. They assert that it works. */
#ifndef BRY_TESTS_WINDOW_HELPERS_H
#define BRY_TESTS_WINDOW_HELPERS_H

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"
#include "support/job_calls.h"
#include "support/key_by_number.h"
#include "support/like.h"
#include "support/window_kinds.h"
#include "window/window_object.h"

#include <string.h>

static inline bry_window_options options_of(const window_kind *kind)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.engine = kind->engine;
    options.seed = 1;
    return options;
}

/* An error so small that nothing errs here. */
static inline bry_window_options exact(const window_kind *kind, uint64_t window, uint64_t capacity)
{
    bry_window_options options = options_of(kind);
    options.window = window;
    options.capacity = capacity;
    options.error = 1e-9;
    return options;
}

static inline uint64_t longest_of(const bry_window_options *options)
{
    bry_window_shape shape = {0};
    assert_int_equal(bry_window_plan(options, &shape), BRY_OK);
    return shape.longest;
}

MAKE(window)

STATS_OF(window)

static inline bry_answer add(bry_window *window, uint64_t i, uint64_t now)
{
    bry_answer was = BRY_UNSURE;
    assert_int_equal(bry_window_add(window, key(i), now, &was), BRY_OK);
    return was;
}

static inline bool has(const bry_window *window, uint64_t i, uint64_t now)
{
    return bry_window_has(window, key(i), now) == BRY_PRESENT;
}

static inline bry_buffer saved_of(const bry_window *window)
{
    return job_saved(BRY_JOB_WINDOW, window);
}

/* Whether both would be saved as the same bytes. */
static inline bool alike(const bry_window *a, const bry_window *b)
{
    bry_buffer x = saved_of(a), y = saved_of(b);
    bool same = x.len == y.len && memcmp(x.bytes, y.bytes, x.len) == 0;
    bry_buffer_free(&x);
    bry_buffer_free(&y);
    return same;
}

#endif
