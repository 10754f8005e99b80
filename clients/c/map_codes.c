/*
 * Byte strings as codes. The list {NAME}:values:EPOCH holds each string once; its position is its
 * code. RPUSH returns the new length, so it gives codes atomically. Two clients that push the same
 * string at the same time give it two codes, which is harmless. Codes are never used again.
 *
 * A primary that fails may lose the newest entries of the list, and its successor would give their
 * codes to other strings. So a code is stored in a slab only after WAIT has confirmed it on the
 * replicas. WAIT covers what its own connection wrote: entries that another client pushed are
 * confirmed by writing something on our connection (LSET of the first entry) and waiting.
 */
#include "clients/c/cluster_map.h"

#include <stdlib.h>
#include <string.h>

#define LIST_STEP 10000u
#define PUSH_MOST 1000u
#define TRIES 12u

/* ---- the cache ----------------------------------------------------------------------------- */

static size_t slot_of_value(const bryc__codes *codes, const void *bytes, size_t len)
{
    return bry_hash_key(1, len ? bytes : "", len).lo & (codes->slots - 1);
}

static bool same_value(const bry_map_value *value, const void *bytes, size_t len)
{
    return value->len == len && (len == 0 || memcmp(value->bytes, bytes, len) == 0);
}

uint32_t bryc__code_find(const bryc__codes *codes, const void *bytes, size_t len)
{
    if (codes->slots == 0)
        return UINT32_MAX;
    size_t at = slot_of_value(codes, bytes, len);
    for (; codes->table[at]; at = (at + 1) & (codes->slots - 1))
        if (same_value(&codes->known[codes->table[at] - 1], bytes, len))
            return codes->table[at] - 1;
    return UINT32_MAX;
}

/* Enters a code; of several codes of one value the first stays. */
static void table_enter(bryc__codes *codes, uint32_t code)
{
    const bry_map_value *value = &codes->known[code];
    if (bryc__code_find(codes, value->bytes, value->len) != UINT32_MAX)
        return;
    size_t at = slot_of_value(codes, value->bytes, value->len);
    while (codes->table[at])
        at = (at + 1) & (codes->slots - 1);
    codes->table[at] = code + 1;
}

static bool codes_grow_table(bryc__codes *codes)
{
    size_t slots = codes->slots ? 2 * codes->slots : 1024;
    uint32_t *table = calloc(slots, sizeof *table);
    if (!table)
        return false;
    free(codes->table);
    codes->table = table;
    codes->slots = slots;
    for (size_t i = 0; i < codes->count; i++)
        table_enter(codes, (uint32_t)i);
    return true;
}

static bool codes_append(bryc__codes *codes, const void *bytes, size_t len)
{
    if (codes->count == codes->capacity) {
        size_t capacity = codes->capacity ? 2 * codes->capacity : 256;
        bry_map_value *known = realloc(codes->known, capacity * sizeof *known);
        if (!known)
            return false;
        codes->known = known;
        codes->capacity = capacity;
    }
    if (2 * (codes->count + 1) > codes->slots && !codes_grow_table(codes))
        return false;
    char *copy = malloc(len + 1);
    if (!copy)
        return false;
    memcpy(copy, bytes, len);
    codes->known[codes->count] = bry_map_value_bytes(copy, len);
    table_enter(codes, (uint32_t)codes->count++);
    return true;
}

void bryc__codes_free(bryc__codes *codes)
{
    for (size_t i = 0; i < codes->count; i++)
        free((void *)(uintptr_t)codes->known[i].bytes);
    free(codes->known);
    free(codes->table);
    *codes = (bryc__codes){0};
}

/* ---- reading the list ---------------------------------------------------------------------- */

/* Appends entries of the list up to position `end`, or to its end, to `codes`. */
static bry_status read_values_list(bryc_map *map, bryc__codes *codes, size_t start, size_t end)
{
    char key[BRYC__SLAB_KEY_MAX];
    size_t key_len = bryc__values_key(map, key, sizeof key);
    while (start < end) {
        size_t last = end - start > LIST_STEP ? start + LIST_STEP - 1 : end - 1;
        redisReply *reply;
        bry_status status =
            bryc_ask_key(map->client, key, key_len, 0, &reply, "LRANGE %b %llu %llu", key, key_len,
                         (unsigned long long)start, (unsigned long long)last);
        if (status != BRY_OK)
            return status;
        size_t count = reply->type == REDIS_REPLY_ARRAY ? reply->elements : 0;
        for (size_t i = 0; i < count && status == BRY_OK; i++)
            if (!codes_append(codes, reply->element[i]->str, reply->element[i]->len))
                status = bryc__fail(map->client, BRY_E_NOMEM, "out of memory");
        freeReplyObject(reply);
        if (status != BRY_OK || count < last - start + 1)
            return status;
        start += count;
    }
    return BRY_OK;
}

/* Not further than to the highest code that a slab holds: what is beyond may not be confirmed, and
 * may be given to another value after a failover. */
bry_status bryc__codes_read(bryc_map *map, uint64_t highest)
{
    if (highest < map->codes.count)
        return BRY_OK;
    return read_values_list(map, &map->codes, map->codes.count, (size_t)highest + 1);
}

/* ---- giving codes -------------------------------------------------------------------------- */

/* How many replicas must confirm: those in sync, and at least one if the shard has any. */
static bry_status replicas_of(bryc_map *map, uint32_t node, uint32_t *wanted)
{
    redisReply *reply;
    bry_status status = bryc_ask_node(map->client, node, 0, &reply, "INFO replication");
    if (status != BRY_OK)
        return status;
    *wanted = 0;
    if (reply->type == REDIS_REPLY_STRING && !strstr(reply->str, "role:master"))
        status =
            bryc__fail(map->client, BRY_E_IO, "the node with the list of values became a replica");
    for (const char *at = reply->type == REDIS_REPLY_STRING ? reply->str : "";
         (at = strstr(at, "state=online")); at++)
        ++*wanted;
    if (*wanted == 0 && map->client->nodes[node]->replicas > 0)
        *wanted = 1;
    freeReplyObject(reply);
    return status;
}

/* Sends a command to the node and WAIT in the same write. It is neither repeated nor redirected:
 * what was read before may not be on another node. */
static bry_status write_once(bryc_map *map, uint32_t node, uint16_t flags, uint32_t wanted,
                             const bryc__bytes *bytes, redisReply **reply, uint32_t *confirmed)
{
    bryc_command command = {.reply = NULL};
    bryc__request request = {.bytes = bytes->at,
                             .len = bytes->len,
                             .node = node,
                             .flags = flags | BRYC_FIXED | BRYC_ONCE};
    bryc__exchange exchange = {.client = map->client,
                               .requests = &request,
                               .n = 1,
                               .wait = wanted,
                               .wait_ms = map->wait_ms,
                               .deliver = bryc__deliver_command,
                               .context = &command};
    bryc__exchange_run(&exchange);
    *reply = command.reply;
    *confirmed = exchange.confirmed;
    return request.state == BRYC__FAILED ? BRY_E_IO : BRY_OK;
}

/* The same, with the number of replicas that must confirm. If the list is on its way to another
 * node, ASK names that; the list there is the one that was read. */
static bry_status write_confirmed(bryc_map *map, uint32_t node, const bryc__bytes *bytes,
                                  redisReply **reply)
{
    uint32_t wanted = 0, confirmed = 0, slot, target;
    bry_status status = replicas_of(map, node, &wanted);
    if (status == BRY_OK)
        status = write_once(map, node, 0, wanted, bytes, reply, &confirmed);
    if (status == BRY_OK && (*reply)->type == REDIS_REPLY_ERROR &&
        strncmp((*reply)->str, "ASK ", 4) == 0 &&
        bryc__redirection(map->client, node, (*reply)->str, (*reply)->len, &slot, &target)) {
        freeReplyObject(*reply);
        *reply = NULL;
        status = replicas_of(map, target, &wanted);
        if (status == BRY_OK)
            status = write_once(map, target, BRYC_ASKING, wanted, bytes, reply, &confirmed);
    }
    if (status != BRY_OK)
        return status;
    if ((*reply)->type == REDIS_REPLY_ERROR)
        return bryc__fail(map->client, bryc__reply_status((*reply)->str, (*reply)->len), "%s",
                          (*reply)->str);
    map->codes.unconfirmed = confirmed < wanted;
    return confirmed >= wanted
               ? BRY_OK
               : bryc__fail(map->client, BRY_E_IO,
                            "only %u of %u replicas confirmed the list of values in time",
                            confirmed, wanted);
}

/* An empty list is a new one only if no slab has pairs. If its node failed over while its slot was
 * moving, it may seem to be missing, and must not start over. */
static bry_status check_new_list(bryc_map *map)
{
    char key[BRYC__SLAB_KEY_MAX];
    size_t key_len = bryc__values_key(map, key, sizeof key);
    bryc_map_info info;
    bry_status status = bryc_map_get_info(map, &info, NULL);
    redisReply *reply = NULL;
    if (status == BRY_OK && info.slabs_used > 0)
        status = bryc_ask_key(map->client, key, key_len, 0, &reply, "LLEN %b", key, key_len);
    if (reply && reply->type == REDIS_REPLY_INTEGER && reply->integer == 0)
        status = bryc__fail(map->client, BRY_E_BADDATA,
                            "%.*s: the list of values is missing, but slabs have values; see "
                            "bloomery cluster balance --repair",
                            (int)key_len, key);
    else if (reply)
        status = bryc__fail(map->client, BRY_E_IO, "concurrent creation of %.*s; retry",
                            (int)key_len, key);
    freeReplyObject(reply);
    return status;
}

/* Appends these values to the *end entries of the list; without values, writes the first entry
 * again. *end is the length of the list that is confirmed then. */
static bry_status push_values(bryc_map *map, uint32_t node, const bry_map_value *first,
                              const bry_map_value **missing, size_t n, size_t *end)
{
    char key[BRYC__SLAB_KEY_MAX];
    size_t key_len = bryc__values_key(map, key, sizeof key);
    const char *command = n == 0 ? "LSET" : *end == 0 ? "RPUSH" : "RPUSHX";
    bryc__bytes bytes = {0};
    bool done = bryc__put_count(&bytes, n ? n + 2 : 4) &&
                bryc__put_argument(&bytes, command, strlen(command)) &&
                bryc__put_argument(&bytes, key, key_len);
    if (n == 0)
        done = done && bryc__put_number(&bytes, 0) &&
               bryc__put_argument(&bytes, first->bytes, first->len);
    for (size_t i = 0; i < n; i++)
        done = done && bryc__put_argument(&bytes, missing[i]->bytes, missing[i]->len);
    redisReply *reply = NULL;
    bry_status status = done ? write_confirmed(map, node, &bytes, &reply)
                             : bryc__fail(map->client, BRY_E_NOMEM, "out of memory");
    if (status == BRY_OK && n && reply) {
        if ((size_t)reply->integer < *end + n)
            status = bryc__fail(map->client, BRY_E_BADDATA,
                                "%.*s: the list of values has %lld entries, but had %zu before",
                                (int)key_len, key, reply->integer, *end);
        *end = (size_t)reply->integer;
    }
    freeReplyObject(reply);
    free(bytes.at);
    return status;
}

/* One attempt to give codes to up to PUSH_MOST values that have none. */
static bry_status give_codes(bryc_map *map, const bry_map_value **wanted, size_t n)
{
    const bry_map_value *missing[PUSH_MOST];
    size_t count = 0, start = map->codes.count, most = (size_t)1 << map->record.bits;
    char key[BRYC__SLAB_KEY_MAX];
    uint32_t node =
        bryc_node_of_slot(map->client, bryc_slot(key, bryc__values_key(map, key, sizeof key)));
    bryc__codes rest = {0}; /* read, but maybe not confirmed */
    if (node == BRYC__NONE)
        return bryc__fail(map->client, BRY_E_IO, "no node has the list of values");
    bry_status status = read_values_list(map, &rest, start, SIZE_MAX / 2);
    for (size_t i = 0; i < n && status == BRY_OK; i++)
        if (bryc__code_find(&rest, wanted[i]->bytes, wanted[i]->len) == UINT32_MAX)
            missing[count++] = wanted[i];
    size_t end = start + rest.count;
    if (status == BRY_OK && end + count > most)
        status = bryc__fail(map->client, BRY_E_FULL,
                            "the map has %zu values of at most %zu, and %zu more are needed", end,
                            most, count);
    if (status == BRY_OK && end == 0)
        status = check_new_list(map);
    if (status == BRY_OK)
        status =
            push_values(map, node, start ? &map->codes.known[0] : rest.known, missing, count, &end);
    bryc__codes_free(&rest);
    return status == BRY_OK ? read_values_list(map, &map->codes, start, end) : status;
}

/* The values of a call that have no code yet, each once. */
static size_t collect_unknown(const bryc_map *map, const bry_map_value *values, size_t n,
                              const bry_map_value **unknown, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < n && count < most; i++) {
        if (bryc__code_find(&map->codes, values[i].bytes, values[i].len) != UINT32_MAX)
            continue;
        size_t j = 0;
        while (j < count && !same_value(unknown[j], values[i].bytes, values[i].len))
            j++;
        if (j == count)
            unknown[count++] = &values[i];
    }
    return count;
}

bry_status bryc__codes_for(bryc_map *map, const bry_map_value *values, size_t n, uint64_t *numbers)
{
    const bry_map_value *unknown[PUSH_MOST];
    unsigned tries = 0;
    for (size_t i = 0; i < n;) {
        uint32_t code = bryc__code_find(&map->codes, values[i].bytes, values[i].len);
        if (code != UINT32_MAX) {
            numbers[i++] = code;
            continue;
        }
        size_t count = collect_unknown(map, values + i, n - i, unknown, PUSH_MOST), had = i;
        map->codes.unconfirmed = false;
        bry_status status = give_codes(map, unknown, count);
        if (status != BRY_OK && (status != BRY_E_IO || map->codes.unconfirmed || ++tries >= TRIES))
            return status;
        if (status != BRY_OK) {
            bryc__sleep((uint64_t)10 << (tries < 7 ? tries : 7));
            bryc_refresh(map->client);
        } else if (bryc__code_find(&map->codes, values[had].bytes, values[had].len) == UINT32_MAX &&
                   ++tries >= TRIES) {
            return bryc__fail(map->client, BRY_E_IO, "the list of values keeps changing; retry");
        }
    }
    return BRY_OK;
}
