/* ONCE.CREATE, ONCE.INFO: guards; and the family ONCE, which has no data type of its own. */
#include "module/core/arguments.h"
#include "module/core/replies.h"
#include "module/core/settings.h"
#include "module/once/once_run.h"

/* ---- settings ------------------------------------------------------------------------------ */

/*
 * As for tables of counters: a new id that is taken for a repeat is a lost write, so the error is
 * small; and a guard is planned for many ids, because memory is allocated only as ids arrive and
 * ids beyond the plan take more.
 */
static share_setting default_error = {.least = BRY_WINDOW_ERROR_MIN, .most = BRY_ERROR_MAX};
static long long default_capacity = 1000000;

static const module_setting once_settings[] = {
    {"once-error", SETTING_SHARE, &default_error, .preset = "1e-9"},
    {"once-capacity", SETTING_COUNT, &default_capacity, .least = 1, .most = BRY_CAPACITY_MAX},
    {0},
};

bry_window_options once_options_default(void)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.engine = BRY_ENGINE_COMPACT;
    options.capacity = (uint64_t)default_capacity;
    options.error = default_error.value;
    return options;
}

/* A guard is an ordinary window, and is saved as one. INFO counts it as a guard after this server
 * has created it with ONCE.CREATE or used it in ONCE. */
bool once_is_marked(const held_object *object)
{
    return object_totals(object) == &once_family.totals;
}

void once_mark_guard(held_object *object)
{
    if (!once_is_marked(object))
        object_count_among(object, &once_family.totals);
}

/* ---- ONCE.CREATE --------------------------------------------------------------------------- */

/* False after an error reply. */
static bool once_read_create(server_context *context, server_string **argv, int argc,
                             bry_window_options *window)
{
    *window = once_options_default();
    command_option options[] = {
        option_span("WINDOW", &window->window),
        option_capacity(&window->capacity),
        option_error(BRY_WINDOW_ERROR_MIN, &window->error),
        option_whole("MAXMEM", OPTION_BYTES, UINT64_MAX, &window->max_bytes),
        option_seed(&window->seed),
    };
    size_t count = sizeof options / sizeof options[0];
    if (!options_read(context, argv, argc, 2, options, count))
        return false;
    window->refuse = window->max_bytes != 0;
    return window->window ||
           reply_false(
               context, "ERR",
               "WINDOW is required: how long ids are remembered, which must be longer than any "
               "client retries");
}

int once_command_create(server_context *context, server_string **argv, int argc)
{
    bry_window_options options;
    opened_key target;
    if (argc < 2)
        return api.WrongArity(context);
    if (!once_read_create(context, argv, argc, &options) ||
        !object_open_free(context, &window_family, argv[1], &target))
        return SERVER_OK;
    window_put_new(context, argv, &target, &options);
    if (target.object)
        once_mark_guard(target.object);
    return object_close(&target);
}

/* ---- ONCE.INFO ----------------------------------------------------------------------------- */

static void once_reply_info(pair_reply *pairs, const held_object *object)
{
    const once_counts *counts = window_once_counts(object);
    reply_pair_count(pairs, "applied", counts->applied);
    reply_pair_count(pairs, "repeats", counts->repeated);
    reply_pair_number(pairs, "expected_lost", counts->expected_lost);
    window_reply_pairs(pairs, object);
}

int once_command_info(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    if (argc != 2)
        return api.WrongArity(context);
    if (!object_open(context, &window_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    if (opened.object) {
        pair_reply pairs = reply_pairs_begin(context);
        once_reply_info(&pairs, opened.object);
        reply_pairs_end(&pairs);
    } else {
        once_reply_no_guard(context);
    }
    return object_close(&opened);
}

/* ---- the family ---------------------------------------------------------------------------- */

static void once_info(server_info *info)
{
    api.InfoAddFieldULongLong(info, "once_applied", once_total.applied);
    api.InfoAddFieldULongLong(info, "once_repeats", once_total.repeated);
    api.InfoAddFieldULongLong(info, "once_failed", once_total.failed);
    api.InfoAddFieldULongLong(info, "once_refused", once_total.refused);
}

command_family once_family = {
    .name = "once",
    .commands = once_commands,
    .settings = once_settings,
    .info = once_info,
};
