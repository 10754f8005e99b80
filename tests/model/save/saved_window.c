/* Windows of both engines, as saved_job.h wants them. */
#include "model/save/saved_job.h"
#include "support/like.h"

#include "window/window_object.h"

#include <bloomery/window.h>

static void *create(model_reader *reader, const bry_allocator *allocator, bry_engine engine)
{
    bool fbf = engine == BRY_ENGINE_FBF;
    bry_window_options options = BRY_WINDOW_OPTIONS;
    bry_window_shape shape = {0};
    options.engine = engine;
    options.window = read_scaled(reader, 1, (uint64_t)1 << 52);
    options.capacity = read_scaled(reader, 1, (uint64_t)1 << 40);
    options.error = read_rate(reader, 1e-12, 0.5);
    options.generations = (uint32_t)read_scaled(reader, 0, 1024);
    options.refuse = read_chance(reader, 2);
    options.fixed = read_chance(reader, 3);
    options.refresh = read_chance(reader, 3);
    if (read_chance(reader, 3))
        options.max_skew = read_scaled(reader, 1, UINT64_MAX);
    if (read_chance(reader, 2))
        options.start = read_scaled(reader, 1, UINT64_MAX);
    if (fbf && read_chance(reader, 3)) {
        options.fbf.bits = read_scaled(reader, 1, (uint64_t)1 << 52);
        options.fbf.hashes = 1 + model_below(reader, 64);
    }
    options.seed = 1 + model_byte(reader);
    bry_status planned = bry_window_plan(&options, &shape);
    if (planned == BRY_OK && read_chance(reader, 3)) {
        options.max_bytes = shape.bytes_empty + read_scaled(reader, 0, 1 << 16);
        planned = bry_window_plan(&options, &shape);
    }
    model_say(reader,
              "create %s, window %ju, capacity %ju, error %g, generations %u, limit %ju%s%s"
              "%s, skew %ju, start %ju, bits %ju, hashes %u: %s",
              bry_engine_name(engine), (uintmax_t)options.window, (uintmax_t)options.capacity,
              options.error, options.generations, (uintmax_t)options.max_bytes,
              options.refuse ? ", refuse" : "", options.fixed ? ", fixed" : "",
              options.refresh ? ", refresh" : "", (uintmax_t)options.max_skew,
              (uintmax_t)options.start, (uintmax_t)options.fbf.bits, options.fbf.hashes,
              bry_status_word(planned));
    if (planned == BRY_OK && !plan_fits(reader, shape.bytes, shape.bytes_empty))
        return NULL;
    options.allocator = allocator;
    bry_window *window = NULL;
    bry_status made = bry_window_create(&options, &window);
    return check_planned(reader, BRY_JOB_WINDOW, planned, shape.bytes_empty, made, window);
}

/* Mostly a part of the window later; now and then earlier, or a jump of any length. */
static uint64_t read_time(model_reader *reader, const bry_window *window)
{
    uint64_t time = bry_window_time(window), length = window_like(window).window;
    unsigned kind = model_byte(reader), steps = kind % 16;
    uint64_t now = time + (kind < 200 ? length / 16 * steps + steps / 4 : 0);
    if (kind >= 240)
        now = read_scaled(reader, 0, UINT64_MAX);
    else if (kind >= 220)
        now = time - (time < steps ? 0 : steps);
    model_say(reader, "  at %ju", (uintmax_t)now);
    return now;
}

static void merge(bry_window *window, const bry_hash *hashes, size_t n, uint64_t now,
                  answer_notes *notes)
{
    failing_allocator memory;
    bry_window_options options = window_like(window);
    options.allocator = bounded_memory(&memory);
    bry_window *other = NULL;
    if (note_status(notes, "create like", bry_window_create(&options, &other)) != BRY_OK)
        return;
    note_status(notes, "add to the other", bry_window_add_n(other, hashes, n, now, NULL));
    note_status(notes, "merge", bry_window_merge(window, other));
    bry_window_destroy(other);
}

static void use(void *object, model_reader *reader, answer_notes *notes)
{
    bry_window *window = object;
    bry_hash hashes[MOST_BATCH];
    uint8_t was[MOST_BATCH];
    static const char *const names[] = {"add",     "forget", "add_n", "has_n",
                                        "advance", "merge",  "clear"};
    static const uint8_t whiches[16] = {0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 6};
    unsigned which = whiches[model_below(reader, 16)];
    model_say(reader, "%s", names[which]);
    size_t n = read_batch(reader, hashes);
    uint64_t now = read_time(reader, window);
    for (size_t i = 0; i < n && which < 2; i++) {
        bry_answer answer = BRY_UNSURE;
        note_status(notes, names[which],
                    which ? bry_window_del(window, hashes[i], now, &answer)
                          : bry_window_add(window, hashes[i], now, &answer));
        note_number(notes, "was", answer);
    }
    if (which == 2) {
        if (note_status(notes, "add_n", bry_window_add_n(window, hashes, n, now, was)) == BRY_OK)
            note_bytes(notes, "add_n was", was, n);
    } else if (which == 3) {
        bry_window_has_n(window, hashes, n, now, was);
        note_bytes(notes, "has_n", was, n);
    } else if (which == 4) {
        note_status(notes, "advance", bry_window_advance(window, now));
    } else if (which == 5) {
        merge(window, hashes, n, now, notes);
    } else if (which == 6 && read_chance(reader, 4)) {
        bry_window_clear(window);
    }
}

/* Not what was refused, which counts since loading. */
static void look(const void *object, answer_notes *notes)
{
    bry_window_stats stats = {0};
    bry_window_get_stats(object, &stats);
    note_number(notes, "engine", stats.engine);
    note_number(notes, "seed", stats.seed);
    note_number(notes, "time", stats.time);
    note_number(notes, "window", stats.window);
    note_number(notes, "covered", stats.covered);
    note_number(notes, "items", stats.items);
    note_number(notes, "generations", stats.generations);
    note_number(notes, "ended_early", stats.fbf.ended_early);
    note_number(notes, "resizes", stats.fbf.resizes);
    note_real(notes, "promised_error", stats.promised_error);
    note_real(notes, "estimated_error", stats.estimated_error);
    note_real(notes, "predicted_error", stats.fbf.predicted_error);
    note_number(notes, "at_limit", stats.at_limit);
    note_number(notes, "max_bytes", stats.max_bytes);
    bry_window_generation generation[8];
    size_t count = bry_window_generations(object, generation, 8);
    note_number(notes, "generations", count);
    for (size_t i = 0; i < count && i < 8; i++) {
        note_number(notes, "begin", generation[i].begin);
        note_number(notes, "end", generation[i].end);
        note_number(notes, "items of a generation", generation[i].items);
        note_real(notes, "fill of a generation", generation[i].fill);
    }
    for (unsigned i = 0; i < 128; i++) {
        uint64_t later = i % 4 * (stats.window / 3);
        note_number(notes, "has", bry_window_has(object, key_number(i), stats.time + later));
    }
}

SAVED_LIKE(bry_window, bry__window_like(object))

const saved_calls saved_windows = {create, use, look, like, NULL};
