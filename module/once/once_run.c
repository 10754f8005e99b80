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
    server_string **argv; /* of ONCE */
    int argc;
    server_string *guard, *id;
    held_object *object;
    bry_hash hash;
    uint64_t now;
    uint64_t before; /* the guard's time before the id was added */
    double error; /* probability that a new id is taken for a repeat */
} once_check;

/* ---- guards -------------------------------------------------------------------------------- */

/* NULL if a window can be a guard, or why not. */
static const char *once_guard_problem(const bry_window_options *options)
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

/* Opens the key, which must be a guard, for reading: a repeat changes none of its ids, so
 * transactions that WATCH it are not aborted. False, with nothing open, after an error reply. */
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

/* BLOOMERY.ONCE.DONE repeats the words of the command, which was replicated by its effect; so it is
 * used only if they are short. */
#define DONE_WORDS 16
#define DONE_BYTES 128u

static bool once_is_short(const once_check *self)
{
    size_t sum = 0, len;
    for (int i = AT_COMMAND; i < self->argc && sum <= DONE_BYTES; i++) {
        api.StringPtrLen(self->argv[i], &len);
        sum += len;
    }
    return sum <= DONE_BYTES && self->argc - AT_COMMAND <= DONE_WORDS;
}

static kept_name done_name = {.text = ONCE_DONE}, apply_name = {.text = ONCE_APPLY};

/* Replicates bry_window_add() of the id. Without AT it means the time that the guard has. */
static void once_replicate_id(const once_check *self)
{
    if (self->now > self->before)
        api.Replicate(self->context, "WINDOW.INSERT", "sclcs", self->guard, "AT",
                      (long long)self->now, "ITEMS", self->id);
    else if (once_is_short(self))
        replicate_as(self->context, self->argv, self->argc, &done_name);
    else
        api.Replicate(self->context, "WINDOW.ADD", "ss", self->guard, self->id);
}

int once_command_done(server_context *context, server_string **argv, int argc)
{
    if (argc <= AT_COMMAND)
        return api.WrongArity(context);
    return is_replayed(context) ? window_command_add(context, argv, AT_COMMAND)
                                : reply_internal(context);
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

typedef enum once_outcome { ONCE_NEW, ONCE_REPEATED, ONCE_REFUSED } once_outcome;

static bry_status once_add_id(once_check *self, bry_answer *was)
{
    bry_window *window = window_of(self->object);
    if (!once_may_remember(self))
        return BRY_E_LIMIT;
    self->before = bry_window_time(window);
    object_limit_begin(self->context, self->object);
    bry_status status = bry_window_add(window, self->hash, self->now, was);
    return object_limit_end(self->object, status);
}

/* Remembers the id, if it is new. If it cannot be added, it may still be a repeat; if not, that is
 * the reply. */
static once_outcome once_remember(once_check *self)
{
    bry_window *window = window_of(self->object);
    bry_answer was = BRY_ABSENT;
    bry_status status = once_add_id(self, &was);
    if (status == BRY_OK) {
        window_changed_compact(self->object);
        if (was == BRY_PRESENT) {
            once_replicate_id(self);
            return ONCE_REPEATED;
        }
        api.SignalModifiedKey(self->context, self->guard);
        window_once_counts(self->object)->applied++;
        window_once_counts(self->object)->expected_lost += self->error;
        return ONCE_NEW;
    }
    if (status == BRY_E_FULL) { /* it is new; replicated like a change (object.h) */
        once_replicate_id(self);
        window_reply_full(self->context, self->object, 1, "guard", "ids");
        return ONCE_REFUSED;
    }
    if (bry_window_has(window, self->hash, self->now) == BRY_PRESENT) {
        once_replicate_time(self, bry_window_time(window));
        return ONCE_REPEATED;
    }
    object_refused_here(self->context, &window_family, status);
    return ONCE_REFUSED;
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
        window_changed_compact(self->object);
        once_replicate_time(self, self->now);
    }
    object_close(&opened);
}

/* ---- the command --------------------------------------------------------------------------- */

static int once_reply_repeat(const once_check *self)
{
    window_once_counts(self->object)->repeated++;
    once_total.repeated++;
    api.NotifyKeyspaceEvent(self->context, SERVER_NOTIFY_MODULE, "once.repeated", self->guard);
    api.ReplyWithArray(self->context, 2);
    api.ReplyWithLongLong(self->context, 0);
    return api.ReplyWithNull(self->context);
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

/* Flags: what is written is replicated; replies in the client's protocol; the caller's permissions;
 * errors as replies; the memory limit; only what scripts may call. */
#define CALL_FLAGS "!0CEMS"
/* The command itself is not replicated, but what other modules write when they hear of it is.
 * Without "!" that would be lost. */
#define CALL_FLAGS_APART CALL_FLAGS "AR"
#define FEW_WORDS 4

/* For a vector of arguments ("v"), the server allocates the new command twice. */
static server_reply *once_call_server(server_context *context, const once_request *request,
                                      bool replicated)
{
    static const char *const few[][FEW_WORDS] = {
        {CALL_FLAGS_APART, CALL_FLAGS_APART "s", CALL_FLAGS_APART "ss", CALL_FLAGS_APART "sss"},
        {CALL_FLAGS, CALL_FLAGS "s", CALL_FLAGS "ss", CALL_FLAGS "sss"}};
    const char *name = api.StringPtrLen(request->words[0], NULL);
    size_t n = (size_t)request->n - 1;
    if (n >= FEW_WORDS)
        return api.Call(context, name, replicated ? CALL_FLAGS "v" : CALL_FLAGS_APART "v",
                        request->words + 1, n);
    server_string *words[FEW_WORDS] = {NULL};
    for (size_t i = 1; i <= n; i++)
        words[i] = request->words[i];
    return api.Call(context, name, few[replicated][n], words[1], words[2], words[3]);
}

/* Looks at the first byte of the reply. CallReplyType() would parse it as a whole. */
static bool reply_is_error(server_reply *reply)
{
    size_t len = 0;
    const char *bytes = api.CallReplyProto(reply, &len);
    return bytes && len > 0 && *bytes == '-';
}

/* Runs the command; the id is remembered, and no key is open. */
static int once_call(once_check *self, const once_request *request)
{
    bool in_one = request->is_verbatim && self->now <= self->before;
    server_reply *reply = once_call_server(self->context, request, !in_one);
    if (!reply || reply_is_error(reply)) {
        once_forget_id(self);
        once_total.failed++;
        if (!reply)
            return reply_error(self->context, "ERR", "the command cannot be called");
        once_reply_failed(self->context, request, reply);
        api.FreeCallReply(reply);
        return SERVER_OK;
    }
    once_total.applied++;
    if (in_one)
        replicate_as(self->context, self->argv, self->argc, &apply_name);
    else
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
    once_outcome outcome = ONCE_REFUSED;
    if (once_open_guard(self, &opened)) {
        self->hash = string_hash(bry_window_seed(window_of(self->object)), self->id);
        window_count(self->object, 1);
        self->error = (double)self->object->estimated;
        outcome = once_remember(self);
        if (outcome == ONCE_REPEATED)
            once_reply_repeat(self);
        object_close(&opened);
    }
    if (outcome == ONCE_NEW)
        once_call(self, request);
    once_total.refused += outcome == ONCE_REFUSED;
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
    once_request request = {argv[AT_GUARD], argv + AT_COMMAND, argc - AT_COMMAND, false};
    once_check check = {.context = context,
                        .argv = argv,
                        .argc = argc,
                        .guard = argv[AT_GUARD],
                        .id = argv[AT_ID],
                        .now = (uint64_t)api.Milliseconds()};
    if (once_may_call(context, &request))
        once_run(&check, &request);
    else
        once_total.refused++;
    return SERVER_OK;
}

/* A replica logs the effect of the command and BLOOMERY.ONCE.DONE, so that the effect is logged
 * even if the guard does not exist. The command succeeded on the primary: if it fails here, the
 * server reports the error reply in its log, as for any replicated command. */
int once_command_apply(server_context *context, server_string **argv, int argc)
{
    if (argc <= AT_COMMAND)
        return api.WrongArity(context);
    if (!is_replayed(context))
        return reply_internal(context);
    window_add_as(context, argv, argc, &done_name);
    server_reply *reply = api.Call(context, api.StringPtrLen(argv[AT_COMMAND], NULL), "!Ev",
                                   argv + AT_COMMAND + 1, (size_t)(argc - AT_COMMAND - 1));
    if (reply && reply_is_error(reply))
        api.ReplyWithCallReply(context, reply);
    if (reply)
        api.FreeCallReply(reply);
    return SERVER_OK;
}
