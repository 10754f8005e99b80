/*
 * The exact twin of a window: for each of a few hundred elements, when it was last remembered.
 *
 * From that follows what a window must answer, must not answer, and may answer either way: an
 * element is promised for `window` after it was added as new (or again, where that refreshes), and
 * is surely gone after `longest`.
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

/* The time that a change with this `now` happens at, and that a question answers for. */
uint64_t window_twin_now(const window_twin *twin, uint64_t now);

/* What a window owes of element i at a time that is not before T. */
window_duty window_twin_duty(const window_twin *twin, unsigned i, uint64_t now);

/* Whether it is remembered by the grid of generations, as engine compact does it. */
bool window_twin_on_grid(const window_twin *twin, unsigned i, uint64_t now);

void window_twin_advance(window_twin *twin, uint64_t now);
void window_twin_remember(window_twin *twin, unsigned i);
void window_twin_del(window_twin *twin, unsigned i);
void window_twin_clear(window_twin *twin);
void window_twin_merge(window_twin *into, const window_twin *from);

#endif
