/*
 * The exact twin of a window: for each of a few hundred elements, the time when it was last
 * remembered.
 *
 * This determines the answers of a window: an element must be found within `window` after it was
 * added as new (or again, with refresh), must not be found after `longest`, and may be found in
 * between.
 */
#ifndef BRY_TESTS_WINDOW_TWIN_H
#define BRY_TESTS_WINDOW_TWIN_H

#include <stdbool.h>
#include <stdint.h>

enum { WINDOW_TWIN_ELEMENTS = 256 };

typedef struct window_twin {
    uint64_t window, longest;
    uint64_t time; /* T */
    bool started;
    bool known[WINDOW_TWIN_ELEMENTS];
    uint64_t at[WINDOW_TWIN_ELEMENTS]; /* when it was remembered last, where known */
} window_twin;

typedef enum window_duty {
    WINDOW_MUST_FORGET,
    WINDOW_MAY_REMEMBER,
    WINDOW_MUST_REMEMBER,
} window_duty;

/* The effective time of a change or a query with this `now`. */
uint64_t window_twin_now(const window_twin *twin, uint64_t now);

/* The required answer for element i at a time not before T. */
window_duty window_twin_duty(const window_twin *twin, unsigned i, uint64_t now);

/* Whether it is remembered on the grid of generations, as in engine compact. */
bool window_twin_on_grid(const window_twin *twin, unsigned i, uint64_t now);

void window_twin_advance(window_twin *twin, uint64_t now);
void window_twin_remember(window_twin *twin, unsigned i);
void window_twin_del(window_twin *twin, unsigned i);
void window_twin_clear(window_twin *twin);
void window_twin_merge(window_twin *into, const window_twin *from);

#endif
