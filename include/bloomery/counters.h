/*
 * Counter: add, once, however often it is retried.
 *
 * A table of named, signed 64-bit counters, together with a window (window.h) of the operations
 * that changed them. Every operation has an id, chosen by the client and sent again with every
 * retry, for example client and sequence number. An id that the window remembers is a *repeat*: it
 * is acknowledged and not applied. Any other id is *applied* and remembered, in one step.
 *
 * Names and values are exact. Errors are possible in two ways:
 *   lost    a new id is taken for a repeat: a false positive of the window, with a probability of
 *           at most `error` per operation; stats give the expected number so far
 *   double  a retry arrives after the window has forgotten the first attempt. Choose `window`
 *           longer than any client retries. The table cannot detect this
 *
 * At capacity: the table grows up to max_bytes. Then it refuses new ids and new names with
 * BRY_E_FULL, and still recognises repeats: a refused increment can be retried, a lost one could
 * not. Expiring ids make room, which is why an operation that is refused with BRY_E_FULL still
 * moves the time. Time itself is not subject to the limit: when a new generation of the window
 * begins, memory may exceed the limit a little for a while.
 *
 * With a directory (bry_counters_open()) the table survives the process and the machine: each
 * operation is in a log on disk before it counts. Without one (bry_counters_create()) it is in
 * memory, and can be saved and loaded like any other object.
 *
 * Time is an argument, with the same meaning as in window.h.
 */
#ifndef BLOOMERY_COUNTERS_H
#define BLOOMERY_COUNTERS_H

#include <bloomery/base.h>
#include <bloomery/hash.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bry_counters bry_counters;

/* The longest name of a counter, in bytes. A name is any bytes, zeros included; it may be empty. */
#define BRY_COUNTERS_NAME_MAX 65535u

/*
 * The largest batch for bry_counters_apply_n(): BRY_COUNTERS_BATCH_HEAD bytes plus
 * BRY_COUNTERS_BATCH_OP bytes per operation plus the names must not exceed BRY_COUNTERS_BATCH_MAX.
 */
#define BRY_COUNTERS_BATCH_MAX ((size_t)16 << 20)
#define BRY_COUNTERS_BATCH_HEAD 24u
#define BRY_COUNTERS_BATCH_OP 26u

/* The smallest error. */
#define BRY_COUNTERS_ERROR_MIN 1e-12

/* When the log is written to disk. */
typedef uint32_t bry_counters_sync_policy;
enum {
    BRY_COUNTERS_SYNC_ALWAYS = 0, /* before a call returns: BRY_OK means that it is on disk */
    BRY_COUNTERS_SYNC_ASKED = 1, /* by bry_counters_sync(); acknowledge to clients after that */
};

typedef struct bry_counters_options {
    size_t struct_size;
    bry_engine engine; /* of the window: auto (= compact), compact or fbf */
    bry_counters_sync_policy sync; /* with a directory: when its log is written to disk */
    uint64_t window; /* ms for which a retry is recognised, 1 to BRY_SPAN_MAX; 0: 60,000 */
    uint64_t capacity; /* operations within one window to plan for, 1 to BRY_CAPACITY_MAX; 0: 1000.
                          Not a limit: max_bytes is */
    double error; /* probability that an increment is lost, BRY_COUNTERS_ERROR_MIN to BRY_ERROR_MAX;
                     0: 1e-9 */
    uint64_t max_bytes; /* limit on window, names and counters together; 0: none. BRY_E_RANGE if
                           less than bytes_least of the plan */
    uint64_t max_skew; /* as in window.h; 0: no limit */
    uint64_t seed; /* for hashing ids; 0: random */
    const bry_allocator *allocator; /* NULL: malloc() and free() */
    uint64_t log_bytes; /* with a directory: write a snapshot when the log has grown by this much;
                           0: 64 MiB */
} bry_counters_options;

#define BRY_COUNTERS_OPTIONS                                                                       \
    {                                                                                              \
        sizeof(bry_counters_options), BRY_ENGINE_AUTO, BRY_COUNTERS_SYNC_ALWAYS, 0, 0, 0, 0, 0, 0, \
            NULL, 0                                                                                \
    }

/* The memory and error of a table with given options. */
typedef struct bry_counters_shape {
    bry_engine engine; /* of the window; never auto */
    uint32_t reserved; /* 0 */
    uint64_t window; /* promised time, ms */
    uint64_t longest; /* ms after which a retry is certainly counted again */
    uint64_t capacity; /* operations within one window that it is planned for */
    double error; /* expected at the worst moment, with `capacity` operations in each window */
    uint64_t bytes; /* of the window, at that moment; at least bytes_empty */
    uint64_t bytes_per_counter; /* in addition, for each counter with a name of 16 bytes */
    uint64_t bytes_empty; /* allocated by create */
    uint64_t bytes_least; /* the smallest max_bytes: one operation, with a name of 16 bytes */
    uint64_t grows_to; /* as in bry_window_shape */
} bry_counters_shape;

/* bry_counters_plan() for a struct of `size` bytes (base.h). */
BRY_API bry_status bry_counters_plan_sized(const bry_counters_options *options,
                                           bry_counters_shape *shape, size_t size);

/*
 * Fills *shape without allocating anything.
 * BRY_E_RANGE: an option is out of range. BRY_E_UNSUPPORTED: windows do not have that engine.
 */
static inline bry_status bry_counters_plan(const bry_counters_options *options,
                                           bry_counters_shape *shape)
{
    return bry_counters_plan_sized(options, shape, sizeof *shape);
}

/* Creates an empty table in memory. Errors: those of bry_counters_plan(); BRY_E_NOMEM; BRY_E_IO if
 * the system cannot provide a random seed. */
BRY_API bry_status bry_counters_create(const bry_counters_options *options,
                                       bry_counters **counters);

/*
 * Opens the table in the directory at `path`. The directory and the table are created if they do
 * not exist; the parent directory must exist. What a crash left behind is repaired: afterwards
 * every acknowledged operation is in the table exactly once. An existing table keeps its seed,
 * engine and shape: leave these options 0 or pass the same ones (otherwise BRY_E_MISMATCH).
 * max_bytes, max_skew, sync and log_bytes apply from now on. load limits the memory and explains
 * errors as in every load, except that load->allocator is not used (options->allocator is), and
 * there is no note. Errors: those of bry_counters_create(); BRY_E_BADDATA, BRY_E_VERSION,
 * BRY_E_LIMIT; BRY_E_IO with errno set, EBUSY if another process, or this one, has the directory
 * open.
 */
BRY_API bry_status bry_counters_open(const char *path, const bry_counters_options *options,
                                     bry_load *load, bry_counters **counters);

/* bry_counters_options_like() for a struct of `size` bytes (base.h). */
BRY_API bry_status bry_counters_options_like_sized(const bry_counters *other,
                                                   bry_counters_options *options, size_t size);

/* Sets options that create a table with the engine, seed and shape of `other`, without a
 * directory. */
static inline bry_status bry_counters_options_like(const bry_counters *other,
                                                   bry_counters_options *options)
{
    return bry_counters_options_like_sized(other, options, sizeof *options);
}

/* Frees the table and closes its directory, if there is one. With BRY_COUNTERS_SYNC_ASKED, call
 * bry_counters_sync() first. NULL is allowed. */
BRY_API void bry_counters_destroy(bry_counters *counters);

/* Creates a copy in memory. allocator NULL: the allocator of the original. BRY_E_NOMEM; BRY_E_IO as
 * for bry_counters_save(). */
BRY_API bry_status bry_counters_clone(const bry_counters *counters, const bry_allocator *allocator,
                                      bry_counters **copy);

/* Deletes all counters and forgets all ids ("Clear" in base.h). BRY_E_NOMEM, BRY_E_IO. */
BRY_API bry_status bry_counters_clear(bry_counters *counters);

/* The seed to hash ids with. */
BRY_API uint64_t bry_counters_seed(const bry_counters *counters);

/* The engine of the window; never auto. */
BRY_API bry_engine bry_counters_engine(const bry_counters *counters);

/* The number of operations within one window that it was planned for. */
BRY_API uint64_t bry_counters_capacity(const bry_counters *counters);

/* The hash of an id for this table: bry_hash_key() with its seed. */
static inline bry_hash bry_counters_hash(const bry_counters *counters, const void *id, size_t len)
{
    return bry_hash_key(bry_counters_seed(counters), id, len);
}

/*
 * The hash of an id that belongs to one counter, so that equal ids of two counters are two
 * operations: bry_hash_key() of the id, whose seed is the low half of bry_hash_key() of the name
 * with the table's seed. Also starts to load the counter into the cache: in a large table, an
 * operation takes less time if the caller does something else between hashing and applying.
 */
BRY_API bry_hash bry_counters_prepare(const bry_counters *counters, const void *name,
                                      size_t name_len, const void *id, size_t id_len);

/* ---- counting ------------------------------------------------------------------------------ */

typedef uint32_t bry_counters_outcome;
enum {
    BRY_COUNTERS_REPEAT = 0, /* the id is remembered: applied before, and not applied again */
    BRY_COUNTERS_APPLIED = 1, /* the id is new: applied, and remembered */
};

/*
 * Adds delta, which may be negative or 0, to the counter with that name, once per id. A counter
 * that does not exist is created with the value 0. *outcome is what happened, *value the value of
 * the counter now. (After a repeat that is the current value, not the value after the first
 * attempt; 0 if the counter was deleted since.) Both pointers may be NULL. An id identifies one
 * operation in the whole table: for two counters use two ids, or bry_counters_prepare().
 *
 * BRY_E_OVERFLOW: the sum does not fit in 64 bits. BRY_E_SKEW: now is later than T + max_skew
 * (bry_counters_time()). BRY_E_TOOLONG: the name is longer than BRY_COUNTERS_NAME_MAX. BRY_E_FULL:
 * see "At capacity". BRY_E_NOMEM. After each of these the id is not remembered and may be retried.
 * BRY_E_IO, with errno set: the log could not be written. It is unknown whether the operation is on
 * disk, so the table refuses all further changes with BRY_E_IO. Queries still work: counters have
 * the values before the operation, and its id is not remembered; but the time has moved to `now`,
 * so ids that are older than the window may be forgotten, which are still on disk. Destroy the
 * table, open it again and let the client retry: the id then decides.
 */
BRY_API bry_status bry_counters_apply(bry_counters *counters, bry_hash id, const void *name,
                                      size_t name_len, int64_t delta, uint64_t now,
                                      bry_counters_outcome *outcome, int64_t *value);

/* The same with the bytes of an id instead of its hash, bry_counters_hash(counters, id, id_len). */
static inline bry_status bry_counters_apply_key(bry_counters *counters, const void *id,
                                                size_t id_len, const void *name, size_t name_len,
                                                int64_t delta, uint64_t now,
                                                bry_counters_outcome *outcome, int64_t *value)
{
    return bry_counters_apply(counters, bry_counters_hash(counters, id, id_len), name, name_len,
                              delta, now, outcome, value);
}

/* One operation of a batch. */
typedef struct bry_counters_op {
    bry_hash id; /* of the operation, hashed with bry_counters_seed() */
    const void *name; /* of the counter; read during the call */
    size_t name_len; /* at most BRY_COUNTERS_NAME_MAX */
    int64_t delta; /* what to add */
    bry_counters_outcome outcome; /* set by the call: what happened */
    uint32_t reserved; /* 0 */
    int64_t value; /* set by the call: the value of the counter now */
} bry_counters_op;

/* bry_counters_apply_n() for elements of `size` bytes (base.h). */
BRY_API bry_status bry_counters_apply_n_sized(bry_counters *counters, bry_counters_op *ops,
                                              size_t n, uint64_t now, size_t size);

/*
 * n operations at the same time, all or none, with one wait for the disk instead of n. Errors:
 * those of bry_counters_apply(); BRY_E_TOOLONG also if the batch is too large
 * (BRY_COUNTERS_BATCH_MAX).
 */
static inline bry_status bry_counters_apply_n(bry_counters *counters, bry_counters_op *ops,
                                              size_t n, uint64_t now)
{
    return bry_counters_apply_n_sized(counters, ops, n, now, sizeof *ops);
}

/*
 * Deletes a counter. *was is BRY_ABSENT if there is none with that name. Ids are not forgotten, so
 * a retry of an earlier increment does not restore it. BRY_E_NOMEM, BRY_E_IO.
 */
BRY_API bry_status bry_counters_del(bry_counters *counters, const void *name, size_t name_len,
                                    bry_answer *was);

/* Moves the time, like bry_window_advance(). BRY_E_NOMEM. BRY_E_IO: as for bry_counters_apply(); the
 * time has moved here, but it is unknown whether it has on disk. */
BRY_API bry_status bry_counters_advance(bry_counters *counters, uint64_t now);

/* The time T; 0 before the first change. */
BRY_API uint64_t bry_counters_time(const bry_counters *counters);

/* ---- looking up ---------------------------------------------------------------------------- */

/* BRY_PRESENT, with the value in *value, which may be NULL; or BRY_ABSENT: there is no such counter.
 * Both are exact. */
BRY_API bry_answer bry_counters_get(const bry_counters *counters, const void *name, size_t name_len,
                                    int64_t *value);

/* answers[i] = bry_counters_get(counters, names[i], lens[i], &values[i]); values may be NULL. */
BRY_API void bry_counters_get_n(const bry_counters *counters, const void *const *names,
                                const size_t *lens, size_t n, int64_t *values, bry_answer *answers);

/* Whether an operation was applied: BRY_PRESENT if it would be a repeat. Changes nothing. */
BRY_API bry_answer bry_counters_has(const bry_counters *counters, bry_hash id, uint64_t now);

/* The same with the bytes of an id instead of its hash. */
static inline bry_answer bry_counters_has_key(const bry_counters *counters, const void *id,
                                              size_t len, uint64_t now)
{
    return bry_counters_has(counters, bry_counters_hash(counters, id, len), now);
}

/* One counter. */
typedef struct bry_counters_entry {
    const void *name; /* inside the table: valid until the next change, to which pass a copy */
    size_t name_len; /* in bytes */
    int64_t value; /* of the counter */
} bry_counters_entry;

/* bry_counters_scan() for elements of `size` bytes (base.h). */
BRY_API size_t bry_counters_scan_sized(const bry_counters *counters, uint64_t *cursor,
                                       bry_counters_entry *entries, size_t room, size_t size);

/*
 * Lists counters in no particular order: stores up to `room` (at least 1) entries and returns how
 * many. Start with *cursor 0; the listing is complete when *cursor is 0 again. The table may change
 * between calls: a counter that exists throughout is listed at least once; one that is created or
 * deleted meanwhile may be listed.
 */
static inline size_t bry_counters_scan(const bry_counters *counters, uint64_t *cursor,
                                       bry_counters_entry *entries, size_t room)
{
    return bry_counters_scan_sized(counters, cursor, entries, room, sizeof *entries);
}

/* The state of a table. */
typedef struct bry_counters_stats {
    bry_engine engine; /* of the window; never auto */
    uint32_t reserved; /* 0 */
    uint64_t seed; /* for hashing ids */
    uint64_t time; /* T */
    uint64_t window; /* promised time, ms */
    uint64_t covered; /* ms remembered now */
    uint64_t counters; /* number of counters */
    uint64_t ids; /* number of ids remembered */
    uint64_t applied; /* operations applied, since the table was created */
    uint64_t
        repeats; /* operations answered as repeats, including lost ones. With a directory, a crash
                         may lose the repeats since the last change, and the refusals since the last
                         snapshot */
    double expected_lost; /* expected number of repeats that were new, by the error at the time */
    uint64_t refused_full; /* refused with BRY_E_FULL */
    uint64_t refused_overflow; /* refused with BRY_E_OVERFLOW */
    uint64_t refused_skew; /* refused with BRY_E_SKEW */
    double promised_error; /* the error in the options */
    double estimated_error; /* for the next id */
    uint64_t max_bytes; /* the memory limit; 0: none */
    uint64_t bytes; /* allocated now */
    uint64_t bytes_window; /* the part of bytes that the window of ids takes */
    uint64_t log_bytes; /* on disk since the last snapshot; 0 without a directory */
    uint64_t unsynced; /* operations that are not yet on disk; bry_counters_sync() writes them */
} bry_counters_stats;

/* counters and bytes of the stats, in constant time. */
BRY_API uint64_t bry_counters_items(const bry_counters *counters);
BRY_API uint64_t bry_counters_bytes(const bry_counters *counters);

/* bry_counters_get_stats() for a struct of `size` bytes (base.h). */
BRY_API bry_status bry_counters_get_stats_sized(const bry_counters *counters,
                                                bry_counters_stats *stats, size_t size);

/* Fills *stats, in constant time; with fbf, a step per filter. */
static inline bry_status bry_counters_get_stats(const bry_counters *counters,
                                                bry_counters_stats *stats)
{
    return bry_counters_get_stats_sized(counters, stats, sizeof *stats);
}

/* ---- saving and loading -------------------------------------------------------------------- */

/* Writes everything to disk that is not there yet. Does nothing without a directory. BRY_E_IO, as
 * for bry_counters_apply(). */
BRY_API bry_status bry_counters_sync(bry_counters *counters);

/*
 * Writes a snapshot and starts a new log. The change that makes the log exceed log_bytes does this
 * by itself after it was applied, and takes longer then; if that fails, the table continues with
 * the long log and tries again after another log_bytes. The old snapshot and log are valid until
 * the new ones are complete on disk. BRY_E_UNSUPPORTED without a directory. BRY_E_IO, BRY_E_NOMEM:
 * the old ones are still valid, and the table continues. If the log itself failed, or it is unknown
 * which log would be left after a crash, the table refuses all further changes, as after a failed
 * bry_counters_apply().
 */
BRY_API bry_status bry_counters_snapshot(bry_counters *counters);

/* Writes counters, ids and time as frames (doc/format.md), with the note of `save`, which may be
 * NULL and has the errors (base.h). BRY_E_IO also for a table that refuses changes after a failure,
 * because its window may contain ids that were not applied. */
BRY_API bry_status bry_counters_save(const bry_counters *counters, const bry_sink *sink,
                                     const bry_save *save);

/*
 * Reads what bry_counters_save() wrote, and nothing beyond it, as a table in memory. BRY_E_BADDATA,
 * BRY_E_VERSION, BRY_E_LIMIT, BRY_E_NOMEM, or what the source returned; load->problem and
 * load->offset give details.
 */
BRY_API bry_status bry_counters_load(const bry_source *source, bry_load *load,
                                     bry_counters **counters);

/*
 * The same to and from a file. Saving is atomic: the file has the old or the new contents, even if
 * the machine crashes. Loading refuses bytes after the end. BRY_E_IO with errno set.
 */
BRY_API bry_status bry_counters_save_file(const bry_counters *counters, const char *path,
                                          const bry_save *save);
BRY_API bry_status bry_counters_load_file(const char *path, bry_load *load,
                                          bry_counters **counters);

#ifdef __cplusplus
}
#endif

#endif
