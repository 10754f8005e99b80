/* Creating, opening, reading and dropping tables of counters. */
#include "clients/c/counter_table.h"
#include "clients/c/struct_version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS 500u
#define RETRY_MOST_MS 30000u
#define PART_LEAST 64u

size_t bryc__part_key(const bryc_counters *table, uint64_t part, char *text, size_t room)
{
    return (size_t)snprintf(text, room, "{%s:%llu}:%s", table->name, (unsigned long long)part,
                            table->record.epoch);
}

uint64_t bryc__part_of(const bryc_counters *table, bryc_key name)
{
    const char *bytes = name.bytes, *start = name.len ? memchr(bytes, '{', name.len) : NULL;
    const char *end = start ? memchr(start, '}', name.len - (size_t)(start - bytes)) : NULL;
    if (end && end > start + 1)
        return bryc__choose_slab(&table->choice, start + 1, (size_t)(end - start - 1));
    return bryc__choose_slab(&table->choice, bytes, name.len);
}

/* ---- handles ------------------------------------------------------------------------------- */

/* Reads the caller's `given`, which may be NULL, before anything is asked. */
static bry_status read_use(bryc_client *client, const bryc_counters_use *given,
                           bryc_counters_use *use)
{
    *use = (bryc_counters_use)BRYC_COUNTERS_USE;
    if (!bryc__options_read(use, sizeof *use, given))
        return bryc__fail(client, BRY_E_RANGE,
                          "bryc_counters_use: struct_size %zu is not supported",
                          given->struct_size);
    if (use->no_wait > 1)
        return bryc__fail(client, BRY_E_RANGE, "bryc_counters_use: no_wait is neither 0 nor 1");
    return BRY_OK;
}

static bry_status use_table(bryc_counters *table, const bryc_counters_use *use)
{
    uint64_t horizon = table->record.window - table->record.skew;
    bry_status status;
    table->wait = use->no_wait ? 0 : use->replicas ? use->replicas : 1;
    table->wait_ms = use->wait_ms ? use->wait_ms : WAIT_MS;
    table->retry_ms = horizon / 2 < RETRY_MOST_MS ? (uint32_t)(horizon / 2) : RETRY_MOST_MS;
    if (use->retry_ms > horizon)
        return bryc__fail(table->client, BRY_E_RANGE,
                          "retry_ms is longer than the table's window less its skew (%llu ms); a "
                          "late retry would not be recognised",
                          (unsigned long long)horizon);
    if (use->retry_ms)
        table->retry_ms = use->retry_ms;
    const char *problem = bryc__outbox_open(&table->outbox, use->outbox, &status);
    return problem ? bryc__fail(table->client, status, "%s: %s", use->outbox, problem) : BRY_OK;
}

/* Takes the record over. */
static bry_status new_table(bryc_client *client, const char *name, bryc__counter_record *record,
                            bryc_counters **table)
{
    *table = calloc(1, sizeof **table);
    if (!*table) {
        bryc__counter_record_free(record);
        return bryc__fail(client, BRY_E_NOMEM, "out of memory");
    }
    (*table)->client = client;
    (*table)->outbox.file = -1;
    (*table)->record = *record;
    snprintf((*table)->name, sizeof(*table)->name, "%s", name);
    bryc__choice_init(&(*table)->choice, record->parts, NULL);
    return BRY_OK;
}

void bryc_counters_close(bryc_counters *table)
{
    if (!table)
        return;
    bryc__outbox_close(&table->outbox);
    bryc__counter_record_free(&table->record);
    free(table);
}

const char *bryc_counters_record(const bryc_counters *table)
{
    return table->record.text;
}

static bry_status finish_opening(bryc_counters **table, const bryc_counters_use *use)
{
    bry_status status = use_table(*table, use);
    if (status != BRY_OK) {
        bryc_counters_close(*table);
        *table = NULL;
    }
    return status;
}

/* ---- the record ---------------------------------------------------------------------------- */

static bry_status check_table_name(bryc_client *client, const char *name)
{
    return bryc__name_is_valid(name)
               ? BRY_OK
               : bryc__fail(client, BRY_E_RANGE,
                            "the name of a table has 1 to %u bytes, and neither braces nor "
                            "control characters",
                            BRYC__NAME_MAX);
}

/* Asks for the record: GET, or SET … NX GET if there is a text. */
static bry_status ask_record(bryc_client *client, const char *name, const char *text,
                             redisReply **reply)
{
    char key[BRYC__SLAB_KEY_MAX];
    size_t len = (size_t)snprintf(key, sizeof key, "{%s}:counters", name);
    if (text)
        return bryc_ask_key(client, key, len, 0, reply, "SET %b %s NX GET", key, len, text);
    return bryc_ask_key(client, key, len, 0, reply, "GET %b", key, len);
}

static bry_status read_counter_record(bryc_client *client, const char *name,
                                      const redisReply *reply, bryc__counter_record *record)
{
    if (reply->type == REDIS_REPLY_NIL)
        return bryc__fail(client, BRY_E_NOTFOUND, "table %s: not found", name);
    const char *problem = reply->type == REDIS_REPLY_STRING
                              ? bryc__counter_record_read(reply->str, record)
                              : "unexpected reply type";
    if (!problem)
        return BRY_OK;
    return bryc__fail(client, BRY_E_VERSION,
                      "table %s: %s (if damaged, DEL {%s}:counters removes it)", name, problem,
                      name);
}

/* ---- all parts ----------------------------------------------------------------------------- */

static void key_of_part(const void *of, uint64_t number, char *text, size_t room)
{
    bryc__part_key(of, number, text, room);
}

/* Sends a command for each part. */
static bry_status ask_parts(bryc_counters *table, const char *const *words, uint32_t count,
                            bryc__read_replies read, void *context)
{
    const bryc__keys keys = {key_of_part, table, 0, (size_t)table->record.parts};
    return bryc__ask_each(table->client, words, count, &keys, read, context);
}

static bry_status drop_parts(bryc_counters *table)
{
    static const char *const words[] = {"UNLINK", NULL};
    return ask_parts(table, words, 2, NULL, NULL);
}

/* A repeated creation meets its own part. */
static bry_status check_created(void *context, bryc_command *commands, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const redisReply *reply = commands[i].reply;
        if (commands[i].status != BRY_OK && !(reply && strncmp(reply->str, "BUSYKEY", 7) == 0))
            return reply ? bryc__fail(context, commands[i].status, "COUNTER.CREATE: %s", reply->str)
                         : commands[i].status;
    }
    return BRY_OK;
}

static bry_status create_parts(bryc_counters *table)
{
    const bryc__counter_record *record = &table->record;
    char window[24], skew[24], capacity[24], seed[24];
    uint64_t each = 2 * record->capacity / record->parts;
    snprintf(window, sizeof window, "%llu", (unsigned long long)record->window);
    snprintf(skew, sizeof skew, "%llu", (unsigned long long)record->skew);
    snprintf(capacity, sizeof capacity, "%llu",
             (unsigned long long)(each < PART_LEAST ? PART_LEAST : each));
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)record->seed);
    const char *const words[] = {"COUNTER.CREATE", NULL,
                                 "WINDOW",         window,
                                 "SKEW",           skew,
                                 "ERROR",          record->error_text,
                                 "ENGINE",         bry_engine_name(record->engine),
                                 "CAPACITY",       capacity,
                                 "SEED",           seed};
    return ask_parts(table, words, sizeof words / sizeof words[0], check_created, table->client);
}

/* ---- creating and opening ------------------------------------------------------------------ */

/* Opens the table that is there, if it fits. */
static bry_status adopt_table(bryc_client *client, const char *name, const redisReply *reply,
                              const bryc__counter_record *planned,
                              const bryc_counters_options *options, bryc_counters **table)
{
    bryc__counter_record record = {0};
    bry_status status = read_counter_record(client, name, reply, &record);
    if (status != BRY_OK)
        return status;
    const char *differs = bryc__counter_record_differs(&record, planned, options);
    if (!differs)
        return new_table(client, name, &record, table);
    bryc__fail(client, BRY_E_MISMATCH, "table %s: exists with another %s: %.300s", name, differs,
               record.text);
    bryc__counter_record_free(&record);
    return BRY_E_MISMATCH;
}

/* The parts come first: nobody counts in a table that is incomplete. If this fails, they are left
 * without a record, and another epoch is used the next time. */
static bry_status place_table(bryc_counters *made, const bryc_counters_options *options,
                              bryc_counters **table)
{
    bryc_client *client = made->client;
    redisReply *reply = NULL;
    bry_status status = create_parts(made);
    if (status != BRY_OK)
        return status;
    status = ask_record(client, made->name, made->record.text, &reply);
    if (status != BRY_OK)
        return status;
    if (reply->type == REDIS_REPLY_NIL ||
        (reply->type == REDIS_REPLY_STRING && strcmp(reply->str, made->record.text) == 0)) {
        *table = made;
    } else { /* another client was first */
        status = drop_parts(made);
        if (status == BRY_OK)
            status = adopt_table(client, made->name, reply, &made->record, options, table);
    }
    freeReplyObject(reply);
    return status;
}

bry_status bryc_counters_create(bryc_client *client, const char *name,
                                const bryc_counters_options *given, const bryc_counters_use *use,
                                bryc_counters **table)
{
    bryc_counters_options read = BRYC_COUNTERS_OPTIONS;
    const bryc_counters_options *options = &read;
    bryc__counter_record record = {0};
    bryc_counters *made = NULL;
    bryc_counters_use used;
    redisReply *reply = NULL;
    *table = NULL;
    if (!bryc__options_read(&read, sizeof read, given))
        return bryc__fail(client, BRY_E_RANGE,
                          "bryc_counters_options: struct_size %zu is not supported",
                          given->struct_size);
    if (read.reserved)
        return bryc__fail(client, BRY_E_RANGE, "bryc_counters_options: reserved is not 0");
    bry_status status = read_use(client, use, &used);
    if (status == BRY_OK)
        status = check_table_name(client, name);
    if (status == BRY_OK)
        status = ask_record(client, name, NULL, &reply);
    if (status != BRY_OK)
        return status;
    const char *problem = bryc__counter_record_plan(options, bryc__primaries(client), &record);
    if (problem)
        status = bryc__fail(client, BRY_E_RANGE, "%s", problem);
    else
        status = new_table(client, name, &record, &made);
    if (made && reply->type != REDIS_REPLY_NIL)
        status = adopt_table(client, name, reply, &made->record, options, table);
    else if (made)
        status = place_table(made, options, table);
    if (*table != made)
        bryc_counters_close(made);
    freeReplyObject(reply);
    return *table ? finish_opening(table, &used) : status;
}

static bry_status open_table(bryc_client *client, const char *name, bryc_counters **table)
{
    bryc__counter_record record = {0};
    redisReply *reply = NULL;
    *table = NULL;
    bry_status status = check_table_name(client, name);
    if (status == BRY_OK)
        status = ask_record(client, name, NULL, &reply);
    if (status != BRY_OK)
        return status;
    status = read_counter_record(client, name, reply, &record);
    freeReplyObject(reply);
    return status == BRY_OK ? new_table(client, name, &record, table) : status;
}

bry_status bryc_counters_open(bryc_client *client, const char *name, const bryc_counters_use *use,
                              bryc_counters **table)
{
    bryc_counters_use used;
    *table = NULL;
    bry_status status = read_use(client, use, &used);
    if (status == BRY_OK)
        status = open_table(client, name, table);
    return *table ? finish_opening(table, &used) : status;
}

bry_status bryc_counters_drop(bryc_client *client, const char *name)
{
    char key[BRYC__SLAB_KEY_MAX];
    bryc_counters *table = NULL;
    redisReply *reply = NULL;
    bry_status status = open_table(client, name, &table);
    if (status != BRY_OK)
        return status;
    size_t len = (size_t)snprintf(key, sizeof key, "{%s}:counters", name);
    status = bryc_ask_key(client, key, len, 0, &reply, "DEL %b", key, len);
    freeReplyObject(reply);
    if (status == BRY_OK)
        status = drop_parts(table);
    bryc_counters_close(table);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Checks the reply of COUNTER.GET for one counter in one part. */
static bry_status check_value(bryc_client *client, const bryc_command *command)
{
    const redisReply *reply = command->reply;
    if (command->status != BRY_OK)
        return reply ? bryc__fail(client, command->status, "COUNTER.GET: %s", reply->str)
                     : command->status;
    return reply->type == REDIS_REPLY_ARRAY && reply->elements == 1
               ? BRY_OK
               : bryc__fail(client, BRY_E_BADDATA, "COUNTER.GET: unexpected reply type");
}

/* Adds the value of a counter in one part. */
static void add_value(const redisReply *reply, int64_t *value, bool *there)
{
    if (reply->element[0]->type != REDIS_REPLY_INTEGER)
        return;
    *value = (*there ? *value : 0) + reply->element[0]->integer;
    *there = true;
}

/* One counter in one part. */
typedef struct question {
    char key[BRYC__KEY_MAX];
    const char *words[3];
    size_t lens[3];
    size_t counter;
} question;

static void make_question(const bryc_counters *table, bryc_key name, uint64_t part, size_t counter,
                          question *to, bryc_command *command)
{
    to->words[0] = "COUNTER.GET";
    to->words[1] = to->key;
    to->words[2] = name.len ? name.bytes : "";
    to->lens[0] = strlen(to->words[0]);
    to->lens[1] = bryc__part_key(table, part, to->key, sizeof to->key);
    to->lens[2] = name.len;
    to->counter = counter;
    *command = (bryc_command){.argc = 3, .key = 1, .argv = to->words, .lens = to->lens};
}

bry_status bryc_counters_get(bryc_counters *table, const bryc_key *names, size_t n, int64_t *values,
                             bool *there)
{
    size_t total = 0, at = 0;
    for (size_t i = 0; i < n; i++)
        total += bryc__counter_is_hot(&table->record, names[i]) ? (size_t)table->record.parts : 1;
    question *questions = calloc(total + 1, sizeof *questions);
    bryc_command *commands = calloc(total + 1, sizeof *commands);
    bry_status status = bryc__fail(table->client, BRY_E_NOMEM, "out of memory");
    for (size_t i = 0; i < n && questions && commands; i++) {
        bool hot = bryc__counter_is_hot(&table->record, names[i]);
        uint64_t part = hot ? 0 : bryc__part_of(table, names[i]);
        for (uint64_t p = 0; p < (hot ? table->record.parts : 1); p++, at++)
            make_question(table, names[i], part + p, i, &questions[at], &commands[at]);
    }
    if (questions && commands)
        status = bryc_send(table->client, commands, at);
    for (size_t i = 0; i < at && status == BRY_OK; i++)
        status = check_value(table->client, &commands[i]);
    for (size_t i = 0; i < n && status == BRY_OK; i++)
        there[i] = false;
    for (size_t i = 0; i < at; i++) {
        size_t counter = questions[i].counter;
        if (status == BRY_OK)
            add_value(commands[i].reply, &values[counter], &there[counter]);
        freeReplyObject(commands[i].reply);
    }
    free(questions);
    free(commands);
    return status;
}

/* ---- info ---------------------------------------------------------------------------------- */

typedef struct counter_sum {
    bryc_client *client;
    bryc_counters_info *info;
} counter_sum;

static void add_counter_field(bryc_counters_info *info, const char *name, const redisReply *reply)
{
    const struct {
        const char *name;
        uint64_t *total;
    } totals[] = {
        {"counters", &info->counters},
        {"ids", &info->ids},
        {"applied", &info->applied},
        {"repeats", &info->repeats},
        {"refused_full", &info->refused_full},
        {"refused_overflow", &info->refused_overflow},
        {"bytes", &info->bytes},
    };
    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++)
        if (strcmp(name, totals[i].name) == 0 && reply->type == REDIS_REPLY_INTEGER)
            *totals[i].total += (uint64_t)reply->integer;
    if (strcmp(name, "expected_lost") == 0 && reply->type == REDIS_REPLY_STRING)
        info->expected_lost += strtod(reply->str, NULL);
}

static bry_status add_parts(void *context, bryc_command *commands, size_t n)
{
    counter_sum *sum = context;
    for (size_t i = 0; i < n; i++) {
        const redisReply *reply = commands[i].reply;
        if (commands[i].status != BRY_OK)
            return reply
                       ? bryc__fail(sum->client, commands[i].status, "COUNTER.INFO: %s", reply->str)
                       : commands[i].status;
        for (size_t j = 0; reply->type == REDIS_REPLY_ARRAY && j + 1 < reply->elements; j += 2)
            if (reply->element[j]->str)
                add_counter_field(sum->info, reply->element[j]->str, reply->element[j + 1]);
    }
    return BRY_OK;
}

bry_status bryc_counters_get_info_sized(bryc_counters *table, bryc_counters_info *info, size_t size)
{
    static const char *const words[] = {"COUNTER.INFO", NULL};
    bryc_counters_info now = {.parts = table->record.parts};
    counter_sum sum = {table->client, &now};
    if (!bryc__size_possible(size))
        return bryc__fail(table->client, BRY_E_RANGE,
                          "bryc_counters_get_info: invalid size of the struct");
    bry_status status = ask_parts(table, words, 2, add_parts, &sum);
    if (status == BRY_OK)
        bryc__struct_write(info, size, &now, sizeof now);
    return status;
}
