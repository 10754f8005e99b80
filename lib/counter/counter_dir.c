/*
 * The directory of a table of counters.
 *
 *   lock       held while the table is open; never replaced, so all processes wait for the same
 *              file
 *   log        what was done since the snapshot; its first record, BASE, holds the table's options
 *   snapshot   a whole table, as bry_counters_save() writes it; absent before the first one
 *   log.new, snapshot.tmp
 *              temporary; a crash may leave them, and the next attempt replaces them
 *
 * Every record after BASE has a number, counted from the table's beginning: BASE has that of the
 * first. A snapshot says how many records it contains. So the two need not be replaced in one
 * step: first the snapshot takes its name, then an empty log takes its own, and between the two the
 * old log's records are skipped by their numbers. A crash finds the old snapshot with the old log,
 * the new one with the old log, or both new, and all three are the same table.
 *
 *   old log      │ 0 1 2 3 4 5 6 7 8 │        new log   │            │
 *   snapshot     └────────────── contains 9   BASE 9 ───┘ 9 10 11 …
 *
 * The log is synced before the snapshot is begun, and the directory after each rename. One failure
 * is ambiguous: the new log is renamed, but the directory cannot be synced. What
 * would then be written to the new log is lost if a crash brings back the old one. So the table is
 * broken there, as it is when the log itself fails; and opening a table begins with that sync.
 */
#include "counter/counter_dir.h"
#include "common/allocator.h"
#include "common/attributes.h"
#include "counter/counter_record.h"
#include "frame/file.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

enum { LEAST_ROOM = 256, KEPT_ROOM = 65536 /* bytes of a record's buffer that are kept */ };

void bry__counter_name_in(const bry__counter_dir *dir, const char *name, char to[PATH_MAX])
{
    int len = snprintf(to, PATH_MAX, "%s/%s", dir->path, name);
    assert(len > 0 && len < PATH_MAX);
    (void)len;
}

/* ---- records ------------------------------------------------------------------------------- */

bry_status bry__counter_log_reserve(bry_counters *counters, size_t len)
{
    bry__counter_dir *dir = counters->dir;
    const bry_allocator *allocator = &counters->meter.allocator;
    if (!dir || len <= dir->room)
        return BRY_OK;
    len = len > LEAST_ROOM ? len : LEAST_ROOM;
    unsigned char *record = bry__alloc(allocator, len);
    if (!record)
        return BRY_E_NOMEM;
    bry__free(allocator, dir->record, dir->room);
    dir->record = record;
    dir->room = len;
    return BRY_OK;
}

unsigned char *bry__counter_log_room(bry_counters *counters)
{
    return counters->dir->record;
}

size_t bry__counter_log_reserved(const bry_counters *counters)
{
    return counters->dir ? counters->dir->room : 0;
}

static void counter_dir_note_written(bry_counters *counters)
{
    bry__counter_dir *dir = counters->dir;
    dir->next++;
    dir->logged_time = bry_window_time(counters->window);
    dir->logged_repeats = counters->counts.repeats;
}

/* The log failed, or its state is unknown: the table accepts no more changes. */
static bry_status counter_dir_break(bry_counters *counters, bry_status status)
{
    if (status == BRY_OK)
        return status;
    if (status == BRY_E_NOMEM)
        errno = ENOMEM;
    counters->broken = true;
    return BRY_E_IO;
}

static bry_status counter_dir_sync(bry_counters *counters)
{
    bry_status status = counter_dir_break(counters, bry__log_sync(&counters->dir->log));
    if (status == BRY_OK)
        counters->dir->unsynced = 0;
    return status;
}

bry_status bry__counter_log_write(bry_counters *counters, size_t len, size_t operations)
{
    bry__counter_dir *dir = counters->dir;
    if (!dir)
        return BRY_OK;
    bry_status status = counter_dir_break(counters, bry__log_append(&dir->log, dir->record, len));
    if (status == BRY_OK) {
        counter_dir_note_written(counters);
        dir->unsynced += operations;
        if (counters->options.sync == BRY_COUNTERS_SYNC_ALWAYS)
            status = counter_dir_sync(counters);
    }
    if (dir->room > KEPT_ROOM) {
        bry__free(&counters->meter.allocator, dir->record, dir->room);
        dir->record = NULL;
        dir->room = 0;
    }
    return status;
}

/* Logs the time and repeats that no record has yet. */
static bry_status counter_dir_write_time(bry_counters *counters)
{
    bry__counter_dir *dir = counters->dir;
    unsigned char record[BRY__COUNTER_HEAD];
    if (bry_window_time(counters->window) == dir->logged_time &&
        counters->counts.repeats == dir->logged_repeats)
        return BRY_OK;
    size_t len = bry__counter_record_plain(counters, BRY__COUNTER_TIME, NULL, 0, record);
    bry_status status = counter_dir_break(counters, bry__log_append(&dir->log, record, len));
    if (status == BRY_OK)
        counter_dir_note_written(counters);
    return status;
}

bry_status bry_counters_sync(bry_counters *counters)
{
    if (!counters->dir)
        return BRY_OK;
    if (counters->broken)
        return bry__counter_refuse_broken();
    bry_status status = counter_dir_write_time(counters);
    return status == BRY_OK ? counter_dir_sync(counters) : status;
}

/* ---- a new log ----------------------------------------------------------------------------- */

/* Creates an empty log named log.new, completely on disk. */
static bry_status counter_dir_make(bry_counters *counters, const char *fresh, bry__log *log)
{
    bry__counter_dir *dir = counters->dir;
    const bry__io *io = dir->io;
    if (io->unlink(io->opaque, fresh) < 0 && errno != ENOENT)
        return BRY_E_IO;
    bry__log_options options = {.kind = BRY__COUNTER_LOG_KIND,
                                .kind_version = BRY__COUNTER_LOG_VERSION};
    bry_status status = bry__log_create(log, io, fresh, &options);
    if (status != BRY_OK)
        return status;
    unsigned char record[BRY__COUNTER_BASE_SIZE];
    bry__counter_place place = {dir->table, dir->next};
    size_t len = bry__counter_record_base(counters, &place, record);
    status = bry__log_append(log, record, len);
    if (status == BRY_OK)
        status = bry__log_sync(log);
    if (status != BRY_OK)
        bry__io_drop(io, log->fd);
    return status;
}

bry_status bry__counter_replace_log(bry_counters *counters)
{
    bry__counter_dir *dir = counters->dir;
    const bry__io *io = dir->io;
    char fresh[PATH_MAX], name[PATH_MAX];
    bry__log log;
    bry__counter_name_in(dir, "log.new", fresh);
    bry__counter_name_in(dir, "log", name);
    bry_status status = counter_dir_make(counters, fresh, &log);
    if (status != BRY_OK)
        return status;
    if (io->rename(io->opaque, fresh, name) < 0) {
        bry__io_drop(io, log.fd);
        return BRY_E_IO;
    }
    if (dir->open)
        bry__io_drop(io, dir->log.fd); /* it is completely on disk */
    dir->log = log;
    dir->open = true;
    dir->begin = log.end;
    dir->snapshot_at = log.end + counters->options.log_bytes;
    dir->logged_time = bry_window_time(counters->window);
    dir->logged_repeats = counters->counts.repeats;
    return counter_dir_break(counters, bry__io_sync_parent(io, name));
}

/* ---- snapshots ----------------------------------------------------------------------------- */

static bry_status counter_dir_write_snapshot(void *context, const bry_sink *sink)
{
    const bry_counters *counters = context;
    bry__counter_place place = {counters->dir->table, counters->dir->next};
    return bry__counter_write(counters, &place, sink, NULL);
}

static BRY__LARGE_FRAME bry_status counter_dir_save(bry_counters *counters)
{
    const bry__counter_dir *dir = counters->dir;
    char name[PATH_MAX], temporary[PATH_MAX];
    bry__counter_name_in(dir, "snapshot", name);
    bry__counter_name_in(dir, "snapshot.tmp", temporary);
    return bry__file_save_via(dir->io, name, temporary, counter_dir_write_snapshot, counters);
}

static bry_status counter_dir_snapshot(bry_counters *counters)
{
    bry__counter_dir *dir = counters->dir;
    dir->snapshot_at = dir->log.end + counters->options.log_bytes; /* if this fails */
    bry_status status = counter_dir_sync(counters);
    if (status == BRY_OK)
        status = counter_dir_save(counters);
    return status == BRY_OK ? bry__counter_replace_log(counters) : status;
}

bry_status bry_counters_snapshot(bry_counters *counters)
{
    if (!counters->dir)
        return BRY_E_UNSUPPORTED;
    return counters->broken ? bry__counter_refuse_broken() : counter_dir_snapshot(counters);
}

void bry__counter_log_settle(bry_counters *counters)
{
    bry__counter_dir *dir = counters->dir;
    if (!dir || dir->log.end < dir->snapshot_at)
        return;
    int kept = errno;
    counter_dir_snapshot(counters);
    errno = kept;
}

void bry__counter_dir_stats(const bry_counters *counters, bry_counters_stats *stats)
{
    const bry__counter_dir *dir = counters->dir;
    if (!dir)
        return;
    stats->log_bytes = dir->log.end - dir->begin;
    stats->unsynced = dir->unsynced;
}

/* ---- closing ------------------------------------------------------------------------------ */

bry__counter_limbo *bry__counter_limbo_of(const bry_counters *counters)
{
    return counters->dir ? &counters->dir->limbo : NULL;
}

void bry__counter_dir_close(bry_counters *counters)
{
    bry__counter_dir *dir = counters->dir;
    if (!dir)
        return;
    const bry_allocator *allocator = &counters->meter.allocator;
    if (dir->open && !counters->broken && counter_dir_write_time(counters) == BRY_OK)
        bry__log_close(&dir->log);
    else if (dir->open)
        bry__io_drop(dir->io, dir->log.fd);
    if (dir->lock >= 0)
        bry__io_drop(dir->io, dir->lock);
    bry__free(allocator, dir->limbo.block, dir->limbo.size);
    bry__free(allocator, dir->record, dir->room);
    bry__free(allocator, dir->path, dir->path_size);
    bry__free(allocator, dir, sizeof *dir);
    counters->dir = NULL;
}
