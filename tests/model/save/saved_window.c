/* Windows of both engines, as saved_job.h wants them. */
#include "model/save/saved_job.h"
#include "support/like.h"

#include "window/window_object.h"

#include <bloomery/window.h>

static void *create(model_reader *reader, const bry_allocator *allocator, bry_engine engine)
{
    bool fbf = engine == BRY_ENGINE_FBF;
    bry_window_options options = BRY_WINDOW_OPTIONS;
    bry_window_shape shape = BRY_WINDOW_SHAPE;
    options.engine = engine;
    if (fbf && kept_chance(reader, 2))
        options.fbf.mode = kept_chance(reader, 2) ? BRY_WINDOW_PAPER : BRY_WINDOW_PAPER_SIMPLE;
    options.window = kept_scaled(reader, 1, (uint64_t)1 << 52);
    options.capacity = kept_scaled(reader, 1, (uint64_t)1 << 40);
    options.error = kept_rate(reader, 1e-12, 0.5);
    options.generations = (uint32_t)kept_scaled(reader, 0, 1024);
    options.refuse = kept_chance(reader, 2);
    options.fixed = kept_chance(reader, 3);
    options.refresh = kept_chance(reader, 3);
    if (kept_chance(reader, 3))
        options.max_skew = kept_scaled(reader, 1, UINT64_MAX);
    if (kept_chance(reader, 2))
        options.start = kept_scaled(reader, 1, UINT64_MAX);
    if (fbf && kept_chance(reader, 3)) {
        options.fbf.bits = kept_scaled(reader, 1, (uint64_t)1 << 52);
        options.fbf.hashes = 1 + model_below(reader, 64);
    }
    options.seed = 1 + model_byte(reader);
    bry_status planned = bry_window_plan(&options, &shape);
    if (planned == BRY_OK && kept_chance(reader, 3)) {
        options.max_bytes = shape.bytes_empty + kept_scaled(reader, 0, 1 << 16);
        planned = bry_window_plan(&options, &shape);
    }
    model_say(
        reader,
        "create %s, mode %d, window %ju, capacity %ju, error %g, generations %u, ceiling %ju%s%s"
        "%s, skew %ju, start %ju, bits %ju, hashes %u: %s",
        bry_engine_name(engine), (int)options.fbf.mode, (uintmax_t)options.window,
        (uintmax_t)options.capacity, options.error, options.generations,
        (uintmax_t)options.max_bytes, options.refuse ? ", refuse" : "",
        options.fixed ? ", fixed" : "", options.refresh ? ", refresh" : "",
        (uintmax_t)options.max_skew, (uintmax_t)options.start, (uintmax_t)options.fbf.bits,
        options.fbf.hashes, bry_status_word(planned));
    if (planned == BRY_OK && !kept_fits(reader, shape.bytes, shape.bytes_empty))
        return NULL;
    options.allocator = allocator;
    bry_window *window = NULL;
    bry_status made = bry_window_create(&options, &window);
    return kept_made(reader, planned, made, window);
}

/* Mostly a part of the window later; now and then earlier, or a jump of any length. */
static uint64_t read_time(model_reader *reader, const bry_window *window)
{
    uint64_t time = bry_window_time(window), length = window_like(window).window;
    unsigned kind = model_byte(reader), steps = kind % 16;
    uint64_t now = time + (kind < 200 ? length / 16 * steps + steps / 4 : 0);
    if (kind >= 240)
        now = kept_scaled(reader, 0, UINT64_MAX);
    else if (kind >= 220)
        now = time - (time < steps ? 0 : steps);
    model_say(reader, "  at %ju", (uintmax_t)now);
    return now;
}

static void merge(bry_window *window, const bry_hash *hashes, size_t n, uint64_t now,
                  kept_notes *notes)
{
    failing_allocator memory;
    bry_window_options options = window_like(window);
    options.allocator = kept_memory(&memory);
    bry_window *other = NULL;
    if (kept_status(notes, "create like", bry_window_create(&options, &other)) != BRY_OK)
        return;
    kept_status(notes, "add to the other", bry_window_add_n(other, hashes, n, now, NULL));
    kept_status(notes, "merge", bry_window_merge(window, other));
    bry_window_destroy(other);
}

static void use(void *object, model_reader *reader, kept_notes *notes)
{
    bry_window *window = object;
    bry_hash hashes[KEPT_BATCH];
    uint8_t was[KEPT_BATCH];
    static const char *const names[] = {"add",     "forget", "add_n", "has_n",
                                        "advance", "merge",  "clear"};
    static const uint8_t whiches[16] = {0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 6};
    unsigned which = whiches[model_below(reader, 16)];
    model_say(reader, "%s", names[which]);
    size_t n = kept_batch(reader, hashes);
    uint64_t now = read_time(reader, window);
    for (size_t i = 0; i < n && which < 2; i++) {
        bry_answer answer = BRY_UNSURE;
        kept_status(notes, names[which],
                    which ? bry_window_del(window, hashes[i], now, &answer)
                          : bry_window_add(window, hashes[i], now, &answer));
        kept_number(notes, "was", answer);
    }
    if (which == 2) {
        if (kept_status(notes, "add_n", bry_window_add_n(window, hashes, n, now, was)) == BRY_OK)
            kept_bytes(notes, "add_n was", was, n);
    } else if (which == 3) {
        bry_window_has_n(window, hashes, n, now, was);
        kept_bytes(notes, "has_n", was, n);
    } else if (which == 4) {
        kept_status(notes, "advance", bry_window_advance(window, now));
    } else if (which == 5) {
        merge(window, hashes, n, now, notes);
    } else if (which == 6 && kept_chance(reader, 4)) {
        bry_window_clear(window);
    }
}

/* Not what was refused, which counts since loading. */
static void look(const void *object, kept_notes *notes)
{
    bry_window_stats stats = BRY_WINDOW_STATS;
    bry_window_get_stats(object, &stats);
    kept_number(notes, "engine", stats.engine);
    kept_number(notes, "mode", stats.mode);
    kept_number(notes, "seed", stats.seed);
    kept_number(notes, "time", stats.time);
    kept_number(notes, "window", stats.window);
    kept_number(notes, "covered", stats.covered);
    kept_number(notes, "items", stats.items);
    kept_number(notes, "generations", stats.generations);
    kept_number(notes, "ended_early", stats.ended_early);
    kept_number(notes, "resizes", stats.resizes);
    kept_real(notes, "promised_error", stats.promised_error);
    kept_real(notes, "estimated_error", stats.estimated_error);
    kept_real(notes, "predicted_error", stats.predicted_error);
    kept_number(notes, "at_ceiling", stats.at_ceiling);
    kept_number(notes, "max_bytes", stats.max_bytes);
    bry_window_generation generation[8];
    size_t count = bry_window_generations(object, generation, sizeof *generation, 8);
    kept_number(notes, "generations", count);
    for (size_t i = 0; i < count && i < 8; i++) {
        kept_number(notes, "begin", generation[i].begin);
        kept_number(notes, "end", generation[i].end);
        kept_number(notes, "items of a generation", generation[i].items);
        kept_real(notes, "fill of a generation", generation[i].fill);
    }
    for (unsigned i = 0; i < 128; i++) {
        uint64_t later = i % 4 * (stats.window / 3);
        kept_number(notes, "has", bry_window_has(object, kept_key(i), stats.time + later));
    }
}

#define KEPT_OPTIONS(object) (object)->options
KEPT_CALLS(bry_window)

const kept_job kept_window_compact = KEPT_JOB("window-compact", BRY_ENGINE_COMPACT, NULL);
const kept_job kept_window_fbf = KEPT_JOB("window-fbf", BRY_ENGINE_FBF, NULL);
