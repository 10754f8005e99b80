/*
 * A module with odd commands, for tests of ONCE.
 *
 *   ODD.WRITE key          replies 42; its flags are the module's first argument
 *   ODD.STEP key           the same, as a write, with a range of keys whose step is 0
 *   ODD.DROP key other     deletes `other`, which it does not declare
 *   ODD.DROPFAIL key other the same, and replies with an error
 */
#include "module/core/server_api.h"

#include <bloomery/base.h>

static int answer(server_context *context, server_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    return api.ReplyWithLongLong(context, 42);
}

static void drop_other(server_context *context, server_string **argv, int argc)
{
    server_reply *reply = argc > 2 ? api.Call(context, "DEL", "!s", argv[2]) : NULL;
    if (reply)
        api.FreeCallReply(reply);
}

static int drop(server_context *context, server_string **argv, int argc)
{
    drop_other(context, argv, argc);
    return api.ReplyWithLongLong(context, 1);
}

static int drop_and_fail(server_context *context, server_string **argv, int argc)
{
    drop_other(context, argv, argc);
    return api.ReplyWithError(context, "ODD it failed");
}

BRY_API int RedisModule_OnLoad(server_context *context, server_string **argv, int argc);

int RedisModule_OnLoad(server_context *context, server_string **argv, int argc)
{
    size_t len;
    if (server_api_load(context) || argc != 1)
        return SERVER_ERR;
    api.SetModuleAttribs(context, "odd_commands", 1, SERVER_API_VERSION);
    const char *flags = api.StringPtrLen(argv[0], &len);
    return api.CreateCommand(context, "ODD.WRITE", answer, flags, 1, 1, 1) ||
           api.CreateCommand(context, "ODD.STEP", answer, "write", 1, 1, 0) ||
           api.CreateCommand(context, "ODD.DROP", drop, "write", 1, 1, 1) ||
           api.CreateCommand(context, "ODD.DROPFAIL", drop_and_fail, "write", 1, 1, 1);
}
