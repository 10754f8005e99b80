/* A module for tests that has one of our names: BF.ADD, which always replies 42. */
#include "module/core/server_api.h"

#include <bloomery/base.h>

static int answer(server_context *context, server_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    return api.ReplyWithLongLong(context, 42);
}

BRY_API int RedisModule_OnLoad(server_context *context, server_string **argv, int argc);

int RedisModule_OnLoad(server_context *context, server_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    if (server_api_load(context))
        return SERVER_ERR;
    api.SetModuleAttribs(context, "names_taken", 1, SERVER_API_VERSION);
    return api.CreateCommand(context, "BF.ADD", answer, "write", 1, 1, 1);
}
