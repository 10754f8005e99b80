/*
 * The filter job: chooses engine and shape from the options, and keeps the promise by counting the
 * keys that are added.
 */
#include "filter/filter_engine.h"

#include "common/sizing.h"
#include "frame/job_row.h"

const bry__engine_row bry__filter_engines[] = {
    BRY__FILTER_ENGINES(BRY__ENGINE_ROW){BRY_ENGINE_AUTO, NULL, NULL}};

/* Reads the options: fields that an older caller's struct lacks are zero, and zeros become
 * defaults. Chooses the engine and plans. */
static bry_status filter_read_options(const bry_filter_options *given, bry_filter_options *options,
                                      const bry__filter_engine **engine, bry_filter_shape *shape)
{
    *options = (bry_filter_options)BRY_FILTER_OPTIONS;
    bry_status status = bry__struct_read(options, sizeof *options, given);
    if (status != BRY_OK)
        return status;
    if (options->engine == BRY_ENGINE_AUTO)
        options->engine = options->fixed ? BRY_ENGINE_BLOOM : BRY_ENGINE_COMPACT;
    if (options->capacity == 0)
        options->capacity = 1000;
    if (options->error == 0)
        options->error = 0.01;
    bool compact = options->engine == BRY_ENGINE_COMPACT; /* it has no bits */
    if (compact && (options->bloom.bits || options->bloom.hashes))
        return BRY_E_UNSUPPORTED;
    if (!bry_engine_name(options->engine) || options->fixed > 1 ||
        !bry__all_zero(options->bloom.reserved, sizeof options->bloom.reserved) ||
        options->capacity > BRY_CAPACITY_MAX ||
        !(options->error >= BRY_FILTER_ERROR_MIN && options->error <= BRY_ERROR_MAX) ||
        (options->bloom.bits == 0) != (options->bloom.hashes == 0) ||
        options->bloom.bits % BRY__BLOCK_BITS != 0 ||
        !bry__filter_blocks_allowed(options->bloom.bits / BRY__BLOCK_BITS, options->capacity) ||
        options->bloom.hashes > BRY__BLOCKED_MAX_HASHES)
        return BRY_E_RANGE;
    *engine = bry__engine_find(bry__filter_engines, options->engine);
    if (!*engine)
        return BRY_E_UNSUPPORTED;
    *shape = (bry_filter_shape){.engine = options->engine, .capacity = options->capacity};
    status = (*engine)->plan(options, shape);
    if (status == BRY_OK) {
        shape->bytes += (*engine)->size;
        shape->bytes_empty += (*engine)->size;
    }
    return status;
}

bry_filter *bry__filter_new(const bry__filter_engine *engine, uint64_t seed,
                            const bry_allocator *allocator)
{
    bry_filter *made = bry__alloc(allocator, engine->size);
    if (made) {
        made->engine = engine;
        made->seed = seed;
        made->allocator = *allocator;
    }
    return made;
}

static bry_status filter_make(const bry_filter_options *options, const bry__filter_engine *engine,
                              const bry_filter_shape *shape, const bry_allocator *allocator,
                              bry_filter **filter)
{
    (void)shape;
    bry_filter *made = bry__filter_new(engine, options->seed, allocator);
    if (!made)
        return BRY_E_NOMEM;
    bry_status status = engine->init(made, options);
    if (status == BRY_OK)
        *filter = made;
    else
        bry__free(allocator, made, engine->size);
    return status;
}

static bry_filter_options filter_like(const bry_filter *other)
{
    bry_filter_options like = {
        .struct_size = sizeof like,
        .engine = other->engine->engine,
        .seed = other->seed,
    };
    other->engine->like(other, &like);
    return like;
}

BRY__JOB_OPTIONS(filter, filter_read_options, filter_like, filter_make)

void bry_filter_destroy(bry_filter *filter)
{
    if (!filter)
        return;
    bry_allocator allocator = filter->allocator;
    const bry__filter_engine *engine = filter->engine;
    engine->free(filter);
    bry__free(&allocator, filter, engine->size);
}

bry_status bry_filter_clone(const bry_filter *filter, const bry_allocator *given, bry_filter **copy)
{
    bry_allocator allocator = given ? *given : filter->allocator;
    bry_filter *made = bry__filter_new(filter->engine, filter->seed, &allocator);
    if (!made)
        return BRY_E_NOMEM;
    bry_status status = filter->engine->clone(filter, made);
    if (status == BRY_OK)
        *copy = made;
    else
        bry__free(&allocator, made, filter->engine->size);
    return status;
}

void bry_filter_clear(bry_filter *filter)
{
    filter->engine->clear(filter);
}

BRY__JOB_GETTERS(filter, seed, engine->engine)

uint64_t bry_filter_capacity(const bry_filter *filter)
{
    bry_filter_options made;
    filter->engine->like(filter, &made);
    return made.capacity;
}

/* Whether n more keys fit: immediately if there is room for all, else by counting the absent ones.
 */
static bool filter_fits(const bry_filter *filter, const bry_hash *hashes, size_t n)
{
    if (!filter->engine->is_fixed(filter))
        return true;
    uint64_t room = bry_filter_capacity(filter) - filter->engine->items(filter);
    if (n <= room)
        return true;
    uint8_t answers[256];
    uint64_t absent = 0;
    for (size_t done = 0; done < n && absent <= room; done += sizeof answers) {
        size_t here = n - done < sizeof answers ? n - done : sizeof answers;
        filter->engine->has_n(filter, hashes + done, here, answers);
        for (size_t i = 0; i < here; i++)
            absent += answers[i] == BRY_ABSENT;
    }
    return absent <= room;
}

bry_status bry_filter_add(bry_filter *filter, bry_hash hash, bry_answer *was)
{
    bool there;
    bry_status status = filter->engine->add(filter, hash, &there);
    if (status == BRY_OK && was)
        *was = there ? BRY_PRESENT : BRY_ABSENT;
    return status;
}

bry_status bry_filter_add_n(bry_filter *filter, const bry_hash *hashes, size_t n, uint8_t *was)
{
    if (!filter_fits(filter, hashes, n))
        return BRY_E_FULL;
    return filter->engine->add_n(filter, hashes, n, was);
}

bry_status bry_filter_del(bry_filter *filter, bry_hash hash, bry_answer *was)
{
    if (!filter->engine->del)
        return BRY_E_UNSUPPORTED;
    bool there = filter->engine->del(filter, hash);
    if (was)
        *was = there ? BRY_PRESENT : BRY_ABSENT;
    return BRY_OK;
}

#define FETCHED 64u /* keys whose entries are prefetched together */

bry_status bry_filter_del_n(bry_filter *filter, const bry_hash *hashes, size_t n, bry_answer *was)
{
    if (!filter->engine->del)
        return BRY_E_UNSUPPORTED;
    bry_answer there[FETCHED];
    for (size_t i = 0; i < n; i++) {
        if (i % FETCHED == 0 && n > 1) /* only to prefetch */
            filter->engine->has_n(filter, hashes + i, n - i < FETCHED ? n - i : FETCHED, there);
        bool deleted = filter->engine->del(filter, hashes[i]);
        if (was)
            was[i] = deleted ? BRY_PRESENT : BRY_ABSENT;
    }
    return BRY_OK;
}

bry_answer bry_filter_has(const bry_filter *filter, bry_hash hash)
{
    return filter->engine->has(filter, hash) ? BRY_PRESENT : BRY_ABSENT;
}

void bry_filter_has_n(const bry_filter *filter, const bry_hash *hashes, size_t n, uint8_t *answers)
{
    filter->engine->has_n(filter, hashes, n, answers);
}

bry_status bry_filter_merge(bry_filter *into, const bry_filter *from)
{
    if (into->engine != from->engine || into->seed != from->seed)
        return BRY_E_MISMATCH;
    return into->engine->merge(into, from);
}

uint64_t bry_filter_items(const bry_filter *filter)
{
    return filter->engine->items(filter);
}

uint64_t bry_filter_bytes(const bry_filter *filter)
{
    return filter->engine->size + filter->engine->bytes(filter);
}

bry_status bry_filter_get_stats_sized(const bry_filter *filter, bry_filter_stats *stats,
                                      size_t size)
{
    bry_filter_options made;
    filter->engine->like(filter, &made);
    bry_filter_stats now = {
        .engine = filter->engine->engine,
        .seed = filter->seed,
        .capacity = made.capacity,
        .items = bry_filter_items(filter),
        .bytes = bry_filter_bytes(filter),
        .promised_error = made.error,
    };
    filter->engine->stats(filter, &now);
    return bry__struct_write(stats, size, &now, sizeof now);
}
