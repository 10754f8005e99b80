/* The window's internals, shared by window.c (operations) and window_save.c (frames). */
#ifndef BRY_WINDOW_WINDOW_OBJECT_H
#define BRY_WINDOW_WINDOW_OBJECT_H

#include "window/window_engine.h"

#define BRY__WINDOW_MAX_HASHES 64u

struct bry_window {
    const bry__window_engine *engine;
    void *self; /* the engine's instance */
    uint64_t time; /* T */
    uint64_t refused_full, refused_skew;
    /* The options of creation, with defaults filled in, as far as the engine does not know them. */
    struct {
        uint64_t window, capacity, max_bytes, max_skew, seed;
        double error;
    } options;
    uint32_t generations;
    bool refuse, fixed, refresh;
    bool started; /* T was set: by `start`, or by a change */
};

/* Sets the options. */
void bry__window_keep(bry_window *window, const bry_window_options *options);

/*
 * Reads the options, fills in their defaults, chooses the engine and plans; the shape's bytes are
 * those of the whole window. Returns what bry_window_plan() returns.
 */
bry_status bry__window_read_options(const bry_window_options *given, bry_window_options *options,
                                    const bry__window_engine **engine, bry_window_shape *shape);

/* Options that create a window like this one. */
bry_window_options bry__window_like(const bry_window *other);

/* The most bytes of a window with one element; for options that have a plan. */
uint64_t bry__window_bytes_first(const bry_window_options *given);

/* Whether a change at `now` moves the window's time, or sets it. 0 is a valid time. */
static inline bool bry__window_moves(const bry_window *window, uint64_t now)
{
    return !window->started || now > window->time;
}

/* The options for the engine: max_bytes is what the facade leaves of it. */
bry_window_options bry__window_engine_options(const bry_window_options *options);

#endif
