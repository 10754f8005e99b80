/*
 * bloomery.so: a module for Redis and Valkey that makes the library available to every language
 * with a Redis client. server_api.h declares the server's functions that it uses; command_family.h
 * explains how the module is built and how to add a family of commands.
 */
#include "module/bf/bf_type.h"
#include "module/core/command_family.h"
#include "module/core/replicate_as.h"
#include "module/core/settings.h"
#include "module/counter/counter_type.h"
#include "module/index/index_type.h"
#include "module/map/map_type.h"
#include "module/once/once_run.h"
#include "module/window/window_type.h"

#define MODULE_NAME "bloomery"

static command_family *const families[] = {&map_family,    &filter_family, &counter_family,
                                           &window_family, &index_family,  &once_family};
#define FAMILY_COUNT (sizeof families / sizeof families[0])

static void module_info(server_info *info, int for_crash)
{
    (void)for_crash;
    api.InfoAddSection(info, ""); /* no suffix: the section is named after the module */
    api.InfoAddFieldCString(info, "version", bry_version());
    api.InfoAddFieldULongLong(info, "max_key_bytes", settings_max_key_bytes());
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        family_info(info, families[i]);
}

static int module_register_all(server_context *context)
{
    if (api.AddACLCategory)
        api.AddACLCategory(context, MODULE_NAME);
    if (settings_register(context, settings_of_all) != SERVER_OK)
        return SERVER_ERR;
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        if (family_register(context, families[i]) != SERVER_OK)
            return SERVER_ERR;
    if (replicate_as_register(context) != SERVER_OK)
        return SERVER_ERR;
    if (api.LoadConfigs(context) != SERVER_OK || bf_register_commands(context) != SERVER_OK ||
        api.RegisterInfoFunc(context, module_info) != SERVER_OK)
        return SERVER_ERR;
    /* This must come last, after everything that can fail: if loading fails, Redis 7.0 still calls
     * the event handlers of the module that it has unloaded. */
    return once_watch_commands(context);
}

BRY_API int RedisModule_OnLoad(server_context *context, server_string **argv, int argc);

int RedisModule_OnLoad(server_context *context, server_string **argv, int argc)
{
    const char *missing = server_api_load(context);
    if (missing) {
        if (api.Log)
            api.Log(context, "warning",
                    "bloomery needs Redis 7.0 or later, or Valkey: this server has no %s", missing);
        return SERVER_ERR;
    }
    if (api.IsModuleNameBusy(MODULE_NAME))
        return SERVER_ERR;
    api.SetModuleAttribs(context, MODULE_NAME,
                         BRY_VERSION_MAJOR * 10000 + BRY_VERSION_MINOR * 100 + BRY_VERSION_PATCH,
                         SERVER_API_VERSION);
    if (!bf_read_arguments(context, argv, argc))
        return SERVER_ERR;
    int options = SERVER_HANDLES_IO_ERRORS | SERVER_HANDLES_ASYNC_LOADING;
    if (server_is_valkey(SERVER_VERSION(9, 0)))
        options |= SERVER_VALKEY_HANDLES_SLOT_MIGRATION;
    api.SetModuleOptions(context, options);
    return module_register_all(context);
}
