/*
 * Counting once. Each try sends COUNTER.INCRBY and, in the same write, WAIT; the exchange follows
 * redirections and repeats what was lost, always the same bytes with the same id. What this file
 * adds is the meaning of the end:
 *
 *   a reply, and enough replicas          counted
 *   a reply, and too few replicas         the same again, until retry_ms: then unsure
 *   an error reply, and no try was lost   refused: not counted
 *   an error reply after a lost try       unsure: that try may have been counted, or may be later
 *   no reply in time                      unsure if a try was lost, else not counted
 */
#include "clients/c/counter_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define FIRST_PAUSE 10u
#define LONGEST_PAUSE 500u

/* ---- ids ----------------------------------------------------------------------------------- */

static bool new_operation(bryc_counters *table, bryc_operation *operation)
{
    pid_t process = getpid();
    struct timespec now;
    if (table->process != process) {
        if (getrandom(table->random, sizeof table->random, 0) != sizeof table->random)
            return false;
        table->process = process;
        table->number = 0;
    }
    for (size_t i = 0; i < sizeof table->random; i++)
        snprintf(operation->id + 2 * i, 3, "%02x", table->random[i]);
    snprintf(operation->id + 32, sizeof operation->id - 32, "-%llu",
             (unsigned long long)++table->number);
    clock_gettime(CLOCK_REALTIME, &now);
    operation->sent_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    return true;
}

/* ---- the command --------------------------------------------------------------------------- */

/* The part that has all these counters. */
static bry_status common_part(const bryc_counters *table, const bryc_operation *operation,
                              const bryc_increment *increments, size_t n, uint64_t *part)
{
    for (size_t i = 0; i < n; i++) {
        bool hot = bryc__counter_is_hot(&table->record, increments[i].name);
        bryc_key id = {operation->id, strlen(operation->id)};
        if (hot && n > 1)
            return bryc__fail(
                table->client, BRY_E_RANGE,
                "a hot counter is spread over all parts; add to it in an operation of its own");
        /* By the whole id, which has no tag. */
        uint64_t its = bryc__part_of(table, hot ? id : increments[i].name);
        if (i > 0 && its != *part)
            return bryc__fail(table->client, BRY_E_RANGE,
                              "these counters are in different parts of the table; give their "
                              "names the same {tag}");
        *part = its;
    }
    return BRY_OK;
}

static bool put_delta(bryc__bytes *bytes, int64_t delta)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%lld", (long long)delta);
    return bryc__put_argument(bytes, text, (size_t)len);
}

static bool put_command(bryc__bytes *bytes, const char *key, size_t key_len,
                        const bryc_operation *operation, const bryc_increment *increments, size_t n)
{
    bool done = bryc__put_count(bytes, 3 * (uint64_t)n + 4) &&
                bryc__put_argument(bytes, "COUNTER.INCRBY", 14) &&
                bryc__put_argument(bytes, key, key_len);
    for (size_t i = 0; i < n && done; i++)
        done = bryc__put_argument(bytes, increments[i].name.bytes, increments[i].name.len) &&
               put_delta(bytes, increments[i].delta) &&
               bryc__put_argument(bytes, operation->id, strlen(operation->id));
    return done && bryc__put_argument(bytes, "SENT", 4) &&
           bryc__put_number(bytes, operation->sent_ms);
}

/* [[value, 1 or 0], …] */
static bry_status read_added(bryc_client *client, const redisReply *reply, size_t n,
                             bryc_added *added)
{
    bool valid = reply->type == REDIS_REPLY_ARRAY && reply->elements == n;
    for (size_t i = 0; i < n && valid; i++) {
        const redisReply *pair = reply->element[i];
        valid = pair->type == REDIS_REPLY_ARRAY && pair->elements == 2 &&
                pair->element[0]->type == REDIS_REPLY_INTEGER;
    }
    for (size_t i = 0; i < n && valid && added; i++) {
        redisReply *const *pair = reply->element[i]->element;
        added[i] = (bryc_added){.value = pair[0]->integer, .applied = pair[1]->integer == 1};
    }
    /* It was executed, whatever it means. */
    return valid ? BRY_OK
                 : bryc__fail(client, BRY_E_UNSURE, "COUNTER.INCRBY: unexpected reply type");
}

/* ---- trying -------------------------------------------------------------------------------- */

/* One exchange, which ends with a reply or with the deadline. */
static redisReply *try_once(bryc_counters *table, const bryc__bytes *bytes, uint32_t slot,
                            uint64_t deadline, bool *uncertain, uint32_t *confirmed)
{
    bryc_command command = {.reply = NULL};
    bryc__request request = {.bytes = bytes->at,
                             .len = bytes->len,
                             .slot = slot,
                             .node = BRYC__NONE,
                             .deadline = deadline};
    bryc__exchange exchange = {.client = table->client,
                               .requests = &request,
                               .n = 1,
                               .wait = table->wait,
                               .wait_ms = table->wait_ms,
                               .deliver = bryc__deliver_command,
                               .context = &command};
    bryc__exchange_run(&exchange);
    *uncertain |= request.lost;
    *confirmed = exchange.confirmed;
    if (request.state != BRYC__FAILED)
        return command.reply;
    freeReplyObject(command.reply); /* without the replicas that it waited for */
    return NULL;
}

static bry_status stay_unsure(bryc_client *client, const bryc_operation *operation)
{
    char why[sizeof client->message];
    memcpy(why, client->message, sizeof why);
    return bryc__fail(client, BRY_E_UNSURE, "operation %s may or may not be counted: %.300s",
                      operation->id, why);
}

/* Tries until the operation is counted and confirmed. uncertain: it may have been sent before. */
static bry_status count_once(bryc_counters *table, const bryc_operation *operation,
                             const bryc__bytes *bytes, uint32_t slot, bool uncertain, size_t n,
                             bryc_added *added)
{
    bryc_client *client = table->client;
    uint64_t deadline = bryc__now() + table->retry_ms, pause = FIRST_PAUSE;
    for (;;) {
        uint32_t confirmed = 0;
        redisReply *reply = try_once(table, bytes, slot, deadline, &uncertain, &confirmed);
        if (!reply)
            return uncertain ? stay_unsure(client, operation) : BRY_E_IO;
        if (reply->type == REDIS_REPLY_ERROR) {
            bry_status status = bryc__reply_status(reply->str, reply->len);
            bryc__fail(client, status, "%s", reply->str);
            freeReplyObject(reply);
            return uncertain ? stay_unsure(client, operation) : status;
        }
        if (table->wait == 0 || confirmed >= table->wait) {
            bry_status status = read_added(client, reply, n, added);
            freeReplyObject(reply);
            return status;
        }
        freeReplyObject(reply);
        uncertain = true; /* a failover may lose it */
        bryc__fail(client, BRY_E_UNSURE, "only %u of %u replicas confirmed it in time", confirmed,
                   table->wait);
        if (bryc__now() + pause > deadline)
            return stay_unsure(client, operation);
        bryc__sleep(pause);
        pause = 2 * pause < LONGEST_PAUSE ? 2 * pause : LONGEST_PAUSE;
    }
}

static bry_status run_operation(bryc_counters *table, const bryc_operation *operation,
                                const bryc_increment *increments, size_t n, bool first,
                                bryc_added *added)
{
    char key[BRYC__SLAB_KEY_MAX];
    uint64_t part = 0;
    bry_status status = common_part(table, operation, increments, n, &part);
    if (status != BRY_OK || n == 0)
        return status;
    size_t len = bryc__part_key(table, part, key, sizeof key);
    bryc__bytes bytes = {0};
    bool made = put_command(&bytes, key, len, operation, increments, n);
    status = made ? BRY_OK : bryc__fail(table->client, BRY_E_NOMEM, "out of memory");
    if (made && first) {
        status = bryc__outbox_begin(&table->outbox, operation, increments, n);
        if (status != BRY_OK)
            bryc__fail(table->client, status, "outbox: %s", strerror(errno));
    }
    if (status == BRY_OK) {
        status = count_once(table, operation, &bytes, bryc_slot(key, len), !first, n, added);
        if (status != BRY_E_UNSURE)
            bryc__outbox_end(&table->outbox, operation);
    }
    free(bytes.at);
    return status;
}

/* The second increment of a counter would have the id of the first, and be taken for its repeat. */
static bool names_differ(const bryc_increment *increments, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (increments[i].name.len == increments[j].name.len &&
                memcmp(increments[i].name.bytes, increments[j].name.bytes,
                       increments[i].name.len) == 0)
                return false;
    return true;
}

bry_status bryc_counters_add(bryc_counters *table, const bryc_increment *increments, size_t n,
                             bryc_added *added, bryc_operation *operation)
{
    bryc_operation made;
    if (!names_differ(increments, n))
        return bryc__fail(table->client, BRY_E_RANGE, "a counter occurs twice in one operation");
    if (!new_operation(table, &made))
        return bryc__fail(table->client, BRY_E_IO, "getrandom: %s", strerror(errno));
    bry_status status = run_operation(table, &made, increments, n, true, added);
    if (operation && (status == BRY_OK || status == BRY_E_UNSURE))
        *operation = made;
    return status;
}

bry_status bryc_counters_repeat(bryc_counters *table, const bryc_operation *operation,
                                const bryc_increment *increments, size_t n, bryc_added *added)
{
    return run_operation(table, operation, increments, n, false, added);
}

bry_status bryc_counters_recover(bryc_counters *table,
                                 void (*each)(void *opaque, const bryc_operation *operation,
                                              bry_status status, const bryc_added *added, size_t n),
                                 void *opaque)
{
    bry_status worst = BRY_OK;
    for (size_t i = 0; i < table->outbox.count;) {
        const bryc__begun *begun = &table->outbox.begun[i];
        bryc_operation operation = begun->operation;
        size_t n = begun->n, count = table->outbox.count;
        bryc_added *added = calloc(n, sizeof *added);
        if (!added)
            return bryc__fail(table->client, BRY_E_NOMEM, "out of memory");
        bry_status status = bryc_counters_repeat(table, &operation, begun->increments, n, added);
        if (each)
            each(opaque, &operation, status, added, n);
        free(added);
        if (status != BRY_OK)
            worst = BRY_E_UNSURE;
        i += table->outbox.count == count; /* it is still there */
    }
    return worst;
}
