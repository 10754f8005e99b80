/*
 * Which commands ONCE runs: those with the server's flag "write" that have at least one key and
 * neither block nor involve other servers or whole keys.
 *
 * The flags come from COMMAND INFO, which also knows the commands of other modules. It takes far
 * longer than most commands, so its answers are cached until a module is loaded or unloaded.
 */
#include "module/core/arguments.h"
#include "module/core/replies.h"
#include "module/once/once_run.h"

#include <errno.h>
#include <string.h>

/*
 * Refused besides those that their flags exclude, as are our own internal commands: these copy
 * whole keys and may return an error after they changed something. ONCE within ONCE would have two
 * ids.
 */
static const char *const refused_names[] = {"once", "migrate", "restore", "restore-asking"};

/* ---- what the server says about a command ---------------------------------------------------- */

enum { IS_KNOWN = 1, IS_WRITE = 2, IS_BLOCKING = 4, IS_NOT_FOR_SCRIPTS = 8, HAS_PARTS = 16 };

enum { NAME_SIZE = 96, SLOTS = 128 };

typedef struct known_command {
    size_t len;
    char name[NAME_SIZE]; /* in lower case */
    unsigned traits;
} known_command;

/* A hash table with one slot per name; the last name replaces the one before. */
static known_command known[SLOTS];

static void once_forget_commands(server_context *context, server_event event, uint64_t what,
                                 void *data)
{
    (void)context;
    (void)event;
    (void)what;
    (void)data;
    memset(known, 0, sizeof known);
}

int once_watch_commands(server_context *context)
{
    server_event modules = {SERVER_EVENT_MODULES, 1};
    return api.SubscribeToServerEvent(context, modules, once_forget_commands);
}

static bool reply_is_flag(server_reply *reply, const char *flag)
{
    size_t len;
    const char *text = api.CallReplyStringPtr(reply, &len);
    return text && len == strlen(flag) && memcmp(text, flag, len) == 0;
}

/* One command in the reply of COMMAND INFO: name, arity, flags, and six more fields before its
 * subcommands, such as XGROUP CREATE. */
static unsigned command_parse_traits(server_reply *about)
{
    enum { AT_FLAGS = 2, AT_PARTS = 9 };
    server_reply *flags = about ? api.CallReplyArrayElement(about, AT_FLAGS) : NULL;
    if (!flags)
        return 0;
    unsigned traits = IS_KNOWN;
    for (size_t i = 0; i < api.CallReplyLength(flags); i++) {
        server_reply *flag = api.CallReplyArrayElement(flags, i);
        traits |= reply_is_flag(flag, "write") ? IS_WRITE : 0;
        traits |= reply_is_flag(flag, "blocking") ? IS_BLOCKING : 0;
        traits |= reply_is_flag(flag, "noscript") ? IS_NOT_FOR_SCRIPTS : 0;
    }
    server_reply *parts = api.CallReplyArrayElement(about, AT_PARTS);
    if (parts && api.CallReplyLength(parts) > 0)
        traits |= HAS_PARTS;
    return traits;
}

static unsigned command_ask_server(server_context *context, const char *name, size_t len)
{
    server_reply *reply = api.Call(context, "COMMAND", "cb", "INFO", name, len);
    unsigned traits = 0;
    if (reply && api.CallReplyType(reply) == SERVER_REPLY_ARRAY) {
        server_reply *about = api.CallReplyArrayElement(reply, 0);
        if (about && api.CallReplyType(about) == SERVER_REPLY_ARRAY)
            traits = command_parse_traits(about);
    }
    if (reply)
        api.FreeCallReply(reply);
    return traits;
}

/* 0: unknown command. Only known commands are cached. */
static unsigned command_look_up(server_context *context, const char *name, size_t len)
{
    known_command *place = &known[bry_hash_key(0, name, len).lo % SLOTS];
    if (place->len == len && memcmp(place->name, name, len) == 0)
        return place->traits;
    unsigned traits = command_ask_server(context, name, len);
    if (traits) {
        place->len = len;
        place->traits = traits;
        memcpy(place->name, name, len);
    }
    return traits;
}

/* Appends a word to a name, in lower case. False: too long for a command. */
static bool command_name_append(char name[NAME_SIZE], size_t *end, const server_string *word)
{
    size_t len;
    const char *bytes = api.StringPtrLen(word, &len);
    if (len > NAME_SIZE - *end)
        return false;
    for (size_t i = 0; i < len; i++) {
        char byte = bytes[i];
        name[(*end)++] = byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
    }
    return true;
}

/* The traits of the command or, if the second word names one, of its subcommand. Without IS_KNOWN
 * if it does not exist. */
static unsigned command_traits(server_context *context, const once_request *request)
{
    char name[NAME_SIZE];
    size_t len = 0;
    if (!command_name_append(name, &len, request->words[0]))
        return 0;
    unsigned found = command_look_up(context, name, len);
    if (!(found & HAS_PARTS) || request->n < 2 || len == NAME_SIZE)
        return found;
    name[len++] = '|';
    unsigned part = command_name_append(name, &len, request->words[1])
                        ? command_look_up(context, name, len)
                        : 0;
    return part ? part : HAS_PARTS;
}

/* ---- what ONCE accepts ---------------------------------------------------------------------- */

static bool once_refuses_name(const server_string *name)
{
    for (size_t i = 0; i < sizeof refused_names / sizeof refused_names[0]; i++)
        if (is_word(name, refused_names[i]))
            return true;
    return family_is_internal(name);
}

static bool once_check_traits(server_context *context, const once_request *request)
{
    char text[QUOTED_SIZE];
    unsigned found = command_traits(context, request);
    const char *name = quoted(request->words[0], text);
    if (!(found & IS_KNOWN))
        reply_error(context, "ERR", "unknown %s %s", found ? "subcommand of" : "command", name);
    else if (!(found & IS_WRITE))
        reply_error(context, "ERR", "ONCE runs write commands only; %s does not write", name);
    else if (found & (IS_BLOCKING | IS_NOT_FOR_SCRIPTS))
        reply_error(context, "ERR",
                    "ONCE cannot call %s: it may block, or is not allowed in scripts", name);
    else if (once_refuses_name(request->words[0]))
        reply_error(context, "ERR", "ONCE does not call %s", name);
    else
        return true;
    return false;
}

static bool strings_equal(const server_string *a, const server_string *b)
{
    size_t a_len, b_len;
    const char *a_bytes = api.StringPtrLen(a, &a_len), *b_bytes = api.StringPtrLen(b, &b_len);
    return a_len == b_len && memcmp(a_bytes, b_bytes, a_len) == 0;
}

static bool once_check_keys(server_context *context, const once_request *request)
{
    char text[QUOTED_SIZE];
    const char *name = quoted(request->words[0], text);
    int n = 0;
    errno = 0;
    int *places = api.GetCommandKeysWithFlags(context, request->words, request->n, &n, NULL);
    bool names_guard = false;
    for (int i = 0; places && i < n; i++)
        names_guard = names_guard || strings_equal(request->words[places[i]], request->guard);
    if (!places && errno == ENOENT)
        reply_error(context, "ERR", "unknown command %s", name);
    else if (!places && errno == EINVAL)
        reply_error(context, "ERR", "wrong number of arguments for %s", name);
    else if (!places)
        reply_error(context, "ERR", "ONCE runs commands with keys only; %s has none here", name);
    else if (names_guard)
        reply_error(context, "ERR", "%s must not use the guard as one of its own keys", name);
    bool may = places && !names_guard;
    if (places)
        api.Free(places);
    return may;
}

bool once_may_call(server_context *context, const once_request *request)
{
    return once_check_traits(context, request) && once_check_keys(context, request);
}

/*
 * Includes what the command does to each key, if the server says so. Redis 7.0 does so for few
 * commands; then access control requires any permission on the key here, and the right one in the
 * call. ONCE within ONCE is an error, and the search ends there: otherwise a long chain of them
 * would need as much stack.
 */
void once_declare_keys(server_context *context, server_string **words, int n, int from)
{
    int *flags = NULL, count = 0;
    if (n < 1 || is_word(words[0], "once"))
        return;
    int *places = api.GetCommandKeysWithFlags(context, words, n, &count, &flags);
    for (int i = 0; places && i < count; i++)
        api.KeyAtPosWithFlags(context, from + places[i], flags[i]);
    if (places)
        api.Free(places);
    if (flags)
        api.Free(flags);
}
