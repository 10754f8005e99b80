/* Opens the directory of a table of counters, in whatever state it was left: see counter_dir.c. */
#include "common/allocator.h"
#include "common/random.h"
#include "common/struct_size.h"
#include "counter/counter_dir.h"
#include "counter/counter_record.h"
#include "frame/file.h"
#include "frame/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

typedef struct counter_opener {
    bry_counters_options given; /* as passed in: zeros accept what the directory has */
    bry_counters_options options; /* with defaults */
    bry_allocator under;
    bry_load load;
    bry__counter_dir dir; /* moved to the table at the end */
    bry_counters *counters; /* NULL until a snapshot or BASE was read */
    bry__counter_place snapshot; /* zeros: there is none */
    bool based; /* BASE was read */
    uint64_t base; /* number of the log's first record */
    uint64_t next; /* number of the next record */
    const char *problem; /* of a record */
} counter_opener;

static bool counter_open_suits(const bry_counters_options *given, const bry_counters_options *has)
{
    return (given->engine == BRY_ENGINE_AUTO || given->engine == has->engine) &&
           (given->window == 0 || given->window == has->window) &&
           (given->capacity == 0 || given->capacity == has->capacity) &&
           (given->error == 0 || given->error == has->error) &&
           (given->seed == 0 || given->seed == has->seed);
}

/* ---- reading what is there ------------------------------------------------------------------ */

static bry_status counter_open_refuse(counter_opener *o, const char *problem)
{
    o->problem = problem;
    return BRY_E_BADDATA;
}

static bry_status make_table(counter_opener *o, const bry_counters_options *options)
{
    bry_status status = bry__counter_make(options, &o->under, &o->counters);
    return status == BRY_OK ? bry__counter_make_window(o->counters) : status;
}

static bry_status counter_open_take_base(counter_opener *o, const unsigned char *record, size_t len)
{
    bry__counter_base base;
    const char *problem = bry__counter_record_read_base(record, len, &base);
    if (problem)
        return counter_open_refuse(o, problem);
    o->based = true;
    o->base = o->next = base.place.sequence;
    o->dir.table = base.place.table;
    if (!o->counters) {
        if (o->next != 0)
            return counter_open_refuse(o, "the snapshot is missing");
        return counter_open_suits(&o->given, &base.options) ? make_table(o, &base.options)
                                                            : BRY_E_MISMATCH;
    }
    if (base.place.table != o->snapshot.table ||
        !counter_open_suits(&base.options, &o->counters->options))
        return counter_open_refuse(o, "snapshot and log belong to different tables");
    if (o->next > o->snapshot.sequence)
        return counter_open_refuse(o, "records between snapshot and log are missing");
    return BRY_OK;
}

static bry_status counter_open_take_record(void *context, const void *payload, size_t len)
{
    counter_opener *o = context;
    if (!o->based)
        return counter_open_take_base(o, payload, len);
    if (o->next++ < o->snapshot.sequence)
        return BRY_OK;
    bry__counter_meter *meter = &o->counters->meter;
    meter->denied = false;
    meter->limit = o->load.max_bytes;
    bry_status status = bry__counter_redo(o->counters, payload, len, &o->problem);
    meter->limit = 0;
    if (status == BRY_E_NOMEM && meter->denied) {
        o->problem = "the table is larger than the limit";
        return BRY_E_LIMIT;
    }
    return status;
}

static bry_status read_snapshot(void *context, const bry_source *source, bry_load *load)
{
    counter_opener *o = context;
    return bry__counter_read(source, load, &o->counters, &o->snapshot);
}

/* Whether a file of that name exists. */
static bry_status counter_open_look_for(const counter_opener *o, const char *name, bool *there)
{
    const bry__io *io = o->dir.io;
    char path[PATH_MAX];
    bry__file_facts facts;
    bry__counter_name_in(&o->dir, name, path);
    *there = io->facts_of(io->opaque, path, &facts) == 0;
    return *there || errno == ENOENT ? BRY_OK : BRY_E_IO;
}

static bry_status read_files(counter_opener *o, bool has_snapshot)
{
    const bry__io *io = o->dir.io;
    char path[PATH_MAX];
    bry__counter_name_in(&o->dir, "log", path);
    /* The previous process may have crashed, or failed, between a rename and its sync: sync before
     * anything relies on these names. */
    bry_status status = bry__io_sync_parent(io, path);
    if (status == BRY_OK && has_snapshot) {
        bry__counter_name_in(&o->dir, "snapshot", path);
        status = bry__file_load(io, path, read_snapshot, o, &o->load);
        if (status == BRY_OK && o->snapshot.table == 0)
            status = bry__load_fail(&o->load, BRY_E_BADDATA, 0,
                                    "the snapshot does not belong to a table");
        if (status == BRY_OK && !counter_open_suits(&o->given, &o->counters->options))
            status = BRY_E_MISMATCH;
    }
    if (status != BRY_OK)
        return status;
    bry__counter_name_in(&o->dir, "log", path);
    bry__log_options options = {.kind = BRY__COUNTER_LOG_KIND,
                                .kind_version = BRY__COUNTER_LOG_VERSION};
    status = bry__log_open(&o->dir.log, io, path, &options, counter_open_take_record, o, &o->load);
    if (status != BRY_OK) {
        if (o->problem)
            o->load.problem = o->problem;
        return status;
    }
    o->dir.open = true;
    return o->based ? BRY_OK
                    : bry__load_fail(&o->load, BRY_E_BADDATA, BRY__HEADER_BYTES,
                                     "the log does not start with its base record");
}

/* ---- taking the directory -------------------------------------------------------------------- */

static bry_status lock_dir(counter_opener *o)
{
    const bry__io *io = o->dir.io;
    char path[PATH_MAX];
    bry__counter_name_in(&o->dir, "lock", path);
    bry_status status = bry__io_open(io, path, O_RDWR | O_CREAT, 0666, &o->dir.lock);
    if (status != BRY_OK && errno == ENOENT) {
        if (io->make_dir(io->opaque, o->dir.path) < 0 && errno != EEXIST)
            return BRY_E_IO;
        status = bry__io_open(io, path, O_RDWR | O_CREAT, 0666, &o->dir.lock);
    }
    if (status != BRY_OK)
        return status;
    if (io->lock(io->opaque, o->dir.lock) < 0) {
        if (errno == EWOULDBLOCK)
            errno = EBUSY;
        return BRY_E_IO;
    }
    return BRY_OK;
}

/* Moves the directory to the table, with the options that are given at each opening. */
static bry_status counter_open_hand_over(counter_opener *o)
{
    bry_counters *counters = o->counters;
    bry__counter_dir *dir = bry__alloc(&counters->meter.allocator, sizeof *dir);
    if (!dir)
        return BRY_E_NOMEM;
    size_t size = strlen(o->dir.path) + 1;
    char *path = bry__alloc(&counters->meter.allocator, size);
    if (!path) {
        bry__free(&counters->meter.allocator, dir, sizeof *dir);
        return BRY_E_NOMEM;
    }
    memcpy(path, o->dir.path, size);
    *dir = o->dir;
    dir->path = path;
    dir->path_size = size;
    counters->dir = dir;
    counters->options.max_bytes = o->options.max_bytes;
    counters->options.max_skew = o->options.max_skew;
    counters->options.sync = o->options.sync;
    counters->options.log_bytes = o->options.log_bytes;
    return BRY_OK;
}

static bry_status found_table(counter_opener *o)
{
    const bry__io *io = o->dir.io;
    bry_status status = bry__io_sync_parent(io, o->dir.path);
    if (status == BRY_OK && o->options.seed == 0)
        status = bry__random_seed(&o->options.seed);
    if (status == BRY_OK)
        status = bry__random_seed(&o->dir.table);
    if (status == BRY_OK)
        status = make_table(o, &o->options);
    if (status == BRY_OK)
        status = counter_open_hand_over(o);
    return status == BRY_OK ? bry__counter_replace_log(o->counters) : status;
}

static bry_status take_table(counter_opener *o, bool has_snapshot)
{
    bry_status status = read_files(o, has_snapshot);
    if (status == BRY_OK)
        status = counter_open_hand_over(o);
    if (status != BRY_OK)
        return status;
    bry_counters *counters = o->counters;
    bry__counter_dir *dir = counters->dir;
    bool behind = o->next < o->snapshot.sequence;
    dir->next = behind ? o->snapshot.sequence : o->next;
    dir->begin = BRY__HEADER_BYTES + bry__record_bytes(BRY__COUNTER_BASE_SIZE);
    dir->snapshot_at = dir->begin + counters->options.log_bytes;
    dir->logged_time = bry_window_time(counters->window);
    dir->logged_repeats = counters->counts.repeats;
    /* A crash came between snapshot and new log. If the log has records after the snapshot, it
     * stays in use; if it lacks some, new records would get numbers that are already used. */
    if (o->base < o->snapshot.sequence && o->next <= o->snapshot.sequence)
        status = bry__counter_replace_log(counters);
    return behind || counters->broken ? status : BRY_OK;
}

static bry_status open_dir(counter_opener *o)
{
    bool has_snapshot = false, has_log = false;
    bry_status status = lock_dir(o);
    if (status == BRY_OK)
        status = counter_open_look_for(o, "snapshot", &has_snapshot);
    if (status == BRY_OK)
        status = counter_open_look_for(o, "log", &has_log);
    if (status != BRY_OK)
        return status;
    if (has_log)
        return take_table(o, has_snapshot);
    if (has_snapshot)
        return bry__load_fail(&o->load, BRY_E_BADDATA, 0, "the log is missing");
    return found_table(o);
}

/* ---- the call ------------------------------------------------------------------------------- */

static void counter_open_give_up(counter_opener *o)
{
    int kept = errno;
    if (o->counters && o->counters->dir) {
        bry_counters_destroy(o->counters);
    } else {
        bry_counters_destroy(o->counters);
        if (o->dir.open)
            bry__io_drop(o->dir.io, o->dir.log.fd);
        if (o->dir.lock >= 0)
            bry__io_drop(o->dir.io, o->dir.lock);
    }
    errno = kept;
}

bry_status bry__counter_open(const bry__io *io, const char *path, const bry_counters_options *given,
                             bry_load *load, bry_counters **counters)
{
    counter_opener o = {.load = BRY_LOAD, .dir = {.io = io, .lock = -1}};
    bry_counters_shape shape;
    char stripped[PATH_MAX];
    bry_status status = bry__load_begin(load);
    if (status != BRY_OK)
        return status;
    if (load)
        o.load.max_bytes = load->max_bytes;
    status = bry__counter_read_options(given, &o.options, &shape);
    if (status == BRY_OK)
        status = bry__struct_read(&o.given, sizeof o.given, given);
    if (status != BRY_OK)
        return bry__load_fail(load, status, 0, "invalid options");
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    if (len == 0 || len > BRY__COUNTER_PATH_MAX) {
        errno = len ? ENAMETOOLONG : ENOENT;
        return bry__load_fail(load, BRY_E_IO, 0, len ? "the path is too long" : "no path");
    }
    memcpy(stripped, path, len);
    stripped[len] = '\0';
    o.dir.path = stripped;
    o.under = bry__allocator_or_default(o.options.allocator);
    o.load.allocator = &o.under;
    status = open_dir(&o);
    if (status == BRY_OK) {
        *counters = o.counters;
        return BRY_OK;
    }
    counter_open_give_up(&o);
    return bry__load_fail(load, status, o.load.offset,
                          o.load.problem             ? o.load.problem
                          : status == BRY_E_MISMATCH ? "the table has other options"
                                                     : bry_status_text(status));
}

bry_status bry_counters_open(const char *path, const bry_counters_options *options, bry_load *load,
                             bry_counters **counters)
{
    return bry__counter_open(bry__io_posix(), path, options, load, counters);
}
