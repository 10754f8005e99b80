/*
 * Whether to register the commands BF.*, decided when the module is loaded: `bf yes`, `bf no`, or
 * `bf auto`, the default: ours are not registered if another module has these names. Filters are
 * kept, saved, restored and replicated in any case, because that does not use these names
 * (bf_replication.c); without the commands clients cannot use them.
 */
#include "module/bf/bf_type.h"
#include "module/core/arguments.h"
#include "module/core/limit_texts.h"
#include "module/core/replies.h"

enum { BF_AUTO, BF_YES, BF_NO, BF_CHOICES };

const char *const bf_choices[BF_CHOICES + 1] = {"auto", "yes", "no", NULL};
int bf_choice = BF_AUTO;

static bool bf_read_choice(const server_string *value)
{
    int found = 0;
    while (found < BF_CHOICES && !is_word(value, bf_choices[found]))
        found++;
    if (found < BF_CHOICES)
        bf_choice = found;
    return found < BF_CHOICES;
}

/* Arguments of RedisBloom for its cuckoo filters: checked and ignored. */
static bool bf_ignore_expansions(const server_string *value)
{
    long long number;
    return api.StringToLongLong(value, &number) == SERVER_OK && number >= 1;
}

/* Our own arguments, and those of RedisBloom, old and new. */
static const struct {
    const char *name;
    bool (*read)(const server_string *value);
    const char *range;
} arguments[] = {
    {"bf", bf_read_choice, "auto, yes or no"},
    {"INITIAL_SIZE", bf_preset_capacity, "a whole number from 1 to " CAPACITY_MOST},
    {"bf-initial-size", bf_preset_capacity, "a whole number from 1 to " CAPACITY_MOST},
    {"ERROR_RATE", bf_preset_error, "a number from " TEXT(BRY_FILTER_ERROR_MIN) " to 0.99"},
    {"bf-error-rate", bf_preset_error, "a number from " TEXT(BRY_FILTER_ERROR_MIN) " to 0.99"},
    {"bf-expansion-factor", bf_preset_expansion, "a whole number from 0 to 2^32 - 1"},
    {"CF_MAX_EXPANSIONS", bf_ignore_expansions, "a whole number from 1"},
    {"cf-max-expansions", bf_ignore_expansions, "a whole number from 1"},
};
#define ARGUMENTS (sizeof arguments / sizeof arguments[0])

static bool bf_read_argument(server_context *context, const server_string *name,
                             const server_string *value)
{
    char text[QUOTED_SIZE];
    size_t i = 0;
    while (i < ARGUMENTS && !is_word(name, arguments[i].name))
        i++;
    if (i == ARGUMENTS)
        api.Log(context, "warning",
                "unknown module argument %s: bloomery takes bf, INITIAL_SIZE, ERROR_RATE and the "
                "settings bloomery.*",
                quoted(name, text));
    else if (!value)
        api.Log(context, "warning", "%s needs a value", arguments[i].name);
    else if (!arguments[i].read(value))
        api.Log(context, "warning", "%s %s is not %s", arguments[i].name, quoted(value, text),
                arguments[i].range);
    else
        return true;
    return false;
}

bool bf_read_arguments(server_context *context, server_string **argv, int argc)
{
    for (int at = 0; at < argc; at += 2)
        if (!bf_read_argument(context, argv[at], at + 1 < argc ? argv[at + 1] : NULL))
            return false;
    return true;
}

/* COMMAND INFO returns nil for a command that does not exist. */
static bool bf_is_name_taken(server_context *context, const char *name)
{
    server_reply *reply = api.Call(context, "COMMAND", "cc", "INFO", name);
    bool taken = reply && api.CallReplyType(reply) == SERVER_REPLY_ARRAY &&
                 api.CallReplyLength(reply) == 1 &&
                 api.CallReplyType(api.CallReplyArrayElement(reply, 0)) == SERVER_REPLY_ARRAY;
    if (reply)
        api.FreeCallReply(reply);
    return taken;
}

static const char *bf_taken_name(server_context *context)
{
    for (size_t i = 0; bf_commands[i].name; i++)
        if (bf_is_name_taken(context, bf_commands[i].name))
            return bf_commands[i].name;
    return NULL;
}

int bf_register_commands(server_context *context)
{
    const char *taken = bf_choice == BF_NO ? NULL : bf_taken_name(context);
    if (taken && bf_choice == BF_YES) {
        api.Log(context, "warning",
                "bf yes: another module has %s; load bloomery without it, or with bf auto or no",
                taken);
        return SERVER_ERR;
    }
    if (taken)
        api.Log(context, "notice",
                "another module has %s: bloomery does not register the commands BF.*", taken);
    if (taken || bf_choice == BF_NO)
        return SERVER_OK;
    if (api.AddACLCategory) /* fails if the category exists, which is fine */
        api.AddACLCategory(context, "bloom");
    return family_add_commands(context, bf_commands);
}
