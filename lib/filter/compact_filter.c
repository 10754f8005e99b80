/*
 * The engine compact: a maplet that holds the fingerprint of each key, with values of 0 bits.
 *
 * Each fingerprint is stored once, as adding looks in all tables first. So the count is the number
 * of fingerprints, and deleting a key also deletes all others with the same fingerprint. A fixed
 * filter has one table. One that grows takes 0.4 bits more per entry, and opens tables beyond its
 * capacity.
 */
#include "filter/filter_engine.h"

#include "frame/frame.h"

/* ---- making -------------------------------------------------------------------------------- */

static bry__maplet_options compact_filter_maplet_options(const bry_filter_options *options)
{
    return (bry__maplet_options){
        .capacity = options->capacity, .error = options->error, .fixed = options->fixed};
}

static bry_status compact_filter_plan(const bry_filter_options *options, bry_filter_shape *shape)
{
    if (options->bloom.bits || options->bloom.hashes)
        return BRY_E_UNSUPPORTED;
    bry__maplet_options maplet = compact_filter_maplet_options(options);
    uint64_t range = bry__maplet_range(&maplet);
    if (range == 0)
        return BRY_E_RANGE;
    shape->compact.fingerprint_bits = 64 - (unsigned)__builtin_clzll(range - 1);
    shape->error = (double)options->capacity / (double)range;
    shape->bytes = bry__maplet_plan_bytes(&maplet, options->capacity);
    shape->bytes_empty = 0;
    shape->bits = shape->bytes * 8;
    shape->grows_to = bry__maplet_most(&maplet);
    return BRY_OK;
}

static bry_status compact_filter_init(bry_filter *filter, const bry_filter_options *options)
{
    bry__maplet_options maplet = compact_filter_maplet_options(options);
    return bry__maplet_init(&filter->compact, &maplet, &filter->allocator) ? BRY_OK : BRY_E_RANGE;
}

static void compact_filter_free_table(bry_filter *filter)
{
    bry__maplet_free(&filter->compact);
}

static bry_status compact_filter_clone(const bry_filter *filter, bry_filter *copy)
{
    return bry__maplet_clone(&filter->compact, &copy->compact, &copy->allocator);
}

static void compact_filter_clear(bry_filter *filter)
{
    bry__maplet_clear(&filter->compact);
}

static bool compact_filter_is_fixed(const bry_filter *filter)
{
    return filter->compact.chain.fixed;
}

static void compact_filter_like(const bry_filter *filter, bry_filter_options *options)
{
    options->capacity = filter->compact.chain.first_capacity;
    options->error = filter->compact.chain.error;
    options->fixed = filter->compact.chain.fixed;
}

/* ---- keys ---------------------------------------------------------------------------------- */

static bool compact_filter_has(const bry_filter *filter, bry_hash hash)
{
    uint32_t value;
    return bry__maplet_get(&filter->compact, hash, &value) == BRY_PRESENT;
}

static void compact_filter_has_n(const bry_filter *filter, const bry_hash *hashes, size_t n,
                                 uint8_t *answers)
{
    bry__maplet_has_n(&filter->compact, hashes, n, answers);
}

static bry_status compact_filter_add(bry_filter *filter, bry_hash hash, bool *was)
{
    bry_answer answer;
    bry_status status = bry__maplet_upsert(&filter->compact, hash, 0, &answer, NULL);
    if (status != BRY_OK)
        return status;
    *was = answer == BRY_PRESENT;
    return BRY_OK;
}

static bry_status compact_filter_add_n(bry_filter *filter, const bry_hash *hashes, size_t n,
                                       uint8_t *was)
{
    return bry__maplet_upsert_n(&filter->compact, hashes, NULL, n, NULL, was);
}

static bool compact_filter_del(bry_filter *filter, bry_hash hash)
{
    return bry__maplet_del(&filter->compact, hash) > 0;
}

/* ---- merging ------------------------------------------------------------------------------- */

static bry_status compact_filter_merge(bry_filter *into, const bry_filter *from)
{
    return bry__maplet_merge(&into->compact, &from->compact, BRY__MERGE_KEEP, NULL);
}

/* ---- statistics, saving -------------------------------------------------------------------- */

static uint64_t compact_filter_items(const bry_filter *filter)
{
    return bry__maplet_count(&filter->compact);
}

static uint64_t compact_filter_bytes(const bry_filter *filter)
{
    return bry__maplet_bytes(&filter->compact);
}

static void compact_filter_stats(const bry_filter *filter, bry_filter_stats *stats)
{
    const bry__maplet *maplet = &filter->compact;
    stats->bits = compact_filter_bytes(filter) * 8;
    stats->fill = (double)bry__maplet_count(maplet) / bry__maplet_planned(maplet);
    stats->estimated_error = bry__maplet_error_now(maplet);
    stats->tables = maplet->tables ? maplet->tables : 1;
}

static void compact_filter_numbers(const bry_filter *filter, bry__filter_numbers *numbers)
{
    *numbers = (bry__filter_numbers){.capacity = filter->compact.chain.first_capacity,
                                     .items = bry__maplet_count(&filter->compact),
                                     .error = filter->compact.chain.error};
}

static void compact_filter_write(const bry_filter *filter, bry__frame_writer *writer)
{
    bry__maplet_write(&filter->compact, writer);
}

static bry_status compact_filter_read(bry_filter *filter, const bry__filter_numbers *numbers,
                                      bry__frame_reader *reader)
{
    if (numbers->hashes != 0 || numbers->blocks != 0 || numbers->pieces != 0)
        return bry__frame_reader_bad(reader, "fields of a Bloom filter in a compact filter");
    bry__maplet read;
    static const bry__entry_visit visit = {.single = true}; /* adding looks first */
    bry_status status = bry__maplet_read(&read, reader, &filter->allocator, &visit);
    if (status != BRY_OK)
        return status;
    if (read.chain.first_capacity != numbers->capacity || read.chain.error != numbers->error ||
        read.value_bits != 0 || read.chain.fixed > BRY__FIXED)
        status = bry__frame_reader_bad(reader, "the maplet does not match the filter");
    else if (bry__maplet_count(&read) != numbers->items)
        status = bry__frame_reader_bad(reader, "the number of entries does not match the items");
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
    .size = offsetof(bry_filter, compact) + sizeof(bry__maplet),
    .plan = compact_filter_plan,
    .init = compact_filter_init,
    .free = compact_filter_free_table,
    .clone = compact_filter_clone,
    .clear = compact_filter_clear,
    .is_fixed = compact_filter_is_fixed,
    .like = compact_filter_like,
    .has = compact_filter_has,
    .has_n = compact_filter_has_n,
    .add = compact_filter_add,
    .add_n = compact_filter_add_n,
    .del = compact_filter_del,
    .merge = compact_filter_merge,
    .items = compact_filter_items,
    .bytes = compact_filter_bytes,
    .stats = compact_filter_stats,
    .numbers = compact_filter_numbers,
    .write = compact_filter_write,
    .read = compact_filter_read,
};
