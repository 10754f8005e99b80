/* COUNTER.CREATE, INFO: whole tables. */
#include "module/core/arguments.h"
#include "module/core/replies.h"
#include "module/counter/counter_type.h"

#include <inttypes.h>

/* ---- COUNTER.CREATE ------------------------------------------------------------------------ */

enum { DEFAULT_SKEW = 1000 };

/* Without SKEW: a second, or a quarter of a short window. False after an error reply. */
static bool counter_read_skew(server_context *context, bry_counters_options *request)
{
    uint64_t most = request->window / 4 + 1;
    if (!request->max_skew)
        request->max_skew = most < DEFAULT_SKEW ? most : DEFAULT_SKEW;
    return request->max_skew <= request->window ||
           reply_false(context, "RANGE", "SKEW is longer than WINDOW");
}

static option_list counter_list_options(bry_counters_options *request)
{
    return (option_list){
        .rows =
            {
                option_span("WINDOW", &request->window),
                option_error(BRY_COUNTERS_ERROR_MIN, &request->error),
                option_capacity(&request->capacity),
                option_seed(&request->seed),
                option_engine(BRY_JOB_COUNTERS, &request->engine),
                option_span("SKEW", &request->max_skew),
                option_whole("MAXMEM", OPTION_BYTES, INT64_MAX, &request->max_bytes),
            },
        .count = 7};
}

/* False after an error reply. */
static bool counter_read_create(server_context *context, server_string **argv, int argc,
                                bry_counters_options *request)
{
    *request = (bry_counters_options)BRY_COUNTERS_OPTIONS;
    option_list options = counter_list_options(request);
    if (!options_read(context, argv, argc, 2, options.rows, options.count))
        return false;
    if (!request->window)
        return reply_false(
            context, "ERR",
            "WINDOW is required: how long retries are recognised, which must be longer than "
            "any client retries");
    return counter_read_skew(context, request);
}

/* True if the limits leave room for a new table and, if CAPACITY was given (`asked`), for its plan.
 * Replayed commands are not limited. False after an error reply. */
static bool counter_has_room(server_context *context, const bry_counters_options *options,
                             const held_object *made, const bry_counters_shape *shape, bool asked)
{
    /* a quarter more for what the server's allocator rounds up */
    uint64_t first = shape->bytes_least - shape->bytes_empty;
    uint64_t bytes = made->account.bytes + first + first / 4, planned = asked ? shape->bytes : 0;
    if (is_replayed(context))
        return true;
    if (options->max_bytes && options->max_bytes < bytes)
        return reply_false(context, "RANGE",
                           "MAXMEM %" PRIu64
                           " is too small: a table with one counter needs %" PRIu64 " bytes",
                           options->max_bytes, bytes);
    if (!options->max_bytes && !object_may_grow(context, NULL, planned))
        return reply_false(
            context, "RANGE",
            "CAPACITY and ERROR need %" PRIu64 " bytes, more than bloomery.max-key-bytes", planned);
    return true;
}

/* Without CAPACITY: the default, or less if that is not possible with a very small ERROR. */
static bry_status counter_plan(bry_counters_options *options, bry_counters_shape *shape)
{
    bool asked = options->capacity != 0;
    if (!asked)
        options->capacity = counter_default_capacity();
    bry_counters_options planned = *options;
    planned.max_bytes = planned.max_skew = 0; /* counter_has_room() checks the first */
    bry_status status = bry_counters_plan(&planned, shape);
    while (status == BRY_E_RANGE && !asked && planned.capacity >= 10) {
        options->capacity = planned.capacity /= 10;
        status = bry_counters_plan(&planned, shape);
    }
    return status;
}

static int counter_put_new(server_context *context, server_string *key, opened_key *target,
                           bry_counters_options *options)
{
    bool asked = options->capacity != 0;
    bry_counters_shape shape = {0};
    held_object *made;
    bry_status status = counter_plan(options, &shape);
    if (status == BRY_E_RANGE)
        return reply_error(context, "RANGE", "ERROR is too small for this CAPACITY");
    if (status == BRY_OK)
        status = counter_create(options, &made);
    if (status != BRY_OK)
        return reply_status(context, status);
    if (!counter_has_room(context, options, made, &shape, asked)) {
        object_free(made);
        return SERVER_OK;
    }
    object_put(target, made);
    /* With all parameters: defaults may differ between versions, and the seed is random. */
    option_list list = counter_list_options(options);
    options_replicate(context, "COUNTER.CREATE", key, &list);
    object_changed(context, key, "counter.create", false);
    return reply_ok(context);
}

int counter_command_create(server_context *context, server_string **argv, int argc)
{
    bry_counters_options request;
    opened_key target;
    if (argc < 2)
        return api.WrongArity(context);
    if (!counter_read_create(context, argv, argc, &request) ||
        !object_open_free(context, &counter_family, argv[1], &target))
        return SERVER_OK;
    counter_put_new(context, argv[1], &target, &request);
    return object_close(&target);
}

/* ---- COUNTER.INFO -------------------------------------------------------------------------- */

static void counter_reply_info(pair_reply *pairs, const held_object *object)
{
    const counter_table *table = table_of(object);
    bry_counters_stats stats = {0};
    bry_counters_get_stats(table->counters, &stats);
    reply_pair_text(pairs, "engine", bry_engine_name(stats.engine));
    reply_pair_count(pairs, "window", stats.window);
    reply_pair_count(pairs, "skew", table->skew);
    reply_pair_count(pairs, "covered", stats.covered);
    reply_pair_count(pairs, "time", stats.time);
    reply_pair_ahead(pairs, stats.time);
    reply_pair_count(pairs, "capacity", bry_counters_capacity(table->counters));
    reply_pair_seed(pairs, stats.seed);
    reply_pair_count(pairs, "counters", stats.counters);
    reply_pair_count(pairs, "ids", stats.ids);
    reply_pair_count(pairs, "applied", stats.applied);
    reply_pair_count(pairs, "repeats", stats.repeats);
    reply_pair_number(pairs, "expected_lost", stats.expected_lost);
    reply_pair_count(pairs, "refused_full", table->refused);
    reply_pair_count(pairs, "refused_overflow", stats.refused_overflow);
    reply_pair_parameter(pairs, "promised_error", stats.promised_error);
    reply_pair_number(pairs, "estimated_error", stats.estimated_error);
    reply_pair_count(pairs, "maxmem", table->max_bytes);
    reply_pair_count(pairs, "bytes", object->account.bytes);
    reply_pair_count(pairs, "bytes_ids", stats.bytes_window);
    reply_pair_count(pairs, "bytes_counters", stats.bytes - stats.bytes_window);
}

int counter_command_info(server_context *context, server_string **argv, int argc)
{
    return object_describe(context, argv, argc, &counter_family, counter_reply_info);
}
