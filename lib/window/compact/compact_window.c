/*
 * The engine compact: a maplet with a fingerprint and the number of a generation for each element.
 *
 *             ├───────────── window ─────────────┤
 *   ──┬───────┬───────┬───────┬───────┬───────┬──┴────> time, cut into generations on a grid of
 *     │ g-5   │ g-4   │ g-3   │ g-2   │ g-1   │ g        absolute time: number = time / length
 *   ──┴───────┴───────┴───────┴───────┴───────┴───────
 *     gone      still remembered …      now ─────^
 *
 * An element is remembered while now < end of its generation + window. So entries expire by time
 * alone. Look-ups ignore expired entries, and they are reclaimed in steps (compact_window_time.c).
 * The behaviour of a window depends only on the remembered entries, never on the state of
 * reclaiming: so replicas and replays agree. Only remembered entries are saved.
 *
 * The maplet has one entry per fingerprint in each table (maplet_single.h). A generation gets a
 * value of the maplet with its first element, and the value dies when the generation expires
 * (maplet_values.h). The name of the value, which is what frames contain, is the generation's
 * number modulo 2^b, where there are at least two more names than live generations. The value
 * equals its name if that is free. If reclaiming is so late that no value below 2^b is free, a
 * wider one is used meanwhile: so a change takes no longer after a pause of any length. (Small
 * windows reclaim all that has expired at once instead.)
 *
 * Bits per element at the worst point of a generation (just before the oldest expires), for a
 * window of G parts:
 *
 *      (1 + 1/G) · (log2(4/3 / error) + 2.7 + b),     b = ceil(log2(G + 3))
 *
 * G = 13 gives the minimum for errors from 10^-2 to 10^-5: 18.3 bits at 10^-3.
 *
 * The first table is planned for all elements that are live at that point, with 3/4 of the error.
 * Elements beyond that go to more tables with longer fingerprints (maplet_plan.c): the error stays
 * within the target at any rate of new elements. New elements go to the first table with room. So
 * when the load falls, the entries of the other tables expire, and a table is put aside as soon as
 * nothing in it is remembered.
 *
 * A batch is all or nothing: the changes of each element are logged, and undone in reverse order on
 * failure. That never needs memory: an added entry is removed, and a replaced value is put back.
 */
#include "window/compact/compact_window.h"
#include "window/window_engine.h"

#include "common/struct_size.h"

#define SMALL_BATCH BRY__SINGLE_BATCH
#define SMALL_WINDOW 16384u /* up to this many entries are reclaimed at once, in some 100 µs */

/* ---- making --------------------------------------------------------------------------------- */

static bry_status compact_window_plan(const bry_window_options *options, bry_window_shape *shape)
{
    if (options->max_bytes && !options->refuse)
        return BRY_E_UNSUPPORTED;
    bry__compact_shape inside;
    bry__maplet_options maplet;
    bry_status status = bry__compact_window_shape_of(options, &inside, &maplet);
    if (status != BRY_OK)
        return status;
    uint64_t range = bry__maplet_range(&maplet), capacity = maplet.capacity;
    *shape = (bry_window_shape){
        .engine = BRY_ENGINE_COMPACT,
        .window = inside.window,
        .longest = inside.window + inside.length,
        .capacity = options->capacity,
        .generations =
            (uint32_t)(inside.window / inside.length + (inside.window % inside.length != 0) + 1),
        .compact.fingerprint_bits = 64 - (unsigned)__builtin_clzll(range - 1),
        .error = (double)capacity / (double)range,
        .bytes = sizeof(bry__compact_window) + bry__compact_window_plan_bytes(&maplet, capacity),
        .bytes_empty = sizeof(bry__compact_window),
        .bytes_least = bry__compact_window_bytes_least(&maplet),
        .grows_to = bry__maplet_most(&maplet),
    };
    return BRY_OK;
}

static uint64_t compact_window_bytes_first(const bry_window_options *options)
{
    bry__compact_shape shape;
    bry__maplet_options maplet;
    return bry__compact_window_shape_of(options, &shape, &maplet) == BRY_OK
               ? bry__compact_window_bytes_first(&maplet)
               : 0;
}

static bry_status compact_window_create(const bry_window_options *options,
                                        const bry_allocator *allocator, void **self)
{
    bry__compact_shape shape;
    bry__maplet_options maplet;
    bry_status status = bry__compact_window_shape_of(options, &shape, &maplet);
    if (status != BRY_OK)
        return status;
    bry__compact_window *window = bry__alloc(allocator, sizeof *window);
    if (!window)
        return BRY_E_NOMEM;
    bry__maplet_init(&window->maplet, &maplet, allocator);
    window->shape = shape;
    window->small = SMALL_WINDOW;
    bry__window_set_time(window, bry__window_newest(&shape, options->start),
                         bry__window_oldest(&shape, options->start));
    window->value = BRY__NO_NAME;
    *self = window;
    return BRY_OK;
}

static void compact_window_clear(void *self)
{
    bry__compact_window *window = self;
    bry__maplet_free(&window->maplet);
    bry__aside_free_some(&window->aside, SIZE_MAX);
    window->value = BRY__NO_NAME;
}

static void compact_window_destroy(void *self)
{
    bry__compact_window *window = self;
    bry_allocator allocator = window->maplet.allocator;
    compact_window_clear(window);
    bry__free(&allocator, window, sizeof *window);
}

static bry_status compact_window_clone(const void *self, const bry_allocator *allocator,
                                       void **copy)
{
    const bry__compact_window *window = self;
    bry__compact_window *made = bry__alloc(allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    *made = *window;
    made->aside = NULL;
    bry_status status = bry__maplet_clone(&window->maplet, &made->maplet, allocator);
    if (status != BRY_OK) {
        bry__free(allocator, made, sizeof *made);
        return status;
    }
    *copy = made;
    return BRY_OK;
}

static const bry_allocator *compact_window_allocator(const void *self)
{
    const bry__compact_window *window = self;
    return &window->maplet.allocator;
}

static void compact_window_like(const void *self, bry_window_options *options)
{
    (void)self;
    (void)options; /* the options never change */
}

/* ---- looking up ----------------------------------------------------------------------------- */

/* The age of the oldest generation remembered at `now`; false if none is. */
static bool compact_window_oldest_age(const bry__compact_window *window, uint64_t now,
                                      uint64_t *age)
{
    uint64_t oldest = bry__window_oldest(&window->shape, now), then = bry__window_then(window);
    if (oldest < then)
        oldest = then;
    *age = window->newest - oldest;
    return oldest <= window->newest;
}

/* True if the value's generation is at most this old. */
static inline bool compact_window_is_recent(const bry__compact_window *window, uint32_t value,
                                            uint64_t most)
{
    uint32_t name = window->maplet.values->name[value - window->maplet.values->first];
    return name != BRY__NO_NAME && bry__window_age(window, name) <= most;
}

static bry_answer compact_window_has(const void *self, bry_hash hash, uint64_t now)
{
    const bry__compact_window *window = self;
    uint64_t most;
    uint32_t value;
    if (compact_window_oldest_age(window, now, &most))
        for (unsigned i = 0; i < window->maplet.tables; i++)
            if (bry__single_get(&window->maplet, i, hash, &value) &&
                compact_window_is_recent(window, value, most))
                return BRY_PRESENT;
    return BRY_ABSENT;
}

static void compact_window_has_some(const bry__compact_window *window, const bry_hash *hashes,
                                    size_t n, uint64_t most, uint8_t *answers)
{
    for (unsigned i = 0; i < window->maplet.tables; i++) {
        uint32_t values[SMALL_BATCH];
        uint8_t found[SMALL_BATCH];
        bry__single_get_n(&window->maplet, i, hashes, n, values, found);
        for (size_t j = 0; j < n; j++)
            if (found[j] && compact_window_is_recent(window, values[j], most))
                answers[j] = BRY_PRESENT;
    }
}

static void compact_window_has_n(const void *self, const bry_hash *hashes, size_t n, uint64_t now,
                                 uint8_t *answers)
{
    const bry__compact_window *window = self;
    uint64_t most;
    for (size_t i = 0; i < n; i++)
        answers[i] = BRY_ABSENT;
    bool any = compact_window_oldest_age(window, now, &most);
    for (size_t done = 0; any && done < n; done += SMALL_BATCH)
        compact_window_has_some(window, hashes + done,
                                n - done < SMALL_BATCH ? n - done : SMALL_BATCH, most,
                                answers + done);
}

/* ---- adding --------------------------------------------------------------------------------- */

/* Where an element was found. */
typedef struct found {
    bool any;
    unsigned table; /* the first one that remembers it */
    uint32_t dead; /* bit mask of the tables before it with an expired entry */
} found;

static found compact_window_find(const bry__maplet *maplet, bry_hash hash)
{
    found result = {0};
    for (unsigned i = 0; i < maplet->tables; i++) {
        uint32_t value;
        if (!bry__single_get(maplet, i, hash, &value))
            continue;
        if (bry__values_is_live(maplet, value)) {
            result.any = true;
            result.table = i;
            break;
        }
        result.dead |= (uint32_t)1 << i;
    }
    return result;
}

/* Gives an element the newest generation. `maybe` as for bry__single_put(). */
static bry_status compact_window_put(bry__compact_window *window, unsigned table, bry_hash hash,
                                     bool maybe, bry__single_step *step)
{
    bry_status status = bry__window_reach_value(window);
    return status == BRY_OK
               ? bry__single_put(&window->maplet, table, hash, window->value, maybe, step)
               : status;
}

/* Adds one element. Changes nothing on failure. */
static bry_status compact_window_add_one(bry__compact_window *window, bry_hash hash,
                                         bry_answer *was, bry__single_step *step)
{
    unsigned table;
    step->did = BRY__PUT_NOTHING;
    if (window->maplet.tables == 1 && window->value != BRY__NO_NAME && !window->shape.refresh &&
        bry__compact_window_place(window, &table) == BRY_OK && table == 0) { /* one search */
        bool live;
        bry_status status =
            bry__single_put_new(&window->maplet, 0, hash, window->value, &live, step);
        *was = live ? BRY_PRESENT : BRY_ABSENT;
        return status;
    }
    found there = compact_window_find(&window->maplet, hash);
    *was = there.any ? BRY_PRESENT : BRY_ABSENT;
    if (*was == BRY_ABSENT) {
        bry_status status = bry__compact_window_place(window, &table);
        return status == BRY_OK
                   ? compact_window_put(window, table, hash, there.dead >> table & 1, step)
                   : status;
    }
    if (!window->shape.refresh)
        return BRY_OK;
    /* If an earlier table has room again, it moves there: the old entry is left to expire. */
    if (there.table == 0 || bry__compact_window_place(window, &table) != BRY_OK ||
        table > there.table)
        table = there.table;
    return compact_window_put(window, table, hash, true, step);
}

static bry_status compact_window_add(void *self, bry_hash hash, uint64_t now, bry_answer *was)
{
    bry__compact_window *window = self;
    bry__window_change change;
    bry_status status = bry__compact_window_begin(window, now, true, &change);
    if (status != BRY_OK)
        return status;
    bry_answer answer;
    bry__single_step unused;
    status = bry__compact_window_end(
        window, &change, compact_window_add_one(window, hash, &answer, &unused), 1, now);
    if (status == BRY_OK)
        *was = answer;
    return status;
}

/* For each element of a batch: what it changed, and whether it was present. */
typedef struct batch_log {
    bry__single_step *did;
    uint8_t *was;
} batch_log;

/* Adds all elements, or none. */
static bry_status compact_window_add_all(bry__compact_window *window, const bry_hash *hashes,
                                         size_t n, const batch_log *log)
{
    bry__maplet *maplet = &window->maplet;
    unsigned tables = maplet->tables;
    bry_status status = BRY_OK;
    size_t i = 0;
    for (; i < n; i++) {
        if (i % BRY__TABLE_ROUND == 0)
            bry__maplet_prefetch_n(maplet, hashes + i,
                                   n - i < BRY__TABLE_ROUND ? n - i : BRY__TABLE_ROUND, true);
        bry_answer was;
        status = compact_window_add_one(window, hashes[i], &was, &log->did[i]);
        if (status != BRY_OK)
            break;
        log->was[i] = (uint8_t)was;
    }
    if (status == BRY_OK)
        return status;
    while (i-- > 0)
        bry__single_take_back(maplet, hashes[i], window->value, &log->did[i]);
    while (maplet->tables > tables)
        bry__maplet_close_table(maplet);
    return status;
}

static bry_status compact_window_add_logged(bry__compact_window *window, const bry_hash *hashes,
                                            size_t n, uint64_t now, const batch_log *log)
{
    bry__window_change change;
    bry_status status = bry__compact_window_begin(window, now, true, &change);
    if (status != BRY_OK)
        return status;
    status = compact_window_add_all(window, hashes, n, log);
    return bry__compact_window_end(window, &change, status, n, now);
}

static bry_status compact_window_add_n(void *self, const bry_hash *hashes, size_t n, uint64_t now,
                                       uint8_t *was)
{
    bry__compact_window *window = self;
    const bry_allocator allocator = window->maplet.allocator;
    bry__single_step did[SMALL_BATCH];
    uint8_t answers[SMALL_BATCH] = {0};
    batch_log log = {did, answers};
    if (n > SIZE_MAX / sizeof *did)
        return BRY_E_NOMEM;
    if (n > SMALL_BATCH) {
        log.did = bry__alloc_buffer(&allocator, n * sizeof *log.did);
        log.was = bry__alloc_buffer(&allocator, n);
    }
    bry_status status =
        log.did && log.was ? compact_window_add_logged(window, hashes, n, now, &log) : BRY_E_NOMEM;
    for (size_t i = 0; i < n && was && status == BRY_OK; i++)
        was[i] = log.was[i];
    if (n > SMALL_BATCH) {
        bry__free(&allocator, log.did, n * sizeof *log.did);
        bry__free(&allocator, log.was, n);
    }
    return status;
}

/* ---- other changes -------------------------------------------------------------------------- */

static bry_status compact_window_del(void *self, bry_hash hash, uint64_t now, bry_answer *was)
{
    bry__compact_window *window = self;
    bry__window_change change;
    bry_status status = bry__compact_window_begin(window, now, false, &change);
    if (status != BRY_OK)
        return status;
    *was = bry__single_del(&window->maplet, hash) ? BRY_PRESENT : BRY_ABSENT;
    return bry__compact_window_end(window, &change, BRY_OK, 0, now);
}

static bry_status compact_window_advance(void *self, uint64_t now)
{
    bry__compact_window *window = self;
    bry__window_change change;
    bry_status status = bry__compact_window_begin(window, now, false, &change);
    return status == BRY_OK ? bry__compact_window_end(window, &change, BRY_OK, 0, now) : status;
}

/* The name for each value of `from`, or BRY__NOT_KEPT if its generation is too old for `into`.
 * NULL: out of memory. */
static uint32_t *compact_window_names(const bry__compact_window *into,
                                      const bry__compact_window *from)
{
    const bry__values *values = from->maplet.values;
    uint32_t room = values ? values->room : 0;
    uint32_t *names = bry__alloc_buffer(&into->maplet.allocator, room * sizeof *names);
    for (uint32_t value = 0; names && value < room; value++) {
        uint32_t name = value < values->first ? BRY__NO_NAME : values->name[value - values->first];
        bool kept = name != BRY__NO_NAME &&
                    from->newest - bry__window_age(from, name) >= bry__window_then(into);
        names[value] = kept ? name : BRY__NOT_KEPT;
    }
    return names;
}

static void compact_window_free_names(uint32_t *names, const bry__compact_window *into,
                                      const bry__compact_window *from)
{
    const bry__values *values = from->maplet.values;
    bry__free(&into->maplet.allocator, names, (values ? values->room : 0) * sizeof *names);
}

typedef struct ages {
    const bry__compact_window *window;
} ages;

static bool compact_window_is_later(void *context, uint32_t own, uint32_t other)
{
    const bry__compact_window *window = ((const ages *)context)->window;
    return bry__window_age(window, other) < bry__window_age(window, own);
}

/* Makes a maplet of all that both windows remember at the time of `window`. Entries stay in their
 * table, as a fingerprint cannot be made longer. If two have the same fingerprint there, the later
 * generation wins. BRY_E_NOMEM. */
static bry_status compact_window_unite(const bry__compact_window *window,
                                       const bry__compact_window *from, bry__maplet *made)
{
    uint32_t *own = compact_window_names(window, window),
             *others = compact_window_names(window, from);
    ages by = {window};
    bry__single_source a = {&window->maplet, own}, b = {&from->maplet, others};
    bry_status status = own && others ? bry__single_unite(made, &a, &b, window->shape.bits,
                                                          compact_window_is_later, &by)
                                      : BRY_E_NOMEM;
    compact_window_free_names(own, window, window);
    compact_window_free_names(others, window, from);
    return status;
}

static bry_status compact_window_merge(void *self, const void *from, uint64_t now)
{
    bry__compact_window *window = self;
    bry__window_change change;
    bry__maplet both;
    bry_status status = bry__compact_window_begin(window, now, true, &change);
    if (status != BRY_OK)
        return status;
    status = compact_window_unite(window, from, &both);
    if (status == BRY_OK &&
        !(bry__maplet_keeps(&both) && bry__compact_window_keeps_limit(window, &both))) {
        bry__maplet_free(&both);
        status = BRY_E_FULL;
    }
    if (status == BRY_OK) {
        bry__maplet_free(&window->maplet);
        window->maplet = both;
        window->value = bry__values_find_named(&both, bry__window_name(window, window->newest));
        window->allowance = 0;
    }
    return bry__compact_window_end(window, &change, status, 0, now);
}

/* ---- statistics ----------------------------------------------------------------------------- */

static uint64_t compact_window_items(const void *self)
{
    const bry__compact_window *window = self;
    return bry__maplet_count(&window->maplet);
}

static uint64_t compact_window_bytes(const void *self)
{
    return bry__compact_window_bytes(self);
}

static size_t compact_window_generations(const void *self, uint64_t now,
                                         bry_window_generation *generations, size_t generation_size,
                                         size_t room)
{
    const bry__compact_window *window = self;
    const bry__maplet *maplet = &window->maplet;
    uint64_t live = bry__maplet_count(maplet), length = window->shape.length;
    size_t n = (size_t)window->older + 1;
    (void)now; /* equals the window's time */
    for (size_t i = 0; i < n && i < room; i++) {
        uint64_t number = window->newest - i, begin_at = number * length, items = 0;
        uint32_t value = bry__values_find_named(maplet, bry__window_name(window, number));
        if (value != BRY__NO_NAME)
            items = bry__values_entries(maplet, value);
        bry_window_generation generation = {
            .begin = begin_at,
            .end = i == 0 ? UINT64_MAX : begin_at + length,
            .items = items,
            .fill = live ? (double)items / (double)live : 0,
        };
        bry__struct_write(bry__element(generations, generation_size, i), generation_size,
                          &generation, sizeof generation);
    }
    return n;
}

static void compact_window_stats(const void *self, uint64_t now, bry_window_stats *stats)
{
    const bry__compact_window *window = self;
    stats->covered = now - bry__window_then(window) * window->shape.length;
    stats->items = bry__maplet_count(&window->maplet);
    stats->generations = window->older + 1;
    stats->estimated_error = bry__maplet_error_now(&window->maplet);
    stats->at_limit = bry__compact_window_at_limit(window);
    stats->bytes = bry__compact_window_bytes(window);
}

const bry__window_engine bry__compact_window_engine = {
    .engine = BRY_ENGINE_COMPACT,
    .plan = compact_window_plan,
    .bytes_first = compact_window_bytes_first,
    .create = compact_window_create,
    .destroy = compact_window_destroy,
    .clone = compact_window_clone,
    .clear = compact_window_clear,
    .allocator = compact_window_allocator,
    .like = compact_window_like,
    .has = compact_window_has,
    .has_n = compact_window_has_n,
    .add = compact_window_add,
    .add_n = compact_window_add_n,
    .del = compact_window_del,
    .advance = compact_window_advance,
    .merge = compact_window_merge,
    .items = compact_window_items,
    .bytes = compact_window_bytes,
    .generations = compact_window_generations,
    .stats = compact_window_stats,
    .write = bry__compact_window_write,
    .read = bry__compact_window_read,
};
