/*
 * Counter: add, once, however often it is retried.
 *
 * A table of named counters, signed 64-bit, together with a window (window.h) of the operations
 * that changed them. Every operation has an id that its client chooses and sends again with every
 * retry, such as (client, sequence number). In one step: an id that the window remembers is a
 * *repeat*, acknowledged and not applied; any other is *applied* and remembered.
 *
 * Names and values are exact. It can be wrong in two ways:
 *   lost    a new id is taken for a repeat: a false positive of the window, with a probability of
 *           at most `error` an operation; stats say how many are to be expected so far
 *   double  a retry comes after the window has forgotten the first try. Choose `window` longer than
 *           any client retries. The table cannot see when this happens
 *
 * At capacity: the table grows to the ceiling max_bytes. There it refuses new ids and new names
 * with BRY_E_FULL and goes on recognising repeats: a refused increment can be tried again, a lost
 * one could not. Ids that grow too old make room; that is why an operation that is refused so moves
 * the time all the same. Time itself is not bound by the ceiling: where a generation of the window
 * begins, that may take a little more for a while.
 *
 * With a folder (bry_counter_open()) the table survives the process and the machine: each operation
 * is in a log on disk before it counts. Without one (bry_counter_create()) it lives in memory,
 * and can be saved and loaded like any other object.
 *
 * Time is an argument, with the meaning it has in window.h.
 */
#ifndef BLOOMERY_COUNTER_H
#define BLOOMERY_COUNTER_H

#include <bloomery/base.h>
#include <bloomery/hash.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bry_counter bry_counter;

/* The longest name of a counter, in bytes. Any bytes, zeros included; 0 bytes is a name as well. */
#define BRY_COUNTER_NAME_MAX 65535u

/*
 * The largest batch for bry_counter_apply_n(): BRY_COUNTER_BATCH_HEAD bytes, BRY_COUNTER_BATCH_OP
 * for each operation, and the names, are at most BRY_COUNTER_BATCH_MAX bytes together.
 */
#define BRY_COUNTER_BATCH_MAX ((size_t)16 << 20)
#define BRY_COUNTER_BATCH_HEAD 24u
#define BRY_COUNTER_BATCH_OP 26u

/* The smallest error that can be asked for. */
#define BRY_COUNTER_ERROR_MIN 1e-12

/* When what is logged reaches the disk. */
typedef enum bry_counter_sync_policy {
    BRY_COUNTER_SYNC_ALWAYS = 0, /* before each call returns: BRY_OK means it is on disk */
    BRY_COUNTER_SYNC_ASKED = 1, /* at bry_counter_sync(): acknowledge to clients after that */
} bry_counter_sync_policy;

typedef struct bry_counter_options {
    size_t struct_size;
    bry_engine engine; /* of the window: auto (= compact), compact or fbf */
    uint64_t window; /* ms for which a retry is recognised, 1 to BRY_SPAN_MAX; 0: 60,000 */
    uint64_t capacity; /* operations within one window to plan for, 1 to BRY_CAPACITY_MAX; 0: 1000.
                          Not a limit: max_bytes is */
    double error; /* chance that an increment is lost, BRY_COUNTER_ERROR_MIN to BRY_ERROR_MAX;
                     0: 1e-9 */
    uint64_t max_bytes; /* ceiling on window, names and counters together; 0: none. BRY_E_RANGE when
                           less than plan's bytes_least */
    uint64_t max_skew; /* as in window.h; 0: no limit */
    uint64_t seed; /* for hashing ids; 0: a random one is drawn at creation */
    const bry_allocator *allocator; /* NULL: malloc and free */
    /* with a folder alone */
    bry_counter_sync_policy sync;
    uint64_t log_bytes; /* a snapshot is written when the log has grown by so much; 0: 64 MiB */
} bry_counter_options;

#define BRY_COUNTER_OPTIONS                                                                        \
    {                                                                                              \
        sizeof(bry_counter_options), BRY_ENGINE_AUTO, 0, 0, 0, 0, 0, 0, NULL,                      \
            BRY_COUNTER_SYNC_ALWAYS, 0                                                             \
    }

/* What an object with these options costs and promises. Begin with BRY_COUNTER_SHAPE. */
typedef struct bry_counter_shape {
    size_t struct_size;
    bry_engine engine; /* of the window; never auto */
    uint64_t window; /* ms promised */
    uint64_t longest; /* ms after which a retry is surely counted again */
    uint64_t capacity; /* operations within one window that it is planned for */
    double error; /* expected at the worst moment with `capacity` operations in each window */
    uint64_t bytes; /* of the window, at that moment; not less than bytes_empty */
    uint64_t bytes_per_counter; /* and for each counter, with a name of 16 bytes */
    uint64_t bytes_empty; /* allocated by create */
    uint64_t bytes_least; /* the least max_bytes: one operation, with a name of 16 bytes */
} bry_counter_shape;

#define BRY_COUNTER_SHAPE                                                                          \
    {                                                                                              \
        sizeof(bry_counter_shape), BRY_ENGINE_AUTO, 0, 0, 0, 0, 0, 0, 0, 0                         \
    }

/*
 * Fills *shape without allocating anything.
 * BRY_E_RANGE: an option is out of its range. BRY_E_UNSUPPORTED: windows do not have that engine.
 */
BRY_API bry_status bry_counter_plan(const bry_counter_options *options, bry_counter_shape *shape);

/* Makes an empty table in memory. As bry_counter_plan(), and BRY_E_NOMEM; BRY_E_IO when the system
 * has no random seed to give. */
BRY_API bry_status bry_counter_create(const bry_counter_options *options, bry_counter **counters);

/*
 * Opens the table in the folder at `path`, and creates both where they do not exist (the folder's
 * parent must). What a crash left behind is repaired: afterwards every operation that was
 * acknowledged is in the table once. A table that exists keeps its seed, engine and shape: leave
 * these options 0, or give what it has (BRY_E_MISMATCH); max_bytes, max_skew, sync and log_bytes
 * are taken anew each time. load bounds and explains as in every load, load->problem is NULL when
 * it was not the folder's data that failed; its allocator is not used, the options' is; a folder
 * has no note. As bry_counter_create(), and BRY_E_BADDATA, BRY_E_VERSION, BRY_E_LIMIT; BRY_E_IO
 * with errno set, EBUSY when another process, or this one, has the folder open.
 */
BRY_API bry_status bry_counter_open(const char *path, const bry_counter_options *options,
                                    bry_load *load, bry_counter **counters);

/* Options that make a table with the engine, seed and shape of `other`, without its folder. */
BRY_API bry_status bry_counter_options_like(const bry_counter *other, bry_counter_options *options);

/* Closes the folder, if there is one. With BRY_COUNTER_SYNC_ASKED call bry_counter_sync() before.
 */
BRY_API void bry_counter_destroy(bry_counter *counters);

/* A second table, in memory, with the same contents. Its memory comes from `allocator`; NULL: from
 * where the first one's does. BRY_E_NOMEM; BRY_E_IO as for bry_counter_save(). */
BRY_API bry_status bry_counter_clone(const bry_counter *counters, const bry_allocator *allocator,
                                     bry_counter **copy);

/* Deletes all counters and forgets all ids; keeps seed, shape, time and the counts in the stats.
 * BRY_E_NOMEM, BRY_E_IO. */
BRY_API bry_status bry_counter_clear(bry_counter *counters);

/* The seed to hash ids with. */
BRY_API uint64_t bry_counter_seed(const bry_counter *counters);

/* The hash that this table knows an id by: bry_hash_key() with its seed. */
BRY_API bry_hash bry_counter_hash(const bry_counter *counters, const void *id, size_t len);

/* ---- counting ------------------------------------------------------------------------------ */

typedef enum bry_counter_outcome {
    BRY_COUNTER_REPEAT = 0, /* the id is remembered: acknowledged before, not applied again */
    BRY_COUNTER_APPLIED = 1, /* the id is new: applied, and remembered */
} bry_counter_outcome;

/*
 * Adds delta, which may be negative or 0, to the counter of that name, which is created at 0 if it
 * is not there; once for each id. *outcome says what happened, *value what the counter holds now
 * (after a repeat that is the present value, not the one of the first try; 0 if it was deleted
 * since). Both pointers may be NULL. An id stands for one operation in the whole table: for two
 * counters use two ids, for instance by hashing the name with the rest.
 *
 * BRY_E_OVERFLOW: the sum does not fit in 64 bits. BRY_E_SKEW: now is beyond T + max_skew
 * (bry_counter_time()). BRY_E_TOOLONG: the name is longer than BRY_COUNTER_NAME_MAX. BRY_E_FULL:
 * see "at capacity". BRY_E_NOMEM. After all of these the id is not remembered: the same one may be
 * tried again. BRY_E_IO, with errno set: the log could not be written. Whether the operation is on
 * disk is open, so the table refuses every further change with BRY_E_IO; questions go on. Destroy
 * it, open it again, and have the client retry: the id then tells.
 */
BRY_API bry_status bry_counter_apply(bry_counter *counters, bry_hash id, const void *name,
                                     size_t name_len, int64_t delta, uint64_t now,
                                     bry_counter_outcome *outcome, int64_t *value);

/* The same with an id of any bytes: with bry_counter_hash(counters, id, id_len) in place of it. */
BRY_API bry_status bry_counter_apply_key(bry_counter *counters, const void *id, size_t id_len,
                                         const void *name, size_t name_len, int64_t delta,
                                         uint64_t now, bry_counter_outcome *outcome,
                                         int64_t *value);

/* One operation of a batch. Grows as structs with a struct_size do, see bry_counter_apply_n(). */
typedef struct bry_counter_op {
    bry_hash id; /* of the operation, hashed with bry_counter_seed() */
    const void *name; /* of the counter; read during the call */
    size_t name_len; /* at most BRY_COUNTER_NAME_MAX */
    int64_t delta; /* what to add */
    bry_counter_outcome outcome; /* set by the call: what happened, */
    int64_t value; /* and what the counter holds now */
} bry_counter_op;

/*
 * n operations at one time, all or none; one wait for the disk instead of n. As
 * bry_counter_apply(), and BRY_E_TOOLONG also for a batch that is too large: see
 * BRY_COUNTER_BATCH_MAX. op_size is sizeof(bry_counter_op); BRY_E_RANGE for one that no version
 * has.
 */
BRY_API bry_status bry_counter_apply_n(bry_counter *counters, bry_counter_op *ops, size_t op_size,
                                       size_t n, uint64_t now);

/*
 * Deletes a counter; *was BRY_ABSENT: there is none of that name. Ids are not forgotten, so a retry
 * of an earlier increment does not bring it back. BRY_E_NOMEM, BRY_E_IO.
 */
BRY_API bry_status bry_counter_del(bry_counter *counters, const void *name, size_t name_len,
                                   bry_answer *was);

/* Moves the time, as bry_window_advance(). BRY_E_NOMEM, BRY_E_IO. */
BRY_API bry_status bry_counter_advance(bry_counter *counters, uint64_t now);

/* T; 0 before the first change. */
BRY_API uint64_t bry_counter_time(const bry_counter *counters);

/* ---- asking -------------------------------------------------------------------------------- */

/* BRY_PRESENT and *value, or BRY_ABSENT: there is no such counter, and *value is 0. Exact. */
BRY_API bry_answer bry_counter_get(const bry_counter *counters, const void *name, size_t name_len,
                                   int64_t *value);

/* answers[i] = bry_counter_get(counters, names[i], lens[i], &values[i]). */
BRY_API void bry_counter_get_n(const bry_counter *counters, const void *const *names,
                               const size_t *lens, size_t n, int64_t *values, bry_answer *answers);

/* Whether an operation was applied, changing nothing: BRY_PRESENT for what would be a repeat. */
BRY_API bry_answer bry_counter_has(const bry_counter *counters, bry_hash id, uint64_t now);

/* The same with an id of any bytes. */
BRY_API bry_answer bry_counter_has_key(const bry_counter *counters, const void *id, size_t len,
                                       uint64_t now);

/* One counter. Grows as structs with a struct_size do, see bry_counter_scan(). */
typedef struct bry_counter_entry {
    const void *name; /* inside the table: good until the next change */
    size_t name_len; /* in bytes */
    int64_t value; /* what the counter holds */
} bry_counter_entry;

/*
 * Lists counters in no particular order: stores up to `room` (at least 1) entries and returns how
 * many. Start with *cursor 0; the listing is complete when *cursor is 0 again. The table may change
 * between calls: what is there throughout is listed at least once, and what comes or goes may be.
 * entry_size is sizeof(bry_counter_entry).
 */
BRY_API size_t bry_counter_scan(const bry_counter *counters, uint64_t *cursor,
                                bry_counter_entry *entries, size_t entry_size, size_t room);

/* Begin with BRY_COUNTER_STATS. */
typedef struct bry_counter_stats {
    size_t struct_size;
    bry_engine engine; /* of the window; never auto */
    uint64_t seed; /* for hashing ids */
    uint64_t time; /* T */
    uint64_t window; /* ms promised */
    uint64_t covered; /* ms that are remembered now */
    uint64_t counters; /* how many there are */
    uint64_t ids; /* remembered */
    uint64_t applied; /* operations, since the table was made */
    uint64_t repeats; /* operations answered as repeats, lost ones included. With a folder: a crash
                         may take away those since the last change, and refusals since the last
                         snapshot */
    double expected_lost; /* of the repeats, how many were new, by the error of each moment */
    uint64_t refused_full; /* refused with BRY_E_FULL */
    uint64_t refused_overflow; /* refused because the sum does not fit */
    uint64_t refused_time; /* refused for max_skew */
    double promised_error; /* what was asked for at creation */
    double estimated_error; /* for the next id */
    uint64_t max_bytes; /* the ceiling; 0: none */
    uint64_t bytes; /* allocated now; of these: */
    uint64_t bytes_window; /* the window of ids */
    uint64_t log_bytes; /* on disk since the last snapshot; 0 without a folder */
    uint64_t unsynced; /* operations that bry_counter_sync() would bring to disk */
} bry_counter_stats;

#define BRY_COUNTER_STATS                                                                          \
    {                                                                                              \
        sizeof(bry_counter_stats), BRY_ENGINE_AUTO, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,   \
            0, 0, 0, 0                                                                             \
    }

/* How many counters there are, and the bytes in the stats, in constant time. */
BRY_API uint64_t bry_counter_items(const bry_counter *counters);
BRY_API uint64_t bry_counter_bytes(const bry_counter *counters);

/* In constant time, but for a step per filter in engine fbf. */
BRY_API bry_status bry_counter_get_stats(const bry_counter *counters, bry_counter_stats *stats);

/* ---- keeping ------------------------------------------------------------------------------- */

/* Brings everything to disk that is not yet there. Without a folder it does nothing. BRY_E_IO, as
 * for bry_counter_apply(). */
BRY_API bry_status bry_counter_sync(bry_counter *counters);

/*
 * Writes a snapshot and starts the log anew. The change that makes the log pass log_bytes does this
 * by itself, after it was applied, and takes longer for it; where that fails, the table goes on
 * with the long log and tries again at the next log_bytes. The old snapshot and log count until the
 * new ones are whole on disk. BRY_E_UNSUPPORTED without a folder. BRY_E_IO, BRY_E_NOMEM: the old
 * ones still count, and the table goes on; unless it was the log that failed, or nobody can tell
 * which log a crash would leave: then it refuses every further change, as after
 * bry_counter_apply().
 */
BRY_API bry_status bry_counter_snapshot(bry_counter *counters);

/* Writes counters, ids and time as frames (doc/format.md), with the note of `save`, which may be
 * NULL. What the sink returns, or BRY_OK; RANGE or TOOLONG for a wrong `save` (base.h); BRY_E_IO
 * from a table that takes no changes any more, since its window may know ids that were not applied.
 */
BRY_API bry_status bry_counter_save(const bry_counter *counters, const bry_sink *sink,
                                    const bry_save *save);

/*
 * Reads what bry_counter_save() wrote, and nothing beyond it, as a table in memory. BRY_E_BADDATA,
 * BRY_E_VERSION, BRY_E_LIMIT, BRY_E_NOMEM, or what the source returns; load->problem and
 * load->offset say more.
 */
BRY_API bry_status bry_counter_load(const bry_source *source, bry_load *load,
                                    bry_counter **counters);

/*
 * The same to and from a file. Saving replaces the file whole or not at all, also when the machine
 * fails meanwhile; loading refuses bytes after the end. BRY_E_IO with errno set.
 */
BRY_API bry_status bry_counter_save_file(const bry_counter *counters, const char *path,
                                         const bry_save *save);
BRY_API bry_status bry_counter_load_file(const char *path, bry_load *load, bry_counter **counters);

#ifdef __cplusplus
}
#endif

#endif
