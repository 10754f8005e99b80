/*
 * A module with odd commands, for tests of ONCE.
 *
 *   ODD.WRITE key          replies 42; its flags are the module's first argument
 *   ODD.STEP key           the same, as a write, with a range of keys whose step is 0
 *   ODD.DROP key other     deletes `other`, which it does not declare
 *   ODD.DROPFAIL key other the same, and replies with an error
 *
 * It also listens to the server's events: when a client changes the key "heard", it increments
 * "echo".
 */
#include "module/core/server_api.h"

#include <bloomery/base.h>
#include <string.h>

enum { CHANGES_OF_STRINGS_AND_LISTS = 1 << 3 | 1 << 4 };

typedef int listener(server_context *context, int type, const char *event, server_string *key);

/* The part of a context that a module may read: the function that finds all others. */
typedef struct context_head {
    int (*get_api)(const char *name, void *function);
} context_head;

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

static int echo(server_context *context, int type, const char *event, server_string *key)
{
    const int elsewhere = SERVER_IS_REPLICA | SERVER_IS_LOADING;
    (void)type;
    (void)event;
    if (strcmp(api.StringPtrLen(key, NULL), "heard") == 0 &&
        !(api.GetContextFlags(context) & elsewhere))
        api.FreeCallReply(api.Call(context, "INCR", "!c", "echo"));
    return SERVER_OK;
}

static int listen_to_changes(server_context *context)
{
    const context_head *head = (const context_head *)(const void *)context;
    int (*subscribe)(server_context *, int types, listener *) = NULL;
    head->get_api("RedisModule_SubscribeToKeyspaceEvents", (void *)&subscribe);
    return subscribe ? subscribe(context, CHANGES_OF_STRINGS_AND_LISTS, echo) : SERVER_ERR;
}

BRY_API int RedisModule_OnLoad(server_context *context, server_string **argv, int argc);

int RedisModule_OnLoad(server_context *context, server_string **argv, int argc)
{
    size_t len;
    if (server_api_load(context) || argc != 1)
        return SERVER_ERR;
    api.SetModuleAttribs(context, "odd_commands", 1, SERVER_API_VERSION);
    const char *flags = api.StringPtrLen(argv[0], &len);
    return listen_to_changes(context) ||
           api.CreateCommand(context, "ODD.WRITE", answer, flags, 1, 1, 1) ||
           api.CreateCommand(context, "ODD.STEP", answer, "write", 1, 1, 0) ||
           api.CreateCommand(context, "ODD.DROP", drop, "write", 1, 1, 1) ||
           api.CreateCommand(context, "ODD.DROPFAIL", drop_and_fail, "write", 1, 1, 1);
}
