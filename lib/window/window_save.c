/*
 * A window as frames (doc/format.md, kind WNDW): its options and time, and the engine's frames.
 * Counts of refusals are not saved: so a replica with the same changes has the same bytes.
 */
#include "common/allocator.h"
#include "common/endian.h"
#include "frame/frame.h"
#include "frame/job_row.h"
#include "window/window_object.h"

#define KIND BRY__FOUR('W', 'N', 'D', 'W')
#define KIND_VERSION 1
#define NUMBERS BRY__FOUR('N', 'U', 'M', 'S')

/* The frame NUMS. */
enum {
    AT_ENGINE = 0, /* u32 */
    AT_FLAGS = 4, /* u32 */
    AT_GENERATIONS = 8, /* u32 */
    AT_HASHES = 12, /* u32 */
    AT_WINDOW = 16, /* u64 */
    AT_CAPACITY = 24, /* u64 */
    AT_ERROR = 32, /* double */
    AT_MAX_BYTES = 40, /* u64 */
    AT_MAX_SKEW = 48, /* u64 */
    AT_BITS = 56, /* u64 */
    AT_TIME = 64, /* u64 */
    NUMBERS_SIZE = 72
};
enum { FLAG_REFUSE = 1, FLAG_FIXED = 2, FLAG_REFRESH = 4, FLAG_STARTED = 8, FLAGS = 15 };

bry_status bry_window_save(const bry_window *window, const bry_sink *sink, const bry_save *save)
{
    bry_window_options options = bry__window_like(window);
    unsigned char numbers[NUMBERS_SIZE];
    bry__store32(numbers + AT_ENGINE, (uint32_t)options.engine);
    bry__store32(numbers + AT_FLAGS,
                 (options.refuse ? FLAG_REFUSE : 0u) | (options.fixed ? FLAG_FIXED : 0u) |
                     (options.refresh ? FLAG_REFRESH : 0u) | (window->started ? FLAG_STARTED : 0u));
    bry__store32(numbers + AT_GENERATIONS, options.generations);
    bry__store64(numbers + AT_WINDOW, options.window);
    bry__store64(numbers + AT_CAPACITY, options.capacity);
    bry__store_double(numbers + AT_ERROR, options.error);
    bry__store64(numbers + AT_MAX_BYTES, options.max_bytes);
    bry__store64(numbers + AT_MAX_SKEW, options.max_skew);
    bry__store64(numbers + AT_BITS, options.fbf.bits);
    bry__store32(numbers + AT_HASHES, options.fbf.hashes);
    bry__store64(numbers + AT_TIME, window->time);

    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, sink, save, KIND, KIND_VERSION, options.seed);
    bry__frame_writer_write(&writer, NUMBERS, numbers, sizeof numbers);
    window->engine->write(window->self, &writer);
    return bry__frame_writer_end(&writer);
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
static const char *window_save_read_options(const unsigned char *numbers, uint64_t seed,
                                            bry_window *window, bry_window_options *options)
{
    uint32_t engine = bry__load32(numbers + AT_ENGINE), flags = bry__load32(numbers + AT_FLAGS);
    if (!bry__engine_find(bry__window_engines, engine))
        return "unknown engine";
    if (seed == 0)
        return "the seed is 0";
    if (flags & ~(uint32_t)FLAGS)
        return "unknown flag";
    bry_window_options stored = {
        .struct_size = sizeof stored,
        .engine = (bry_engine)engine,
        .window = bry__load64(numbers + AT_WINDOW),
        .capacity = bry__load64(numbers + AT_CAPACITY),
        .error = bry__load_double(numbers + AT_ERROR),
        .generations = bry__load32(numbers + AT_GENERATIONS),
        .refuse = (flags & FLAG_REFUSE) != 0,
        .fixed = (flags & FLAG_FIXED) != 0,
        .refresh = (flags & FLAG_REFRESH) != 0,
        .max_skew = bry__load64(numbers + AT_MAX_SKEW),
        .fbf.bits = bry__load64(numbers + AT_BITS),
        .fbf.hashes = bry__load32(numbers + AT_HASHES),
        .seed = seed,
    };
    stored.max_bytes = limit_here(&stored, bry__load64(numbers + AT_MAX_BYTES));
    /* A zero would become a default, but a saved window has no zeros. */
    bry_window_shape shape;
    if (bry__window_read_options(&stored, options, &window->engine, &shape) != BRY_OK ||
        options->window != stored.window || options->capacity != stored.capacity ||
        options->error != stored.error || options->generations != stored.generations)
        return "the window's options are out of range";
    bry__window_keep(window, options);
    window->time = bry__load64(numbers + AT_TIME);
    window->started = (flags & FLAG_STARTED) != 0;
    if (!window->started && window->time != 0)
        return "an unused window has a time";
    return NULL;
}

static bry_status window_save_read_window(bry__frame_reader *reader, const bry_allocator *allocator,
                                          bry_window **window)
{
    unsigned char numbers[NUMBERS_SIZE];
    bry_status status = bry__frame_reader_read_frame(reader, NUMBERS, numbers, sizeof numbers);
    if (status != BRY_OK)
        return status;
    bry_window read = {0};
    bry_window_options options;
    const char *problem = window_save_read_options(numbers, reader->header.seed, &read, &options);
    if (problem)
        return bry__frame_reader_bad(reader, problem);
    status = bry__frame_reader_claim(reader, sizeof read);
    if (status != BRY_OK)
        return status;
    bry_window *made = bry__alloc(allocator, sizeof *made);
    if (!made)
        return bry__frame_reader_fail(reader, BRY_E_NOMEM, "not enough memory for the window");
    *made = read;
    bry_window_options rest = bry__window_engine_options(&options);
    status = made->engine->read(&rest, made->time, reader, allocator, &made->self);
    if (status != BRY_OK) {
        bry__free(allocator, made, sizeof *made);
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

bry_status bry_window_load(const bry_source *source, bry_load *load, bry_window **window)
{
    bry__frame_reader reader;
    bry_status status = bry__frame_reader_open(&reader, source, load, KIND, KIND_VERSION);
    if (status == BRY_OK)
        status = window_save_read_window(&reader, &reader.allocator, window);
    bry__frame_reader_close(&reader);
    return status;
}

/* ---- the job's row ------------------------------------------------------------------------- */

BRY__JOB_MERGE(window)
BRY__JOB(window, "window", bry__window_engines, window_any_merge)
