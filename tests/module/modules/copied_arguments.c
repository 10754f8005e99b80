/*
 * Makes a server look like one that passes copies of a client's arguments to modules, for tests:
 * loads our module, whose path is its first argument, and registers its commands with a handler
 * that copies the array first. Further arguments are passed to our module.
 */
#include "module/core/server_api.h"

#include <bloomery/base.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_COMMANDS 128

typedef int get_api_function(const char *name, void *function);

typedef struct context_head {
    get_api_function *get_api;
} context_head;

static get_api_function *real_get_api;

static struct {
    char *name;
    server_command_function *run;
} commands[MOST_COMMANDS];
static size_t command_count;

static int run_with_copy(server_context *context, server_string **argv, int argc)
{
    const char *name = api.StringPtrLen(argv[0], NULL);
    size_t i = 0;
    while (i < command_count && strcasecmp(commands[i].name, name) != 0)
        i++;
    server_string **copy = malloc((size_t)argc * sizeof *copy);
    if (i == command_count || !copy)
        abort();
    memcpy(copy, argv, (size_t)argc * sizeof *copy);
    int result = commands[i].run(context, copy, argc);
    free(copy);
    return result;
}

static int create_command(server_context *context, const char *name, server_command_function *run,
                          const char *flags, int first_key, int last_key, int key_step)
{
    if (command_count == MOST_COMMANDS)
        return SERVER_ERR;
    commands[command_count].name = strdup(name);
    commands[command_count++].run = run;
    return api.CreateCommand(context, name, run_with_copy, flags, first_key, last_key, key_step);
}

static int get_api(const char *name, void *function)
{
    int (*ours)(server_context *, const char *, server_command_function *, const char *, int, int,
                int) = create_command;
    if (strcmp(name, "RedisModule_CreateCommand") != 0)
        return real_get_api(name, function);
    memcpy(function, &ours, sizeof ours);
    return SERVER_OK;
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
    context_head *head = (context_head *)(void *)context;
    real_get_api = head->get_api;
    head->get_api = get_api;
    int result = load(context, argv + 1, argc - 1);
    head->get_api = real_get_api;
    return result;
}
