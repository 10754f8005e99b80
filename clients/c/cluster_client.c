/* Opening and closing a client, and commands that a program sends itself. */
#include "clients/c/cluster_client.h"

#include "clients/c/cluster_exchange.h"
#include "clients/c/struct_version.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CONNECT_MS 2000u
#define REPLY_MS 10000u
#define PATIENCE_MS 30000u

bry_status bryc__fail(bryc_client *client, bry_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(client->message, sizeof client->message, format, list);
    va_end(list);
    return status;
}

uint64_t bryc__now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void bryc__sleep(uint64_t ms)
{
    struct timespec span = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&span, NULL);
}

bry_status bryc__reply_status(const char *text, size_t len)
{
    static const struct {
        const char *word;
        bry_status status;
    } known[] = {
#define WORD(name, value) {#name, BRY_E_##name},
        BRY_STATUS_LIST(WORD)
#undef WORD
            {"OOM", BRY_E_NOMEM},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t n = strlen(known[i].word);
        if (len >= n && memcmp(text, known[i].word, n) == 0 && (len == n || text[n] == ' '))
            return known[i].status;
    }
    return BRY_E_IO;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* What the URL says comes first. */
static bool set_if_missing(char **field, const char *text)
{
    if (text && !*field)
        *field = strdup(text);
    return *field || !text;
}

static bry_status open_client(bryc_client *client, const char *url, const bryc_options *given)
{
    bryc_options options = BRYC_OPTIONS;
    uint32_t node;
    client->process = getpid();
    if (!bryc__options_read(&options, sizeof options, given))
        return bryc__fail(client, BRY_E_RANGE, "bryc_options: struct_size %zu is not supported",
                          given->struct_size);
    if (options.reserved)
        return bryc__fail(client, BRY_E_RANGE, "bryc_options: reserved is not 0");
    const char *problem = bryc__url_read(url, &client->url);
    if (problem)
        return bryc__fail(client, BRY_E_RANGE, "%s", problem);
    if (!set_if_missing(&client->url.user, options.user) ||
        !set_if_missing(&client->url.password, options.password))
        return bryc__fail(client, BRY_E_NOMEM, "out of memory");
    if (client->url.user && !client->url.password)
        return bryc__fail(client, BRY_E_RANGE, "a user without a password");
    client->connect_ms = options.connect_ms ? options.connect_ms : CONNECT_MS;
    client->reply_ms = options.reply_ms ? options.reply_ms : REPLY_MS;
    client->patience_ms = options.patience_ms ? options.patience_ms : PATIENCE_MS;
    bry_status status = bryc_node_find(client, client->url.host, client->url.port, &node);
    return status == BRY_OK ? bryc_refresh(client) : status;
}

bry_status bryc_open(const char *url, const bryc_options *options, bryc_client **client)
{
    *client = calloc(1, sizeof **client);
    return *client ? open_client(*client, url, options) : BRY_E_NOMEM;
}

void bryc_close(bryc_client *client)
{
    if (!client)
        return;
    for (uint32_t i = 0; i < client->count; i++) {
        bryc__node *node = client->nodes[i];
        bryc__node_disconnect(node);
        bryc__flat_free(&node->flat);
        free(node->queue);
        free(node->host);
        free(node);
    }
    free(client->nodes);
    bryc__url_free(&client->url);
    free(client);
}

const char *bryc_error(const bryc_client *client)
{
    return client ? client->message : "out of memory";
}

const char *bryc_url_name(const bryc_client *client)
{
    return client->url.name ? client->url.name : "";
}

void bryc_credentials(const bryc_client *client, const char **user, const char **password)
{
    *user = client->url.user;
    *password = client->url.password;
}

bool bryc_is_cluster(const bryc_client *client)
{
    return client->is_cluster;
}

/* ---- commands ------------------------------------------------------------------------------ */

void bryc__deliver_command(void *context, uint32_t request, void *reply)
{
    bryc_command *command = (bryc_command *)context + request;
    freeReplyObject(command->reply); /* of an earlier try */
    command->reply = reply;
}

/* Encodes all commands into `requests`. */
static bry_status encode_commands(bryc_client *client, const bryc_command *commands, size_t n,
                                  bryc__request *requests)
{
    for (size_t i = 0; i < n; i++) {
        const bryc_command *command = &commands[i];
        bool fixed = command->flags & BRYC_FIXED;
        char *bytes;
        if (command->reserved || command->flags & ~(uint32_t)(BRYC_ONCE | BRYC_FIXED | BRYC_ASKING))
            return bryc__fail(client, BRY_E_RANGE, "command %zu has unknown flags", i);
        if (command->argc == 0 || (fixed ? command->node >= client->count
                                         : command->key == 0 || command->key >= command->argc))
            return bryc__fail(client, BRY_E_RANGE, "command %zu has no key or no node", i);
        int len = redisFormatCommandArgv(&bytes, (int)command->argc,
                                         (const char **)(uintptr_t)command->argv, command->lens);
        if (len < 0)
            return bryc__fail(client, BRY_E_NOMEM, "out of memory");
        const char *key = fixed ? NULL : command->argv[command->key];
        size_t key_len = fixed ? 0 : command->lens ? command->lens[command->key] : strlen(key);
        requests[i] = (bryc__request){.bytes = bytes,
                                      .len = (size_t)len,
                                      .slot = fixed ? 0 : bryc_slot(key, key_len),
                                      .node = fixed ? command->node : BRYC__NONE,
                                      .flags = (uint16_t)command->flags};
    }
    return BRY_OK;
}

/* The statuses of all commands, and the message of the first failure. */
static bry_status settle_commands(bryc_client *client, bryc_command *commands, size_t n,
                                  const bryc__request *requests)
{
    bry_status first = BRY_OK;
    for (size_t i = 0; i < n; i++) {
        bryc_command *command = &commands[i];
        const redisReply *reply = command->reply;
        command->status = requests[i].state == BRYC__FAILED ? requests[i].status : BRY_OK;
        if (command->status == BRY_OK && reply && reply->type == REDIS_REPLY_ERROR) {
            command->status = bryc__reply_status(reply->str, reply->len);
            if (first == BRY_OK)
                bryc__fail(client, command->status, "%s: %.*s", command->argv[0], (int)reply->len,
                           reply->str);
        }
        if (first == BRY_OK)
            first = command->status;
    }
    return first;
}

bry_status bryc_send(bryc_client *client, bryc_command *commands, size_t n)
{
    bryc__request *requests = calloc(n ? n : 1, sizeof *requests);
    if (!requests || n > UINT32_MAX / 2) {
        free(requests);
        return bryc__fail(client, BRY_E_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < n; i++)
        commands[i].reply = NULL;
    bry_status status = encode_commands(client, commands, n, requests);
    if (status == BRY_OK) {
        bryc__exchange exchange = {.client = client,
                                   .requests = requests,
                                   .n = (uint32_t)n,
                                   .deliver = bryc__deliver_command,
                                   .context = commands};
        bryc__exchange_run(&exchange);
        status = settle_commands(client, commands, n, requests);
    } else {
        for (size_t i = 0; i < n; i++)
            commands[i].status = status;
    }
    for (size_t i = 0; i < n; i++)
        free((char *)(uintptr_t)requests[i].bytes);
    free(requests);
    return status;
}

/* ---- one command --------------------------------------------------------------------------- */

static bry_status send_one(bryc_client *client, bryc__request *request, redisReply **reply,
                           const char *format, va_list list)
{
    bryc_command command = {.reply = NULL};
    char *bytes;
    *reply = NULL;
    int len = redisvFormatCommand(&bytes, format, list);
    if (len < 0)
        return bryc__fail(client, BRY_E_NOMEM, "out of memory, or an invalid format");
    request->bytes = bytes;
    request->len = (size_t)len;
    bryc__exchange exchange = {.client = client,
                               .requests = request,
                               .n = 1,
                               .deliver = bryc__deliver_command,
                               .context = &command};
    bryc__exchange_run(&exchange);
    redisFreeCommand(bytes);
    *reply = command.reply;
    if (request->state == BRYC__FAILED) {
        freeReplyObject(*reply);
        *reply = NULL;
        return request->status;
    }
    if ((*reply)->type != REDIS_REPLY_ERROR)
        return BRY_OK;
    bry_status status = bryc__reply_status((*reply)->str, (*reply)->len);
    bryc__fail(client, status, "%.*s: %s", (int)strcspn(format, " "), format, (*reply)->str);
    freeReplyObject(*reply);
    *reply = NULL;
    return status;
}

bry_status bryc_ask_node(bryc_client *client, uint32_t node, uint32_t flags, redisReply **reply,
                         const char *format, ...)
{
    bryc__request request = {.node = node, .flags = (uint16_t)(flags | BRYC_FIXED)};
    *reply = NULL;
    if (node >= client->count)
        return bryc__fail(client, BRY_E_RANGE, "no node %u", node);
    va_list list;
    va_start(list, format);
    bry_status status = send_one(client, &request, reply, format, list);
    va_end(list);
    return status;
}

bry_status bryc_ask_key(bryc_client *client, const void *key, size_t key_len, uint32_t flags,
                        redisReply **reply, const char *format, ...)
{
    bryc__request request = {.slot = bryc_slot(key, key_len),
                             .node = BRYC__NONE,
                             .flags = (uint16_t)(flags & ~(uint32_t)BRYC_FIXED)};
    va_list list;
    va_start(list, format);
    bry_status status = send_one(client, &request, reply, format, list);
    va_end(list);
    return status;
}

/* ---- the same command for many keys -------------------------------------------------------- */

bry_status bryc__ask_each(bryc_client *client, const char *const *words, uint32_t count,
                          const bryc__keys *keys, bryc__read_replies read, void *context)
{
    size_t n = keys->n, room = BRYC__KEY_MAX;
    char *texts = malloc(n * room + 1);
    const char **all = malloc((n * count + 1) * sizeof *all);
    bryc_command *commands = calloc(n + 1, sizeof *commands);
    bry_status status = bryc__fail(client, BRY_E_NOMEM, "out of memory");
    if (texts && all && commands) {
        for (size_t i = 0; i < n; i++) {
            keys->write(keys->of, keys->first + i, texts + i * room, room);
            memcpy(all + i * count, words, count * sizeof *all);
            all[i * count + 1] = texts + i * room;
            commands[i] = (bryc_command){.argc = count, .key = 1, .argv = all + i * count};
        }
        status = bryc_send(client, commands, n);
        if (read)
            status = read(context, commands, n);
        for (size_t i = 0; i < n; i++)
            freeReplyObject(commands[i].reply);
    }
    free(texts);
    free(all);
    free(commands);
    return status;
}
