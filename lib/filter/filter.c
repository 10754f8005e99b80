/*
 * The filter job: options become a shape, and a shape becomes an object that keeps its promise by
 * counting what it takes in. The bits themselves are bloom/bloom_blocked.c's.
 */
#include "filter/filter_object.h"

#include "common/random.h"
#include "common/sizing.h"

#include <math.h>
#include <string.h>

/* Options as this version knows them: fields that an older caller's struct lacks become zero, and
 * zeros become defaults. */
static bry_status read_options(const bry_filter_options *given, bry_filter_options *options)
{
    *options = (bry_filter_options)BRY_FILTER_OPTIONS;
    if (given) {
        if (given->struct_size < sizeof given->struct_size || given->struct_size > sizeof *given)
            return BRY_E_RANGE;
        memcpy(options, given, given->struct_size);
    }
    if (options->engine == BRY_ENGINE_AUTO)
        options->engine = BRY_ENGINE_BLOOM;
    if (options->capacity == 0)
        options->capacity = 1000;
    if (options->error == 0)
        options->error = 0.01;
    if (!bry_engine_name(options->engine) || options->capacity > BRY__FILTER_MAX_CAPACITY ||
        !(options->error >= BRY__FILTER_MIN_ERROR && options->error <= BRY__FILTER_MAX_ERROR) ||
        (options->bits == 0) != (options->hashes == 0) || options->bits % BRY__BLOCK_BITS != 0 ||
        options->bits / BRY__BLOCK_BITS > BRY__FILTER_MAX_BLOCKS ||
        options->hashes > BRY__BLOCKED_MAX_HASHES)
        return BRY_E_RANGE;
    return options->engine == BRY_ENGINE_BLOOM ? BRY_OK : BRY_E_UNSUPPORTED;
}

static bry_filter_shape shape_of(const bry_filter_options *options)
{
    bry__blocked_shape blocked;
    if (options->bits) {
        blocked.blocks = options->bits / BRY__BLOCK_BITS;
        blocked.hashes = options->hashes;
        blocked.error =
            bry__blocked_error(blocked.blocks, blocked.hashes, (double)options->capacity);
    } else {
        blocked = bry__blocked_plan(options->capacity, options->error);
    }
    uint64_t table = blocked.blocks * BRY__BLOCK_BYTES;
    return (bry_filter_shape){
        .engine = options->engine,
        .capacity = options->capacity,
        .bits = blocked.blocks * BRY__BLOCK_BITS,
        .hashes = blocked.hashes,
        .error = blocked.error,
        .bytes = sizeof(bry_filter) + bry__pieces_bytes_full(table),
        .bytes_empty = sizeof(bry_filter) + bry__pieces_bytes_empty(table),
    };
}

bry_status bry_filter_plan(const bry_filter_options *options, bry_filter_shape *shape)
{
    bry_filter_options read;
    bry_status status = read_options(options, &read);
    if (status == BRY_OK)
        *shape = shape_of(&read);
    return status;
}

bry_status bry_filter_create(const bry_filter_options *given, bry_filter **filter)
{
    bry_filter_options options;
    bry_status status = read_options(given, &options);
    if (status == BRY_OK && options.seed == 0)
        status = bry__random_seed(&options.seed);
    if (status != BRY_OK)
        return status;

    bry_filter_shape shape = shape_of(&options);
    bry_allocator allocator = bry__allocator_or_default(options.allocator);
    bry_filter *made = bry__alloc(&allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    *made = (bry_filter){.allocator = allocator,
                         .seed = options.seed,
                         .capacity = options.capacity,
                         .error = options.error};
    status =
        bry__blocked_init(&made->bloom, shape.bits / BRY__BLOCK_BITS, shape.hashes, &allocator);
    if (status != BRY_OK) {
        bry__free(&allocator, made, sizeof *made);
        return status;
    }
    *filter = made;
    return BRY_OK;
}

bry_filter_options bry_filter_options_like(const bry_filter *other)
{
    return (bry_filter_options){
        .struct_size = sizeof(bry_filter_options),
        .engine = BRY_ENGINE_BLOOM,
        .capacity = other->capacity,
        .error = other->error,
        .seed = other->seed,
        .bits = other->bloom.blocks * BRY__BLOCK_BITS,
        .hashes = other->bloom.hashes,
    };
}

void bry_filter_destroy(bry_filter *filter)
{
    if (!filter)
        return;
    bry_allocator allocator = filter->allocator;
    bry__blocked_free(&filter->bloom, &allocator);
    bry__free(&allocator, filter, sizeof *filter);
}

bry_status bry_filter_clone(const bry_filter *filter, bry_filter **copy)
{
    bry_filter *made = bry__alloc(&filter->allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    *made = *filter;
    bry_status status = bry__blocked_clone(&filter->bloom, &made->bloom, &filter->allocator);
    if (status != BRY_OK) {
        bry__free(&filter->allocator, made, sizeof *made);
        return status;
    }
    *copy = made;
    return BRY_OK;
}

void bry_filter_clear(bry_filter *filter)
{
    bry__blocked_clear(&filter->bloom, &filter->allocator);
    filter->items = 0;
}

uint64_t bry_filter_seed(const bry_filter *filter)
{
    return filter->seed;
}

bry_status bry_filter_add(bry_filter *filter, bry_hash hash, bry_answer *was)
{
    bool present = bry__blocked_has(&filter->bloom, hash);
    if (!present) {
        if (filter->items >= filter->capacity)
            return BRY_E_FULL;
        bry_status status = bry__blocked_reach(&filter->bloom, &hash, 1, &filter->allocator);
        if (status != BRY_OK)
            return status;
        bry__blocked_add(&filter->bloom, hash);
        filter->items++;
    }
    if (was)
        *was = present ? BRY_PRESENT : BRY_ABSENT;
    return BRY_OK;
}

/* Whether n more keys fit: at once when there is room for all, else by counting the absent ones. */
static bool fits(const bry_filter *filter, const bry_hash *hashes, size_t n)
{
    uint64_t room = filter->capacity - filter->items;
    if (n <= room)
        return true;
    uint8_t answers[256];
    uint64_t absent = 0;
    for (size_t done = 0; done < n && absent <= room; done += sizeof answers) {
        size_t here = n - done < sizeof answers ? n - done : sizeof answers;
        bry__blocked_has_n(&filter->bloom, hashes + done, here, answers);
        for (size_t i = 0; i < here; i++)
            absent += answers[i] == BRY_ABSENT;
    }
    return absent <= room;
}

bry_status bry_filter_add_n(bry_filter *filter, const bry_hash *hashes, size_t n, uint8_t *was)
{
    if (!fits(filter, hashes, n))
        return BRY_E_FULL;
    bry_status status = bry__blocked_reach(&filter->bloom, hashes, n, &filter->allocator);
    if (status != BRY_OK)
        return status;
    filter->items += bry__blocked_add_n(&filter->bloom, hashes, n, was);
    return BRY_OK;
}

bry_answer bry_filter_has(const bry_filter *filter, bry_hash hash)
{
    return bry__blocked_has(&filter->bloom, hash) ? BRY_PRESENT : BRY_ABSENT;
}

void bry_filter_has_n(const bry_filter *filter, const bry_hash *hashes, size_t n, uint8_t *answers)
{
    bry__blocked_has_n(&filter->bloom, hashes, n, answers);
}

bry_status bry_filter_merge(bry_filter *into, const bry_filter *from)
{
    const bry__blocked *a = &into->bloom, *b = &from->bloom;
    if (into->seed != from->seed || into->capacity != from->capacity || a->blocks != b->blocks ||
        a->hashes != b->hashes)
        return BRY_E_MISMATCH;

    /*
     * Keys that both hold are counted once: between the larger count and the sum, the bits tell.
     * Where one filter's bits are all set in the other, its keys are all known there already.
     */
    uint64_t sum = into->items + from->items;
    uint64_t items = into->items > from->items ? into->items : from->items;
    uint64_t together = bry__blocked_count_union(a, b);
    if (together != bry__blocked_count_bits(a) && together != bry__blocked_count_bits(b)) {
        double fill = (double)together / ((double)a->blocks * BRY__BLOCK_BITS);
        double estimate =
            fill < 1 ? round(bry__blocked_count(a->blocks, a->hashes, fill)) : INFINITY;
        /* A key sets k bits at most; loading a filter counts on that. */
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

void bry_filter_get_stats(const bry_filter *filter, bry_filter_stats *stats)
{
    const bry__blocked *bloom = &filter->bloom;
    uint64_t bits = bloom->blocks * BRY__BLOCK_BITS;
    *stats = (bry_filter_stats){
        .engine = BRY_ENGINE_BLOOM,
        .seed = filter->seed,
        .capacity = filter->capacity,
        .items = filter->items,
        .bits = bits,
        .hashes = bloom->hashes,
        .fill = (double)bry__blocked_count_bits(bloom) / (double)bits,
        .promised_error = filter->error,
        .estimated_error = bry__blocked_error_now(bloom),
        .bytes = sizeof *filter + bry__pieces_bytes_now(&bloom->table),
    };
}
