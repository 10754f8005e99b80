/* Filters of both engines, as saved_job.h wants them. */
#include "model/save/saved_job.h"
#include "support/like.h"

#include <bloomery/filter.h>

static void *create(model_reader *reader, const bry_allocator *allocator, bry_engine engine)
{
    bry_filter_options options = BRY_FILTER_OPTIONS;
    bry_filter_shape shape = BRY_FILTER_SHAPE;
    options.engine = engine;
    options.capacity = kept_scaled(reader, 1, (uint64_t)1 << 40);
    options.error = kept_rate(reader, 1e-9, 0.5);
    options.seed = 1 + model_byte(reader);
    options.fixed = kept_chance(reader, 2);
    if (engine == BRY_ENGINE_BLOOM && kept_chance(reader, 3)) {
        options.bloom.bits = 512 * kept_scaled(reader, 1, (uint64_t)1 << 40);
        options.bloom.hashes = 1 + model_below(reader, 21);
    }
    bry_status planned = bry_filter_plan(&options, &shape);
    model_say(reader, "create %s, capacity %ju, error %g, bits %ju, hashes %u%s: %s",
              bry_engine_name(engine), (uintmax_t)options.capacity, options.error,
              (uintmax_t)options.bloom.bits, options.bloom.hashes, options.fixed ? ", fixed" : "",
              bry_status_word(planned));
    if (planned == BRY_OK && !kept_fits(reader, shape.bytes, shape.bytes_empty))
        return NULL;
    options.allocator = allocator;
    bry_filter *filter = NULL;
    bry_status made = bry_filter_create(&options, &filter);
    return kept_made(reader, planned, made, filter);
}

/* Merges with one of the same options that has a few keys. */
static void merge(bry_filter *filter, const bry_hash *hashes, size_t n, kept_notes *notes)
{
    failing_allocator memory;
    bry_filter_options options = filter_like(filter);
    options.allocator = kept_memory(&memory);
    bry_filter *other = NULL;
    bry_filter_shape shape = BRY_FILTER_SHAPE;
    if (bry_filter_plan(&options, &shape) != BRY_OK || shape.bytes_empty > 1 << 24 ||
        kept_status(notes, "create like", bry_filter_create(&options, &other)) != BRY_OK)
        return;
    kept_status(notes, "add to the other", bry_filter_add_n(other, hashes, n, NULL));
    kept_status(notes, "merge", bry_filter_merge(filter, other));
    bry_filter_destroy(other);
}

static void use(void *object, model_reader *reader, kept_notes *notes)
{
    bry_filter *filter = object;
    bry_hash hashes[KEPT_BATCH];
    uint8_t was[KEPT_BATCH];
    unsigned kind = model_below(reader, 16);
    static const char *const names[] = {"add", "add_n", "del", "merge", "clear"};
    unsigned which = kind < 4 ? 0 : kind < 9 ? 1 : kind < 13 ? 2 : kind < 15 ? 3 : 4;
    model_say(reader, "%s", names[which]);
    size_t n = kept_batch(reader, hashes);
    bry_answer answer = BRY_UNSURE;
    if (which == 1) {
        if (kept_status(notes, "add_n", bry_filter_add_n(filter, hashes, n, was)) == BRY_OK)
            kept_bytes(notes, "add_n was", was, n);
    } else if (which == 3) {
        merge(filter, hashes, n, notes);
    } else if (which == 4) {
        if (kept_chance(reader, 4))
            bry_filter_clear(filter);
    }
    for (size_t i = 0; i < n && (which == 0 || which == 2); i++) {
        kept_status(notes, names[which],
                    which ? bry_filter_del(filter, hashes[i], &answer)
                          : bry_filter_add(filter, hashes[i], &answer));
        kept_number(notes, "was", answer);
    }
}

static void look(const void *object, kept_notes *notes)
{
    bry_filter_stats stats = BRY_FILTER_STATS;
    bry_filter_get_stats(object, &stats);
    kept_number(notes, "engine", stats.engine);
    kept_number(notes, "seed", stats.seed);
    kept_number(notes, "capacity", stats.capacity);
    kept_number(notes, "items", stats.items);
    if (stats.engine == BRY_ENGINE_BLOOM) /* the other's memory depends on what went before */
        kept_number(notes, "bits", stats.bits);
    kept_number(notes, "hashes", stats.hashes);
    kept_number(notes, "tables", stats.tables);
    kept_real(notes, "fill", stats.fill);
    kept_real(notes, "promised_error", stats.promised_error);
    kept_real(notes, "estimated_error", stats.estimated_error);
    for (unsigned i = 0; i < 128; i++)
        kept_number(notes, "has", bry_filter_has(object, kept_key(i)));
}

#define KEPT_OPTIONS(object) filter_like(object)
KEPT_CALLS(bry_filter)

const kept_job kept_filter_bloom = KEPT_JOB("filter-bloom", BRY_ENGINE_BLOOM, NULL);
const kept_job kept_filter_compact = KEPT_JOB("filter-compact", BRY_ENGINE_COMPACT, NULL);
