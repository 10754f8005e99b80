/* ONCE guard id command [argument …]; once_run.h explains it. */
#include "module/once/once_run.h"

#include "module/core/replies.h"

#include <string.h>

#define MOST_DENIAL 300u /* bytes of an error message */

enum { AT_GUARD = 1, AT_ID = 2, AT_COMMAND = 3 };

once_totals once_total;

/* A guard and the id to check. */
typedef struct once_check {
    server_context *context;
    server_string *guard, *id;
    held_object *object;
    bry_hash hash;
    uint64_t now;
    double error; /* probability that a new id is taken for a repeat */
} once_check;

/* ---- guards -------------------------------------------------------------------------------- */

const char *once_guard_problem(const bry_window_options *options)
{
    if (options->engine != BRY_ENGINE_COMPACT)
        return "it has engine fbf, which cannot forget the id of a command that failed";
    if (window_by_events(options))
        return "it uses event time";
    if (options->refresh)
        return "it was created with REFRESH";
    return NULL;
}

int once_reply_no_guard(server_context *context)
{
    return reply_error(context, "NOGUARD", "no such guard: create it with ONCE.CREATE");
}

/* Opens the key, which must be a guard, for reading: a repeat does not change it, so transactions
 * that WATCH it are not aborted. False, with nothing open, after an error reply. */
static bool once_open_guard(once_check *self, opened_key *opened)
{
    if (!object_open(self->context, &window_family, self->guard, SERVER_READ, opened))
        return false;
    self->object = opened->object;
    if (!self->object) {
        once_reply_no_guard(self->context);
    } else if (once_is_marked(self->object)) {
        return true; /* its options were checked before, and do not change */
    } else {
        bry_window_options options = window_like(window_of(self->object));
        const char *why = once_guard_problem(&options);
        if (!why) {
            once_mark_guard(self->object);
            return true;
        }
        reply_error(self->context, "UNSUPPORTED", "this window cannot be a guard: %s", why);
    }
    object_close(opened);
    return false;
}

/* ---- what is replicated -------------------------------------------------------------------- */

static void once_replicate_id(const once_check *self)
{
    api.Replicate(self->context, "WINDOW.ADD", "sscl", self->guard, self->id, "AT",
                  (long long)self->now);
}

static void once_replicate_time(const once_check *self, uint64_t time)
{
    api.Replicate(self->context, "WINDOW.ADVANCE", "scl", self->guard, "AT", (long long)time);
}

/* ---- remembering --------------------------------------------------------------------------- */

/* True if bloomery.max-key-bytes leaves room for an id, if necessary after expired ids were
 * dropped. */
static bool once_may_remember(const once_check *self)
{
    if (object_may_grow(self->context, self->object, sizeof(bry_hash)))
        return true;
    bry_window *window = window_of(self->object);
    bry_window_options options = window_like(window);
    uint64_t time = bry_window_time(window);
    if (self->now <= time || window_same_generation(&options, time, self->now) ||
        bry_window_advance(window, self->now) != BRY_OK)
        return false;
    window_refresh_errors(self->object);
    once_replicate_time(self, self->now);
    return object_may_grow(self->context, self->object, sizeof(bry_hash));
}

/* Remembers the id. False after an error reply. */
static bool once_remember(const once_check *self)
{
    api.SignalModifiedKey(self->context, self->guard);
    if (!once_may_remember(self)) {
        object_too_large(self->context, &window_family);
        return false;
    }
    object_limit_begin(self->context, self->object);
    bry_status status = bry_window_add(window_of(self->object), self->hash, self->now, NULL);
    status = object_limit_end(self->object, status);
    if (status == BRY_OK) {
        window_once_counts(self->object)->applied++;
        window_once_counts(self->object)->expected_lost += self->error;
        window_refresh_errors(self->object);
        return true;
    }
    if (status == BRY_E_FULL) /* replicated like a change (object.h) */
        once_replicate_id(self);
    object_refused_here(self->context, &window_family, status);
    return false;
}

/* The command failed: forgets the id. The key is opened again, because listeners to the server's
 * events may have changed it. */
static void once_forget_id(once_check *self)
{
    opened_key opened = {.key =
                             api.OpenKey(self->context, self->guard, SERVER_READ | SERVER_WRITE)};
    if (opened.key && api.ModuleTypeGetType(opened.key) == window_family.type &&
        api.ModuleTypeGetValue(opened.key) == self->object) {
        (void)bry_window_del(window_of(self->object), self->hash, self->now, NULL);
        window_once_counts(self->object)->applied--;
        window_once_counts(self->object)->expected_lost -= self->error;
        window_refresh_errors(self->object);
        once_replicate_time(self, self->now);
    }
    object_close(&opened);
}

/* ---- the command --------------------------------------------------------------------------- */

static int once_reply_repeat(const once_check *self)
{
    window_once_counts(self->object)->repeated++;
    once_total.repeated++;
    once_replicate_time(self, bry_window_time(window_of(self->object)));
    api.NotifyKeyspaceEvent(self->context, SERVER_NOTIFY_MODULE, "once.repeated", self->guard);
    api.ReplyWithArray(self->context, 1);
    return api.ReplyWithLongLong(self->context, 0);
}

/* Forwards the command's error. Redis 7.0 reports a denial by access control to modules in words
 * that no client looks for; that becomes NOPERM. */
static int once_reply_failed(server_context *context, const once_request *request,
                             server_reply *reply)
{
    static const char denial[] = "ERR acl verification failed, ";
    char name[QUOTED_SIZE];
    size_t len, lead = sizeof denial - 1;
    const char *text = api.CallReplyStringPtr(reply, &len);
    if (!text || len < lead || len > lead + MOST_DENIAL || memcmp(text, denial, lead) != 0)
        return api.ReplyWithCallReply(context, reply);
    return reply_error(context, "NOPERM", "ONCE may not call %s for this user: %.*s",
                       quoted(request->words[0], name), (int)(len - lead), text + lead);
}

/* Runs the command; the id is remembered, and no key is open. */
static int once_call(once_check *self, const once_request *request)
{
    /* Flags: replicate; replies in the client's protocol; the caller's permissions; errors as
     * replies; the memory limit; only what scripts may call. */
    server_reply *reply = api.Call(self->context, api.StringPtrLen(request->words[0], NULL),
                                   "!0CEMSv", request->words + 1, (size_t)request->n - 1);
    if (!reply || api.CallReplyType(reply) == SERVER_REPLY_ERROR) {
        once_forget_id(self);
        once_total.failed++;
        if (!reply)
            return reply_error(self->context, "ERR", "the command cannot be called");
        once_reply_failed(self->context, request, reply);
        api.FreeCallReply(reply);
        return SERVER_OK;
    }
    once_total.applied++;
    once_replicate_id(self);
    api.NotifyKeyspaceEvent(self->context, SERVER_NOTIFY_MODULE, "once.applied", self->guard);
    api.ReplyWithArray(self->context, 2);
    api.ReplyWithLongLong(self->context, 1);
    api.ReplyWithCallReply(self->context, reply);
    api.FreeCallReply(reply);
    return SERVER_OK;
}

static void once_run(once_check *self, const once_request *request)
{
    opened_key opened;
    bool is_repeat = false, remembered = false;
    if (once_open_guard(self, &opened)) {
        const bry_window *window = window_of(self->object);
        self->hash = string_hash(bry_window_seed(window), self->id);
        window_count(self->object, 1);
        is_repeat = bry_window_has(window, self->hash, self->now) == BRY_PRESENT;
        self->error = (double)self->object->estimated;
        if (is_repeat)
            once_reply_repeat(self);
        else
            remembered = once_remember(self);
        object_close(&opened);
    }
    if (remembered)
        once_call(self, request);
    else
        once_total.refused += !is_repeat;
}

int once_command(server_context *context, server_string **argv, int argc)
{
    if (api.IsKeysPositionRequest(context)) {
        if (argc > AT_GUARD)
            api.KeyAtPosWithFlags(context, AT_GUARD,
                                  SERVER_SPEC_RW | SERVER_SPEC_ACCESS | SERVER_SPEC_UPDATE);
        once_declare_keys(context, argv + AT_COMMAND, argc - AT_COMMAND, AT_COMMAND);
        return SERVER_OK;
    }
    if (argc <= AT_COMMAND)
        return api.WrongArity(context);
    once_request request = {argv[AT_GUARD], argv + AT_COMMAND, argc - AT_COMMAND};
    once_check check = {.context = context,
                        .guard = argv[AT_GUARD],
                        .id = argv[AT_ID],
                        .now = (uint64_t)api.Milliseconds()};
    if (once_may_call(context, &request))
        once_run(&check, &request);
    else
        once_total.refused++;
    return SERVER_OK;
}
