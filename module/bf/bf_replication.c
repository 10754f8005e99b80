/*
 * BLOOMERY.FILTER.*: the commands as which changes of filters are replicated and logged.
 *
 * On another node, BF.* may belong to another module or not exist (bf_register.c).
 * BLOOMERY.FILTER.* exist on every node that has the type, so replicas and logs never need BF.*.
 * They call the handlers of BF.*, which produce the same bytes. Clients cannot call them, and
 * memory limits do not apply.
 */
#include "module/bf/bf_type.h"

#include "module/core/command_table_parts.h"
#include "module/core/replies.h"

void bf_replicate(server_context *context, const char *effect, server_string **argv, int argc)
{
    api.Replicate(context, effect, "v", argv + 1, (size_t)argc - 1);
}

/* A handler that runs another one, but not for clients. */
#define REPLAYED(name, handler)                                                                    \
    static int name(server_context *context, server_string **argv, int argc)                       \
    {                                                                                              \
        return is_replayed(context) ? handler(context, argv, argc) : reply_internal(context);      \
    }
REPLAYED(filter_command_create, bf_command_reserve)
REPLAYED(filter_command_add, bf_add_replayed)
REPLAYED(filter_command_del, bf_command_del)
REPLAYED(filter_command_merge, bf_command_merge)

static int filter_command_chunk(server_context *context, server_string **argv, int argc)
{
    if (!is_replayed(context))
        return reply_internal(context);
    return object_run_payload(context, argv, argc, &filter_family, bf_command_loadchunk);
}

const module_command filter_commands[] = {
    COMMAND_INTERNAL(BF_EFFECT_CREATE, filter_command_create, "write fast", -4, ONE_KEY(CHANGES),
                     "creates a filter", "O(1)"),
    COMMAND_INTERNAL(BF_EFFECT_ADD, filter_command_add, "write fast", -3, ONE_KEY(CHANGES),
                     "adds items to a filter", "O(n), n items"),
    COMMAND_INTERNAL(BF_EFFECT_DEL, filter_command_del, "write fast", -3, ONE_KEY(CHANGES),
                     "deletes items from a filter", "O(n), n items"),
    COMMAND_INTERNAL(BF_EFFECT_MERGE, filter_command_merge, "write", -3, KEYS_OF_MERGE,
                     "merges filters", "O(n), n items of all filters"),
    COMMAND_INTERNAL(BF_EFFECT_CHUNK, filter_command_chunk, "write", 4, ONE_KEY(CHANGES),
                     "loads a chunk of a filter", "O(n), n bytes"),
    COMMAND_RESTORE("BLOOMERY.FILTER.LOAD"),
    {0},
};
