/* MAP.CREATE, JOIN, COMPRESS, INFO: whole maps. */
#include "module/core/replies.h"
#include "module/map/map_request.h"

#include <inttypes.h>
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
    if (!map_request_read(context, argv, argc, NULL, &request, NULL) ||
        !object_open_free(context, &map_family, argv[1], &target))
        return SERVER_OK;
    if (request.like)
        map_put_like(context, argv, &target, request.like);
    else
        map_put_new(context, argv, &target, &request);
    object_close(&target);
    return SERVER_OK;
}

/* ---- MAP.JOIN ------------------------------------------------------------------------------ */

static bry_status map_merge_one(void *into, const void *from)
{
    return bry_map_merge(into, from);
}

int map_command_join(server_context *context, server_string **argv, int argc)
{
    static const object_merging how = {
        .family = &map_family,
        .merge = map_merge_one,
        .event = "map.join",
        .creates = true,
        .full =
            "the maps together would exceed ERROR (NOGROW: CAPACITY; engine kbf: VALUES), "
            "because a merge cannot lengthen fingerprints: create maps that will be joined with "
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
    if (!object_open(context, &map_family, argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    if (opened.object)
        map_compress(context, argv, opened.object);
    else
        reply_no_key(context);
    object_close(&opened);
    return SERVER_OK;
}

/* ---- MAP.INFO ------------------------------------------------------------------------------ */

static void map_reply_errors(server_context *context, const char *what,
                             const bry_map_errors *errors)
{
    char name[48];
    const char *const kinds[] = {"false_positive", "false_negative", "incorrect"};
    const double values[] = {errors->false_positive, errors->false_negative, errors->incorrect};
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s_%s", what, kinds[i]);
        reply_pair_number(context, name, values[i]);
    }
}

#define INFO_PAIRS 24

static int map_reply_info(server_context *context, const held_object *object)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    bry_map_options_like(map_of(object), &options);
    bry_map_stats stats = {0};
    char seed[24];
    bry_map_get_stats(map_of(object), &stats);
    snprintf(seed, sizeof seed, "%" PRIu64, stats.seed);
    api.ReplyWithMap(context, INFO_PAIRS);
    reply_pair_text(context, "engine", bry_engine_name(stats.engine));
    reply_pair_count(context, "items", stats.items);
    reply_pair_count(context, "capacity", stats.capacity);
    reply_pair_count(context, "grows", !options.fixed);
    reply_pair_number(context, "error", options.error);
    reply_pair_text(context, "seed", seed);
    reply_pair_count(context, "value_bits", options.value_bits);
    reply_pair_count(context, "values", stats.values);
    reply_pair_count(context, "values_left", stats.values_left);
    reply_pair_count(context, "tables", stats.tables);
    reply_pair_number(context, "load", stats.load);
    map_reply_errors(context, "promised", &stats.promised);
    map_reply_errors(context, "estimated", &stats.estimated);
    reply_pair_count(context, "refused_unsure", stats.refused_unsure);
    reply_pair_count(context, "refused_full", stats.refused_full);
    reply_pair_count(context, "ghosts", stats.ghosts);
    reply_pair_count(context, "queries", *map_queries(object));
    reply_pair_count(context, "bytes", object->account.bytes);
    reply_pair_count(context, "bytes_keys", stats.bytes_main);
    reply_pair_count(context, "bytes_values", stats.bytes_secondary + stats.bytes_dictionary);
    return SERVER_OK;
}

int map_command_info(server_context *context, server_string **argv, int argc)
{
    return object_describe(context, argv, argc, &map_family, map_reply_info);
}
