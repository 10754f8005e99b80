/* Internals of compact windows; see compact_window.c. */
#ifndef BRY_WINDOW_COMPACT_WINDOW_H
#define BRY_WINDOW_COMPACT_WINDOW_H

#include "maplet/maplet_single.h"

#include <bloomery/window.h>

/* The part of a window that follows from its options and never changes. */
typedef struct bry__compact_shape {
    uint64_t window : 56; /* ms that are promised, at most BRY_SPAN_MAX */
    uint64_t bits : 7; /* a generation's name is its number modulo 2^bits */
    uint64_t refresh : 1;
    uint64_t length; /* ms per generation */
    uint64_t max_bytes; /* 0: no limit */
} bry__compact_shape;

typedef struct bry__compact_window {
    bry__compact_shape shape;
    bry__maplet maplet; /* values stand for generations; without tables while it is empty */
    bry__aside *aside; /* expired tables, to be freed in steps */
    uint64_t newest; /* generation at the last change */
    uint32_t older; /* generations that were remembered then, beside the newest */
    uint32_t value; /* of the newest generation, or BRY__NO_NAME */
    uint64_t paid_at; /* time up to which debt was computed */
    uint32_t allowance; /* entries that surely fit under max_bytes */
    uint16_t small; /* up to this many entries are reclaimed at once */
    uint16_t debt : 15; /* entries to be looked at, while sweeping: fewer than are worth it */
    uint16_t sweeping : 1; /* there are dead entries */
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

/* The oldest generation that was remembered at the last change. */
static inline uint64_t bry__window_then(const bry__compact_window *window)
{
    return window->newest - window->older;
}

static inline void bry__window_set_time(bry__compact_window *window, uint64_t newest,
                                        uint64_t oldest)
{
    window->newest = newest;
    window->older = (uint32_t)(newest - oldest);
}

/* The name of a generation's value; unique among the remembered generations. */
static inline uint32_t bry__window_name(const bry__compact_window *window, uint64_t generation)
{
    return (uint32_t)(generation & bry__window_mask(window));
}

/* Age of the generation with this name: 0 is the newest. */
static inline uint64_t bry__window_age(const bry__compact_window *window, uint32_t name)
{
    return (window->newest - name) & bry__window_mask(window);
}

/* ---- room (compact_window_room.c) ------------------------------------------------------------ */

/* The shape of a window and its maplet for options that have been checked. BRY_E_RANGE: the error
 * is not possible. */
bry_status bry__compact_window_shape_of(const bry_window_options *options,
                                        bry__compact_shape *shape, bry__maplet_options *maplet);

/* Expected bytes of n entries in the first table, without the window itself. */
uint64_t bry__compact_window_plan_bytes(const bry__maplet_options *maplet, uint64_t n);
/* Bytes of a window with one entry, and the least max_bytes that accepts one. */
uint64_t bry__compact_window_bytes_first(const bry__maplet_options *maplet);
uint64_t bry__compact_window_bytes_least(const bry__maplet_options *maplet);

uint64_t bry__compact_window_bytes(const bry__compact_window *window);

/* The table for a new entry; it may not be open yet. BRY_E_FULL: the limit is reached, or no
 * table has room within the error. */
bry_status bry__compact_window_place(bry__compact_window *window, unsigned *table);

/* True if the next new entry would exceed max_bytes. */
bool bry__compact_window_at_limit(const bry__compact_window *window);
/* True if the entries of this maplet fit into max_bytes. */
bool bry__compact_window_keeps_limit(const bry__compact_window *window, const bry__maplet *maplet);

/* ---- time (compact_window_time.c) ------------------------------------------------------------ */

/* A value whose generation has expired. */
typedef struct bry__expired {
    uint32_t value, name;
} bry__expired;

#define BRY__EXPIRED_FEW 16u

/* A change in progress. Time moves first; what that changed is kept here, to undo it on failure. */
typedef struct bry__window_change {
    bool moved; /* time moved; the rest is valid only then */
    bool put_aside; /* all tables were put aside */
    uint64_t newest, oldest; /* before the change */
    uint32_t value;
    bry__expired few[BRY__EXPIRED_FEW], *expired;
    uint32_t n, room;
} bry__window_change;

/* Begins a change: makes `now` the window's time. `fails`: the change may fail. BRY_E_NOMEM, only
 * if `fails`: nothing has changed. */
bry_status bry__compact_window_begin(bry__compact_window *window, uint64_t now, bool fails,
                                     bry__window_change *change);

/* Ends a change. On BRY_OK, does a part of the reclaiming that is due. Otherwise moves time back;
 * the caller has undone its own part before. Returns `status`. */
bry_status bry__compact_window_end(bry__compact_window *window, bry__window_change *change,
                                   bry_status status, uint64_t added, uint64_t now);

/* Gives the newest generation a value if it has none. BRY_E_NOMEM. */
bry_status bry__window_reach_value(bry__compact_window *window);

/* ---- whole windows (compact_window_save.c) --------------------------------------------------- */

/* Described in window_engine.h. */
struct bry__frame_writer;
struct bry__frame_reader;

void bry__compact_window_write(const void *self, struct bry__frame_writer *writer);
bry_status bry__compact_window_read(const bry_window_options *options, uint64_t time,
                                    struct bry__frame_reader *reader,
                                    const bry_allocator *allocator, void **self);

#endif
