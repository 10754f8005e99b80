/*
 * FILTER.*: the commands as which changes of filters are replicated and logged.
 *
 * On another node, BF.* may belong to another module or not exist (bf_register.c). FILTER.* exist
 * on every node that has the type, so replicas and logs never need BF.*. They call the handlers of
 * BF.*, which produce the same bytes. Clients cannot call them, and memory limits do not apply.
 */
#include "module/bf/bf_type.h"

#include "module/core/command_table_parts.h"
#include "module/core/replies.h"

void bf_replicate(server_context *context, const char *effect, server_string **argv, int argc)
{
    api.Replicate(context, effect, "v", argv + 1, (size_t)argc - 1);
}

static int filter_run_replayed(server_context *context, server_string **argv, int argc,
                               server_command_function *command)
{
    if (!is_replayed(context))
        return reply_internal(context);
    return command(context, argv, argc);
}

static int filter_command_create(server_context *context, server_string **argv, int argc)
{
    return filter_run_replayed(context, argv, argc, bf_command_reserve);
}

static int filter_command_add(server_context *context, server_string **argv, int argc)
{
    return filter_run_replayed(context, argv, argc, bf_add_replayed);
}

static int filter_command_del(server_context *context, server_string **argv, int argc)
{
    return filter_run_replayed(context, argv, argc, bf_command_del);
}

static int filter_command_merge(server_context *context, server_string **argv, int argc)
{
    return filter_run_replayed(context, argv, argc, bf_command_merge);
}

static int filter_command_chunk(server_context *context, server_string **argv, int argc)
{
    return filter_run_replayed(context, argv, argc, bf_command_loadchunk);
}

static int filter_command_load(server_context *context, server_string **argv, int argc)
{
    return object_restore(context, argv, argc, &filter_family);
}

static server_key_spec one_key[] = {KEY_AT(1, CHANGES), {0}};
static server_key_spec merge_keys[] = {KEY_AT(1, CHANGES), KEYS_FROM(2, READS), {0}};

const module_command filter_commands[] = {
    {
        .name = BF_EFFECT_CREATE,
        .run = filter_command_create,
        .flags = "write fast",
        .categories = "write fast bloomery",
        .arity = -4,
        .key_specs = one_key,
        .summary = "Internal: creates a filter; for replicas and the append-only file.",
        .complexity = "O(1)",
        .since = SINCE,
    },
    {
        .name = BF_EFFECT_ADD,
        .run = filter_command_add,
        .flags = "write fast",
        .categories = "write fast bloomery",
        .arity = -3,
        .key_specs = one_key,
        .summary = "Internal: adds items to a filter; for replicas and the append-only "
                   "file.",
        .complexity = "O(n), n items",
        .since = SINCE,
    },
    {
        .name = BF_EFFECT_DEL,
        .run = filter_command_del,
        .flags = "write fast",
        .categories = "write fast bloomery",
        .arity = -3,
        .key_specs = one_key,
        .summary = "Internal: deletes items from a filter; for replicas and the "
                   "append-only file.",
        .complexity = "O(n), n items",
        .since = SINCE,
    },
    {
        .name = BF_EFFECT_MERGE,
        .run = filter_command_merge,
        .flags = "write",
        .categories = "write bloomery",
        .arity = -3,
        .key_specs = merge_keys,
        .summary = "Internal: merges filters; for replicas and the append-only file.",
        .complexity = "O(n), n items of all filters",
        .since = SINCE,
    },
    {
        .name = BF_EFFECT_CHUNK,
        .run = filter_command_chunk,
        .flags = "write",
        .categories = "write bloomery",
        .arity = 4,
        .key_specs = one_key,
        .summary = "Internal: loads a chunk of a filter; for replicas and the "
                   "append-only file.",
        .complexity = "O(n), n bytes",
        .since = SINCE,
    },
    COMMAND_RESTORE("FILTER.LOAD", filter_command_load),
};
const size_t filter_command_count = sizeof filter_commands / sizeof filter_commands[0];
