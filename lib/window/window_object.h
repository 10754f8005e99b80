/* The window's inside, shared by window.c (operations) and window_save.c (frames). */
#ifndef BRY_WINDOW_WINDOW_OBJECT_H
#define BRY_WINDOW_WINDOW_OBJECT_H

#include "window/window_engine.h"

#define BRY__WINDOW_MAX_HASHES 64u

struct bry_window {
    bry_allocator allocator;
    bry_window_options options; /* as created with, defaults filled in; without the allocator */
    const bry__window_engine *engine;
    void *self; /* the engine's instance */
    uint64_t time; /* T */
    bool started; /* T was set: by `start`, or by a change */
    uint64_t refused_full, refused_time;
};

/*
 * Options as this version knows them, with their defaults, the engine that they name, and what it
 * makes of them; the shape's bytes are those of the whole window. What bry_window_plan() returns.
 */
bry_status bry__window_read_options(const bry_window_options *given, bry_window_options *options,
                                    const bry__window_engine **engine, bry_window_shape *shape);

/* Options that make one like this. */
bry_window_options bry__window_like(const bry_window *other);

/* What a window takes with its first element in it, at most; for options that have a plan. */
uint64_t bry__window_bytes_first(const bry_window_options *given);

/* Has what adding this hash is going to read fetched into the cache, for who has something else to
 * do in the meantime. */
static inline void bry__window_fetch(const bry_window *window, bry_hash hash)
{
    if (window->engine->fetch)
        window->engine->fetch(window->self, hash);
}

/* bry_window_add() of a hash for which bry_window_has() has just said BRY_ABSENT at that time. */
bry_status bry__window_add_new(bry_window *window, bry_hash hash, uint64_t now, bry_answer *was);

/* Whether a change at `now` moves the window's time, or sets it. 0 is a time like any other. */
static inline bool bry__window_moves(const bry_window *window, uint64_t now)
{
    return !window->started || now > window->time;
}

/* The same options as the engine gets them: max_bytes is what the facade leaves of it. */
bry_window_options bry__window_engine_options(const bry_window_options *options);

#endif
