/* Whole maps: prepared without being visible, slab by slab, then published. */
#include "clients/c/cluster_map.h"
#include "clients/c/slab_payload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_STEP 1000u

bry_status bryc_map_prepare(bryc_client *client, const char *name, const char *record,
                            bryc_map **map, const char **problem)
{
    bryc__record read;
    const char *why = bryc__name_is_valid(name) ? NULL : "invalid name";
    bry_status status = why ? BRY_E_RANGE : BRY_E_VERSION;
    *map = NULL;
    if (!why)
        why = bryc__record_read(record, strlen(record), &read);
    if (!why && client) {
        status = BRY_E_IO;
        why = bryc__record_new_epoch(&read);
    }
    if (!why) {
        status = bryc__map_new(client, name, &read, map);
        why = status == BRY_OK ? NULL : "out of memory";
    }
    if (problem)
        *problem = why;
    if (why && client)
        bryc__fail(client, status, "%s", why);
    return why ? status : BRY_OK;
}

/* Sends an encoded command to the node of a key, and WAIT if the map waits. */
static bry_status ask_confirmed(bryc_map *map, const char *key, size_t key_len, uint16_t flags,
                                const bryc__bytes *bytes, redisReply **reply)
{
    bryc_command command = {.reply = NULL};
    bryc__request request = {.bytes = bytes->at,
                             .len = bytes->len,
                             .slot = bryc_slot(key, key_len),
                             .node = BRYC__NONE,
                             .flags = flags};
    bryc__exchange exchange = {.client = map->client,
                               .requests = &request,
                               .n = 1,
                               .wait = map->wait,
                               .wait_ms = map->wait_ms,
                               .deliver = bryc__deliver_command,
                               .context = &command};
    bryc__exchange_run(&exchange);
    *reply = command.reply;
    map->confirmed = exchange.confirmed;
    if (request.state == BRYC__FAILED)
        return request.status;
    if (command.reply->type != REDIS_REPLY_ERROR)
        return BRY_OK;
    return bryc__fail(map->client, bryc__reply_status(command.reply->str, command.reply->len),
                      "%s: %s", key, command.reply->str);
}

bry_status bryc_map_publish(bryc_map *map, bool replace)
{
    bryc_map *before = NULL;
    bryc__record old;
    redisReply *reply = NULL;
    char key[BRYC__SLAB_KEY_MAX];
    size_t len = (size_t)snprintf(key, sizeof key, "{%s}:map", map->name);
    const char *text = map->record.text;
    bryc__bytes bytes = {0};
    bry_status status = BRY_E_NOMEM;
    if (bryc__put_count(&bytes, replace ? 4 : 5) && bryc__put_argument(&bytes, "SET", 3) &&
        bryc__put_argument(&bytes, key, len) && bryc__put_argument(&bytes, text, strlen(text)) &&
        (replace || bryc__put_argument(&bytes, "NX", 2)) && bryc__put_argument(&bytes, "GET", 3))
        status = ask_confirmed(map, key, len, 0, &bytes, &reply);
    else
        bryc__fail(map->client, status, "out of memory");
    free(bytes.at);
    /* A reply of our own record: the command was repeated. */
    bool taken =
        status == BRY_OK && reply->type == REDIS_REPLY_STRING && strcmp(reply->str, text) != 0;
    if (taken && !replace)
        status = bryc__fail(map->client, BRY_E_MISMATCH, "map %s: exists already", map->name);
    else if (taken && !bryc__record_read(reply->str, reply->len, &old))
        status = bryc__map_new(map->client, map->name, &old, &before);
    freeReplyObject(reply);
    if (before)
        status = bryc__map_delete_keys(before);
    bryc_map_close(before);
    return status;
}

bry_status bryc_map_discard(bryc_map *map)
{
    return bryc__map_delete_keys(map);
}

uint64_t bryc_map_slab_of(const bryc_map *map, const void *key, size_t len)
{
    return bryc__choose_slab(&map->choice, key, len);
}

/* ---- slabs --------------------------------------------------------------------------------- */

bry_status bryc_map_fetch_slab(bryc_map *map, uint64_t slab, const bry_sink *sink, bool *there)
{
    char key[BRYC__SLAB_KEY_MAX];
    size_t len = bryc__slab_key(map, slab, key, sizeof key);
    redisReply *reply;
    bry_status status = bryc_ask_key(map->client, key, len, 0, &reply, "DUMP %b", key, len);
    if (status != BRY_OK)
        return status;
    *there = reply->type == REDIS_REPLY_STRING;
    if (*there) {
        status = bryc__payload_read(reply->str, reply->len, sink);
        if (status == BRY_E_BADDATA)
            bryc__fail(map->client, status, "%s: DUMP: unexpected payload", key);
        else if (status != BRY_OK)
            bryc__fail(map->client, status, "%s: %s", key, bry_status_text(status));
    }
    freeReplyObject(reply);
    return status;
}

bry_status bryc_map_place_slab(bryc_map *map, uint64_t slab, const void *bytes, size_t len)
{
    char key[BRYC__SLAB_KEY_MAX];
    size_t key_len = bryc__slab_key(map, slab, key, sizeof key), payload_len = 0;
    char *payload = bryc__payload_write(bytes, len, &payload_len);
    redisReply *reply = NULL;
    bryc__bytes command = {0};
    bry_status status = BRY_E_NOMEM;
    /* REPLACE, because a repeated command meets its own work. */
    if (payload && bryc__put_count(&command, 5) && bryc__put_argument(&command, "RESTORE", 7) &&
        bryc__put_argument(&command, key, key_len) && bryc__put_number(&command, 0) &&
        bryc__put_argument(&command, payload, payload_len) &&
        bryc__put_argument(&command, "REPLACE", 7))
        status = ask_confirmed(map, key, key_len, 0, &command, &reply);
    else
        bryc__fail(map->client, status, "out of memory");
    free(payload);
    free(command.at);
    freeReplyObject(reply);
    return status == BRY_E_IO && strstr(map->client->message, "Bad data format") ? BRY_E_BADDATA
                                                                                 : status;
}

/* ---- byte strings -------------------------------------------------------------------------- */

bry_status bryc_map_fetch_values(bryc_map *map,
                                 bry_status (*each)(void *opaque, bry_map_value value),
                                 void *opaque)
{
    char key[BRYC__SLAB_KEY_MAX];
    size_t len = bryc__values_key(map, key, sizeof key), count = VALUES_STEP;
    bry_status status = BRY_OK;
    for (size_t start = 0; count == VALUES_STEP && status == BRY_OK; start += count) {
        redisReply *reply;
        status =
            bryc_ask_key(map->client, key, len, 0, &reply, "LRANGE %b %llu %llu", key, len,
                         (unsigned long long)start, (unsigned long long)(start + VALUES_STEP - 1));
        if (status != BRY_OK)
            return status;
        count = reply->elements;
        for (size_t i = 0; i < count && status == BRY_OK; i++)
            status =
                each(opaque, bry_map_value_bytes(reply->element[i]->str, reply->element[i]->len));
        freeReplyObject(reply);
    }
    return status;
}

bry_status bryc_map_place_values(bryc_map *map, const bry_map_value *values, size_t n)
{
    char key[BRYC__SLAB_KEY_MAX];
    size_t key_len = bryc__values_key(map, key, sizeof key);
    bryc__bytes bytes = {0};
    bry_status status = BRY_OK;
    for (size_t done = 0; done < n && status == BRY_OK; done += VALUES_STEP) {
        size_t count = n - done < VALUES_STEP ? n - done : VALUES_STEP;
        redisReply *reply = NULL;
        bytes.len = 0;
        bool made = bryc__put_count(&bytes, count + 2) && bryc__put_argument(&bytes, "RPUSH", 5) &&
                    bryc__put_argument(&bytes, key, key_len);
        for (size_t i = 0; i < count && made; i++)
            made = bryc__put_argument(&bytes, values[done + i].bytes, values[done + i].len);
        /* Positions count, so it must not be repeated. */
        status = made ? ask_confirmed(map, key, key_len, BRYC_ONCE, &bytes, &reply)
                      : bryc__fail(map->client, BRY_E_NOMEM, "out of memory");
        freeReplyObject(reply);
    }
    free(bytes.at);
    return status;
}
