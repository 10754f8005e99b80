/*
 * Counters that survive retries: a window that remembers the ids of operations, a table of names
 * with their values, and, in a directory, a log of the changes.
 *
 *   operation ── id ──► window: seen? ── yes ──► repeat: acknowledged, nothing done
 *                          │ no
 *                          ▼
 *                  name: does the sum fit? ── no ──► refused, the id is not remembered
 *                          │ yes
 *                          ▼
 *                  window remembers ──► log, on disk ──► the counter changes
 *
 * Nothing can be undone once it is in the log, so everything that can fail comes first:
 * memory for the name, the window's growth, memory for the record. If writing the log fails, the
 * operation's id stays in the window, which cannot forget a
 * single id with engine fbf; the table keeps such ids (limbo) and does not count them. It has
 * to be opened again before it accepts changes, and then the log decides.
 *
 * The log has only what changed something: an id that was applied, and the time.
 * Repeats move the time too, and are not logged. They need not be: a window that advances in steps
 * equals one that advances at once, so the next record, which has the time, brings it to the
 * same state. Replaying the log after the snapshot therefore gives exactly the same window.
 *
 * The limit max_bytes is one for window and names together. The window is created without one of
 * its own, and both get their memory through a meter that knows the limit (counter_object.h). A
 * new id or name that would need more than is left is refused with BRY_E_FULL, but the
 * time advances, so that expired ids are dropped. Advancing the time is never refused: else a
 * full table could never get room again.
 *
 * An increment is lost when a new id is mistaken for a repeat. This cannot be detected, but its
 * probability is known: expected_lost sums the window's estimate of its error over
 * all operations that were applied. That estimate is updated from time to time; in between it is
 * assumed to rise by each id's share of the promised error, and not above that.
 */
#include "counter/counter_object.h"
#include "window/window_object.h"

#include "frame/job_row.h"

#include <errno.h>

enum { DEFAULT_WINDOW = 60000, DEFAULT_CAPACITY = 1000, PLANNED_NAME = 16 };
#define DEFAULT_ERROR 1e-9
#define DEFAULT_LOG_BYTES ((uint64_t)64 << 20)

/* ---- options -------------------------------------------------------------------------------- */

bry_window_options bry__counter_window_options(const bry_counters_options *options)
{
    bry_window_options window = BRY_WINDOW_OPTIONS;
    window.engine = options->engine;
    window.window = options->window;
    window.capacity = options->capacity;
    window.error = options->error;
    window.refuse = true; /* it has no limit; with one, it must refuse rather than err */
    window.seed = options->seed;
    return window;
}

bry_status bry__counter_read_options(const bry_counters_options *given,
                                     bry_counters_options *options, bry_counters_shape *shape)
{
    *options = (bry_counters_options)BRY_COUNTERS_OPTIONS;
    bry_status status = bry__struct_read(options, sizeof *options, given);
    if (status != BRY_OK)
        return status;
    if (options->engine == BRY_ENGINE_AUTO)
        options->engine = BRY_ENGINE_COMPACT;
    if (options->window == 0)
        options->window = DEFAULT_WINDOW;
    if (options->capacity == 0)
        options->capacity = DEFAULT_CAPACITY;
    if (options->error == 0)
        options->error = DEFAULT_ERROR;
    if (options->log_bytes == 0)
        options->log_bytes = DEFAULT_LOG_BYTES;
    if (options->sync != BRY_COUNTERS_SYNC_ALWAYS && options->sync != BRY_COUNTERS_SYNC_ASKED)
        return BRY_E_RANGE;

    bry_window_options window = bry__counter_window_options(options);
    bry_window_shape planned = {0};
    status = bry_window_plan(&window, &planned);
    if (status != BRY_OK)
        return status;
    *shape = (bry_counters_shape){
        .engine = planned.engine,
        .window = planned.window,
        .longest = planned.longest,
        .capacity = planned.capacity,
        .error = planned.error,
        .bytes = planned.bytes,
        .bytes_per_counter = bry__counter_names_bytes_each(PLANNED_NAME),
        .bytes_empty =
            sizeof(bry_counters) + planned.bytes_empty + bry__counter_names_bytes_empty(),
        .grows_to = planned.grows_to,
    };
    if (shape->bytes < shape->bytes_empty)
        shape->bytes = shape->bytes_empty;
    shape->bytes_least = shape->bytes_empty - planned.bytes_empty +
                         bry__window_bytes_first(&window) + shape->bytes_per_counter;
    return options->max_bytes && options->max_bytes < shape->bytes_least ? BRY_E_RANGE : BRY_OK;
}

bry_status bry_counters_plan_sized(const bry_counters_options *given, bry_counters_shape *shape,
                                   size_t size)
{
    bry_counters_options options;
    bry_counters_shape planned;
    bry_status status = bry__counter_read_options(given, &options, &planned);
    return status == BRY_OK ? bry__struct_write(shape, size, &planned, sizeof planned) : status;
}

/* ---- memory --------------------------------------------------------------------------------- */

static void *meter_alloc(void *opaque, size_t size)
{
    bry__counter_meter *meter = opaque;
    if (meter->limit) {
        uint64_t bytes = meter->bytes;
        if (bytes >= meter->limit || size > meter->limit - bytes) {
            meter->denied = true;
            return NULL;
        }
    }
    void *block = meter->under.alloc(meter->under.opaque, size);
    if (block)
        atomic_fetch_add_explicit(&meter->bytes, size, memory_order_relaxed);
    return block;
}

static void meter_free(void *opaque, void *block, size_t size)
{
    bry__counter_meter *meter = opaque;
    atomic_fetch_sub_explicit(&meter->bytes, size, memory_order_relaxed);
    meter->under.free(meter->under.opaque, block, size);
}

/* ---- making --------------------------------------------------------------------------------- */

bry_status bry__counter_make(const bry_counters_options *options, const bry_allocator *under,
                             bry_counters **counters)
{
    bry_counters *made = bry__alloc(under, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    made->options = *options;
    made->options.allocator = NULL;
    made->meter =
        (bry__counter_meter){.allocator = {meter_alloc, meter_free, &made->meter}, .under = *under};
    made->meter.bytes = sizeof *made;
    bry__counter_error_reset(made);
    bry_status status =
        bry__counter_names_init(&made->names, options->seed, &made->meter.allocator);
    if (status != BRY_OK) {
        bry__free(under, made, sizeof *made);
        return status;
    }
    *counters = made;
    return BRY_OK;
}

bry_status bry__counter_make_window(bry_counters *counters)
{
    bry_window_options window = bry__counter_window_options(&counters->options);
    window.allocator = &counters->meter.allocator;
    return bry_window_create(&window, &counters->window);
}

bry_status bry_counters_create(const bry_counters_options *given, bry_counters **counters)
{
    bry_counters_options options;
    bry_counters_shape shape;
    bry_status status = bry__counter_read_options(given, &options, &shape);
    if (status == BRY_OK && options.seed == 0)
        status = bry__random_seed(&options.seed);
    if (status != BRY_OK)
        return status;
    bry_allocator under = bry__allocator_or_default(options.allocator);
    bry_counters *made;
    status = bry__counter_make(&options, &under, &made);
    if (status != BRY_OK)
        return status;
    status = bry__counter_make_window(made);
    if (status == BRY_OK)
        *counters = made;
    else
        bry_counters_destroy(made);
    return status;
}

static bry_counters_options counter_like_of(const bry_counters *other)
{
    bry_counters_options options = other->options;
    options.sync = BRY_COUNTERS_SYNC_ALWAYS;
    options.log_bytes = 0;
    return options;
}

bry_status bry_counters_options_like_sized(const bry_counters *other, bry_counters_options *options,
                                           size_t size)
{
    bry_counters_options like = counter_like_of(other);
    return bry__options_write(options, size, &like, sizeof like);
}

bry_status bry_counters_clone(const bry_counters *counters, const bry_allocator *allocator,
                              bry_counters **copy)
{
    if (counters->broken)
        return bry__counter_refuse_broken();
    bry_counters_options options = counter_like_of(counters);
    bry_counters *made;
    bry_status status =
        bry__counter_make(&options, allocator ? allocator : &counters->meter.under, &made);
    if (status != BRY_OK)
        return status;
    made->counts = counters->counts;
    bry__counter_names_free(&made->names);
    status = bry__counter_names_clone(&counters->names, &made->names, &made->meter.allocator);
    if (status == BRY_OK)
        status = bry_window_clone(counters->window, &made->meter.allocator, &made->window);
    if (status == BRY_OK)
        *copy = made;
    else
        bry_counters_destroy(made);
    return status;
}

void bry_counters_destroy(bry_counters *counters)
{
    if (!counters)
        return;
    bry__counter_dir_close(counters);
    bry_window_destroy(counters->window);
    bry__counter_names_free(&counters->names);
    bry_allocator under = counters->meter.under;
    bry__free(&under, counters, sizeof *counters);
}

BRY__JOB_GETTERS(counters, options.seed, options.engine)

uint64_t bry_counters_capacity(const bry_counters *counters)
{
    return counters->options.capacity;
}

uint64_t bry_counters_time(const bry_counters *counters)
{
    return bry_window_time(counters->window);
}

bry_status bry__counter_refuse_broken(void)
{
    errno = EIO;
    return BRY_E_IO;
}

bry_hash bry_counters_prepare(const bry_counters *counters, const void *name, size_t name_len,
                              const void *id, size_t id_len)
{
    bry_hash hash = bry_hash_key(bry_counters_seed(counters), name, name_len);
    bry__counter_names_fetch_bucket(&counters->names, hash.lo);
    return bry_hash_key(hash.lo, id, id_len);
}

/* ---- asking --------------------------------------------------------------------------------- */

bry_answer bry_counters_get(const bry_counters *counters, const void *name, size_t name_len,
                            int64_t *value)
{
    const bry__counter_name *found = bry__counter_names_get(&counters->names, name, name_len);
    if (found && value)
        *value = found->value;
    return found ? BRY_PRESENT : BRY_ABSENT;
}

void bry_counters_get_n(const bry_counters *counters, const void *const *names, const size_t *lens,
                        size_t n, int64_t *values, uint8_t *answers)
{
    for (size_t i = 0; i < n; i++)
        answers[i] =
            (uint8_t)bry_counters_get(counters, names[i], lens[i], values ? &values[i] : NULL);
}

bry_answer bry_counters_has(const bry_counters *counters, bry_hash id, uint64_t now)
{
    const bry__counter_limbo *limbo = bry__counter_limbo_of(counters);
    for (size_t i = 0; limbo && i < limbo->count; i++)
        if (limbo->ids[i].lo == id.lo && limbo->ids[i].hi == id.hi)
            return BRY_ABSENT;
    return bry_window_has(counters->window, id, now);
}

size_t bry_counters_scan_sized(const bry_counters *counters, uint64_t *cursor,
                               bry_counters_entry *entries, size_t room, size_t size)
{
    if (!bry__struct_size_possible(size))
        return 0;
    return bry__counter_names_scan(&counters->names, cursor, entries, size, room);
}

/* ---- stats ---------------------------------------------------------------------------------- */

enum {
    ASK_AFTER = 1024, /* operations, */
    ASK_SHARE = 8, /* or this fraction of what the window holds or is planned for */
};

/* An estimate costs engine fbf a step per filter, so it is made rarely. */
static uint64_t counter_ask_after(const bry_counters *counters, uint64_t items)
{
    uint64_t most =
        (items > counters->options.capacity ? items : counters->options.capacity) / ASK_SHARE;
    return most > ASK_AFTER ? most : ASK_AFTER;
}

void bry__counter_error_reset(bry_counters *counters)
{
    counters->counts.error_then = 0;
    counters->counts.since = 0;
    counters->counts.ask_after = counter_ask_after(counters, 0);
}

double bry__counter_error(bry_counters *counters)
{
    const bry_counters_options *options = &counters->options;
    if (counters->counts.since >= counters->counts.ask_after) {
        bry_window_stats stats = {0};
        bry_window_get_stats(counters->window, &stats);
        counters->counts.error_then = stats.estimated_error;
        counters->counts.since = 0;
        counters->counts.ask_after = counter_ask_after(counters, stats.items);
    }
    double rise = options->error / (double)options->capacity;
    double now = counters->counts.error_then + (double)counters->counts.since++ * rise;
    double most =
        counters->counts.error_then > options->error ? counters->counts.error_then : options->error;
    return now < most ? now : most;
}

uint64_t bry_counters_items(const bry_counters *counters)
{
    return counters->names.count;
}

uint64_t bry_counters_bytes(const bry_counters *counters)
{
    return counters->meter.bytes;
}

bry_status bry_counters_get_stats_sized(const bry_counters *counters, bry_counters_stats *stats,
                                        size_t size)
{
    bry_window_stats window = {0};
    bry_window_get_stats(counters->window, &window);
    bry_counters_stats now = {
        .engine = counters->options.engine,
        .seed = counters->options.seed,
        .time = window.time,
        .window = window.window,
        .covered = window.covered,
        .counters = counters->names.count,
        .ids = window.items,
        .applied = counters->counts.applied,
        .repeats = counters->counts.repeats,
        .expected_lost = counters->counts.expected_lost,
        .refused_full = counters->counts.refused_full,
        .refused_overflow = counters->counts.refused_overflow,
        .refused_skew = counters->counts.refused_skew,
        .promised_error = counters->options.error,
        .estimated_error = window.estimated_error,
        .max_bytes = counters->options.max_bytes,
        .bytes = counters->meter.bytes,
        .bytes_window = window.bytes,
    };
    bry__counter_dir_stats(counters, &now);
    return bry__struct_write(stats, size, &now, sizeof now);
}
