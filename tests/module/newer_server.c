/*
 * Makes a server look like Redis 8, for tests: loads our module, whose path is its first argument,
 * and intercepts its calls while it registers settings and commands. The server's log shows what
 * Redis 8 would do:
 *
 *     setting NAME               registered without a prefix
 *     category NAME              created
 *     categories NAME WORDS      of a command
 *
 * Further arguments are passed to our module; before them, `taken` makes the names of settings
 * belong to another module, and `valkey` makes the server look like a new Valkey.
 */
#include "module/core/server_api.h"

#include <bloomery/base.h>
#include <dlfcn.h>
#include <string.h>

enum { UNPREFIXED = 1 << 9, REDIS_8 = 0x00080000 };

typedef int get_api_function(const char *name, void *function);

typedef struct context_head {
    get_api_function *get_api;
} context_head;

static get_api_function *real_get_api;
static server_context *loading;
static bool taken, valkey;

static int version(void)
{
    return REDIS_8;
}

/* The real server does not know this flag and adds the prefix. */
static unsigned known_flags(const char *name, unsigned flags)
{
    if (flags & UNPREFIXED)
        api.Log(loading, "warning", "setting %s", name);
    return flags & ~(unsigned)UNPREFIXED;
}

static int register_number(server_context *context, const char *name, long long preset,
                           unsigned flags, long long least, long long most,
                           long long (*get)(const char *, void *),
                           int (*set)(const char *, long long, void *, server_string **),
                           void *applied, void *data)
{
    if (taken && (flags & UNPREFIXED))
        return SERVER_ERR;
    return api.RegisterNumericConfig(context, name, preset, known_flags(name, flags), least, most,
                                     get, set, applied, data);
}

static int register_string(server_context *context, const char *name, const char *preset,
                           unsigned flags, server_string *(*get)(const char *, void *),
                           int (*set)(const char *, server_string *, void *, server_string **),
                           void *applied, void *data)
{
    if (taken && (flags & UNPREFIXED))
        return SERVER_ERR;
    return api.RegisterStringConfig(context, name, preset, known_flags(name, flags), get, set,
                                    applied, data);
}

static int add_category(server_context *context, const char *name)
{
    api.Log(context, "warning", "category %s", name);
    return SERVER_OK;
}

/* The name of the command that was looked up last. */
static const char *last_command;

static server_command *get_command(server_context *context, const char *name)
{
    last_command = name;
    return api.GetCommand(context, name);
}

static int set_categories(server_command *command, const char *categories)
{
    (void)command;
    api.Log(loading, "warning", "categories %s %s", last_command, categories);
    return SERVER_OK;
}

static int get_api(const char *name, void *function)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } ours[] = {
        {"RedisModule_GetServerVersion", (void (*)(void))version},
        {"RedisModule_RegisterNumericConfig", (void (*)(void))register_number},
        {"RedisModule_RegisterStringConfig", (void (*)(void))register_string},
        {"RedisModule_AddACLCategory", (void (*)(void))add_category},
        {"RedisModule_GetCommand", (void (*)(void))get_command},
        {"RedisModule_SetCommandACLCategories", (void (*)(void))set_categories},
    };
    if (valkey && strcmp(name, "ValkeyModule_CreateCommand") == 0)
        return SERVER_OK;
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (strcmp(name, ours[i].name) == 0) {
            memcpy(function, &ours[i].function, sizeof ours[i].function);
            return SERVER_OK;
        }
    return real_get_api(name, function);
}

static bool is(const server_string *argument, const char *word)
{
    return strcmp(api.StringPtrLen(argument, NULL), word) == 0;
}

BRY_API int RedisModule_OnLoad(server_context *context, server_string **argv, int argc);

int RedisModule_OnLoad(server_context *context, server_string **argv, int argc)
{
    int (*load)(server_context *, server_string **, int) = NULL;
    if (server_api_load(context) || argc < 1)
        return SERVER_ERR;
    void *module = dlopen(api.StringPtrLen(argv[0], NULL), RTLD_NOW | RTLD_LOCAL);
    void *symbol = module ? dlsym(module, "RedisModule_OnLoad") : NULL;
    if (!symbol)
        return SERVER_ERR;
    memcpy(&load, &symbol, sizeof load);
    int at = 1;
    for (; at < argc && (is(argv[at], "taken") || is(argv[at], "valkey")); at++)
        *(is(argv[at], "taken") ? &taken : &valkey) = true;
    context_head *head = (context_head *)(void *)context;
    real_get_api = head->get_api;
    loading = context;
    head->get_api = get_api;
    int result = load(context, argv + at, argc - at);
    head->get_api = real_get_api;
    return result;
}
