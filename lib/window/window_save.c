/*
 * A window as frames (doc/format.md, kind WNDW): its options and time, and the engine's frames.
 * Counts of refusals are not saved: so a replica with the same changes has the same bytes.
 */
#include "frame/frame_numbers.h"
#include "frame/job_row.h"
#include "window/window_object.h"

#define NUMBERS BRY__FOUR('N', 'U', 'M', 'S')

enum { FLAG_REFUSE = 1, FLAG_FIXED = 2, FLAG_REFRESH = 4, FLAG_STARTED = 8, FLAGS = 15 };

/* The frame NUMS. */
typedef struct window_numbers {
    bry_window_options options; /* `start` is the time */
    uint32_t flags;
} window_numbers;

#define ROW(field) BRY__NUMBER(window_numbers, field)
static const bry__number window_rows[] = {
    ROW(options.engine),      ROW(flags),
    ROW(options.generations), ROW(options.fbf.hashes),
    ROW(options.window),      ROW(options.capacity),
    ROW(options.error),       ROW(options.max_bytes),
    ROW(options.max_skew),    ROW(options.fbf.bits),
    ROW(options.start),       BRY__NUMBERS_END,
};

static void window_write(const bry_window *window, bry__frame_writer *writer)
{
    window_numbers numbers = {
        .options = bry__window_like(window),
        .flags = (window->refuse ? FLAG_REFUSE : 0u) | (window->fixed ? FLAG_FIXED : 0u) |
                 (window->refresh ? FLAG_REFRESH : 0u) | (window->started ? FLAG_STARTED : 0u),
    };
    bry__frame_write_numbers(writer, NUMBERS, window_rows, &numbers);
    window->engine->write(window->self, writer);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* The limit of a window with these options. The smallest possible one depends on the sizes of
 * structures, which differ between builds: one slightly below was sufficient where the window was
 * created, and is raised. */
static uint64_t limit_here(const bry_window_options *options, uint64_t max_bytes)
{
    bry_window_shape shape = {0};
    if (max_bytes == 0 || bry_window_plan(options, &shape) != BRY_OK)
        return max_bytes;
    uint64_t least = shape.bytes_least;
    return max_bytes < least && max_bytes >= least - least / 8 ? least : max_bytes;
}

/* The options of creation, checked again. */
static const char *window_save_read_options(window_numbers *numbers, uint64_t seed,
                                            bry_window *window, bry_window_options *options)
{
    bry_window_options *stored = &numbers->options;
    uint32_t flags = numbers->flags;
    if (!bry__engine_find(bry__window_engines, stored->engine))
        return "unknown engine";
    if (seed == 0)
        return "the seed is 0";
    if (flags & ~(uint32_t)FLAGS)
        return "unknown flag";
    window->time = stored->start;
    window->started = (flags & FLAG_STARTED) != 0;
    stored->struct_size = sizeof *stored;
    stored->start = 0;
    stored->refuse = (flags & FLAG_REFUSE) != 0;
    stored->fixed = (flags & FLAG_FIXED) != 0;
    stored->refresh = (flags & FLAG_REFRESH) != 0;
    stored->seed = seed;
    uint64_t max_bytes = stored->max_bytes;
    stored->max_bytes = 0;
    stored->max_bytes = limit_here(stored, max_bytes);
    /* A zero would become a default, but a saved window has no zeros. */
    bry_window_shape shape;
    if (bry__window_read_options(stored, options, &window->engine, &shape) != BRY_OK ||
        options->window != stored->window || options->capacity != stored->capacity ||
        options->error != stored->error || options->generations != stored->generations)
        return "the window's options are out of range";
    bry__window_keep(window, options);
    if (!window->started && window->time != 0)
        return "an unused window has a time";
    return NULL;
}

static bry_status window_read(bry__frame_reader *reader, bry_window **window)
{
    window_numbers numbers = {.flags = 0};
    bry_status status = bry__frame_read_numbers(reader, NUMBERS, window_rows, &numbers);
    if (status != BRY_OK)
        return status;
    bry_window read = {0};
    bry_window_options options;
    const char *problem = window_save_read_options(&numbers, reader->header.seed, &read, &options);
    if (problem)
        return bry__frame_reader_bad(reader, problem);
    bry_window *made = bry__frame_reader_alloc(reader, &reader->allocator, sizeof *made);
    if (!made)
        return reader->status;
    *made = read;
    bry_window_options rest = bry__window_engine_options(&options);
    status = made->engine->read(&rest, made->time, reader, &reader->allocator, &made->self);
    if (status != BRY_OK) {
        bry__free(&reader->allocator, made, sizeof *made);
        return status;
    }
    status = bry__frame_reader_end(reader);
    bry_window_stats stats = {0};
    if (status == BRY_OK && !made->started)
        made->engine->stats(made->self, made->time, &stats);
    if (stats.items > 0)
        status = bry__frame_reader_bad(reader, "an unused window has elements");
    if (status == BRY_OK)
        *window = made;
    else
        bry_window_destroy(made);
    return status;
}

BRY__JOB_STREAM(window, BRY__FOUR('W', 'N', 'D', 'W'))

/* ---- the job's row ------------------------------------------------------------------------- */

BRY__JOB_MERGE(window)
BRY__JOB(window, "window", bry__window_engines, window_any_merge)
