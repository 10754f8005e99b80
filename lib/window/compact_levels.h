/*
 * The tables under a compact window, from the first, which holds what was planned for, to those
 * with longer fingerprints for what comes beyond; and what they hold of each generation.
 * compact_window.c explains.
 */
#ifndef BRY_WINDOW_COMPACT_LEVELS_H
#define BRY_WINDOW_COMPACT_LEVELS_H

#include "maplet/maplet_plan.h"
#include "maplet/table.h"

#include <bloomery/window.h>

#define BRY__WINDOW_LEVELS BRY__MAPLET_TABLES

/* What the options make of a window, and does not change. */
typedef struct bry__compact_shape {
    uint64_t window; /* ms promised */
    uint64_t length; /* ms of a generation */
    unsigned value_bits; /* of a generation's number in an entry: it is stored modulo their range */
    bry__chain chain; /* the levels */
    bool fixed; /* one level for all */
    bool refresh;
    uint64_t max_bytes; /* 0: none */
} bry__compact_shape;

/* One table. Of an element it holds one entry; of a fingerprint too. */
typedef struct bry__window_level {
    bry__table table;
    uint64_t live; /* entries that are remembered; the others are not reclaimed yet */
    struct bry__window_level *next; /* of those to be freed */
    uint64_t count[]; /* of them by generation, its number modulo the size of this array */
} bry__window_level;

typedef struct bry__compact_window {
    bry_allocator allocator;
    bry__compact_shape shape;
    uint64_t newest, oldest; /* generations that are remembered, at the last change */
    uint64_t least; /* no entry is of an older generation */
    unsigned levels; /* 0: there are no entries */
    bry__window_level *level[BRY__WINDOW_LEVELS];
    /* The tables from before a jump in time, with a newest generation of their own; NULL when none
     * of their entries is remembered. Only its levels, generations and reclaiming are used. */
    struct bry__compact_window *past;
    bry__window_level *trash; /* levels in which nothing is remembered, to be freed in steps */
    uint64_t small; /* up to so many entries are reclaimed at once */
    uint64_t allowance; /* entries that surely fit under max_bytes */
    /* reclaiming: */
    bool sweeping;
    unsigned sweep_level; /* where it goes on */
    uint64_t sweep_oldest; /* `oldest` when it began */
    uint64_t debt; /* entries that are due to be looked at */
    uint64_t paid_at; /* the time up to which debt was reckoned */
} bry__compact_window;

/* ---- generations --------------------------------------------------------------------------- */

/* Numbers that can be told apart; a power of 2. */
static inline uint64_t bry__window_slots(const bry__compact_shape *shape)
{
    return (uint64_t)1 << shape->value_bits;
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

/* How many generations before the newest a stored number is. */
static inline uint64_t bry__window_age(const bry__compact_window *window, uint32_t number)
{
    return (window->newest - number) & (bry__window_slots(&window->shape) - 1);
}

static inline bool bry__window_is_live(const bry__compact_window *window, uint32_t number)
{
    return bry__window_age(window, number) <= window->newest - window->oldest;
}

static inline uint64_t *bry__window_count(const bry__compact_window *window, unsigned level,
                                          uint64_t generation)
{
    return &window->level[level]->count[generation & (bry__window_slots(&window->shape) - 1)];
}

/* A number that no entry has which is remembered. */
static inline uint32_t bry__window_dead(const bry__compact_window *window)
{
    return (uint32_t)((window->newest + 1) & (bry__window_slots(&window->shape) - 1));
}

/* Makes these the generations that are remembered. The numbers of new ones must be free: no entry
 * that is live now or then has them. Going back undoes it. */
void bry__window_move(bry__compact_window *window, uint64_t newest, uint64_t oldest);
/* Counts again what is remembered in each level. */
void bry__window_recount(bry__compact_window *window);

/* ---- levels -------------------------------------------------------------------------------- */

/* What is below comes from options that are checked; BRY_E_RANGE: the error cannot be had. */
bry_status bry__compact_shape_of(const bry_window_options *options, bry__compact_shape *shape);

/* What n entries in a level are expected to take. */
uint64_t bry__level_plan_bytes(const bry__compact_shape *shape, unsigned level, uint64_t n);

/* BRY_E_NOMEM. */
bry_status bry__level_open(bry__compact_window *window);
void bry__level_close(bry__compact_window *window);
/* To be freed in steps: one level, or `set` and all its levels. */
void bry__level_discard(bry__compact_window *window, bry__window_level *level);
void bry__past_discard(bry__compact_window *window, bry__compact_window *set);
/* Frees so many groups of what was discarded. */
void bry__levels_free_some(bry__compact_window *window, size_t groups);
/* A copy with all that is remembered in its own levels. */
bry_status bry__levels_clone(const bry__compact_window *from, bry__compact_window *to,
                             const bry_allocator *allocator);
void bry__levels_free(bry__compact_window *window);

/* Entries that are remembered, in all and in one level. */
uint64_t bry__levels_live(const bry__compact_window *window);
uint64_t bry__level_live(const bry__compact_window *window, unsigned level);
/* Of its own levels, without the past: entries that are remembered, and all. */
uint64_t bry__levels_own_live(const bry__compact_window *window);
uint64_t bry__levels_own(const bry__compact_window *window);
uint64_t bry__levels_bytes(const bry__compact_window *window);
/* The error that the entries which are remembered give. */
double bry__levels_error(const bry__compact_window *window);

/* The first level that has room for a new entry, which may not be there yet. */
unsigned bry__levels_first_with_room(const bry__compact_window *window);

/* The level that a new entry goes to, which may have to be opened. BRY_E_FULL: the ceiling, or no
 * level can take it within the error. */
bry_status bry__levels_place(bry__compact_window *window, unsigned *level);

/* Whether what is remembered keeps the promised error, and will however many are added; so it is in
 * every window that was not forged. */
bool bry__levels_keep_error(const bry__compact_window *window);
/* Whether it keeps the ceiling. */
bool bry__levels_keep_ceiling(const bry__compact_window *window);

/* What the first entry makes of a window, and the least max_bytes that takes it. */
uint64_t bry__levels_bytes_first(const bry__compact_shape *shape);
uint64_t bry__levels_bytes_least(const bry__compact_shape *shape);

/* Whether max_bytes would refuse the next new entry. */
bool bry__levels_at_ceiling(const bry__compact_window *window);

/* ---- reclaiming ---------------------------------------------------------------------------- */

/* After a change at `now` that added so many elements: a part of the work that is due. */
void bry__levels_reclaim(bry__compact_window *window, uint64_t added, uint64_t now);

/* All of it, so that every entry is live. BRY_E_NOMEM: not all, nothing lost. */
bry_status bry__levels_reclaim_all(bry__compact_window *window);

/* ---- whole windows (compact_merge.c, compact_window_save.c) --------------------------------- */

/* Adds what `from` remembers and `into` would, too. BRY_E_NOMEM leaves `into` half done. */
bry_status bry__levels_merge(bry__compact_window *into, const bry__compact_window *from);

/* As window_engine.h says. */
struct bry__frame_writer;
struct bry__frame_reader;

void bry__compact_window_write(const void *self, struct bry__frame_writer *writer);
bry_status bry__compact_window_read(const bry_window_options *options, uint64_t time,
                                    struct bry__frame_reader *reader,
                                    const bry_allocator *allocator, void **self);

#endif
