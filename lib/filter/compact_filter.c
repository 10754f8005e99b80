/*
 * The engine compact: the fingerprint of each key in a maplet, with values of no bits.
 *
 * A fingerprint stands there once: adding looks first, in all tables. So the count is that of
 * fingerprints, and deleting one takes every key out that has it. A fixed filter has one table; one
 * that grows has a bit more an entry, and further tables past its capacity.
 */
#include "filter/filter_engine.h"

#include "frame/frame.h"
#include "hash/derive.h"

#define BATCH 64u

/* ---- making -------------------------------------------------------------------------------- */

static bry__maplet_options maplet_options(const bry_filter_options *options)
{
    return (bry__maplet_options){
        .capacity = options->capacity, .error = options->error, .fixed = options->fixed};
}

static bry_status plan(const bry_filter_options *options, bry_filter_shape *shape)
{
    if (options->bits || options->hashes)
        return BRY_E_UNSUPPORTED;
    bry__maplet_options maplet = maplet_options(options);
    uint64_t range = bry__maplet_range(&maplet);
    if (range == 0)
        return BRY_E_RANGE;
    shape->fingerprint_bits = 64 - (unsigned)__builtin_clzll(range - 1);
    shape->error = (double)options->capacity / (double)range;
    shape->bytes = bry__maplet_plan_bytes(&maplet, options->capacity);
    shape->bytes_empty = bry__maplet_bytes_empty();
    shape->bits = shape->bytes * 8;
    return BRY_OK;
}

static bry_status init(bry_filter *filter, const bry_filter_options *options)
{
    bry__maplet_options maplet = maplet_options(options);
    return bry__maplet_init(&filter->compact, &maplet, &filter->allocator);
}

static void free_table(bry_filter *filter)
{
    bry__maplet_free(&filter->compact);
}

static bry_status clone(const bry_filter *filter, bry_filter *copy)
{
    return bry__maplet_clone(&filter->compact, &copy->compact, &copy->allocator);
}

static bool always(void *context, uint64_t fingerprint, uint32_t value)
{
    (void)context;
    (void)fingerprint;
    (void)value;
    return true;
}

/* A fresh maplet in place of the old; without memory for it, every entry is taken out, which needs
 * none. */
static void clear(bry_filter *filter)
{
    bry__maplet *maplet = &filter->compact;
    bool done = bry__maplet_clear(maplet) == BRY_OK;
    while (maplet->tables > 1)
        bry__maplet_close_table(maplet);
    while (!done)
        if (bry__maplet_sweep(maplet, always, NULL, UINT64_MAX, &done) != BRY_OK)
            break;
    filter->items = bry__maplet_count(maplet);
}

static bool is_fixed(const bry_filter *filter)
{
    return filter->compact.options.fixed;
}

static void like(const bry_filter *filter, bry_filter_options *options)
{
    options->fixed = filter->compact.options.fixed;
}

/* ---- keys ---------------------------------------------------------------------------------- */

static bool has(const bry_filter *filter, bry_hash hash)
{
    uint32_t value;
    return bry__maplet_get(&filter->compact, hash, &value) == BRY_PRESENT;
}

static void has_n(const bry_filter *filter, const bry_hash *hashes, size_t n, uint8_t *answers)
{
    bry__maplet_has_n(&filter->compact, hashes, n, answers);
}

/* Takes back the first n, last first, and the tables that were opened for them. */
static void take_back(bry__maplet *maplet, const bry_hash *hashes, size_t n, const uint8_t *was)
{
    while (n-- > 0)
        if (was[n] == BRY_ABSENT)
            bry__maplet_del_value(maplet, hashes[n], 0);
    while (maplet->tables > 1 && maplet->table[maplet->tables - 1]->n == 0)
        bry__maplet_close_table(maplet);
}

static bry_status add_logged(bry__maplet *maplet, const bry_hash *hashes, size_t n, uint8_t *log)
{
    uint8_t fetched[BATCH];
    for (size_t i = 0; i < n; i++) {
        if (n > 1 && i % BATCH == 0) /* for what it fetches into the cache */
            bry__maplet_has_n(maplet, hashes + i, n - i < BATCH ? n - i : BATCH, fetched);
        bry_answer was;
        bry_status status = bry__maplet_upsert(maplet, hashes[i], 0, &was, NULL);
        if (status != BRY_OK) {
            take_back(maplet, hashes, i, log);
            return status;
        }
        log[i] = (uint8_t)was;
    }
    return BRY_OK;
}

static bry_status add_n(bry_filter *filter, const bry_hash *hashes, size_t n, uint8_t *was)
{
    uint8_t small[BATCH];
    uint8_t *log = n <= BATCH ? small : bry__alloc(&filter->allocator, n);
    if (!log)
        return BRY_E_NOMEM;
    bry_status status = add_logged(&filter->compact, hashes, n, log);
    for (size_t i = 0; i < n && was && status == BRY_OK; i++)
        was[i] = log[i];
    if (log != small)
        bry__free(&filter->allocator, log, n);
    filter->items = bry__maplet_count(&filter->compact);
    return status;
}

static bool del(bry_filter *filter, bry_hash hash)
{
    bry__maplet *maplet = &filter->compact;
    bool there = bry__maplet_del(maplet, hash) > 0;
    /* A merge may have left an empty one, which stays where nothing is deleted: that changes
     * nothing at all. */
    while (there && maplet->tables > 1 && maplet->table[maplet->tables - 1]->n == 0)
        bry__maplet_close_table(maplet);
    filter->items = bry__maplet_count(&filter->compact);
    return there;
}

/* ---- merging ------------------------------------------------------------------------------- */

/* Whether a fingerprint of table i is known, by itself or by the shorter one of an earlier table.
 */
static bool is_known(const bry__maplet *maplet, unsigned i, uint64_t fingerprint)
{
    uint32_t value;
    for (unsigned j = 0; j <= i; j++)
        if (bry__table_get(maplet->table[j], bry__chain_shorten(&maplet->chain, fingerprint, i, j),
                           &value))
            return true;
    return false;
}

static bry_status merge_into(bry__maplet *into, const bry__maplet *from)
{
    bry_status status = BRY_OK;
    while (into->tables < from->tables && status == BRY_OK)
        status = bry__maplet_open_table(into);
    bry__maplet_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t value;
    while (status == BRY_OK && bry__maplet_next(from, &cursor, &fingerprint, &value))
        if (!is_known(into, cursor.table, fingerprint))
            status =
                bry__table_add(into->table[cursor.table], fingerprint, value, &into->allocator);
    return status == BRY_OK && !bry__maplet_keeps(into) ? BRY_E_FULL : status;
}

static bry_status merge(bry_filter *into, const bry_filter *from)
{
    const bry__maplet *a = &into->compact, *b = &from->compact;
    if (a->options.capacity != b->options.capacity || a->options.error != b->options.error ||
        a->options.fixed != b->options.fixed)
        return BRY_E_MISMATCH;
    bry__maplet both; /* that it fits is known at the end alone */
    bry_status status = bry__maplet_clone(a, &both, &a->allocator);
    if (status != BRY_OK)
        return status;
    status = merge_into(&both, b);
    if (status != BRY_OK) {
        bry__maplet_free(&both);
        return status;
    }
    bry__maplet_free(&into->compact);
    into->compact = both;
    into->items = bry__maplet_count(&both);
    return BRY_OK;
}

/* ---- telling, keeping ---------------------------------------------------------------------- */

static void stats(const bry_filter *filter, bry_filter_stats *stats)
{
    const bry__maplet *maplet = &filter->compact;
    double room = 0;
    for (unsigned i = 0; i < maplet->tables; i++)
        room += (double)maplet->chain.capacity[i];
    stats->bytes = bry__maplet_bytes(maplet);
    stats->bits = stats->bytes * 8;
    stats->fill = (double)filter->items / room;
    stats->estimated_error = bry__maplet_error_now(maplet);
    stats->tables = maplet->tables;
}

static void numbers(const bry_filter *filter, bry__filter_numbers *numbers)
{
    (void)filter;
    *numbers = (bry__filter_numbers){0};
}

static void write(const bry_filter *filter, bry__frame_writer *writer)
{
    bry__maplet_write(&filter->compact, writer);
}

static bry_status read(bry_filter *filter, const bry__filter_numbers *numbers,
                       bry__frame_reader *reader)
{
    if (numbers->hashes != 0 || numbers->blocks != 0 || numbers->pieces != 0)
        return bry__frame_reader_fail(reader, BRY_E_BADDATA, "numbers that compact does not have");
    bry__maplet read;
    bry_status status = bry__maplet_read(&read, reader, &filter->allocator);
    if (status != BRY_OK)
        return status;
    if (read.options.capacity != filter->capacity || read.options.error != filter->error ||
        read.options.value_bits != 0)
        status = bry__frame_reader_fail(reader, BRY_E_BADDATA, "the maplet is of another filter");
    else if (bry__maplet_count(&read) != filter->items)
        status = bry__frame_reader_fail(reader, BRY_E_BADDATA,
                                        "the entries do not agree with the number of items");
    else if (bry__maplet_has_twins(&read) /* adding looks first */)
        status = bry__frame_reader_fail(reader, BRY_E_BADDATA, "a fingerprint occurs twice");
    else
        status = bry__frame_reader_end(reader);
    if (status == BRY_OK)
        filter->compact = read;
    else
        bry__maplet_free(&read);
    return status;
}

const bry__filter_engine bry__compact_filter_engine = {
    .engine = BRY_ENGINE_COMPACT,
    .plan = plan,
    .init = init,
    .free = free_table,
    .clone = clone,
    .clear = clear,
    .is_fixed = is_fixed,
    .like = like,
    .has = has,
    .has_n = has_n,
    .add_n = add_n,
    .del = del,
    .merge = merge,
    .stats = stats,
    .numbers = numbers,
    .write = write,
    .read = read,
};
