/* The directory of a table of counters, for counter_dir.c, which explains it, and
 * counter_open.c. */
#ifndef BRY_COUNTER_DIR_H
#define BRY_COUNTER_DIR_H

#include "counter/counter_object.h"
#include "frame/log.h"

#define BRY__COUNTER_LOG_KIND BRY__FOUR('C', 'L', 'O', 'G')
#define BRY__COUNTER_LOG_VERSION 1

struct bry__counter_dir {
    const bry__io *io;
    char *path;
    size_t path_size;
    int lock;
    bool open; /* there is a log */
    bry__log log;
    uint64_t table;
    uint64_t next; /* number of the next record */
    uint64_t begin; /* offset of the log's first record after BASE */
    uint64_t snapshot_at; /* length of the log at which a snapshot is due */
    uint64_t logged_time, logged_repeats; /* as of the last record */
    uint64_t unsynced; /* operations */
    unsigned char *record;
    size_t room;
    bry__counter_limbo limbo;
};

/* The longest path of a directory: its files have paths too. */
#define BRY__COUNTER_PATH_MAX (PATH_MAX - sizeof "/snapshot.tmp")

/* The path of a file in the directory. */
void bry__counter_name_in(const bry__counter_dir *dir, const char *name, char to[PATH_MAX]);

/* Replaces the current log, if there is one, by an empty log for records from directory->next on.
 * BRY_E_IO: the current log stays in use, or the table is broken. */
bry_status bry__counter_replace_log(bry_counters *counters);

#endif
