/* Windows of the engine fbf in one line, and a look inside. */
#ifndef BRY_TESTS_FBF_HELPERS_H
#define BRY_TESTS_FBF_HELPERS_H

#include "support/window_helpers.h"
#include "window/fbf/fbf.h"

static inline bry_window_options fbf_options(uint64_t window, uint64_t capacity, double error)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.engine = BRY_ENGINE_FBF;
    options.window = window;
    options.capacity = capacity;
    options.error = error;
    options.seed = 1;
    return options;
}

static inline const bry__fbf *row_of(const bry_window *window)
{
    return window->self;
}

static inline bry_window *clone_of(const bry_window *window)
{
    bry_window *copy = NULL;
    assert_int_equal(bry_window_clone(window, NULL, &copy), BRY_OK);
    return copy;
}

static inline void advance(bry_window *window, uint64_t now)
{
    assert_int_equal(bry_window_advance(window, now), BRY_OK);
}

#endif
