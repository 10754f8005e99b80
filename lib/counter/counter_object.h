/* A table of counters, for the files that implement it: counter.c explains it. */
#ifndef BRY_COUNTER_OBJECT_H
#define BRY_COUNTER_OBJECT_H

#include <bloomery/counters.h>
#include <bloomery/window.h>
#include <stdatomic.h>

#include "counter/counter_names.h"

typedef struct bry__counter_dir bry__counter_dir; /* counter_dir.c */
struct bry__io;

enum { BRY__COUNTER_SMALL = 8 }; /* operations for which nothing is allocated */

/* What has happened to a table. */
typedef struct bry__counter_counts {
    uint64_t applied, repeats, refused_full, refused_overflow, refused_skew;
    double expected_lost;
    double error_then; /* the window's last estimate of its error */
    uint64_t since; /* operations applied since that estimate */
    uint64_t ask_after; /* operations after which the estimate is updated */
} bry__counter_counts;

/*
 * An allocator that counts the bytes it has given out and, if there is a limit, refuses to exceed
 * it. A table of counters passes it to its window and its names: so window and names share one
 * limit, and the remaining bytes are known at any time.
 *
 * Saving and copying a const table also allocate temporarily, possibly in several threads at once;
 * so the count is atomic. A limit is set only during changes, which have the table for
 * themselves.
 */
typedef struct bry__counter_meter {
    bry_allocator allocator; /* pass this on; it points back here, so do not copy */
    bry_allocator under;
    _Atomic uint64_t bytes; /* allocated now */
    uint64_t limit; /* 0: none */
    bool denied; /* the limit refused something; the user clears it before */
} bry__counter_meter;

struct bry_counters {
    bry__counter_meter meter; /* all memory except this struct comes from it */
    bry_counters_options options; /* with defaults and seed; no allocator */
    bry_window *window;
    bry__counter_names names;
    bry__counter_counts counts;

    bry__counter_dir *dir; /* NULL: only in memory */
    bool broken; /* the log failed: read-only */
};

/* Ids that the log failed with: in the window, but not in the table. */
typedef struct bry__counter_limbo {
    bry_hash small[BRY__COUNTER_SMALL];
    const bry_hash *ids;
    size_t count;
    void *block;
    size_t size;
} bry__counter_limbo;

/* The limbo of a table with a directory; NULL without one: there is no log that could fail. */
bry__counter_limbo *bry__counter_limbo_of(const bry_counters *counters);

/* ---- counter.c ----------------------------------------------------------------------------- */

/* Checks options, fills in defaults (a seed of 0 stays 0), and plans. */
bry_status bry__counter_read_options(const bry_counters_options *given,
                                     bry_counters_options *options, bry_counters_shape *shape);

/* The options of the table's window. */
bry_window_options bry__counter_window_options(const bry_counters_options *options);

/* A table with names but without a window. options are checked and have a seed. BRY_E_NOMEM. */
bry_status bry__counter_make(const bry_counters_options *options, const bry_allocator *under,
                             bry_counters **counters);
bry_status bry__counter_make_window(bry_counters *counters);

/* Deletes all counters and all ids (counter_apply.c). */
void bry__counter_empty(bry_counters *counters);

/* BRY_E_IO with errno EIO: the result of every change of a broken table. */
bry_status bry__counter_refuse_broken(void);

/* Resets the estimate to that of an empty window. */
void bry__counter_error_reset(bry_counters *counters);

/* The probability that the next new id is mistaken for a repeat; to be called once per applied id.
 */
double bry__counter_error(bry_counters *counters);

/* ---- counter_dir.c ------------------------------------------------------------------------- */

/* As bry_counters_open(), on any file system. */
bry_status bry__counter_open(const struct bry__io *io, const char *path,
                             const bry_counters_options *given, bry_load *load,
                             bry_counters **counters);

/*
 * Reserves a record of len bytes (BRY_E_NOMEM), returns its bytes to be filled in, and writes it.
 * If writing fails the table is broken: BRY_E_IO. All do nothing without a directory.
 */
bry_status bry__counter_log_reserve(bry_counters *counters, size_t len);
unsigned char *bry__counter_log_room(bry_counters *counters);
/* The bytes that are reserved for records now. */
size_t bry__counter_log_reserved(const bry_counters *counters);
bry_status bry__counter_log_write(bry_counters *counters, size_t len, size_t operations);

/* After a change: writes a snapshot if one is due. */
void bry__counter_log_settle(bry_counters *counters);

void bry__counter_dir_close(bry_counters *counters);
void bry__counter_dir_stats(const bry_counters *counters, bry_counters_stats *stats);

/* ---- counter_save.c ------------------------------------------------------------------------ */

/* The position of a snapshot in the history of its table; zeros if it is not a snapshot. */
typedef struct bry__counter_place {
    uint64_t table; /* a random number that identifies the directory */
    uint64_t sequence; /* records of the log that it contains, since the table was created */
} bry__counter_place;

bry_status bry__counter_write(const bry_counters *counters, const bry__counter_place *place,
                              const bry_sink *sink, const bry_save *save);
bry_status bry__counter_read(const bry_source *source, bry_load *load, bry_counters **counters,
                             bry__counter_place *place);

#endif
