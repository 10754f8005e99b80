/*
 * Whether there are commands BF.*, which is asked when the module is loaded: `bf yes`, `bf no`, or
 * `bf auto`, the preset, for servers where another module may have these names: then ours are left
 * out. Filters are kept, saved and restored in any case, and changed as the master says, for none
 * of that goes by these names (bf_effects.c); without the commands no client can ask or change
 * them.
 */
#include "arguments.h"
#include "bf_type.h"
#include "replies.h"
#include "settings.h"

enum { BF_AUTO, BF_YES, BF_NO, BF_CHOICES };

static const char *const choices[BF_CHOICES + 1] = {"auto", "yes", "no", NULL};
static int choice = BF_AUTO;

bool bf_read_arguments(server_context *context, server_string **argv, int argc)
{
    char text[QUOTED_SIZE];
    choice = BF_AUTO;
    if (argc == 0)
        return true;
    if (argc != 2 || !is_word(argv[0], "bf")) {
        api.Log(
            context, "warning",
            "bloomery takes no arguments but bf auto, bf yes or bf no: settings are bloomery.*");
        return false;
    }
    while (choice < BF_CHOICES && !is_word(argv[1], choices[choice]))
        choice++;
    if (choice < BF_CHOICES)
        return true;
    api.Log(context, "warning", "bf %s is not one of auto, yes and no", quoted(argv[1], text));
    return false;
}

int bf_register_choice(server_context *context)
{
    static const char *names[BF_CHOICES] = {"auto", "yes", "no"};
    static const int values[BF_CHOICES] = {BF_AUTO, BF_YES, BF_NO};
    return settings_register_choice_at_start(context, "bf", choice, names, values, BF_CHOICES,
                                             &choice);
}

/* The server describes a command that there is, whoever has it, and says nil for others. */
static bool is_taken(server_context *context, const char *name)
{
    server_reply *reply = api.Call(context, "COMMAND", "cc", "INFO", name);
    bool taken = reply && api.CallReplyType(reply) == SERVER_REPLY_ARRAY &&
                 api.CallReplyLength(reply) == 1 &&
                 api.CallReplyType(api.CallReplyArrayElement(reply, 0)) == SERVER_REPLY_ARRAY;
    if (reply)
        api.FreeCallReply(reply);
    return taken;
}

static const char *taken_name(server_context *context)
{
    for (size_t i = 0; i < bf_command_count; i++)
        if (is_taken(context, bf_commands[i].name))
            return bf_commands[i].name;
    return NULL;
}

int bf_register_commands(server_context *context)
{
    const char *taken = choice == BF_NO ? NULL : taken_name(context);
    if (taken && choice == BF_YES) {
        api.Log(context, "warning",
                "bf yes: another module has %s; load bloomery without it, or with bf auto or no",
                taken);
        return SERVER_ERR;
    }
    if (taken)
        api.Log(context, "notice", "another module has %s: the commands BF.* are left to it",
                taken);
    if (taken || choice == BF_NO)
        return SERVER_OK;
    return family_add_commands(context, bf_commands, bf_command_count);
}
