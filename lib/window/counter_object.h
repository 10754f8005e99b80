/* A table of counters, for the files that make it up: counter.c explains. */
#ifndef BRY_WINDOW_COUNTER_OBJECT_H
#define BRY_WINDOW_COUNTER_OBJECT_H

#include <bloomery/counter.h>
#include <bloomery/window.h>

#include "window/counter_meter.h"
#include "window/counter_names.h"

typedef struct bry__counter_folder bry__counter_folder; /* counter_log.c */
struct bry__io;

enum { BRY__COUNTER_SMALL = 8 }; /* operations that need no memory of their own */

struct bry_counter {
    bry__counter_meter meter; /* all memory but this struct's own comes through it */
    bry_counter_options options; /* with defaults and seed; no allocator */
    bry_window *window;
    bry__counter_names names;
    uint64_t applied, repeats, refused_full, refused_overflow, refused_time;

    double expected_lost;
    double error_then; /* the window's own estimate, when it was last asked, */
    uint64_t since; /* how many operations were applied since, */
    uint64_t ask_after; /* and after how many it is asked again */

    bry__counter_folder *folder; /* NULL: in memory alone */
    bool broken; /* the log failed: questions only */
    /* The operations that it failed with: in the window, but not in the table. */
    bry_hash limbo_small[BRY__COUNTER_SMALL];
    const bry_hash *limbo;
    size_t limbo_count;
    void *limbo_block;
    size_t limbo_size;
};

/* ---- counter.c ----------------------------------------------------------------------------- */

/* Checks options, fills in defaults (the seed stays 0 if it is), and plans. */
bry_status bry__counter_read_options(const bry_counter_options *given, bry_counter_options *options,
                                     bry_counter_shape *shape);

/* The window that belongs to these options. */
bry_window_options bry__counter_window_options(const bry_counter_options *options);

/* A table with names and no window yet. options are read and have a seed. BRY_E_NOMEM. */
bry_status bry__counter_make(const bry_counter_options *options, const bry_allocator *under,
                             bry_counter **counters);
bry_status bry__counter_make_window(bry_counter *counters);

/* Deletes all counters and forgets all ids (counter_apply.c). */
void bry__counter_empty(bry_counter *counters);

/* BRY_E_IO with errno EIO: what a broken table says to every change. */
bry_status bry__counter_refuse_broken(void);

/* As if nothing had been applied. */
void bry__counter_error_reset(bry_counter *counters);

/* The chance that the next new id is taken for a repeat; to be asked once for each applied one. */
double bry__counter_error(bry_counter *counters);

/* ---- counter_log.c ------------------------------------------------------------------------- */

/* As bry_counter_open(), on any file system. */
bry_status bry__counter_open(const struct bry__io *io, const char *path,
                             const bry_counter_options *given, bry_load *load,
                             bry_counter **counters);

/*
 * Room for a record of so many bytes, BRY_E_NOMEM; its bytes, to be filled in; and the write, after
 * which it counts. When that fails the table is broken: BRY_E_IO. All do nothing without a folder.
 */
bry_status bry__counter_log_reserve(bry_counter *counters, size_t len);
unsigned char *bry__counter_log_room(bry_counter *counters);
bry_status bry__counter_log_write(bry_counter *counters, size_t len, size_t operations);

/* After a change: writes a snapshot if one is due. */
void bry__counter_log_settle(bry_counter *counters);

void bry__counter_folder_close(bry_counter *counters);
void bry__counter_folder_stats(const bry_counter *counters, bry_counter_stats *stats);

/* ---- counter_save.c ------------------------------------------------------------------------ */

/* Where a snapshot stands in the history of its table; zeros where it is no snapshot. */
typedef struct bry__counter_place {
    uint64_t table; /* a random number, the folder's name for itself */
    uint64_t sequence; /* records of the log that it contains, since the table was made */
} bry__counter_place;

bry_status bry__counter_write(const bry_counter *counters, const bry__counter_place *place,
                              const bry_sink *sink, const bry_save *save);
/* load's allocator is not looked at. */
bry_status bry__counter_read(const bry_source *source, bry_load *load, const bry_allocator *under,
                             bry_counter **counters, bry__counter_place *place);

#endif
