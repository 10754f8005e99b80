/* MAP.CREATE, MERGE, COMPRESS, INFO: whole maps. */
#include "module/core/replies.h"
#include "module/map/map_request.h"

#include <stdio.h>

/* ---- MAP.CREATE ---------------------------------------------------------------------------- */

/* An empty map that also has the value codes of the other, so that the two can be merged. */
static bry_status map_create_like(const held_object *other, held_object **out)
{
    held_object *made = object_new(&map_family);
    if (!made)
        return BRY_E_NOMEM;
    bry_allocator allocator = account_allocator(&made->account);
    bry_map *map;
    bry_status status = bry_map_create_like(map_of(other), &allocator, &map);
    if (status != BRY_OK) {
        object_free(made);
        return status;
    }
    made->thing = map;
    *out = made;
    return BRY_OK;
}

static int map_put_like(server_context *context, server_string **argv, opened_key *target,
                        server_string *like)
{
    held_object *made;
    const held_object *other = object_like(context, &map_family, like);
    if (!other)
        return SERVER_OK;
    bry_status status = map_create_like(other, &made);
    if (status != BRY_OK)
        return reply_status(context, status);
    return object_put_like(context, argv[1], target, made, "map.create");
}

static int map_put_new(server_context *context, server_string **argv, opened_key *target,
                       map_request *request)
{
    held_object *made = map_request_make(context, request);
    if (!made)
        return SERVER_OK;
    object_put(target, made);
    map_replicate_creation(context, argv[1], &request->options);
    object_changed(context, argv[1], "map.create", false);
    return reply_ok(context);
}

int map_command_create(server_context *context, server_string **argv, int argc)
{
    map_request request;
    opened_key target;
    if (report_like_keys(context, argv, argc))
        return SERVER_OK;
    if (argc < 2)
        return api.WrongArity(context);
    if (!map_request_read(context, argv, argc, &request, NULL) ||
        !object_open_free(context, &map_family, argv[1], &target))
        return SERVER_OK;
    if (request.like)
        map_put_like(context, argv, &target, request.like);
    else
        map_put_new(context, argv, &target, &request);
    return object_close(&target);
}

/* ---- MAP.MERGE ----------------------------------------------------------------------------- */

int map_command_merge(server_context *context, server_string **argv, int argc)
{
    static const merge_method how = {
        .family = &map_family,
        .event = "map.merge",
        .full =
            "the maps together would exceed ERROR (NOGROW: CAPACITY; engine kbf: VALUES), "
            "because a merge cannot lengthen fingerprints: create maps that will be merged with "
            "a CAPACITY for the fields of all of them",
    };
    return object_merge(context, argv, argc, &how);
}

/* ---- MAP.COMPRESS -------------------------------------------------------------------------- */

static int map_compress(server_context *context, server_string **argv, held_object *object)
{
    size_t before = object->account.bytes;
    bry_status status = bry_map_compress(map_of(object), 0);
    if (status != BRY_OK)
        return object_refused(context, &map_family, status);
    object_recount(object);
    object_changed(context, argv[1], "map.compress", true);
    size_t after = object->account.bytes;
    return api.ReplyWithLongLong(context, before > after ? (long long)(before - after) : 0);
}

int map_command_compress(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    if (argc != 2)
        return api.WrongArity(context);
    if (!object_open_made(context, &map_family, argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    map_compress(context, argv, opened.object);
    return object_close(&opened);
}

/* ---- MAP.INFO ------------------------------------------------------------------------------ */

static void map_reply_errors(pair_reply *pairs, const char *what, const bry_map_errors *errors)
{
    char name[48];
    const char *const kinds[] = {"false_positive", "false_negative", "incorrect"};
    const double values[] = {errors->false_positive, errors->false_negative, errors->incorrect};
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s_%s", what, kinds[i]);
        reply_pair_number(pairs, name, values[i]);
    }
}

static void map_reply_info(pair_reply *pairs, const held_object *object)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    bry_map_options_like(map_of(object), &options);
    bry_map_stats stats = {0};
    bry_map_get_stats(map_of(object), &stats);
    reply_pair_text(pairs, "engine", bry_engine_name(stats.engine));
    reply_pair_count(pairs, "items", stats.items);
    reply_pair_count(pairs, "capacity", stats.capacity);
    reply_pair_count(pairs, "grows", !options.fixed);
    reply_pair_parameter(pairs, "promised_error", stats.promised_error);
    reply_pair_seed(pairs, stats.seed);
    reply_pair_count(pairs, "value_bits", options.value_bits);
    reply_pair_count(pairs, "values", stats.values);
    reply_pair_count(pairs, "values_left", stats.values_left);
    reply_pair_count(pairs, "tables", stats.tables);
    reply_pair_number(pairs, "load", stats.load);
    map_reply_errors(pairs, "planned", &stats.planned);
    map_reply_errors(pairs, "estimated", &stats.estimated);
    reply_pair_count(pairs, "refused_unsure", stats.kbf.refused_unsure);
    reply_pair_count(pairs, "refused_full", stats.refused_full);
    reply_pair_count(pairs, "ghosts", stats.kbf.ghosts);
    reply_pair_count(pairs, "queries", *map_queries(object));
    reply_pair_count(pairs, "bytes", object->account.bytes);
    reply_pair_count(pairs, "bytes_keys", stats.bytes_keys);
    reply_pair_count(pairs, "bytes_values", stats.bytes_values);
}

int map_command_info(server_context *context, server_string **argv, int argc)
{
    return object_describe(context, argv, argc, &map_family, map_reply_info);
}
