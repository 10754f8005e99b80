#include "module/core/replicate_as.h"

#include "module/core/command_family.h"
#include "module/core/replies.h"

#include <string.h>

#define PROBE "BLOOMERY.PROBE"

static bool argv_is_of_client; /* what the check found */

/*
 * The check. The module calls its own command BLOOMERY.PROBE, whose handler replaces the name in
 * the array by a string with two references: one that the array takes over, and one that stays
 * here. Then the server frees the arguments of the call. If the array was its own, it has dropped
 * one reference to our string and none to the name; otherwise it is the other way round. Only a
 * string with a single reference can be appended to, which tells how many are left.
 */
static struct {
    bool is_running;
    server_string *ours, *name;
} probe;

static int probe_command(server_context *context, server_string **argv, int argc)
{
    (void)argc;
    if (!probe.is_running)
        return reply_internal(context);
    probe.name = argv[0];
    argv[0] = probe.ours;
    return reply_ok(context);
}

static const module_command probe_commands[] = {
    {
        .name = PROBE,
        .run = probe_command,
        .flags = "",
        .arity = 1,
        .summary = "Internal: checks how the server passes arguments.",
        .complexity = "O(1)",
    },
    {0},
};

int replicate_as_register(server_context *context)
{
    if (family_add_commands(context, probe_commands) != SERVER_OK)
        return SERVER_ERR;
    probe.ours = api.CreateString(NULL, PROBE, strlen(PROBE));
    api.RetainString(NULL, probe.ours);
    probe.name = NULL;
    probe.is_running = true;
    server_reply *reply = api.Call(context, PROBE, "");
    probe.is_running = false;
    if (reply)
        api.FreeCallReply(reply);
    argv_is_of_client = probe.name && api.StringAppendBuffer(NULL, probe.ours, "", 0) == SERVER_OK;
    api.FreeString(NULL, argv_is_of_client ? probe.name : probe.ours);
    api.FreeString(NULL, probe.ours);
    if (!argv_is_of_client)
        api.Log(context, "notice",
                "this server does not pass a client's own arguments to modules: bloomery "
                "replicates BF.ADD, COUNTER.INCRBY and ONCE in a slower way");
    return SERVER_OK;
}

void replicate_as(server_context *context, server_string **argv, int argc, kept_name *name)
{
    if (!argv_is_of_client) {
        api.Replicate(context, name->text, "v", argv + 1, (size_t)argc - 1);
        return;
    }
    if (!name->string)
        name->string = api.CreateString(NULL, name->text, strlen(name->text));
    server_string *own = argv[0];
    argv[0] = name->string;
    api.ReplicateVerbatim(context);
    argv[0] = own;
}
