/* The filter compared with a plain array of bits. */
#include "filter/filter_object.h"
#include "kernel/kernel.h"
#include "model/filter/filter_twin.h"
#include "model/model_objects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BATCH = 255 };

static uint64_t operations_done;

/* Two filters of the same shape, which can be merged. Operations are on the first one. */
typedef struct pair {
    failing_allocator memory;
    bry__isa isa_before;
    bry_filter_options options;
    bry_filter *filter[2];
    filter_twin twin[2];
    bool crowded; /* a merge may have filled a growing one beyond its plan */
    bry_hash hashes[MAX_BATCH];
    uint8_t was[MAX_BATCH + 1], twin_was[MAX_BATCH + 1];
} pair;

static bry_filter_options read_options(model_reader *reader)
{
    static const uint64_t capacities[] = {1, 2, 10, 60, 300, 1000};
    static const double errors[] = {0.5, 0.2, 0.05, 0.01, 1e-3, 1e-5, 1e-9};
    bry_filter_options options = BRY_FILTER_OPTIONS;
    unsigned kind = model_byte(reader);
    options.engine = model_below(reader, 2) ? BRY_ENGINE_BLOOM : BRY_ENGINE_COMPACT;
    if (kind == 255 && options.engine == BRY_ENGINE_BLOOM) {
        /* two pieces; rare, because comparing them takes time */
        options.capacity = 4000; /* which allows that many bits */
        options.bloom.bits = (uint64_t)BRY__PIECE_BYTES * 8 + 512 * 3;
        options.bloom.hashes = 7;
    } else if (kind >= 128 && options.engine == BRY_ENGINE_BLOOM) { /* any shape */
        options.capacity = 1 + model_pair(reader) % 2000;
        options.bloom.bits = 512 * (1 + (uint64_t)model_below(reader, 40));
        options.bloom.hashes = 1 + model_below(reader, 21);
    } else { /* planned */
        options.capacity = capacities[kind % 6];
        options.error = errors[model_below(reader, 7)];
        options.fixed = kind >= 128;
    }
    options.seed = 1 + (uint64_t)model_byte(reader);
    return options;
}

static void *create(model_reader *reader)
{
    pair *both = calloc(1, sizeof *both);
    if (!both) {
        model_fail(reader, "no memory for the test itself");
        return NULL;
    }
    both->isa_before = bry__kernels()->isa;
    failing_allocator_init(&both->memory);
    bry_filter_options options = read_options(reader);
    bry_filter_shape shape = {0};
    model_expect(reader, bry_filter_plan(&options, &shape) == BRY_OK);
    both->options = options;
    options.allocator = &both->memory.allocator;
    for (int i = 0; i < 2; i++) {
        model_expect(reader, bry_filter_create(&options, &both->filter[i]) == BRY_OK);
        model_expect(reader, filter_twin_make(&both->twin[i], &shape, options.seed));
    }
    model_say(reader, "create %s%s, capacity %ju, %ju blocks, %u hashes, seed %ju",
              bry_engine_name(options.engine), options.fixed ? ", fixed" : "",
              (uintmax_t)options.capacity, (uintmax_t)(shape.bits / 512), shape.bloom.hashes,
              (uintmax_t)options.seed);
    model_expect(reader, both->memory.now == 2 * shape.bytes_empty);
    return both;
}

static void destroy(void *state, model_reader *reader)
{
    pair *both = state;
    if (!both)
        return;
    for (int i = 0; i < 2; i++) {
        bry_filter_destroy(both->filter[i]);
        filter_twin_free(&both->twin[i]);
    }
    model_expect(reader, both->memory.now == 0 && both->memory.blocks == 0);
    bry__kernel_force(both->isa_before);
    free(both);
}

/* ---- what a program names ---- */

/* A key by its number; the last few are hashes at the edges of the table. */
static bry_hash key(const pair *both, unsigned number)
{
    static const uint64_t edges[] = {0, UINT64_MAX, 1, UINT64_C(1) << 63};
    number &= 0xffff;
    if (both->twin[0].compact)
        return filter_twin_class_key(number);
    if (number >= 0xfff0)
        return (bry_hash){edges[number & 3], edges[number >> 2 & 3]};
    unsigned char bytes[2] = {(unsigned char)number, (unsigned char)(number >> 8)};
    return bry_hash_key(both->twin[0].seed, bytes, sizeof bytes);
}

static size_t read_batch(pair *both, model_reader *reader, const char *what)
{
    unsigned first = model_pair(reader), count = model_byte(reader), stride = model_byte(reader);
    for (unsigned i = 0; i < count; i++)
        both->hashes[i] = key(both, first + i * stride);
    model_say(reader, "%s %u keys from %u, every %u", what, count, first, stride);
    return count;
}

/* Whether the operation was refused, as it had to be: then nothing has changed. Bloom filters need
 * every allocation. */
static bool refused(pair *both, model_reader *reader, bry_status status)
{
    bool failed = model_has_failed_one(&both->memory), bloom = !both->twin[0].compact;
    if (status == BRY_E_NOMEM || (bloom && failed))
        model_expect(reader, failed && status == BRY_E_NOMEM);
    return status == BRY_E_NOMEM || (status == BRY_E_FULL && both->crowded);
}

/* ---- operations ---- */

static void do_add(pair *both, model_reader *reader)
{
    unsigned number = model_pair(reader);
    bry_hash hash = key(both, number);
    bry_answer was = BRY_UNSURE;
    uint8_t twin_was = BRY_UNSURE;
    model_say(reader, "add %u", number);
    bry_status status = bry_filter_add(both->filter[0], hash, &was);
    if (refused(both, reader, status)) {
        model_expect(reader, was == BRY_UNSURE);
        model_expect(reader, status != BRY_E_FULL || !filter_twin_has(&both->twin[0], hash));
        return;
    }
    model_expect(reader, status == filter_twin_add(&both->twin[0], hash, &twin_was));
    model_expect(reader, was == (bry_answer)twin_was);
}

static void do_add_n(pair *both, model_reader *reader)
{
    size_t n = read_batch(both, reader, "add_n");
    memset(both->was, BRY_UNSURE, sizeof both->was);
    memset(both->twin_was, BRY_UNSURE, sizeof both->twin_was);
    bry_status status = bry_filter_add_n(both->filter[0], both->hashes, n, both->was);
    if (!refused(both, reader, status))
        model_expect(reader,
                     status == filter_twin_add_n(&both->twin[0], both->hashes, n, both->twin_was));
    model_expect(reader, memcmp(both->was, both->twin_was, sizeof both->was) == 0);
}

static void do_del(pair *both, model_reader *reader)
{
    filter_twin *twin = &both->twin[0];
    size_t n = read_batch(both, reader, "del") % 16;
    for (size_t i = 0; i < n; i++) {
        bry_answer was = BRY_UNSURE;
        bool there = filter_twin_has(twin, both->hashes[i]);
        bry_status status = bry_filter_del(both->filter[0], both->hashes[i], &was);
        if (!twin->compact) {
            model_expect(reader, status == BRY_E_UNSUPPORTED && was == BRY_UNSURE);
            return;
        }
        model_expect(reader, status == BRY_OK && was == (there ? BRY_PRESENT : BRY_ABSENT));
        filter_twin_del(twin, both->hashes[i]);
    }
}

static void do_has(pair *both, model_reader *reader)
{
    unsigned number = model_pair(reader);
    bry_hash hash = key(both, number);
    model_say(reader, "has %u", number);
    model_expect(reader, (bry_filter_has(both->filter[0], hash) == BRY_PRESENT) ==
                             filter_twin_has(&both->twin[0], hash));
}

static void do_has_n(pair *both, model_reader *reader)
{
    size_t n = read_batch(both, reader, "has_n");
    memset(both->was, BRY_UNSURE, sizeof both->was);
    bry_filter_has_n(both->filter[0], both->hashes, n, both->was);
    for (size_t i = 0; i < n; i++)
        model_expect(reader, both->was[i] == filter_twin_has(&both->twin[0], both->hashes[i]));
    model_expect(reader, both->was[n] == BRY_UNSURE);
}

static void do_clone(pair *both, model_reader *reader)
{
    both->filter[0] = model_clone(reader, &both->memory, BRY_JOB_FILTER, both->filter[0]);
}

static void do_clear(pair *both, model_reader *reader)
{
    model_say(reader, "clear");
    bry_filter_clear(both->filter[0]);
    filter_twin_clear(&both->twin[0]);
}

static void do_merge(pair *both, model_reader *reader)
{
    unsigned from = model_below(reader, 4) != 3; /* sometimes itself */
    const filter_twin *twin_from = &both->twin[from];
    filter_twin *twin_into = &both->twin[0];
    uint64_t low, high;
    model_say(reader, "merge %s", from ? "the other" : "itself");
    filter_twin_merged_items(twin_into, twin_from, &low, &high);
    bry_status status = bry_filter_merge(both->filter[0], both->filter[from]);
    if (status == BRY_E_FULL) {
        model_expect(reader, high > both->options.capacity || both->crowded);
        return;
    }
    if (refused(both, reader, status))
        return;
    model_expect(reader, status == BRY_OK && low <= twin_into->capacity);
    uint64_t items = twin_into->compact ? low : both->filter[0]->items;
    model_expect(reader, items >= low && items <= high);
    filter_twin_unite(twin_into, twin_from);
    twin_into->items = items;
    both->crowded = both->crowded || twin_into->capacity == UINT64_MAX;
}

static void do_stats(pair *both, model_reader *reader)
{
    const filter_twin *twin = &both->twin[0];
    bry_filter_stats stats = {0};
    model_say(reader, "stats");
    bry_filter_get_stats(both->filter[0], &stats);
    model_expect(reader, stats.engine == both->options.engine);
    model_expect(reader, stats.seed == twin->seed && stats.capacity == both->options.capacity);
    if (twin->compact) {
        model_expect(reader, stats.estimated_error <= both->options.error);
        return;
    }
    model_expect(reader, stats.items == twin->items && stats.bloom.hashes == twin->hashes);
    model_expect(reader, stats.bits == twin->blocks * 512);
    model_expect(reader,
                 stats.fill == (double)filter_twin_count(twin) / (double)(twin->blocks * 512));
    double error = filter_twin_error(twin);
    model_expect(reader, fabs(stats.estimated_error - error) <= 1e-9 * error);
}

static void do_exchange(pair *both, model_reader *reader)
{
    model_say(reader, "exchange");
    bry_filter *filter = both->filter[0];
    filter_twin twin = both->twin[0];
    both->filter[0] = both->filter[1];
    both->twin[0] = both->twin[1];
    both->filter[1] = filter;
    both->twin[1] = twin;
}

static void do_force_isa(pair *both, model_reader *reader)
{
    (void)both;
    bry__isa isa = (bry__isa)model_below(reader, BRY__ISA_COUNT);
    bool forced = bry__kernel_force(isa);
    model_say(reader, "force %s%s", bry__isa_names[isa], forced ? "" : ", which is not here");
    model_expect(reader, forced == bry__cpu_has(isa));
}

static void do_save_and_load(pair *both, model_reader *reader)
{
    both->filter[0] = model_reload(reader, &both->memory, BRY_JOB_FILTER, both->filter[0]);
}

static const struct {
    void (*run)(pair *both, model_reader *reader);
    unsigned share; /* of MODEL_SHARES */
} operations[] = {
    {do_add, 7},   {do_add_n, 5},    {do_del, 3},       {do_has, 1},
    {do_has_n, 2}, {do_clone, 2},    {do_clear, 1},     {do_merge, 4},
    {do_stats, 1}, {do_exchange, 3}, {do_force_isa, 1}, {do_save_and_load, 2},
};

static void step(void *state, model_reader *reader)
{
    pair *both = state;
    unsigned picked = model_begin_step(reader, &both->memory, 4), which = 0;
    for (; picked >= operations[which].share; which++)
        picked -= operations[which].share;
    operations[which].run(both, reader);
    both->memory.fail_at = 0;
    operations_done++;
}

/* ---- what must hold after every operation ---- */

static bool same_bits(const bry_filter *filter, const filter_twin *twin)
{
    const bry__pieces *table = &filter->bloom.table;
    for (size_t i = 0; i < table->count; i++) {
        const unsigned char *expected = twin->bits + i * BRY__PIECE_BYTES;
        size_t size = bry__piece_size(table, i);
        if (table->piece[i] && memcmp(table->piece[i], expected, size) != 0)
            return false;
        /* A missing piece is all zeros. */
        if (!table->piece[i] && (expected[0] || memcmp(expected, expected + 1, size - 1) != 0))
            return false;
    }
    return table->bytes == twin->blocks * 64;
}

static void check_bloom(const bry_filter *filter, const filter_twin *twin, model_reader *reader)
{
    model_expect(reader, filter->items == twin->items);
    model_expect(reader, filter->items <= filter->capacity);
    model_expect(reader, filter->bloom.hashes == twin->hashes);
    /* Large filters are compared only at the end. */
    if (twin->blocks < 10000 || reader->step % 16 == 15 || reader->at >= reader->len)
        model_expect(reader, same_bits(filter, twin));
    model_expect(reader, bry_filter_bytes(filter) ==
                             sizeof *filter + bry__pieces_bytes_now(&filter->bloom.table));
}

static void check_compact(const pair *both, int which, model_reader *reader)
{
    const bry_filter *filter = both->filter[which];
    const filter_twin *twin = &both->twin[which];
    bry_hash hashes[TWIN_CLASSES];
    uint8_t answers[TWIN_CLASSES];
    uint64_t items = bry_filter_items(filter);
    model_expect(reader, both->crowded ? items >= twin->items : items == twin->items);
    for (unsigned i = 0; i < TWIN_CLASSES; i++)
        hashes[i] = filter_twin_class_key(3 * i + 1);
    bry_filter_has_n(filter, hashes, TWIN_CLASSES, answers);
    for (unsigned i = 0; i < TWIN_CLASSES && !reader->failed; i++)
        model_expect(reader, answers[i] == filter_twin_has(twin, hashes[i]));
}

static void check(void *state, model_reader *reader)
{
    pair *both = state;
    uint64_t bytes = 0;
    for (int i = 0; i < 2; i++) {
        const bry_filter *filter = both->filter[i];
        model_expect(reader, bry_filter_capacity(filter) == both->options.capacity);
        model_expect(reader, bry_filter_seed(filter) == both->twin[i].seed);
        if (both->twin[i].compact)
            check_compact(both, i, reader);
        else
            check_bloom(filter, &both->twin[i], reader);
        bytes += bry_filter_bytes(filter);
    }
    model_expect(reader, bytes == both->memory.now);
}

const model filter_model = {"filter", create, step, check, destroy, &operations_done, NULL};
