/* How every change of a compact window begins and ends. */
#ifndef BRY_WINDOW_COMPACT_CHANGE_H
#define BRY_WINDOW_COMPACT_CHANGE_H

#include "window/compact_levels.h"

typedef struct bry__changing {
    bry__compact_window *window; /* to work on: the one to change, or … */
    bry__compact_window copy;
    bool copied; /* … the copy */
    bry__compact_window before; /* the one to change as it was; of its past: */
    uint64_t past_oldest;
    bool moved; /* there is something to take back: */
    bool emptied; /* it has let go of all its levels, which are in `before`; */
    bry__compact_window *aged; /* or they are its past now */
} bry__changing;

/* Makes `now` the time of change->window, which is a copy where `copied`, or where there is no
 * other way. BRY_E_NOMEM: nothing has changed. */
bry_status bry__change_begin(bry__compact_window *window, uint64_t now, bool copied,
                             bry__changing *change);

/* Ends a change with its status: on BRY_OK it is kept, and a part of the reclaiming that is due is
 * done; else the window is as before. In place, what the change itself did must be taken back by
 * then. Returns `status`. */
bry_status bry__change_end(bry__compact_window *window, bry__changing *change, bry_status status,
                           uint64_t added, uint64_t now);

#endif
