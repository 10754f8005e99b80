/*
 * The window job: chooses engine and shape from the options, and keeps the window's time.
 *
 * The time T is kept here, so that the engines need not handle clocks: a change with an earlier
 * `now` happens at T, one too far ahead is refused, and T moves only if the engine succeeds.
 */
#include "window/window_object.h"

#include "frame/job_row.h"

/* ---- options ------------------------------------------------------------------------------- */

const bry__engine_row bry__window_engines[] = {
    BRY__WINDOW_ENGINES(BRY__ENGINE_ROW){BRY_ENGINE_AUTO, NULL, NULL}};

bry_window_options bry__window_engine_options(const bry_window_options *options)
{
    bry_window_options rest = *options;
    if (rest.max_bytes)
        rest.max_bytes =
            rest.max_bytes > sizeof(bry_window) ? rest.max_bytes - sizeof(bry_window) : 1;
    return rest;
}

static void fill_defaults(bry_window_options *options)
{
    if (options->engine == BRY_ENGINE_AUTO)
        options->engine =
            options->max_bytes && !options->refuse ? BRY_ENGINE_FBF : BRY_ENGINE_COMPACT;
    if (options->window == 0)
        options->window = 60000;
    if (options->capacity == 0)
        options->capacity = 1000;
    if (options->error == 0)
        options->error = 0.001;
    if (options->generations == 0)
        options->generations = options->engine == BRY_ENGINE_COMPACT ? 13 : 8;
}

bry_status bry__window_read_options(const bry_window_options *given, bry_window_options *options,
                                    const bry__window_engine **engine, bry_window_shape *shape)
{
    *options = (bry_window_options)BRY_WINDOW_OPTIONS;
    bry_status status = bry__struct_read(options, sizeof *options, given);
    if (status != BRY_OK)
        return status;
    fill_defaults(options);
    if (options->engine != BRY_ENGINE_FBF && (options->fbf.bits || options->fbf.hashes))
        return BRY_E_UNSUPPORTED;
    if (!bry_engine_name(options->engine) || options->refuse > 1 || options->fixed > 1 ||
        options->refresh > 1 || options->reserved ||
        !bry__all_zero(options->fbf.reserved, sizeof options->fbf.reserved) ||
        options->window > BRY_SPAN_MAX || options->capacity > BRY_CAPACITY_MAX ||
        !(options->error >= BRY_WINDOW_ERROR_MIN && options->error <= BRY_ERROR_MAX) ||
        options->generations > BRY_WINDOW_GENERATIONS_MAX ||
        options->fbf.hashes > BRY__WINDOW_MAX_HASHES ||
        (options->fbf.bits == 0) != (options->fbf.hashes == 0))
        return BRY_E_RANGE;
    *engine = bry__engine_find(bry__window_engines, options->engine);
    if (!*engine)
        return BRY_E_UNSUPPORTED;

    bry_window_options rest = bry__window_engine_options(options);
    status = (*engine)->plan(&rest, shape);
    if (status != BRY_OK)
        return status;
    shape->bytes += sizeof(bry_window);
    shape->bytes_empty += sizeof(bry_window);
    shape->bytes_least += sizeof(bry_window);
    return options->max_bytes && options->max_bytes < shape->bytes_least ? BRY_E_RANGE : BRY_OK;
}

uint64_t bry__window_bytes_first(const bry_window_options *given)
{
    bry_window_options options;
    const bry__window_engine *engine;
    bry_window_shape shape;
    if (bry__window_read_options(given, &options, &engine, &shape) != BRY_OK)
        return 0;
    bry_window_options rest = bry__window_engine_options(&options);
    return sizeof(bry_window) + engine->bytes_first(&rest);
}

/* ---- making -------------------------------------------------------------------------------- */

static bry_status window_make(const bry_window_options *options, const bry__window_engine *engine,
                              const bry_window_shape *shape, const bry_allocator *allocator,
                              bry_window **window)
{
    (void)shape;
    bry_window *made = bry__alloc(allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    *made = (bry_window){.engine = engine, .time = options->start, .started = options->start != 0};
    bry__window_keep(made, options);
    bry_window_options rest = bry__window_engine_options(options);
    bry_status status = engine->create(&rest, allocator, &made->self);
    if (status == BRY_OK)
        *window = made;
    else
        bry__free(allocator, made, sizeof *made);
    return status;
}

void bry__window_keep(bry_window *window, const bry_window_options *options)
{
    window->options.window = options->window;
    window->options.capacity = options->capacity;
    window->options.max_bytes = options->max_bytes;
    window->options.max_skew = options->max_skew;
    window->options.seed = options->seed;
    window->options.error = options->error;
    window->generations = options->generations;
    window->refuse = options->refuse;
    window->fixed = options->fixed;
    window->refresh = options->refresh;
}

bry_window_options bry__window_like(const bry_window *other)
{
    bry_window_options options = {.struct_size = sizeof options,
                                  .engine = other->engine->engine,
                                  .window = other->options.window,
                                  .capacity = other->options.capacity,
                                  .error = other->options.error,
                                  .generations = other->generations,
                                  .max_bytes = other->options.max_bytes,
                                  .refuse = other->refuse,
                                  .fixed = other->fixed,
                                  .refresh = other->refresh,
                                  .max_skew = other->options.max_skew,
                                  .seed = other->options.seed};
    other->engine->like(other->self, &options);
    options.start = other->time;
    return options;
}

BRY__JOB_OPTIONS(window, bry__window_read_options, bry__window_like, window_make)

void bry_window_destroy(bry_window *window)
{
    if (!window)
        return;
    bry_allocator allocator = *window->engine->allocator(window->self);
    window->engine->destroy(window->self);
    bry__free(&allocator, window, sizeof *window);
}

bry_status bry_window_clone(const bry_window *window, const bry_allocator *given, bry_window **copy)
{
    bry_allocator allocator = given ? *given : *window->engine->allocator(window->self);
    bry_window *made = bry__alloc(&allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    *made = *window;
    bry_status status = window->engine->clone(window->self, &allocator, &made->self);
    if (status == BRY_OK)
        *copy = made;
    else
        bry__free(&allocator, made, sizeof *made);
    return status;
}

void bry_window_clear(bry_window *window)
{
    window->engine->clear(window->self);
    window->refused_full = window->refused_skew = 0;
}

BRY__JOB_GETTERS(window, options.seed, engine->engine)

uint64_t bry_window_capacity(const bry_window *window)
{
    return window->options.capacity;
}

/* ---- asking -------------------------------------------------------------------------------- */

static uint64_t window_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

bry_answer bry_window_has(const bry_window *window, bry_hash hash, uint64_t now)
{
    return window->engine->has(window->self, hash, window_later(now, window->time));
}

void bry_window_has_n(const bry_window *window, const bry_hash *hashes, size_t n, uint64_t now,
                      uint8_t *answers)
{
    if (n > 0)
        window->engine->has_n(window->self, hashes, n, window_later(now, window->time), answers);
}

/* ---- changing ------------------------------------------------------------------------------ */

/* Sets *now to the time at which a change happens, or refuses it. */
static bry_status window_admit(bry_window *window, uint64_t *now)
{
    uint64_t skew = window->options.max_skew;
    if (window->started && *now <= window->time) {
        *now = window->time;
    } else if (window->started && skew && *now - window->time > skew) {
        window->refused_skew++;
        return BRY_E_SKEW;
    }
    return BRY_OK;
}

/* Ends a change with the engine's status; T moves if it succeeded. */
static bry_status window_end_change(bry_window *window, uint64_t now, bry_status status)
{
    if (status == BRY_OK) {
        window->time = now;
        window->started = true;
    }
    window->refused_full += status == BRY_E_FULL;
    return status;
}

bry_status bry_window_add(bry_window *window, bry_hash hash, uint64_t now, bry_answer *was)
{
    bry_answer answer = BRY_ABSENT;
    bry_status status = window_admit(window, &now);
    if (status != BRY_OK)
        return status;
    status = window_end_change(window, now, window->engine->add(window->self, hash, now, &answer));
    if (status == BRY_OK && was)
        *was = answer;
    return status;
}

bry_status bry_window_add_n(bry_window *window, const bry_hash *hashes, size_t n, uint64_t now,
                            uint8_t *was)
{
    if (n == 0)
        return BRY_OK;
    bry_status status = window_admit(window, &now);
    if (status != BRY_OK)
        return status;
    return window_end_change(window, now, window->engine->add_n(window->self, hashes, n, now, was));
}

bry_status bry_window_del(bry_window *window, bry_hash hash, uint64_t now, bry_answer *was)
{
    bry_answer answer = BRY_ABSENT;
    if (!window->engine->del)
        return BRY_E_UNSUPPORTED;
    bry_status status = window_admit(window, &now);
    if (status != BRY_OK)
        return status;
    status = window_end_change(window, now, window->engine->del(window->self, hash, now, &answer));
    if (status == BRY_OK && was)
        *was = answer;
    return status;
}

bry_status bry_window_advance(bry_window *window, uint64_t now)
{
    if (!bry__window_moves(window, now))
        return BRY_OK;
    return window_end_change(window, now, window->engine->advance(window->self, now));
}

uint64_t bry_window_time(const bry_window *window)
{
    return window->time;
}

/* ---- merging ------------------------------------------------------------------------------- */

/* Whether the engine may try to merge; it may still refuse. */
static bool window_match(const bry_window *into, const bry_window *from)
{
    bry_window_options a = bry__window_like(into), b = bry__window_like(from);
    return a.engine == b.engine && a.seed == b.seed && a.window == b.window &&
           a.capacity == b.capacity && a.error == b.error && a.generations == b.generations &&
           a.fixed == b.fixed && a.fbf.bits == b.fbf.bits && a.fbf.hashes == b.fbf.hashes;
}

bry_status bry_window_merge(bry_window *into, const bry_window *from)
{
    if (!window_match(into, from))
        return BRY_E_MISMATCH;
    if (into == from || !from->started)
        return BRY_OK;
    uint64_t now = window_later(into->time, from->time);
    return window_end_change(into, now, into->engine->merge(into->self, from->self, now));
}

/* ---- statistics ---------------------------------------------------------------------------- */

size_t bry_window_generations_sized(const bry_window *window, bry_window_generation *generations,
                                    size_t room, size_t size)
{
    if (!bry__struct_size_possible(size))
        return 0;
    return window->engine->generations(window->self, window->time, generations, size, room);
}

uint64_t bry_window_items(const bry_window *window)
{
    return window->engine->items(window->self);
}

uint64_t bry_window_bytes(const bry_window *window)
{
    return sizeof *window + window->engine->bytes(window->self);
}

bry_status bry_window_get_stats_sized(const bry_window *window, bry_window_stats *stats,
                                      size_t size)
{
    bry_window_stats now = {
        .engine = window->engine->engine,
        .seed = window->options.seed,
        .time = window->time,
        .started = window->started,
        .window = window->options.window,
        .refused_full = window->refused_full,
        .refused_skew = window->refused_skew,
        .promised_error = window->options.error,
        .max_bytes = window->options.max_bytes,
    };
    window->engine->stats(window->self, window->time, &now);
    now.bytes += sizeof *window;
    return bry__struct_write(stats, size, &now, sizeof now);
}
