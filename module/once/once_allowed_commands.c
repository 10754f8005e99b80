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
#include <strings.h>

/*
 * Refused besides those that their flags exclude, as are our own internal commands: these copy
 * whole keys and may return an error after they changed something. ONCE within ONCE would have two
 * ids.
 */
static const char *const refused_names[] = {"once", "migrate", "restore", "restore-asking"};

/* Commands that the server replicates with the words that the client sent, so that these have the
 * same effect on a replica. (Others are replicated as other commands: SET with EX, SPOP, XADD.) */
static const char *const verbatim_names[] = {"incr",  "incrby", "decr", "decrby", "hincrby",
                                             "lpush", "rpush",  "hset", "sadd"};
/* Except that Valkey 9 replicates the value that this one set, if fields of the hash expire: it does
 * not replicate that the field had expired, and on a replica the field still counts. */
static const char not_verbatim_in_valkey[] = "hincrby";

/* ---- what the server says about a command ---------------------------------------------------- */

enum {
    IS_KNOWN = 1,
    IS_WRITE = 2,
    IS_BLOCKING = 4,
    IS_NOT_FOR_SCRIPTS = 8,
    IS_REFUSED = 16,
    HAS_PARTS = 32,
    HAS_MOVABLE_KEYS = 64, /* only the server can say which arguments are keys */
    IS_VERBATIM = 128, /* in verbatim_names */
    IS_OF_MODULE = 256,
    CANNOT_ASK = 512 /* the server has no COMMAND INFO */
};

enum { NAME_SIZE = 96, SLOTS = 128 };

typedef struct command_traits {
    unsigned flags;
    int arity; /* of the command with its name; negative: at least -arity */
    int first_key, last_key, key_step; /* last_key < 0: counted from the end */
} command_traits;

typedef struct known_command {
    size_t len;
    char name[NAME_SIZE]; /* in lower case */
    command_traits traits;
} known_command;

/* A hash table with one slot per name; the last name replaces the one before. */
static known_command known[SLOTS];

/* The command of the last request, if it has no subcommands, with its name as it was sent. */
static known_command latest;

static void once_forget_commands(server_context *context, server_event event, uint64_t what,
                                 void *data)
{
    (void)context;
    (void)event;
    (void)what;
    (void)data;
    memset(known, 0, sizeof known);
    latest.len = 0;
}

int once_watch_commands(server_context *context)
{
    server_event modules = {SERVER_EVENT_MODULES, 1};
    return api.SubscribeToServerEvent(context, modules, once_forget_commands);
}

static bool text_is_word(const char *text, size_t len, const char *word)
{
    return len == strlen(word) && strncasecmp(text, word, len) == 0;
}

static bool text_is_among(const char *text, size_t len, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text_is_word(text, len, words[i]))
            return true;
    return false;
}

static bool reply_is_word(server_reply *reply, const char *word)
{
    size_t len;
    const char *text = api.CallReplyStringPtr(reply, &len);
    return text && text_is_word(text, len, word);
}

static int reply_number_at(server_reply *reply, size_t at)
{
    server_reply *number = api.CallReplyArrayElement(reply, at);
    return number ? (int)api.CallReplyInteger(number) : 0;
}

static unsigned command_parse_flags(server_reply *flags)
{
    static const struct {
        const char *name;
        unsigned flag;
    } names[] = {{"write", IS_WRITE},
                 {"blocking", IS_BLOCKING},
                 {"noscript", IS_NOT_FOR_SCRIPTS},
                 {"module", IS_OF_MODULE},
                 {"movablekeys", HAS_MOVABLE_KEYS}};
    unsigned found = IS_KNOWN;
    for (size_t i = 0; i < api.CallReplyLength(flags); i++)
        for (size_t j = 0; j < sizeof names / sizeof names[0]; j++)
            if (reply_is_word(api.CallReplyArrayElement(flags, i), names[j].name))
                found |= names[j].flag;
    return found;
}

/* What a command's name says about it: the server's own name of it, which rename-command does not
 * change. */
static unsigned command_name_flags(const char *name, size_t len)
{
    if (text_is_among(name, len, refused_names, sizeof refused_names / sizeof refused_names[0]) ||
        family_is_internal(name, len))
        return IS_REFUSED;
    if (!text_is_among(name, len, verbatim_names, sizeof verbatim_names / sizeof verbatim_names[0]))
        return 0;
    return api.is_valkey && text_is_word(name, len, not_verbatim_in_valkey) ? 0 : IS_VERBATIM;
}

/* One command in the reply of COMMAND INFO: name, arity, flags, the range of its keys, and three
 * more fields before its subcommands, such as XGROUP CREATE. */
static command_traits command_parse_traits(server_reply *about)
{
    enum { AT_NAME, AT_ARITY, AT_FLAGS, AT_FIRST_KEY, AT_LAST_KEY, AT_KEY_STEP, AT_PARTS = 9 };
    command_traits traits = {0};
    server_reply *flags = about ? api.CallReplyArrayElement(about, AT_FLAGS) : NULL;
    if (!flags)
        return traits;
    traits.flags = command_parse_flags(flags);
    traits.arity = reply_number_at(about, AT_ARITY);
    traits.first_key = reply_number_at(about, AT_FIRST_KEY);
    traits.last_key = reply_number_at(about, AT_LAST_KEY);
    traits.key_step = reply_number_at(about, AT_KEY_STEP);
    if (traits.key_step < 1) /* another module's: no range of keys; Redis 7.0 crashes if it is asked
                                for them */
        traits.first_key = 0;
    server_reply *parts = api.CallReplyArrayElement(about, AT_PARTS);
    if (parts && api.CallReplyLength(parts) > 0)
        traits.flags |= HAS_PARTS;
    size_t len = 0;
    server_reply *name = api.CallReplyArrayElement(about, AT_NAME);
    const char *text = name ? api.CallReplyStringPtr(name, &len) : NULL;
    traits.flags |= text ? command_name_flags(text, len) : IS_REFUSED;
    if (traits.flags & IS_OF_MODULE) /* it may have a name that rename-command freed */
        traits.flags &= ~(unsigned)IS_VERBATIM;
    return traits;
}

static command_traits command_ask_server(server_context *context, const char *name, size_t len)
{
    server_reply *reply = api.Call(context, "COMMAND", "cb", "INFO", name, len);
    command_traits traits = {0};
    if (reply && api.CallReplyType(reply) == SERVER_REPLY_ARRAY) {
        server_reply *about = api.CallReplyArrayElement(reply, 0);
        if (about && api.CallReplyType(about) == SERVER_REPLY_ARRAY)
            traits = command_parse_traits(about);
    } else {
        traits.flags = CANNOT_ASK;
    }
    if (reply)
        api.FreeCallReply(reply);
    return traits;
}

static bool known_is(const known_command *self, const char *name, size_t len)
{
    return self->len == len && memcmp(self->name, name, len) == 0;
}

static void known_set(known_command *self, const char *name, size_t len,
                      const command_traits *traits)
{
    self->len = len;
    self->traits = *traits;
    memcpy(self->name, name, len);
}

/* Flags are 0 for an unknown command. Only known commands are cached. */
static command_traits command_look_up(server_context *context, const char *name, size_t len)
{
    known_command *place = &known[bry_hash_key(0, name, len).lo % SLOTS];
    if (known_is(place, name, len))
        return place->traits;
    command_traits traits = command_ask_server(context, name, len);
    if (traits.flags & IS_KNOWN)
        known_set(place, name, len, &traits);
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
static command_traits request_traits(server_context *context, const once_request *request)
{
    char name[NAME_SIZE];
    size_t sent_len, len = 0;
    command_traits none = {0};
    const char *sent = api.StringPtrLen(request->words[0], &sent_len);
    if (known_is(&latest, sent, sent_len))
        return latest.traits;
    if (!command_name_append(name, &len, request->words[0]) || memchr(name, '|', len))
        return none; /* xgroup|create is a name only for COMMAND INFO */
    command_traits found = command_look_up(context, name, len);
    if ((found.flags & IS_KNOWN) && !(found.flags & HAS_PARTS))
        known_set(&latest, sent, sent_len, &found);
    if (!(found.flags & HAS_PARTS) || request->n < 2 || len == NAME_SIZE)
        return found;
    name[len++] = '|';
    command_traits part = command_name_append(name, &len, request->words[1])
                              ? command_look_up(context, name, len)
                              : none;
    if (!part.flags)
        part.flags = HAS_PARTS;
    return part;
}

/* ---- what ONCE accepts ---------------------------------------------------------------------- */

static bool once_check_flags(server_context *context, const once_request *request, unsigned flags)
{
    const unsigned wanted = IS_KNOWN | IS_WRITE;
    const unsigned unwanted = IS_BLOCKING | IS_NOT_FOR_SCRIPTS | IS_REFUSED;
    char text[QUOTED_SIZE];
    if ((flags & (wanted | unwanted)) == wanted)
        return true;
    const char *name = quoted(request->words[0], text);
    if (flags & CANNOT_ASK)
        reply_error(context, "ERR",
                    "ONCE needs the server's COMMAND, which rename-command removed");
    else if (!(flags & IS_KNOWN))
        reply_error(context, "ERR", "unknown %s %s", flags ? "subcommand of" : "command", name);
    else if (!(flags & IS_WRITE))
        reply_error(context, "ERR", "ONCE runs write commands only; %s is not one", name);
    else if (flags & (IS_BLOCKING | IS_NOT_FOR_SCRIPTS))
        reply_error(context, "ERR",
                    "ONCE cannot call %s: it may block, or is not allowed in scripts", name);
    else
        reply_error(context, "ERR", "ONCE cannot call %s", name);
    return false;
}

static bool strings_equal(const server_string *a, const server_string *b)
{
    size_t a_len, b_len;
    const char *a_bytes = api.StringPtrLen(a, &a_len), *b_bytes = api.StringPtrLen(b, &b_len);
    return a_len == b_len && memcmp(a_bytes, b_bytes, a_len) == 0;
}

/* What is known of the keys of a request. */
typedef struct request_keys {
    bool none, wrong_arity, unknown, guard; /* guard: the guard is one of them */
} request_keys;

static request_keys request_range_keys(const once_request *request, const command_traits *traits)
{
    request_keys keys = {0};
    int n = request->n, arity = traits->arity;
    int last = traits->last_key < 0 ? n + traits->last_key : traits->last_key;
    keys.wrong_arity = arity < 0 ? n < -arity : n != arity;
    keys.none = traits->first_key < 1;
    if (keys.wrong_arity || keys.none)
        return keys;
    for (int i = traits->first_key; i <= last && i < n; i += traits->key_step)
        keys.guard = keys.guard || strings_equal(request->words[i], request->guard);
    return keys;
}

static request_keys request_movable_keys(server_context *context, const once_request *request)
{
    request_keys keys = {0};
    int n = 0;
    errno = 0;
    int *places = api.GetCommandKeysWithFlags(context, request->words, request->n, &n, NULL);
    for (int i = 0; places && i < n; i++)
        keys.guard = keys.guard || strings_equal(request->words[places[i]], request->guard);
    if (places) {
        api.Free(places);
        return keys;
    }
    keys.unknown = errno == ENOENT;
    keys.wrong_arity = errno == EINVAL;
    keys.none = !keys.unknown && !keys.wrong_arity;
    return keys;
}

static bool once_check_keys(server_context *context, const once_request *request,
                            const command_traits *traits)
{
    char text[QUOTED_SIZE];
    request_keys keys = (traits->flags & HAS_MOVABLE_KEYS) ? request_movable_keys(context, request)
                                                           : request_range_keys(request, traits);
    if (!keys.none && !keys.wrong_arity && !keys.unknown && !keys.guard)
        return true;
    const char *name = quoted(request->words[0], text);
    if (keys.unknown)
        reply_error(context, "ERR", "unknown command %s", name);
    else if (keys.wrong_arity)
        reply_error(context, "ERR", "wrong number of arguments for %s", name);
    else if (keys.none)
        reply_error(context, "ERR", "ONCE runs commands with keys only; %s has none here", name);
    else
        reply_error(context, "ERR", "%s must not use the guard as one of its own keys", name);
    return false;
}

bool once_may_call(server_context *context, once_request *request)
{
    command_traits traits = request_traits(context, request);
    request->is_verbatim = traits.flags & IS_VERBATIM;
    return once_check_flags(context, request, traits.flags) &&
           once_check_keys(context, request, &traits);
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
