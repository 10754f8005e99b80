/* COUNTER.INCRBY, DEL, and what they replicate (counter_type.h explains why). Each command
 * is one batch of the library: all of it is applied, or nothing. */
#include "module/core/arguments.h"
#include "module/core/replicate_as.h"
#include "module/core/replies.h"
#include "module/core/settings.h"
#include "module/counter/counter_type.h"
#include "text/number_parse.h"

#include <inttypes.h>

enum { SMALL = 16, ARGUMENTS_EACH = 3 };

/* The operations of a command in order: (counter, delta, id)…. */
typedef struct increment_batch {
    server_string **argv; /* the operations */
    size_t n;
    uint64_t now;
    uint64_t sent; /* when the client created them; 0: not given */
    bry_counters_op *ops;
    bry_counters_op small[SMALL];
} increment_batch;

/* ---- reading -------------------------------------------------------------------------------- */

/* False after an error reply. Ids are hashed later, when the table is known. */
static bool increment_batch_read(server_context *context, increment_batch *self, int from)
{
    char text[QUOTED_SIZE];
    size_t record = BRY_COUNTERS_BATCH_HEAD;
    for (size_t i = 0; i < self->n; i++) {
        server_string **words = self->argv + i * ARGUMENTS_EACH;
        bry_counters_op *op = &self->ops[i];
        size_t len;
        op->name = api.StringPtrLen(words[0], &op->name_len);
        if (op->name_len > BRY_COUNTERS_NAME_MAX)
            return reply_false(context, "TOOLONG",
                               "the name of counter %s has %zu bytes; the limit is %u",
                               quoted(words[0], text), op->name_len, BRY_COUNTERS_NAME_MAX);
        const char *delta = api.StringPtrLen(words[1], &len);
        const char *problem = text_parse_integer(delta, len, &op->delta);
        if (problem)
            return reply_false(context, text_is_out_of_range(problem) ? "RANGE" : "ERR",
                               "delta %s is not a 64-bit integer (argument %zu)",
                               quoted(words[1], text), (size_t)from + i * ARGUMENTS_EACH + 1);
        record += BRY_COUNTERS_BATCH_OP + op->name_len;
        if (record > BRY_COUNTERS_BATCH_MAX)
            return reply_false(context, "TOOLONG",
                               "the names exceed 16 MB in total: use several commands");
    }
    return true;
}

static bool increment_batch_open(server_context *context, increment_batch *self,
                                 server_string **argv, int argc, int from)
{
    self->argv = argv + from;
    self->n = (size_t)(argc - from) / ARGUMENTS_EACH;
    self->ops = self->small;
    if (self->n > SMALL)
        self->ops = api.TryAlloc(self->n * sizeof *self->ops);
    if (!self->ops) {
        reply_status(context, BRY_E_NOMEM);
        return false;
    }
    return increment_batch_read(context, self, from);
}

static void increment_batch_close(increment_batch *self)
{
    if (self->ops && self->ops != self->small)
        api.Free(self->ops);
}

static void increment_batch_hash_ids(increment_batch *self, const counter_table *table)
{
    for (size_t i = 0; i < self->n; i++) {
        bry_counters_op *op = &self->ops[i];
        op->id = counter_id(table, op->name, op->name_len, self->argv[i * ARGUMENTS_EACH + 2]);
    }
}

/* ---- late operations ------------------------------------------------------------------------ */

static bool counter_all_repeats(const counter_table *table, const increment_batch *self)
{
    size_t i = 0;
    while (i < self->n &&
           bry_counters_has(table->counters, self->ops[i].id, self->now) == BRY_PRESENT)
        i++;
    return i == self->n;
}

/* Reads the SENT of a client, if the words after the operations are one. False after an error
 * reply. */
static bool increment_batch_read_sent(server_context *context, increment_batch *self,
                                      server_string **argv, int argc, int from)
{
    command_option sent[] = {option_whole("SENT", OPTION_MOMENT, INT64_MAX, &self->sent)};
    self->sent = 0;
    return from == argc || options_read(context, argv, argc, from, sent, 1);
}

/*
 * True if the operations may be applied, by their SENT: they are recent, or all are repeats.
 * Otherwise false after an error reply.
 */
static bool counter_in_time(server_context *context, const counter_table *table,
                            const increment_batch *self)
{
    uint64_t time = bry_counters_time(table->counters);
    uint64_t now = self->now > time ? self->now : time;
    if (!self->sent)
        return true;
    if (self->sent > now) {
        return self->sent - now <= table->skew || counter_all_repeats(table, self) ||
               reply_false(context, "SKEW",
                           "SENT is %" PRIu64
                           " ms ahead of the server's clock; SKEW allows %" PRIu64
                           "; nothing was changed",
                           self->sent - now, table->skew);
    }
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    bry_counters_options_like(table->counters, &options);
    if (table->skew <= options.window && now - self->sent <= options.window - table->skew)
        return true;
    return counter_all_repeats(table, self) ||
           reply_false(
               context, "EXPIRED",
               "the operation was created %" PRIu64
               " ms ago: if it was applied then, it may have been forgotten; nothing was changed",
               now - self->sent);
}

/* ---- what is replicated --------------------------------------------------------------------- */

/* `before`: the table's time before the command with these arguments. SENT, which may follow the
 * operations, means nothing to replicas. */
static void counter_replicate_apply(server_context *context, server_string **argv,
                                    const increment_batch *self, uint64_t before)
{
    static kept_name effect = {.text = COUNTER_EFFECT_SAME};
    if (self->now <= before)
        replicate_as(context, argv, 2 + (int)self->n * ARGUMENTS_EACH, &effect);
    else
        api.Replicate(context, "BLOOMERY.COUNTER.APPLY", "slv", argv[1], (long long)self->now,
                      self->argv, self->n * ARGUMENTS_EACH);
}

/* ---- the limit ------------------------------------------------------------------------------ */

/* The limit on the whole key for a client's command. */
static uint64_t counter_limit(const counter_table *table)
{
    uint64_t limit = settings_max_key_bytes();
    return table->max_bytes && table->max_bytes < limit ? table->max_bytes : limit;
}

/* BRY_E_FULL, with nothing changed, if the limit was reached. */
static bry_status counter_apply_below(counter_table *table, increment_batch *self, uint64_t limit)
{
    counter_limit_begin(table, limit);
    bry_status status = bry_counters_apply_n(table->counters, self->ops, self->n, self->now);
    bool denied = counter_limit_end();
    return status == BRY_E_NOMEM && denied ? BRY_E_FULL : status;
}

/*
 * The limit was reached. It applies neither to repeats nor to time: otherwise a full table could
 * never have room again. So time moves, which drops expired ids, and then comes a second try. What
 * is refused even then is counted.
 */
static bry_status counter_apply_at_limit(server_context *context, server_string *key,
                                         counter_table *table, increment_batch *self,
                                         uint64_t limit)
{
    if (counter_all_repeats(table, self))
        return counter_apply_below(table, self, 0);
    bry_status status = bry_counters_advance(table->counters, self->now);
    if (status != BRY_OK)
        return status;
    status = counter_apply_below(table, self, limit);
    if (status == BRY_E_FULL)
        table->refused++;
    if (status != BRY_OK)
        api.Replicate(context, "BLOOMERY.COUNTER.TOUCH", "sll", key, (long long)self->now,
                      (long long)(status == BRY_E_FULL));
    return status;
}

/* ---- INCRBY, APPLY -------------------------------------------------------------------------- */

/* Updates the statistics, and sends a keyspace event if anything was applied. */
static void counter_count_outcomes(server_context *context, server_string *key, held_object *object,
                                   const increment_batch *self)
{
    size_t applied = 0;
    for (size_t i = 0; i < self->n; i++)
        applied += self->ops[i].outcome == BRY_COUNTERS_APPLIED;
    counter_family.totals.repeats += self->n - applied;
    object_recount(object);
    object_count(object, self->n);
    if (applied)
        object_changed(context, key, "counter.incrby", false);
}

static void counter_reply_outcome(server_context *context, const bry_counters_op *op)
{
    api.ReplyWithArray(context, 2);
    api.ReplyWithLongLong(context, op->value);
    api.ReplyWithLongLong(context, op->outcome == BRY_COUNTERS_APPLIED);
}

static int counter_reply_refused(server_context *context, const counter_table *table,
                                 bry_status status)
{
    counter_family.totals.refused++;
    if (status == BRY_E_FULL && counter_limit(table) != table->max_bytes)
        return reply_error(context, "FULL",
                           "the key would exceed bloomery.max-key-bytes, which is %" PRIu64
                           "; nothing was changed",
                           settings_max_key_bytes());
    if (status == BRY_E_FULL)
        return reply_error(context, "FULL",
                           "the table has reached MAXMEM (%" PRIu64
                           " bytes); room is freed as ids expire; nothing was changed",
                           table->max_bytes);
    if (status == BRY_E_OVERFLOW)
        return reply_error(context, "OVERFLOW",
                           "a counter would overflow 64 bits; nothing was changed");
    return reply_status(context, status);
}

static int counter_count_for_client(server_context *context, server_string **argv,
                                    held_object *object, increment_batch *self)
{
    server_string *key = argv[1];
    counter_table *table = table_of(object);
    uint64_t limit = counter_limit(table), before = bry_counters_time(table->counters);
    self->now = (uint64_t)api.Milliseconds();
    if (!counter_in_time(context, table, self)) {
        counter_family.totals.refused++;
        return SERVER_OK;
    }
    bry_status status = counter_apply_below(table, self, limit);
    if (status == BRY_E_FULL)
        status = counter_apply_at_limit(context, key, table, self, limit);
    if (status == BRY_OK || status == BRY_E_OVERFLOW) /* the table counts both */
        counter_replicate_apply(context, argv, self, before);
    if (status != BRY_OK)
        return counter_reply_refused(context, table, status);
    counter_count_outcomes(context, key, object, self);
    api.ReplyWithArray(context, (long)self->n);
    for (size_t i = 0; i < self->n; i++)
        counter_reply_outcome(context, &self->ops[i]);
    return SERVER_OK;
}

/* Repeats what a primary has done. If this node is out of memory where the primary was not, it can
 * only log that. */
static int counter_count_replayed(server_context *context, server_string *key, held_object *object,
                                  increment_batch *self)
{
    bry_status status = counter_apply_below(table_of(object), self, 0);
    if (status == BRY_OK)
        counter_count_outcomes(context, key, object, self);
    else if (status != BRY_E_OVERFLOW)
        api.Log(context, "warning", "cannot replay the change of a counter: %s",
                bry_status_text(status));
    api.ReplicateVerbatim(context);
    return reply_ok(context);
}

/* Where the operations of a client's command end and its options begin. */
static int counter_end_of_operations(int argc)
{
    return argc - (argc - 2) % ARGUMENTS_EACH;
}

int counter_command_incrby(server_context *context, server_string **argv, int argc)
{
    increment_batch batch;
    opened_key opened;
    int end = counter_end_of_operations(argc);
    if (end < 2 + ARGUMENTS_EACH || argc - end == 1)
        return api.WrongArity(context);
    if (!increment_batch_read_sent(context, &batch, argv, argc, end))
        return SERVER_OK;
    if (increment_batch_open(context, &batch, argv, end, 2) &&
        object_open_made(context, &counter_family, argv[1], SERVER_READ | SERVER_WRITE, &opened)) {
        increment_batch_hash_ids(&batch, table_of(opened.object)); /* prefetches the counters */
        counter_count_for_client(context, argv, opened.object, &batch);
        object_close(&opened);
    }
    increment_batch_close(&batch);
    return SERVER_OK;
}

/* False after an error reply: a client may not call this command, or the time is invalid. */
static bool counter_is_replayed(server_context *context, server_string *time, uint64_t *now)
{
    if (!is_replayed(context)) {
        reply_internal(context);
        return false;
    }
    return read_plain(context, time, "time", 0, INT64_MAX, now);
}

/* now: NULL for the table's time. */
static int counter_replay(server_context *context, server_string **argv, int argc, int from,
                          const uint64_t *now)
{
    increment_batch batch;
    opened_key opened;
    if (increment_batch_open(context, &batch, argv, argc, from) &&
        object_open_made(context, &counter_family, argv[1], SERVER_READ | SERVER_WRITE, &opened)) {
        batch.now = now ? *now : bry_counters_time(table_of(opened.object)->counters);
        increment_batch_hash_ids(&batch, table_of(opened.object));
        counter_count_replayed(context, argv[1], opened.object, &batch);
        object_close(&opened);
    }
    increment_batch_close(&batch);
    return SERVER_OK;
}

int counter_command_apply(server_context *context, server_string **argv, int argc)
{
    uint64_t now;
    if (argc < 3 + ARGUMENTS_EACH || argc % ARGUMENTS_EACH != 0)
        return api.WrongArity(context);
    if (!counter_is_replayed(context, argv[2], &now))
        return SERVER_OK;
    return counter_replay(context, argv, argc, 3, &now);
}

int counter_command_same(server_context *context, server_string **argv, int argc)
{
    if (argc < 2 + ARGUMENTS_EACH)
        return api.WrongArity(context);
    if (!is_replayed(context))
        return reply_internal(context);
    return counter_replay(context, argv, counter_end_of_operations(argc), 2, NULL);
}

int counter_command_touch(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    uint64_t now, refused;
    if (argc != 4)
        return api.WrongArity(context);
    if (!counter_is_replayed(context, argv[2], &now) ||
        !read_plain(context, argv[3], "refused", 0, 1, &refused) ||
        !object_open(context, &counter_family, argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    if (opened.object) {
        table_of(opened.object)->refused += refused;
        bry_counters_advance(table_of(opened.object)->counters, now);
        api.ReplicateVerbatim(context);
    }
    object_close(&opened);
    return reply_ok(context);
}

/* ---- DEL ------------------------------------------------------------------------------------ */

int counter_command_del(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    size_t deleted = 0;
    if (argc < 3)
        return api.WrongArity(context);
    if (!object_open(context, &counter_family, argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    counter_family.totals.operations += (uint64_t)argc - 2;
    api.ReplyWithArray(context, argc - 2);
    for (int i = 2; i < argc; i++) {
        bry_answer was = BRY_ABSENT;
        size_t len;
        const char *name = api.StringPtrLen(argv[i], &len);
        if (opened.object) /* cannot fail without a log on disk */
            bry_counters_del(table_of(opened.object)->counters, name, len, &was);
        api.ReplyWithLongLong(context, was == BRY_PRESENT);
        deleted += was == BRY_PRESENT;
    }
    if (deleted) {
        object_recount(opened.object);
        object_changed(context, argv[1], "counter.del", true);
    }
    return object_close(&opened);
}
