#include "module/window/window_type.h"

#include "module/core/replies.h"
#include "module/core/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- settings ------------------------------------------------------------------------------ */

static long long default_capacity = 1000;
static share_setting default_error = {.least = BRY_WINDOW_ERROR_MIN, .most = BRY_ERROR_MAX};
static int default_engine = BRY_ENGINE_AUTO;

static const module_setting window_settings[] = {
    {"window-capacity", SETTING_COUNT, &default_capacity, .least = 1, .most = BRY_CAPACITY_MAX},
    {"window-error", SETTING_SHARE, &default_error, .preset = "0.001"},
    {"window-engine", SETTING_ENGINE, &default_engine, .job = BRY_JOB_WINDOW},
    {0},
};

bry_window_options window_options_default(void)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.capacity = (uint64_t)default_capacity;
    options.error = default_error.value;
    options.engine = (bry_engine)default_engine;
    return options;
}

/* ---- creating ------------------------------------------------------------------------------ */

bry_status window_create(bry_window_options *options, held_object **object)
{
    held_object *made = object_new(&window_family);
    if (!made)
        return BRY_E_NOMEM;
    bry_allocator allocator = account_allocator(&made->account);
    bry_window_options with_allocator = *options;
    with_allocator.allocator = &allocator;
    bry_window *window;
    bry_status status = bry_window_create(&with_allocator, &window);
    if (status != BRY_OK) {
        object_free(made);
        return status;
    }
    made->thing = window;
    bry_window_options_like(window, options);
    window_refresh_errors(made);
    *object = made;
    return BRY_OK;
}

/* ---- time and numbers ---------------------------------------------------------------------- */

bool window_resolve_time(server_context *context, const bry_window_options *options, uint64_t at,
                         uint64_t *now)
{
    if (window_by_events(options) && !at)
        return reply_false(context, "ERR", "AT is required: this window uses event time");
    if (!window_by_events(options) && at && !is_replayed(context))
        return reply_false(
            context, "ERR",
            "AT needs a window created with EVENTTIME: this one uses the server's clock");
    *now = at ? at : (uint64_t)api.Milliseconds();
    return true;
}

void window_refresh_errors(held_object *object)
{
    bry_window_stats stats = {0};
    bry_window_get_stats(window_of(object), &stats);
    object->promised = (float)stats.promised_error;
    object->estimated = (float)stats.estimated_error;
    object_recount(object);
    object->account.noted = (uint32_t)object->items;
}

/* The error is estimated when one item in this many is new or gone. */
#define ESTIMATE_ITEMS 64u

void window_changed_compact(held_object *object)
{
    object_recount(object);
    int32_t since = (int32_t)((uint32_t)object->items - object->account.noted);
    if ((uint64_t)llabs(since) > object->items / ESTIMATE_ITEMS)
        window_refresh_errors(object);
}

/* Generations are at least window / generations long. */
bool window_same_generation(const bry_window_options *options, uint64_t a, uint64_t b)
{
    uint64_t length = options->window / options->generations;
    return length > 0 && a / length == b / length;
}

void window_changed(held_object *object, const bry_window_options *options, uint64_t before)
{
    if (options->engine == BRY_ENGINE_COMPACT)
        window_changed_compact(object);
    else if (!window_same_generation(options, before, bry_window_time(window_of(object))))
        window_refresh_errors(object);
    else
        object_recount(object);
}

void window_count(held_object *object, size_t n)
{
    if (object->promised == 0) /* it was loaded or copied, and its error not estimated yet */
        window_refresh_errors(object);
    object_count(object, n);
}

/* ---- the family ---------------------------------------------------------------------------- */

FAMILY_RDB_LOAD(window_family)

int window_reply_full(server_context *context, const held_object *object, size_t n,
                      const char *what, const char *items)
{
    bry_window_options options = window_like(window_of(object));
    bry_window_shape shape = {0};
    char text[200];
    bry_window_plan(&options, &shape);
    window_family.totals.refused++;
    if (options.max_bytes)
        snprintf(text, sizeof text,
                 "the %s has reached MAXMEM (%" PRIu64 " bytes); room is freed as %s expire", what,
                 options.max_bytes, items);
    else
        snprintf(text, sizeof text,
                 "windows merged into this one have used up its ERROR: create windows that will be "
                 "merged with a CAPACITY for the %s of all of them",
                 items);
    return object_reply_full(context, object->items + n, shape.grows_to, text);
}

command_family window_family = {
    .name = "window",
    .type_name = "bloom-win",
    .encoding = 1,
    .job = BRY_JOB_WINDOW,
    .restore_command = "BLOOMERY.WINDOW.LOAD",
    .created_by = "WINDOW.CREATE",
    .commands = window_commands,
    .settings = window_settings,
    .rdb_load = window_family_rdb_load,
    .extra = sizeof(once_counts),
};
