/* A module for tests that has one of our names: BF.ADD, which always replies 42. With the argument
 * `settings`, it has the setting bf-initial-size instead, on servers that allow that name. */
#include "module/core/server_api.h"

#include <bloomery/base.h>

static int answer(server_context *context, server_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    return api.ReplyWithLongLong(context, 42);
}

static long long get_size(const char *name, void *data)
{
    (void)name;
    (void)data;
    return 123;
}

static int set_size(const char *name, long long value, void *data, server_string **problem)
{
    (void)name;
    (void)value;
    (void)data;
    (void)problem;
    return SERVER_OK;
}

static int take_setting(server_context *context)
{
    if (!server_is_redis(SERVER_VERSION(8, 0)))
        return SERVER_OK;
    if (api.RegisterNumericConfig(context, "bf-initial-size", 123, SERVER_REDIS_CONFIG_UNPREFIXED,
                                  1, 1000, get_size, set_size, NULL, NULL) != SERVER_OK)
        return SERVER_ERR;
    return api.LoadConfigs(context);
}

BRY_API int RedisModule_OnLoad(server_context *context, server_string **argv, int argc);

int RedisModule_OnLoad(server_context *context, server_string **argv, int argc)
{
    (void)argv;
    if (server_api_load(context))
        return SERVER_ERR;
    api.SetModuleAttribs(context, "names_taken", 1, SERVER_API_VERSION);
    if (argc > 0)
        return take_setting(context);
    return api.CreateCommand(context, "BF.ADD", answer, "write", 1, 1, 1);
}
