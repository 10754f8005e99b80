/* MAP.CREATE, JOIN, COMPRESS, INFO: whole maps. */
#include "arguments.h"
#include "map_type.h"
#include "replies.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- MAP.CREATE ---------------------------------------------------------------------------- */

/* What MAP.CREATE says. */
typedef struct map_wish {
    bry_map_options options;
    int engine;
    uint64_t raw;
    server_string *like;
} map_wish;

static const char *const engine_words[] = {"auto", "compact", "kbf", NULL};
static const bry_engine engines[] = {BRY_ENGINE_AUTO, BRY_ENGINE_COMPACT, BRY_ENGINE_KBF};

/* False: the client has been told. */
static bool read_wish(server_context *context, server_string **argv, int argc, map_wish *wish)
{
    bry_map_options *map = &wish->options;
    *wish = (struct map_wish){.options = map_options_default(), .engine = -1};
    command_option options[] = {
        {.name = "CAPACITY",
         .kind = OPTION_COUNT,
         .into = &map->capacity,
         .least = 1,
         .most = (uint64_t)1 << 40},
        {.name = "ERROR",
         .kind = OPTION_SHARE,
         .into = &map->error,
         .least_share = 1e-9,
         .most_share = 0.5},
        {.name = "ENGINE", .kind = OPTION_WORD, .into = &wish->engine, .words = engine_words},
        {.name = "VALUES",
         .kind = OPTION_COUNT,
         .into = &map->values,
         .least = 1,
         .most = UINT32_MAX},
        {.name = "RAW", .kind = OPTION_COUNT, .into = &wish->raw, .least = 1, .most = 32},
        {.name = "LIKE", .kind = OPTION_STRING, .into = &wish->like},
        {.name = "SEED", .kind = OPTION_COUNT, .into = &map->seed, .least = 1, .most = UINT64_MAX},
        {.name = "NOGROW", .kind = OPTION_FLAG, .into = &map->fixed},
    };
    size_t count = sizeof options / sizeof options[0], given = 0;
    if (!options_read(context, argv, argc, 2, options, count, NULL, NULL))
        return false;
    for (size_t i = 0; i < count; i++)
        given += options[i].given;
    if (wish->like && given > 1) {
        reply_error(context, "ERR", "LIKE copies everything: no other argument goes with it");
        return false;
    }
    if (map->values && wish->raw) {
        reply_error(context, "ERR", "VALUES and RAW exclude each other");
        return false;
    }
    if (wish->engine >= 0)
        map->engine = engines[wish->engine];
    map->value_bits = (uint32_t)wish->raw;
    return true;
}

/* An empty map with the codes of the other's values, too: so the two can be joined. */
static bry_status create_like(const held_object *other, held_object **out)
{
    held_object *made = object_new(&map_family);
    bry_map *map = NULL;
    bry_status status = made ? bry_map_create_like(map_of(other), &map) : BRY_E_NOMEM;
    if (status == BRY_OK) { /* into an account of its own, see object_copy() */
        bry_sink sink = chunks_sink(&made->pieces);
        status = bry_map_save(map, &sink);
        bry_map_destroy(map);
    }
    if (status == BRY_OK) {
        bry_source source = chunks_source(&made->pieces);
        bry_load load = BRY_LOAD;
        status = object_load(made, &source, &load);
        chunks_free(&made->pieces);
    }
    if (status != BRY_OK) {
        object_free(made);
        return status;
    }
    *out = made;
    return BRY_OK;
}

static int put_like(server_context *context, server_string **argv, opened_key *target,
                    server_string *like)
{
    char text[QUOTED_SIZE];
    opened_key other;
    held_object *made;
    if (!object_open(context, &map_family, like, SERVER_READ, &other))
        return SERVER_OK;
    object_close(&other);
    if (!other.object)
        return reply_error(context, "ERR", "LIKE %s: no such key", quoted(like, text));
    bry_status status = create_like(other.object, &made);
    if (status != BRY_OK)
        return reply_status(context, status);
    if (!object_may_grow(context, made, 0)) {
        object_free(made);
        return object_too_large(context, &map_family);
    }
    object_put(target, made);
    object_changed(context, argv[1], "map.create", true);
    return reply_ok(context);
}

static int put_new(server_context *context, server_string **argv, opened_key *target,
                   bry_map_options *options)
{
    bry_map_shape shape;
    held_object *made;
    bry_status status = bry_map_plan(options, &shape);
    if (status == BRY_E_RANGE)
        return reply_error(context, "RANGE",
                           "ERROR cannot be had at this CAPACITY, or VALUES or RAW is more than "
                           "engine %s has",
                           bry_engine_name(options->engine));
    if (status == BRY_OK && !object_may_grow(context, NULL, shape.bytes))
        return reply_error(context, "RANGE",
                           "CAPACITY and ERROR make %" PRIu64
                           " bytes, more than bloomery.max-key-bytes",
                           shape.bytes);
    if (status == BRY_OK)
        status = map_create(options, &made);
    if (status != BRY_OK)
        return reply_status(context, status);
    object_put(target, made);
    map_replicate_creation(context, argv[1], options);
    object_changed(context, argv[1], "map.create", false);
    return reply_ok(context);
}

int map_command_create(server_context *context, server_string **argv, int argc)
{
    map_wish wish;
    opened_key target;
    if (argc < 2)
        return api.WrongArity(context);
    if (!read_wish(context, argv, argc, &wish) ||
        !object_open(context, &map_family, argv[1], SERVER_READ | SERVER_WRITE, &target))
        return SERVER_OK;
    if (target.object)
        reply_error(context, "BUSYKEY", "Target key name already exists.");
    else if (wish.like)
        put_like(context, argv, &target, wish.like);
    else
        put_new(context, argv, &target, &wish.options);
    object_close(&target);
    return SERVER_OK;
}

/* ---- MAP.JOIN ------------------------------------------------------------------------------ */

static bry_status join(void *into, const void *from)
{
    return bry_map_join(into, from);
}

int map_command_join(server_context *context, server_string **argv, int argc)
{
    static const object_joining how = {&map_family, join, "map.join", true};
    return object_join(context, argv, argc, &how);
}

/* ---- MAP.COMPRESS -------------------------------------------------------------------------- */

static int compress(server_context *context, server_string **argv, held_object *object)
{
    size_t before = object->account.bytes;
    bry_status status = bry_map_compress(map_of(object), 0);
    if (status != BRY_OK)
        return object_refused(context, &map_family, status);
    object_set_items(object, map_family.items(object->thing));
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
        compress(context, argv, opened.object);
    else
        reply_no_key(context);
    object_close(&opened);
    return SERVER_OK;
}

/* ---- MAP.INFO ------------------------------------------------------------------------------ */

static void reply_errors(server_context *context, const char *what, const bry_map_errors *errors)
{
    char name[48];
    const char *const kinds[] = {"false_positive", "false_negative", "incorrect"};
    const double values[] = {errors->false_positive, errors->false_negative, errors->incorrect};
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s_%s", what, kinds[i]);
        reply_pair_number(context, name, values[i]);
    }
}

#define INFO_PAIRS 22

static int reply_info(server_context *context, const held_object *object)
{
    bry_map_options options = bry_map_options_like(map_of(object));
    bry_map_stats stats;
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
    reply_errors(context, "promised", &stats.promised);
    reply_errors(context, "estimated", &stats.estimated);
    reply_pair_count(context, "refused_unsure", stats.refused_unsure);
    reply_pair_count(context, "refused_full", stats.refused_full);
    reply_pair_count(context, "bytes", object->account.bytes);
    reply_pair_count(context, "bytes_keys", stats.bytes_main);
    reply_pair_count(context, "bytes_values", stats.bytes_secondary + stats.bytes_dictionary);
    return SERVER_OK;
}

int map_command_info(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    if (argc != 2)
        return api.WrongArity(context);
    if (!object_open(context, &map_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    if (opened.object)
        reply_info(context, opened.object);
    else
        reply_no_key(context);
    object_close(&opened);
    return SERVER_OK;
}
