/* The inside of a compact window; compact_window.c explains. */
#ifndef BRY_WINDOW_COMPACT_WINDOW_H
#define BRY_WINDOW_COMPACT_WINDOW_H

#include "maplet/maplet_single.h"

#include <bloomery/window.h>

/* What the options make of a window, and does not change. */
typedef struct bry__compact_shape {
    uint64_t window; /* ms promised */
    uint64_t length; /* ms of a generation */
    unsigned bits; /* of a generation's name: its number modulo 2^bits */
    bool refresh;
    uint64_t max_bytes; /* 0: none */
} bry__compact_shape;

typedef struct bry__compact_window {
    bry__compact_shape shape;
    bry__maplet maplet; /* values stand for generations; a shell while there are no entries */
    bry__aside *aside; /* tables in which nothing is remembered, to be freed in steps */
    uint64_t newest, oldest; /* generations that are remembered, at the last change */
    uint32_t value; /* of the newest; BRY__NO_NAME while it has none */
    uint64_t small; /* up to so many entries are reclaimed at once */
    uint64_t allowance; /* entries that surely fit under max_bytes */
    bool sweeping; /* there are dead entries, and … */
    uint64_t debt; /* … so many entries are due to be looked at */
    uint64_t paid_at; /* the time up to which debt was reckoned */
} bry__compact_window;

/* ---- generations ----------------------------------------------------------------------------- */

static inline uint64_t bry__window_mask(const bry__compact_window *window)
{
    return ((uint64_t)1 << window->shape.bits) - 1;
}

static inline uint64_t bry__window_newest(const bry__compact_shape *shape, uint64_t now)
{
    return now / shape->length;
}

/* The first generation with end + window > now. */
static inline uint64_t bry__window_oldest(const bry__compact_shape *shape, uint64_t now)
{
    return now < shape->window ? 0 : (now - shape->window) / shape->length;
}

/* What a generation's value is called; different for all that are remembered. */
static inline uint32_t bry__window_name(const bry__compact_window *window, uint64_t generation)
{
    return (uint32_t)(generation & bry__window_mask(window));
}

/* How many generations before the newest the one of this name is. */
static inline uint64_t bry__window_age(const bry__compact_window *window, uint32_t name)
{
    return (window->newest - name) & bry__window_mask(window);
}

/* ---- room (compact_window_room.c) ------------------------------------------------------------ */

/* What the options, which are checked, make of a window and its maplet. BRY_E_RANGE: the error
 * cannot be had. */
bry_status bry__compact_shape_of(const bry_window_options *options, bry__compact_shape *shape,
                                 bry__maplet_options *maplet);

/* What n entries in the first table are expected to take, without the window itself. */
uint64_t bry__compact_plan_bytes(const bry__maplet_options *maplet, uint64_t n);
/* What the first entry makes of a window, and the least max_bytes that takes it. */
uint64_t bry__compact_bytes_first(const bry__maplet_options *maplet);
uint64_t bry__compact_bytes_least(const bry__maplet_options *maplet);

uint64_t bry__compact_bytes(const bry__compact_window *window);

/* The table that a new entry goes to, which may have to be opened. BRY_E_FULL: the ceiling, or no
 * table can take it within the error. */
bry_status bry__compact_place(bry__compact_window *window, unsigned *table);

/* Whether max_bytes would refuse the next new entry. */
bool bry__compact_at_ceiling(const bry__compact_window *window);
/* Whether the entries of this maplet keep max_bytes. */
bool bry__compact_keeps_ceiling(const bry__compact_window *window, const bry__maplet *maplet);

/* ---- time (compact_window_time.c) ------------------------------------------------------------ */

/* A value that died because its generation expired. */
typedef struct bry__expired {
    uint32_t value, name;
} bry__expired;

#define BRY__EXPIRED_FEW 16u

/* A change from beginning to end: time moves first, in a way that can be taken back. */
typedef struct bry__changing {
    bool moved; /* there is something to take back: */
    bool put_aside; /* all tables were; else */
    uint64_t newest, oldest; /* of before, */
    uint32_t value;
    bry__expired few[BRY__EXPIRED_FEW], *expired; /* and what has expired */
    uint32_t n, room;
} bry__changing;

/* Makes `now` the window's time. BRY_E_NOMEM, only where `fails` says that the change itself may
 * fail: nothing has changed. */
bry_status bry__change_begin(bry__compact_window *window, uint64_t now, bool fails,
                             bry__changing *change);

/* Ends a change with its status: on BRY_OK it is kept, and a part of the reclaiming that is due is
 * done; else time is taken back, and the change itself must have been by then. Returns `status`. */
bry_status bry__change_end(bry__compact_window *window, bry__changing *change, bry_status status,
                           uint64_t added, uint64_t now);

/* Sees that the newest generation has a value. BRY_E_NOMEM. */
bry_status bry__window_reach_value(bry__compact_window *window);

/* ---- whole windows (compact_window_merge.c, compact_window_save.c) --------------------------- */

/* What both remember at the time of `window`, as a maplet for it. BRY_E_NOMEM. */
bry_status bry__compact_unite(const bry__compact_window *window, const bry__compact_window *from,
                              bry__maplet *made);

/* As window_engine.h says. */
struct bry__frame_writer;
struct bry__frame_reader;

void bry__compact_window_write(const void *self, struct bry__frame_writer *writer);
bry_status bry__compact_window_read(const bry_window_options *options, uint64_t time,
                                    struct bry__frame_reader *reader,
                                    const bry_allocator *allocator, void **self);

#endif
