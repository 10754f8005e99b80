/* Filters of both engines, as jobs (saved_job.h). */
#include "model/save/saved_job.h"
#include "support/like.h"

#include <bloomery/filter.h>

static void *create(model_reader *reader, const bry_allocator *allocator, bry_engine engine)
{
    bry_filter_options options = BRY_FILTER_OPTIONS;
    bry_filter_shape shape = {0};
    options.engine = engine;
    options.capacity = read_scaled(reader, 1, (uint64_t)1 << 40);
    options.error = read_rate(reader, 1e-9, 0.5);
    options.seed = 1 + model_byte(reader);
    options.fixed = read_chance(reader, 2);
    if (engine == BRY_ENGINE_BLOOM && read_chance(reader, 3)) {
        options.bloom.bits = 512 * read_scaled(reader, 1, (uint64_t)1 << 40);
        options.bloom.hashes = 1 + model_below(reader, 21);
    }
    bry_status planned = bry_filter_plan(&options, &shape);
    model_say(reader, "create %s, capacity %ju, error %g, bits %ju, hashes %u%s: %s",
              bry_engine_name(engine), (uintmax_t)options.capacity, options.error,
              (uintmax_t)options.bloom.bits, options.bloom.hashes, options.fixed ? ", fixed" : "",
              bry_status_word(planned));
    if (planned == BRY_OK && !plan_fits(reader, shape.bytes, shape.bytes_empty))
        return NULL;
    options.allocator = allocator;
    bry_filter *filter = NULL;
    bry_status made = bry_filter_create(&options, &filter);
    return check_planned(reader, BRY_JOB_FILTER, planned, shape.bytes_empty, made, filter);
}

/* Merges with a filter of the same options that has a few keys. */
static void merge(bry_filter *filter, const bry_hash *hashes, size_t n, answer_notes *notes)
{
    failing_allocator memory;
    bry_filter_options options = filter_like(filter);
    options.allocator = bounded_memory(&memory);
    bry_filter *other = NULL;
    bry_filter_shape shape = {0};
    if (bry_filter_plan(&options, &shape) != BRY_OK || shape.bytes_empty > 1 << 24 ||
        note_status(notes, "create like", bry_filter_create(&options, &other)) != BRY_OK)
        return;
    note_status(notes, "add to the other", bry_filter_add_n(other, hashes, n, NULL));
    note_status(notes, "merge", bry_filter_merge(filter, other));
    bry_filter_destroy(other);
}

static void use(void *object, model_reader *reader, answer_notes *notes)
{
    bry_filter *filter = object;
    bry_hash hashes[MOST_BATCH];
    uint8_t was[MOST_BATCH];
    unsigned kind = model_below(reader, 16);
    static const char *const names[] = {"add", "add_n", "del", "merge", "clear"};
    unsigned which = kind < 4 ? 0 : kind < 9 ? 1 : kind < 13 ? 2 : kind < 15 ? 3 : 4;
    model_say(reader, "%s", names[which]);
    size_t n = read_batch(reader, hashes);
    bry_answer answer = BRY_UNSURE;
    if (which == 1) {
        if (note_status(notes, "add_n", bry_filter_add_n(filter, hashes, n, was)) == BRY_OK)
            note_bytes(notes, "add_n was", was, n);
    } else if (which == 3) {
        merge(filter, hashes, n, notes);
    } else if (which == 4) {
        if (read_chance(reader, 4))
            bry_filter_clear(filter);
    }
    for (size_t i = 0; i < n && (which == 0 || which == 2); i++) {
        note_status(notes, names[which],
                    which ? bry_filter_del(filter, hashes[i], &answer)
                          : bry_filter_add(filter, hashes[i], &answer));
        note_number(notes, "was", answer);
    }
}

static void look(const void *object, answer_notes *notes)
{
    bry_filter_stats stats = {0};
    bry_filter_get_stats(object, &stats);
    note_number(notes, "engine", stats.engine);
    note_number(notes, "seed", stats.seed);
    note_number(notes, "capacity", stats.capacity);
    note_number(notes, "items", stats.items);
    if (stats.engine == BRY_ENGINE_BLOOM) /* the memory of the other depends on its history */
        note_number(notes, "bits", stats.bits);
    note_number(notes, "hashes", stats.bloom.hashes);
    note_number(notes, "tables", stats.tables);
    note_real(notes, "fill", stats.fill);
    note_real(notes, "promised_error", stats.promised_error);
    note_real(notes, "estimated_error", stats.estimated_error);
    for (unsigned i = 0; i < 128; i++)
        note_number(notes, "has", bry_filter_has(object, key_number(i)));
}

SAVED_LIKE(bry_filter, filter_like(object))

const saved_calls saved_filters = {create, use, look, like, NULL};
