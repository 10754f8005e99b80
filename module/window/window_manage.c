/* WINDOW.CREATE, ADVANCE, MERGE, INFO: whole windows. */
#include "module/core/arguments.h"
#include "module/core/replies.h"
#include "module/window/window_type.h"

#include <inttypes.h>

/* ---- WINDOW.CREATE -------------------------------------------------------------------------- */

/* The arguments of WINDOW.CREATE. The shape of engine fbf is not among them: it is planned from
 * these parameters, on every node alike. */
typedef struct window_request {
    bry_window_options options;
    uint32_t by_events;
    server_string *like;
} window_request;

/* Checks combinations of arguments. False after an error reply. */
static bool window_check_create(server_context *context, const window_request *request,
                                size_t given)
{
    const bry_window_options *window = &request->options;
    const char *problem = NULL;
    if (request->like && given > (window->window ? 2u : 1u))
        problem = "LIKE cannot be combined with arguments other than WINDOW";
    else if (!request->like && !window->window)
        problem = "WINDOW is required: how long items are remembered";
    else if (request->by_events && !window->max_skew)
        problem = "EVENTTIME needs SKEW: how far an event may be ahead of all earlier ones";
    else if (!request->by_events && window->max_skew)
        problem = "SKEW needs EVENTTIME";
    if (problem)
        reply_error(context, "ERR", "%s", problem);
    return !problem;
}

static option_list window_list_options(window_request *request)
{
    bry_window_options *window = &request->options;
    return (option_list){
        .rows =
            {
                option_span("WINDOW", &window->window),
                option_capacity(&window->capacity),
                option_error(BRY_WINDOW_ERROR_MIN, &window->error),
                option_engine(BRY_JOB_WINDOW, &window->engine),
                option_seed(&window->seed),
                option_whole("MAXMEM", OPTION_BYTES, UINT64_MAX, &window->max_bytes),
                option_flag("REFRESH", &window->refresh),
                option_flag("EVENTTIME", &request->by_events),
                option_span("SKEW", &window->max_skew),
                option_string("LIKE", &request->like),
            },
        .count = 10};
}

/* False after an error reply. */
static bool window_read_create(server_context *context, server_string **argv, int argc,
                               window_request *request)
{
    *request = (window_request){.options = window_options_default()};
    option_list options = window_list_options(request);
    if (!options_read(context, argv, argc, 2, options.rows, options.count))
        return false;
    request->options.refuse = request->options.max_bytes != 0;
    return window_check_create(context, request, options_given(options.rows, options.count));
}

static int window_put_like(server_context *context, server_string **argv, opened_key *target,
                           const window_request *request)
{
    char text[QUOTED_SIZE];
    held_object *made;
    const held_object *other = object_like(context, &window_family, request->like);
    if (!other)
        return SERVER_OK;
    bry_window_options options = window_like(window_of(other));
    if (request->options.window && request->options.window != options.window)
        return reply_error(context, "ERR",
                           "WINDOW differs from that of %s, which is %" PRIu64 " ms",
                           quoted(request->like, text), options.window);
    bry_status status = window_create(&options, &made);
    if (status != BRY_OK)
        return reply_status(context, status);
    return object_put_like(context, argv[1], target, made, "window.create");
}

/* Replies why there is no plan for these options. */
static int window_reply_no_plan(server_context *context, const bry_window_options *options,
                                bry_status status)
{
    bry_window_options without = *options;
    bry_window_shape shape = {0};
    without.max_bytes = 0;
    if (status != BRY_E_RANGE)
        return reply_status(context, status);
    if (options->max_bytes && bry_window_plan(&without, &shape) == BRY_OK)
        return reply_error(context, "RANGE",
                           "MAXMEM is too small: this window needs at least %" PRIu64 " bytes",
                           shape.bytes_least);
    return reply_error(context, "RANGE", "ERROR is too small for this CAPACITY");
}

int window_put_new(server_context *context, server_string **argv, opened_key *target,
                   bry_window_options *options)
{
    bry_window_shape shape = {0};
    held_object *made;
    bry_status status = bry_window_plan(options, &shape);
    if (status != BRY_OK)
        return window_reply_no_plan(context, options, status);
    uint64_t bytes = shape.bytes;
    if (options->max_bytes && options->max_bytes < bytes)
        bytes = options->max_bytes;
    if (!object_may_grow(context, NULL, bytes))
        return reply_error(
            context, "RANGE",
            "CAPACITY and ERROR need %" PRIu64 " bytes, more than bloomery.max-key-bytes", bytes);
    status = window_create(options, &made);
    if (status != BRY_OK)
        return reply_status(context, status);
    object_put(target, made);
    window_request request = {.options = *options, .by_events = window_by_events(options)};
    option_list list = window_list_options(&request);
    options_replicate(context, "WINDOW.CREATE", argv[1], &list);
    object_changed(context, argv[1], "window.create", false);
    return reply_ok(context);
}

int window_command_create(server_context *context, server_string **argv, int argc)
{
    window_request request;
    opened_key target;
    if (report_like_keys(context, argv, argc))
        return SERVER_OK;
    if (argc < 2)
        return api.WrongArity(context);
    if (!window_read_create(context, argv, argc, &request) ||
        !object_open_free(context, &window_family, argv[1], &target))
        return SERVER_OK;
    if (request.like)
        window_put_like(context, argv, &target, &request);
    else
        window_put_new(context, argv, &target, &request.options);
    return object_close(&target);
}

/* ---- WINDOW.ADVANCE ------------------------------------------------------------------------- */

static int window_advance(server_context *context, server_string **argv, held_object *object,
                          uint64_t at)
{
    bry_window *window = window_of(object);
    bry_window_options options = window_like(window);
    uint64_t now, before = bry_window_time(window);
    if (!window_resolve_time(context, &options, at, &now))
        return SERVER_OK;
    bry_status status = bry_window_advance(window, now);
    if (status != BRY_OK)
        return object_refused_here(context, &window_family, status);
    window_changed(object, &options, before);
    api.Replicate(context, "WINDOW.ADVANCE", "scl", argv[1], "AT", (long long)now);
    object_changed(context, argv[1], "window.advance", false);
    return api.ReplyWithLongLong(context, (long long)object->items);
}

int window_command_advance(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    uint64_t at = 0;
    command_option options[] = {
        option_whole("AT", OPTION_MOMENT, WINDOW_MOST_TIME, &at),
    };
    if (argc < 2)
        return api.WrongArity(context);
    if (!options_read(context, argv, argc, 2, options, 1) ||
        !object_open_made(context, &window_family, argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    window_advance(context, argv, opened.object, at);
    return object_close(&opened);
}

/* ---- WINDOW.MERGE --------------------------------------------------------------------------- */

int window_command_merge(server_context *context, server_string **argv, int argc)
{
    static const merge_method how = {
        .family = &window_family,
        .event = "window.merge",
        .full = "the windows together would exceed ERROR or MAXMEM; a merge cannot lengthen "
                "fingerprints: create windows that will be merged with a CAPACITY for the items of "
                "all of them",
    };
    return object_merge(context, argv, argc, &how);
}

/* ---- WINDOW.INFO ---------------------------------------------------------------------------- */

void window_reply_pairs(pair_reply *pairs, const held_object *object)
{
    const bry_window *window = window_of(object);
    bry_window_options options = window_like(window);
    bry_window_stats stats = {0};
    bry_window_get_stats(window, &stats);
    reply_pair_text(pairs, "engine", bry_engine_name(stats.engine));
    reply_pair_count(pairs, "window", stats.window);
    reply_pair_count(pairs, "capacity", bry_window_capacity(window));
    reply_pair_count(pairs, "refresh", options.refresh);
    reply_pair_count(pairs, "eventtime", window_by_events(&options));
    reply_pair_count(pairs, "skew", options.max_skew);
    reply_pair_seed(pairs, stats.seed);
    reply_pair_count(pairs, "time", stats.time);
    reply_pair_ahead(pairs, window_by_events(&options) ? 0 : stats.time);
    reply_pair_count(pairs, "covered", stats.covered);
    reply_pair_count(pairs, "items", stats.items);
    reply_pair_count(pairs, "generations", stats.generations);
    if (stats.engine == BRY_ENGINE_FBF) {
        reply_pair_count(pairs, "ended_early", stats.fbf.ended_early);
        reply_pair_count(pairs, "resizes", stats.fbf.resizes);
        reply_pair_number(pairs, "predicted_error", stats.fbf.predicted_error);
    }
    reply_pair_parameter(pairs, "promised_error", stats.promised_error);
    reply_pair_number(pairs, "estimated_error", stats.estimated_error);
    reply_pair_count(pairs, "refused_full", stats.refused_full);
    reply_pair_count(pairs, "refused_skew", stats.refused_skew);
    reply_pair_count(pairs, "at_limit", stats.at_limit);
    reply_pair_count(pairs, "maxmem", stats.max_bytes);
    reply_pair_count(pairs, "bytes", object->account.bytes);
}

int window_command_info(server_context *context, server_string **argv, int argc)
{
    return object_describe(context, argv, argc, &window_family, window_reply_pairs);
}
