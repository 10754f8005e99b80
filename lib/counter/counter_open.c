/* Opens the folder of a table of counters, in whatever state it was left: see counter_folder.c. */
#include "common/allocator.h"
#include "common/random.h"
#include "common/struct_size.h"
#include "counter/counter_folder.h"
#include "counter/counter_record.h"
#include "frame/file.h"
#include "frame/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

typedef struct opening {
    bry_counter_options given; /* as passed in: zeros accept what the folder has */
    bry_counter_options options; /* with defaults */
    bry_allocator under;
    bry_load load;
    bry__counter_folder folder; /* moved to the table at the end */
    bry_counter *counters; /* NULL until a snapshot or BASE was read */
    bry__counter_place snapshot; /* zeros: there is none */
    bool based; /* BASE was read, */
    uint64_t base, next; /* number of the log's first record, and of the next one */
    const char *problem; /* of a record */
} opening;

static bool counter_open_suits(const bry_counter_options *given, const bry_counter_options *has)
{
    return (given->engine == BRY_ENGINE_AUTO || given->engine == has->engine) &&
           (given->window == 0 || given->window == has->window) &&
           (given->capacity == 0 || given->capacity == has->capacity) &&
           (given->error == 0 || given->error == has->error) &&
           (given->seed == 0 || given->seed == has->seed);
}

/* ---- reading what is there ------------------------------------------------------------------ */

static bry_status counter_open_refuse(opening *o, const char *problem)
{
    o->problem = problem;
    return BRY_E_BADDATA;
}

static bry_status make_table(opening *o, const bry_counter_options *options)
{
    bry_status status = bry__counter_make(options, &o->under, &o->counters);
    return status == BRY_OK ? bry__counter_make_window(o->counters) : status;
}

static bry_status counter_open_take_base(opening *o, const unsigned char *record, size_t len)
{
    bry__counter_base base;
    const char *problem = bry__counter_record_read_base(record, len, &base);
    if (problem)
        return counter_open_refuse(o, problem);
    o->based = true;
    o->base = o->next = base.place.sequence;
    o->folder.table = base.place.table;
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
    opening *o = context;
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
    opening *o = context;
    return bry__counter_read(source, load, &o->under, &o->counters, &o->snapshot);
}

/* Whether a file of that name exists. */
static bry_status counter_open_look_for(const opening *o, const char *name, char path[PATH_MAX],
                                        bool *there)
{
    const bry__io *io = o->folder.io;
    bry__file_facts facts;
    bry_status status = bry__counter_name_in(&o->folder, name, path);
    if (status != BRY_OK)
        return status;
    *there = io->facts_of(io->opaque, path, &facts) == 0;
    return *there || errno == ENOENT ? BRY_OK : BRY_E_IO;
}

static bry_status read_files(opening *o, const char *snapshot, bool has_snapshot, const char *log)
{
    const bry__io *io = o->folder.io;
    bry_status status = BRY_OK;
    if (has_snapshot) {
        status = bry__file_load(io, snapshot, read_snapshot, o, &o->load);
        if (status == BRY_OK && o->snapshot.table == 0)
            status = bry__load_fail(&o->load, BRY_E_BADDATA, 0,
                                    "the snapshot does not belong to a table");
        if (status == BRY_OK && !counter_open_suits(&o->given, &o->counters->options))
            status = BRY_E_MISMATCH;
    }
    if (status != BRY_OK)
        return status;
    bry__log_options options = {.kind = BRY__COUNTER_LOG_KIND,
                                .kind_version = BRY__COUNTER_LOG_VERSION,
                                .must_exist = true};
    status =
        bry__log_open(&o->folder.log, io, log, &options, counter_open_take_record, o, &o->load);
    if (status != BRY_OK) {
        if (o->problem)
            o->load.problem = o->problem;
        return status;
    }
    o->folder.open = true;
    return o->based ? BRY_OK
                    : bry__load_fail(&o->load, BRY_E_BADDATA, BRY__HEADER_BYTES,
                                     "the log does not start with its base record");
}

/* ---- taking the folder ---------------------------------------------------------------------- */

static bry_status lock_folder(opening *o)
{
    const bry__io *io = o->folder.io;
    char path[PATH_MAX];
    bry_status status = bry__counter_name_in(&o->folder, "lock", path);
    if (status != BRY_OK)
        return status;
    status = bry__io_open(io, path, O_RDWR | O_CREAT, 0666, &o->folder.lock);
    if (status != BRY_OK && errno == ENOENT) {
        if (io->make_folder(io->opaque, o->folder.path) < 0 && errno != EEXIST)
            return BRY_E_IO;
        status = bry__io_open(io, path, O_RDWR | O_CREAT, 0666, &o->folder.lock);
    }
    if (status != BRY_OK)
        return status;
    if (io->lock(io->opaque, o->folder.lock) < 0) {
        if (errno == EWOULDBLOCK)
            errno = EBUSY;
        return BRY_E_IO;
    }
    return BRY_OK;
}

/* Moves the folder to the table, with the options that are given at each opening. */
static bry_status counter_open_hand_over(opening *o)
{
    bry_counter *counters = o->counters;
    bry__counter_folder *folder = bry__alloc(&counters->meter.allocator, sizeof *folder);
    if (!folder)
        return BRY_E_NOMEM;
    size_t size = strlen(o->folder.path) + 1;
    char *path = bry__alloc(&counters->meter.allocator, size);
    if (!path) {
        bry__free(&counters->meter.allocator, folder, sizeof *folder);
        return BRY_E_NOMEM;
    }
    memcpy(path, o->folder.path, size);
    *folder = o->folder;
    folder->path = path;
    folder->path_size = size;
    counters->folder = folder;
    counters->options.max_bytes = o->options.max_bytes;
    counters->options.max_skew = o->options.max_skew;
    counters->options.sync = o->options.sync;
    counters->options.log_bytes = o->options.log_bytes;
    return BRY_OK;
}

static bry_status found_table(opening *o)
{
    const bry__io *io = o->folder.io;
    bry_status status = bry__io_sync_parent(io, o->folder.path);
    if (status == BRY_OK && o->options.seed == 0)
        status = bry__random_seed(&o->options.seed);
    if (status == BRY_OK)
        status = bry__random_seed(&o->folder.table);
    if (status == BRY_OK)
        status = make_table(o, &o->options);
    if (status == BRY_OK)
        status = counter_open_hand_over(o);
    return status == BRY_OK ? bry__counter_replace_log(o->counters) : status;
}

static bry_status take_table(opening *o, const char *snapshot, bool has_snapshot, const char *log)
{
    bry_status status = read_files(o, snapshot, has_snapshot, log);
    if (status == BRY_OK)
        status = counter_open_hand_over(o);
    if (status != BRY_OK)
        return status;
    bry_counter *counters = o->counters;
    bry__counter_folder *folder = counters->folder;
    bool behind = o->next < o->snapshot.sequence;
    folder->next = behind ? o->snapshot.sequence : o->next;
    folder->begin = BRY__HEADER_BYTES + bry__record_bytes(BRY__COUNTER_BASE_SIZE);
    folder->snapshot_at = folder->begin + counters->options.log_bytes;
    folder->logged_time = bry_window_time(counters->window);
    folder->logged_repeats = counters->repeats;
    /* A crash came between snapshot and new log. If the log has records after the snapshot, it
     * stays in use; if it lacks some, new records would get numbers that are already used. */
    if (o->base < o->snapshot.sequence && o->next <= o->snapshot.sequence)
        status = bry__counter_replace_log(counters);
    return behind || counters->broken ? status : BRY_OK;
}

static bry_status open_folder(opening *o)
{
    char snapshot[PATH_MAX], log[PATH_MAX];
    bool has_snapshot = false, has_log = false;
    bry_status status = lock_folder(o);
    if (status == BRY_OK)
        status = counter_open_look_for(o, "snapshot", snapshot, &has_snapshot);
    if (status == BRY_OK)
        status = counter_open_look_for(o, "log", log, &has_log);
    if (status != BRY_OK)
        return status;
    if (has_log) {
        /* The previous process may have crashed, or failed, between a rename and its sync: sync
         * before anything relies on these names. */
        status = bry__io_sync_parent(o->folder.io, log);
        return status == BRY_OK ? take_table(o, snapshot, has_snapshot, log) : status;
    }
    if (has_snapshot)
        return bry__load_fail(&o->load, BRY_E_BADDATA, 0, "the log is missing");
    return found_table(o);
}

/* ---- the call ------------------------------------------------------------------------------- */

static bool is_of_data(bry_status status)
{
    return status == BRY_E_BADDATA || status == BRY_E_VERSION || status == BRY_E_LIMIT;
}

static void counter_open_give_up(opening *o)
{
    int kept = errno;
    if (o->counters && o->counters->folder) {
        bry_counter_destroy(o->counters);
    } else {
        bry_counter_destroy(o->counters);
        if (o->folder.open)
            bry__io_drop(o->folder.io, o->folder.log.fd);
        if (o->folder.lock >= 0)
            bry__io_drop(o->folder.io, o->folder.lock);
    }
    errno = kept;
}

bry_status bry__counter_open(const bry__io *io, const char *path, const bry_counter_options *given,
                             bry_load *load, bry_counter **counters)
{
    opening o = {.load = BRY_LOAD, .folder = {.io = io, .lock = -1}};
    bry_counter_shape shape;
    char stripped[PATH_MAX];
    if (!bry__load_valid(load))
        return BRY_E_RANGE;
    if (load) {
        load->problem = NULL;
        load->offset = 0;
        if (load->note) /* folders have no note */
            load->note->len = 0;
        o.load.max_bytes = load->max_bytes;
    }
    bry_status status = bry__counter_read_options(given, &o.options, &shape);
    if (status == BRY_OK)
        status = bry__struct_read(&o.given, sizeof o.given, given);
    if (status != BRY_OK)
        return status;
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    if (len >= sizeof stripped) {
        errno = ENAMETOOLONG;
        return BRY_E_IO;
    }
    memcpy(stripped, path, len);
    stripped[len] = '\0';
    o.folder.path = stripped;
    o.under = bry__allocator_or_default(o.options.allocator);
    o.load.allocator = &o.under;
    status = open_folder(&o);
    if (status == BRY_OK) {
        *counters = o.counters;
        return BRY_OK;
    }
    counter_open_give_up(&o);
    if (load && is_of_data(status)) {
        load->problem = o.load.problem;
        load->offset = o.load.offset;
    }
    return status;
}

bry_status bry_counter_open(const char *path, const bry_counter_options *options, bry_load *load,
                            bry_counter **counters)
{
    return bry__counter_open(bry__io_posix(), path, options, load, counters);
}
