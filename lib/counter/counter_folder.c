/*
 * The folder of a table of counters.
 *
 *   lock       held while the table is open; never replaced, so all processes wait for the same
 *              file
 *   log        what was done since the snapshot; its first record, BASE, holds the table's options
 *   snapshot   a whole table, as bry_counter_save() writes it; absent before the first one
 *   log.new, log.tmp, snapshot.tmp
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
 * The log is synced before the snapshot is begun, and the folder after each rename. One failure
 * is ambiguous: the new log is renamed, but the folder cannot be synced. What
 * would then be written to the new log is lost if a crash brings back the old one. So the table is
 * broken there, as it is when the log itself fails; and opening a table begins with that sync.
 */
#include "counter/counter_folder.h"
#include "common/allocator.h"
#include "counter/counter_record.h"
#include "frame/file.h"

#include <errno.h>
#include <stdio.h>

enum { LEAST_ROOM = 256, KEPT_ROOM = 65536 /* bytes of a record's buffer that are kept */ };

bry_status bry__counter_name_in(const bry__counter_folder *folder, const char *name,
                                char to[PATH_MAX])
{
    int len = snprintf(to, PATH_MAX, "%s/%s", folder->path, name);
    if (len < 0 || len >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return BRY_E_IO;
    }
    return BRY_OK;
}

/* ---- records ------------------------------------------------------------------------------- */

bry_status bry__counter_log_reserve(bry_counter *counters, size_t len)
{
    bry__counter_folder *folder = counters->folder;
    const bry_allocator *allocator = &counters->meter.allocator;
    if (!folder || len <= folder->room)
        return BRY_OK;
    len = len > LEAST_ROOM ? len : LEAST_ROOM;
    unsigned char *record = bry__alloc(allocator, len);
    if (!record)
        return BRY_E_NOMEM;
    bry__free(allocator, folder->record, folder->room);
    folder->record = record;
    folder->room = len;
    return BRY_OK;
}

unsigned char *bry__counter_log_room(bry_counter *counters)
{
    return counters->folder->record;
}

static void counter_folder_note_written(bry_counter *counters)
{
    bry__counter_folder *folder = counters->folder;
    folder->next++;
    folder->logged_time = bry_window_time(counters->window);
    folder->logged_repeats = counters->repeats;
}

/* The log failed, or its state is unknown: the table accepts no more changes. */
static bry_status counter_folder_break(bry_counter *counters, bry_status status)
{
    if (status == BRY_OK)
        return status;
    if (status == BRY_E_NOMEM)
        errno = ENOMEM;
    counters->broken = true;
    return BRY_E_IO;
}

static bry_status counter_folder_sync(bry_counter *counters)
{
    bry_status status = counter_folder_break(counters, bry__log_sync(&counters->folder->log));
    if (status == BRY_OK)
        counters->folder->unsynced = 0;
    return status;
}

bry_status bry__counter_log_write(bry_counter *counters, size_t len, size_t operations)
{
    bry__counter_folder *folder = counters->folder;
    if (!folder)
        return BRY_OK;
    bry_status status =
        counter_folder_break(counters, bry__log_append(&folder->log, folder->record, len));
    if (status == BRY_OK) {
        counter_folder_note_written(counters);
        folder->unsynced += operations;
        if (counters->options.sync == BRY_COUNTER_SYNC_ALWAYS)
            status = counter_folder_sync(counters);
    }
    if (folder->room > KEPT_ROOM) {
        bry__free(&counters->meter.allocator, folder->record, folder->room);
        folder->record = NULL;
        folder->room = 0;
    }
    return status;
}

/* Logs the time and repeats that no record has yet. */
static bry_status counter_folder_write_time(bry_counter *counters)
{
    bry__counter_folder *folder = counters->folder;
    unsigned char record[BRY__COUNTER_HEAD];
    if (bry_window_time(counters->window) == folder->logged_time &&
        counters->repeats == folder->logged_repeats)
        return BRY_OK;
    size_t len = bry__counter_record_plain(counters, BRY__COUNTER_TIME, NULL, 0, record);
    bry_status status = counter_folder_break(counters, bry__log_append(&folder->log, record, len));
    if (status == BRY_OK)
        counter_folder_note_written(counters);
    return status;
}

bry_status bry_counter_sync(bry_counter *counters)
{
    if (!counters->folder)
        return BRY_OK;
    if (counters->broken)
        return bry__counter_refuse_broken();
    bry_status status = counter_folder_write_time(counters);
    return status == BRY_OK ? counter_folder_sync(counters) : status;
}

/* ---- a new log ----------------------------------------------------------------------------- */

static bry_status counter_folder_no_record(void *context, const void *payload, size_t len)
{
    (void)context;
    (void)payload;
    (void)len;
    return BRY_E_BADDATA; /* the file was just created */
}

/* Creates an empty log named log.new, completely on disk. */
static bry_status counter_folder_make(bry_counter *counters, const char *fresh, bry__log *log)
{
    bry__counter_folder *folder = counters->folder;
    const bry__io *io = folder->io;
    char temporary[PATH_MAX];
    bry_status status = bry__counter_name_in(folder, "log.tmp", temporary);
    if (status != BRY_OK)
        return status;
    if (io->unlink(io->opaque, fresh) < 0 && errno != ENOENT)
        return BRY_E_IO;
    bry__log_options options = {.kind = BRY__COUNTER_LOG_KIND,
                                .kind_version = BRY__COUNTER_LOG_VERSION,
                                .temporary = temporary};
    bry_load load = BRY_LOAD;
    load.allocator = &counters->meter.allocator;
    status = bry__log_open(log, io, fresh, &options, counter_folder_no_record, NULL, &load);
    if (status != BRY_OK)
        return status;
    unsigned char record[BRY__COUNTER_BASE_SIZE];
    bry__counter_place place = {folder->table, folder->next};
    size_t len = bry__counter_record_base(counters, &place, record);
    status = bry__log_append(log, record, len);
    if (status == BRY_OK)
        status = bry__log_sync(log);
    if (status != BRY_OK)
        bry__io_drop(io, log->fd);
    return status;
}

bry_status bry__counter_replace_log(bry_counter *counters)
{
    bry__counter_folder *folder = counters->folder;
    const bry__io *io = folder->io;
    char fresh[PATH_MAX], name[PATH_MAX];
    bry__log log;
    bry_status status = bry__counter_name_in(folder, "log.new", fresh);
    if (status == BRY_OK)
        status = bry__counter_name_in(folder, "log", name);
    if (status == BRY_OK)
        status = counter_folder_make(counters, fresh, &log);
    if (status != BRY_OK)
        return status;
    if (io->rename(io->opaque, fresh, name) < 0) {
        bry__io_drop(io, log.fd);
        return BRY_E_IO;
    }
    if (folder->open)
        bry__io_drop(io, folder->log.fd); /* it is completely on disk */
    folder->log = log;
    folder->open = true;
    folder->begin = log.end;
    folder->snapshot_at = log.end + counters->options.log_bytes;
    folder->logged_time = bry_window_time(counters->window);
    folder->logged_repeats = counters->repeats;
    return counter_folder_break(counters, bry__io_sync_parent(io, name));
}

/* ---- snapshots ----------------------------------------------------------------------------- */

static bry_status counter_folder_write_snapshot(void *context, const bry_sink *sink)
{
    const bry_counter *counters = context;
    bry__counter_place place = {counters->folder->table, counters->folder->next};
    return bry__counter_write(counters, &place, sink, NULL);
}

static bry_status counter_folder_snapshot(bry_counter *counters)
{
    bry__counter_folder *folder = counters->folder;
    char name[PATH_MAX], temporary[PATH_MAX];
    folder->snapshot_at = folder->log.end + counters->options.log_bytes; /* if this fails */
    bry_status status = counter_folder_sync(counters);
    if (status == BRY_OK)
        status = bry__counter_name_in(folder, "snapshot", name);
    if (status == BRY_OK)
        status = bry__counter_name_in(folder, "snapshot.tmp", temporary);
    if (status == BRY_OK)
        status = bry__file_save_via(folder->io, name, temporary, counter_folder_write_snapshot,
                                    counters);
    return status == BRY_OK ? bry__counter_replace_log(counters) : status;
}

bry_status bry_counter_snapshot(bry_counter *counters)
{
    if (!counters->folder)
        return BRY_E_UNSUPPORTED;
    return counters->broken ? bry__counter_refuse_broken() : counter_folder_snapshot(counters);
}

void bry__counter_log_settle(bry_counter *counters)
{
    bry__counter_folder *folder = counters->folder;
    if (!folder || folder->log.end < folder->snapshot_at)
        return;
    int kept = errno;
    counter_folder_snapshot(counters);
    errno = kept;
}

void bry__counter_folder_stats(const bry_counter *counters, bry_counter_stats *stats)
{
    const bry__counter_folder *folder = counters->folder;
    if (!folder)
        return;
    stats->log_bytes = folder->log.end - folder->begin;
    stats->unsynced = folder->unsynced;
}

/* ---- closing ------------------------------------------------------------------------------ */

bry__counter_limbo *bry__counter_limbo_of(const bry_counter *counters)
{
    return counters->folder ? &counters->folder->limbo : NULL;
}

void bry__counter_folder_close(bry_counter *counters)
{
    bry__counter_folder *folder = counters->folder;
    if (!folder)
        return;
    const bry_allocator *allocator = &counters->meter.allocator;
    if (folder->open && !counters->broken && counter_folder_write_time(counters) == BRY_OK)
        bry__log_close(&folder->log);
    else if (folder->open)
        bry__io_drop(folder->io, folder->log.fd);
    if (folder->lock >= 0)
        bry__io_drop(folder->io, folder->lock);
    bry__free(allocator, folder->limbo.block, folder->limbo.size);
    bry__free(allocator, folder->record, folder->room);
    bry__free(allocator, folder->path, folder->path_size);
    bry__free(allocator, folder, sizeof *folder);
    counters->folder = NULL;
}
