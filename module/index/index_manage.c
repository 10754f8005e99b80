/* INDEX.CREATE, INFO: whole indexes. */
#include "module/core/arguments.h"
#include "module/core/replies.h"
#include "module/index/index_type.h"

#include <inttypes.h>

/* ---- INDEX.CREATE -------------------------------------------------------------------------- */

/* The arguments of INDEX.CREATE. */
typedef struct index_request {
    bry_index_options options;
    bry_engine engine; /* NOT_GIVEN: that of the setting, unless there is a GROUP */
    uint64_t units, group;
    server_string *like;
} index_request;

#define NOT_GIVEN UINT32_MAX

/* Only engine dba has groups, so GROUP implies it. */
static void index_choose_engine(index_request *request)
{
    bry_index_options *index = &request->options;
    bool open = request->engine == NOT_GIVEN || request->engine == BRY_ENGINE_AUTO;
    if (request->engine != NOT_GIVEN)
        index->engine = request->engine;
    if (open && request->group)
        index->engine = BRY_ENGINE_DBA;
    if (index->engine == BRY_ENGINE_DBA)
        index->fixed = true; /* see index_type.h */
}

/* Checks combinations of arguments. False after an error reply. */
static bool index_check_create(server_context *context, const index_request *request, size_t given)
{
    uint64_t group = request->group;
    bool power = (group & (group - 1)) == 0;
    if (request->like && given > 1)
        reply_error(context, "ERR", "LIKE cannot be combined with other arguments");
    else if (group && (!power || group == 2 || group == 4))
        reply_error(context, "RANGE", "GROUP must be 1, 8, 16, 32, 64, 128, 256 or 512");
    else if (group && request->options.engine != BRY_ENGINE_DBA)
        reply_error(context, "UNSUPPORTED", "GROUP needs engine dba");
    else
        return true;
    return false;
}

/* The shape of engine dba is not among them: it is planned from these parameters, on every node
 * alike. */
static option_list index_list_options(index_request *request)
{
    bry_index_options *index = &request->options;
    return (option_list){.rows =
                             {
                                 option_count("UNITS", BRY_INDEX_UNITS_MAX, &request->units),
                                 option_capacity(&index->unit_capacity),
                                 option_error(BRY_INDEX_ERROR_MIN, &index->error),
                                 option_engine(BRY_JOB_INDEX, &request->engine),
                                 option_seed(&index->seed),
                                 option_flag("NOGROW", &index->fixed),
                                 option_count("GROUP", BRY_INDEX_DBA_GROUP_MAX, &request->group),
                                 option_string("LIKE", &request->like),
                             },
                         .count = 8};
}

/* False after an error reply. */
static bool index_read_create(server_context *context, server_string **argv, int argc,
                              index_request *request)
{
    bry_index_options *index = &request->options;
    *request = (index_request){.options = index_options_default(), .engine = NOT_GIVEN};
    request->units = index->units;
    option_list options = index_list_options(request);
    if (!options_read(context, argv, argc, 2, options.rows, options.count))
        return false;
    index->units = (uint32_t)request->units;
    index->dba.group = (uint32_t)request->group;
    index_choose_engine(request);
    return index_check_create(context, request, options_given(options.rows, options.count));
}

static int index_put_new(server_context *context, server_string **argv, opened_key *target,
                         bry_index_options *options)
{
    bry_index_shape shape = {0};
    held_object *made;
    bry_status status = bry_index_plan(options, &shape);
    if (status == BRY_E_RANGE)
        return reply_error(context, "RANGE",
                           "ERROR is too small for this CAPACITY and number of UNITS");
    if (status == BRY_OK && !object_may_grow(context, NULL, shape.bytes))
        return reply_error(context, "RANGE",
                           "UNITS, CAPACITY and ERROR need %" PRIu64
                           " bytes, more than bloomery.max-key-bytes",
                           shape.bytes);
    if (status == BRY_OK)
        status = index_create(options, &made);
    if (status != BRY_OK)
        return reply_status(context, status);
    object_put(target, made);
    index_request request = {.options = *options,
                             .engine = options->engine,
                             .units = options->units,
                             .group = options->dba.group};
    option_list list = index_list_options(&request);
    options_replicate(context, "INDEX.CREATE", argv[1], &list);
    object_changed(context, argv[1], "index.create", false);
    return reply_ok(context);
}

static int index_put_like(server_context *context, server_string **argv, opened_key *target,
                          server_string *like)
{
    const held_object *other = object_like(context, &index_family, like);
    if (!other)
        return SERVER_OK;
    bry_index_options options = index_options_of(index_of(other));
    return index_put_new(context, argv, target, &options);
}

int index_command_create(server_context *context, server_string **argv, int argc)
{
    index_request request;
    opened_key target;
    if (report_like_keys(context, argv, argc))
        return SERVER_OK;
    if (argc < 2)
        return api.WrongArity(context);
    if (!index_read_create(context, argv, argc, &request) ||
        !object_open_free(context, &index_family, argv[1], &target))
        return SERVER_OK;
    if (request.like)
        index_put_like(context, argv, &target, request.like);
    else
        index_put_new(context, argv, &target, &request.options);
    return object_close(&target);
}

/* ---- INDEX.INFO ---------------------------------------------------------------------------- */

static void index_reply_info(pair_reply *pairs, const held_object *object)
{
    const held_index *held = index_of(object);
    bry_index_options options = index_options_of(held);
    bry_index_stats stats = {0};
    bry_index_get_stats(held->index, &stats);
    reply_pair_text(pairs, "engine", bry_engine_name(stats.engine));
    reply_pair_count(pairs, "units", held->numbers.used);
    reply_pair_count(pairs, "planned_units", options.units);
    reply_pair_count(pairs, "promised_units", stats.promised_units);
    reply_pair_count(pairs, "grows", !options.fixed);
    reply_pair_count(pairs, "capacity", options.unit_capacity);
    reply_pair_count(pairs, "items", object->items);
    reply_pair_count(pairs, "deletes", !held->dba);
    reply_pair_text(pairs, "supplier", held->dba ? "none" : "not needed");
    reply_pair_seed(pairs, stats.seed);
    reply_pair_parameter(pairs, "promised_error", stats.promised_error);
    reply_pair_number(pairs, "estimated_error", stats.estimated_error);
    reply_pair_number(pairs, "full_error", stats.full_error);
    reply_pair_number(pairs, "fill", stats.fill);
    reply_pair_count(pairs, "group", options.dba.group);
    reply_pair_count(pairs, "groups", stats.dba.groups);
    reply_pair_count(pairs, "widest_group", stats.dba.group);
    reply_pair_count(pairs, "dropped_items", stats.compact.dropped);
    reply_pair_count(pairs, "bytes", object->account.bytes);
}

static void index_reply_unit(pair_reply *pairs, const held_index *held, uint64_t number,
                             uint32_t unit)
{
    bry_index_unit_info info = {0};
    bry_index_get_unit_info(held->index, unit, &info);
    reply_pair_count(pairs, "unit", number);
    reply_pair_count(pairs, "items", info.elements);
    reply_pair_count(pairs, "capacity", info.capacity);
    reply_pair_count(pairs, "sealed", info.sealed);
    reply_pair_number(pairs, "estimated_error", info.error);
}

static int index_info_unit(server_context *context, const held_object *object, uint64_t number)
{
    const held_index *held = index_of(object);
    uint32_t unit = index_numbers_find(&held->numbers, number);
    if (unit == INDEX_NO_UNIT)
        return index_reply_no_unit(context, number);
    pair_reply pairs = reply_pairs_begin(context);
    index_reply_unit(&pairs, held, number, unit);
    reply_pairs_end(&pairs);
    return SERVER_OK;
}

int index_command_info(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    uint64_t number;
    if (argc != 3)
        return object_describe(context, argv, argc, &index_family, index_reply_info);
    if (!index_read_unit(context, argv[2], &number) ||
        !object_open_made(context, &index_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    index_info_unit(context, opened.object, number);
    return object_close(&opened);
}
