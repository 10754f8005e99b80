/* The engine bloom: the bits of bloom/bloom_blocked.c, and a count of keys that keeps the promise.
 */
#include "filter/filter_engine.h"

#include "common/checked.h"
#include "common/sizing.h"
#include "frame/frame_pieces.h"

#include <math.h>

/* ---- making -------------------------------------------------------------------------------- */

static bry_status bloom_filter_plan(const bry_filter_options *options, bry_filter_shape *shape)
{
    bry__blocked_shape blocked;
    if (options->bloom.bits) {
        blocked.blocks = options->bloom.bits / BRY__BLOCK_BITS;
        blocked.hashes = options->bloom.hashes;
        blocked.error =
            bry__blocked_error(blocked.blocks, blocked.hashes, (double)options->capacity);
    } else {
        blocked = bry__blocked_plan(options->capacity, options->error);
    }
    uint64_t table = blocked.blocks * BRY__BLOCK_BYTES;
    shape->bits = blocked.blocks * BRY__BLOCK_BITS;
    shape->bloom.hashes = blocked.hashes;
    shape->error = blocked.error;
    shape->bytes = bry__pieces_bytes_full(table);
    shape->bytes_empty = bry__pieces_bytes_empty(table);
    shape->grows_to = options->capacity;
    return BRY_OK;
}

static bry_status bloom_filter_init(bry_filter *filter, const bry_filter_options *options)
{
    bry_filter_shape shape;
    bloom_filter_plan(options, &shape);
    filter->capacity = options->capacity;
    filter->error = options->error;
    return bry__blocked_init(&filter->bloom, shape.bits / BRY__BLOCK_BITS, shape.bloom.hashes,
                             &filter->allocator);
}

static void bloom_filter_free_table(bry_filter *filter)
{
    bry__blocked_free(&filter->bloom, &filter->allocator);
}

static bry_status bloom_filter_clone(const bry_filter *filter, bry_filter *copy)
{
    copy->capacity = filter->capacity;
    copy->items = filter->items;
    copy->error = filter->error;
    return bry__blocked_clone(&filter->bloom, &copy->bloom, &copy->allocator);
}

static void bloom_filter_clear(bry_filter *filter)
{
    bry__blocked_clear(&filter->bloom, &filter->allocator);
    filter->items = 0;
}

static bool bloom_filter_is_fixed(const bry_filter *filter)
{
    (void)filter;
    return true;
}

static void bloom_filter_like(const bry_filter *filter, bry_filter_options *options)
{
    options->capacity = filter->capacity;
    options->error = filter->error;
    options->bloom.bits = filter->bloom.blocks * BRY__BLOCK_BITS;
    options->bloom.hashes = filter->bloom.hashes;
}

/* ---- keys ---------------------------------------------------------------------------------- */

static bool bloom_filter_has(const bry_filter *filter, bry_hash hash)
{
    return bry__blocked_has(&filter->bloom, hash);
}

static void bloom_filter_has_n(const bry_filter *filter, const bry_hash *hashes, size_t n,
                               uint8_t *answers)
{
    bry__blocked_has_n(&filter->bloom, hashes, n, answers);
}

static bry_status bloom_filter_add(bry_filter *filter, bry_hash hash, bool *was)
{
    if (filter->items >= filter->capacity) {
        *was = bloom_filter_has(filter, hash);
        return *was ? BRY_OK : BRY_E_FULL;
    }
    if (!bry__blocked_is_whole(&filter->bloom)) {
        bry_status status = bry__blocked_reach(&filter->bloom, &hash, 1, &filter->allocator);
        if (status != BRY_OK)
            return status;
    }
    *was = !bry__blocked_add(&filter->bloom, hash);
    filter->items += !*was;
    return BRY_OK;
}

static bry_status bloom_filter_add_n(bry_filter *filter, const bry_hash *hashes, size_t n,
                                     uint8_t *was)
{
    bry_status status = bry__blocked_reach(&filter->bloom, hashes, n, &filter->allocator);
    if (status == BRY_OK)
        filter->items += bry__blocked_add_n(&filter->bloom, hashes, n, was);
    return status;
}

static bry_status bloom_filter_merge(bry_filter *into, const bry_filter *from)
{
    const bry__blocked *a = &into->bloom, *b = &from->bloom;
    if (into->capacity != from->capacity || a->blocks != b->blocks || a->hashes != b->hashes)
        return BRY_E_MISMATCH;

    /*
     * Keys that both hold are counted once: the count is between the larger one and the sum, and is
     * estimated from the bits. If one filter's bits are all set in the other, its keys are all
     * there already.
     */
    uint64_t sum = into->items + from->items;
    uint64_t items = into->items > from->items ? into->items : from->items;
    uint64_t together = bry__blocked_count_union(a, b);
    if (together != bry__blocked_count_bits(a) && together != bry__blocked_count_bits(b)) {
        double fill = (double)together / ((double)a->blocks * BRY__BLOCK_BITS);
        double estimate =
            fill < 1 ? round(bry__blocked_count(a->blocks, a->hashes, fill)) : INFINITY;
        /* A key sets at most k bits; loading a filter relies on that. */
        uint64_t least = (together + a->hashes - 1) / a->hashes;
        if (items < least)
            items = least;
        if (estimate >= (double)sum)
            items = sum;
        else if (estimate > (double)items)
            items = (uint64_t)estimate;
    }
    if (items > into->capacity)
        return BRY_E_FULL;

    bry_status status = bry__blocked_unite(&into->bloom, b, &into->allocator);
    if (status == BRY_OK)
        into->items = items;
    return status;
}

static uint64_t bloom_filter_items(const bry_filter *filter)
{
    return filter->items;
}

static uint64_t bloom_filter_bytes(const bry_filter *filter)
{
    return bry__pieces_bytes_now(&filter->bloom.table);
}

static void bloom_filter_stats(const bry_filter *filter, bry_filter_stats *stats)
{
    const bry__blocked *bloom = &filter->bloom;
    stats->bits = bloom->blocks * BRY__BLOCK_BITS;
    stats->bloom.hashes = bloom->hashes;
    stats->fill = (double)bry__blocked_count_bits(bloom) / (double)stats->bits;
    stats->estimated_error = bry__blocked_error_now(bloom);
    stats->tables = 1;
}

/* ---- frames -------------------------------------------------------------------------------- */

static void bloom_filter_numbers(const bry_filter *filter, bry__filter_numbers *numbers)
{
    const bry__blocked *bloom = &filter->bloom;
    *numbers = (bry__filter_numbers){.capacity = filter->capacity,
                                     .items = filter->items,
                                     .error = filter->error,
                                     .hashes = bloom->hashes,
                                     .blocks = bloom->blocks,
                                     .pieces = bry__frame_pieces(&bloom->table)};
}

static void bloom_filter_write(const bry_filter *filter, bry__frame_writer *writer)
{
    bry__frame_write_pieces(writer, &filter->bloom.table, 1);
}

static bry_status bloom_filter_read(bry_filter *filter, const bry__filter_numbers *numbers,
                                    bry__frame_reader *reader)
{
    filter->capacity = numbers->capacity;
    filter->items = numbers->items;
    filter->error = numbers->error;
    if (numbers->hashes < 1 || numbers->hashes > BRY__BLOCKED_MAX_HASHES)
        return bry__frame_reader_bad(reader, "the number of hashes is out of range");
    if (numbers->blocks < 1 || !bry__filter_blocks_allowed(numbers->blocks, filter->capacity))
        return bry__frame_reader_bad(reader, "the number of blocks is out of range");
    if (filter->items > filter->capacity)
        return bry__frame_reader_bad(reader, "more items than the capacity");
    bry_status status = bry__frame_reader_claim(
        reader, bry__pieces_bytes_empty(numbers->blocks * BRY__BLOCK_BYTES));
    if (status != BRY_OK)
        return status;
    if (bry__blocked_init(&filter->bloom, numbers->blocks, numbers->hashes, &filter->allocator) !=
        BRY_OK)
        return bry__frame_reader_no_memory(reader);
    status = bry__frame_read_pieces(reader, &filter->bloom.table, 1, numbers->pieces,
                                    &filter->allocator);
    if (status == BRY_OK)
        status = bry__frame_reader_end(reader);
    if (status == BRY_OK) {
        uint64_t bits = bry__blocked_count_bits(&filter->bloom), most;
        if (!bry__mul(filter->items, filter->bloom.hashes, &most) || bits > most ||
            (bits == 0) != (filter->items == 0))
            status = bry__frame_reader_bad(reader, "the bits do not match the number of items");
    }
    if (status != BRY_OK)
        bloom_filter_free_table(filter);
    return status;
}

const bry__filter_engine bry__bloom_filter_engine = {
    .engine = BRY_ENGINE_BLOOM,
    .size = sizeof(bry_filter),
    .plan = bloom_filter_plan,
    .init = bloom_filter_init,
    .free = bloom_filter_free_table,
    .clone = bloom_filter_clone,
    .clear = bloom_filter_clear,
    .is_fixed = bloom_filter_is_fixed,
    .like = bloom_filter_like,
    .has = bloom_filter_has,
    .has_n = bloom_filter_has_n,
    .add = bloom_filter_add,
    .add_n = bloom_filter_add_n,
    .merge = bloom_filter_merge,
    .items = bloom_filter_items,
    .bytes = bloom_filter_bytes,
    .stats = bloom_filter_stats,
    .numbers = bloom_filter_numbers,
    .write = bloom_filter_write,
    .read = bloom_filter_read,
};
