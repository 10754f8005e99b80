#include "cli/cluster/slot_halves.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char half_end[] = ":bloomery-half";
#define HALF_END (sizeof half_end - 1)

bool half_is_name(const char *key, size_t len)
{
    return len > HALF_END && memcmp(key + len - HALF_END, half_end, HALF_END) == 0;
}

/* What a side has: its DUMP, and the numbers of a map. */
typedef struct half_state {
    redisReply *dump;
    bool is_map, is_kbf;
    uint64_t items;
    long long ttl; /* in milliseconds; 0: none */
} half_state;

static void state_free(half_state *state)
{
    freeReplyObject(state->dump);
}

static bry_status state_read(cluster_view *view, uint32_t node, uint32_t flags, const char *key,
                             size_t len, half_state *state)
{
    redisReply *info;
    *state = (half_state){0};
    bry_status status = view_ask(view, node, flags, &state->dump, "DUMP %b", key, len);
    if (status != BRY_OK)
        return status;
    if (view_ask(view, node, flags, &info, "PTTL %b", key, len) == BRY_OK) {
        state->ttl = info->integer > 0 ? info->integer : 0;
        freeReplyObject(info);
    }
    if (view_ask(view, node, flags, &info, "MAP.INFO %b", key, len) != BRY_OK)
        return BRY_OK; /* another type */
    state->is_map = info->type == REDIS_REPLY_ARRAY;
    for (size_t i = 0; state->is_map && i + 1 < info->elements; i += 2) {
        const redisReply *value = info->element[i + 1];
        if (strcmp(info->element[i]->str, "items") == 0)
            state->items = (uint64_t)value->integer;
        if (strcmp(info->element[i]->str, "engine") == 0)
            state->is_kbf = strcmp(value->str, "kbf") == 0;
    }
    freeReplyObject(info);
    return BRY_OK;
}

static bool same_dump(const redisReply *a, const redisReply *b)
{
    return a->type == REDIS_REPLY_STRING && b->type == REDIS_REPLY_STRING && a->len == b->len &&
           memcmp(a->str, b->str, a->len) == 0;
}

/* KEY:bloomery-half, or {KEY}:bloomery-half for a key without a tag. NULL if neither is in its
 * slot, and for {KEY} itself, whose half would have the name of KEY's. */
static char *half_name(const char *key, size_t len, size_t *half_len)
{
    uint32_t slot = bryc_slot(key, len);
    for (int braces = 0; braces <= 1; braces++) {
        *half_len = len + HALF_END + 2 * (size_t)braces;
        char *name = malloc(*half_len + 1), *at = name;
        if (!name)
            return NULL;
        if (braces)
            *at++ = '{';
        memcpy(at, key, len);
        at += len;
        if (braces)
            *at++ = '}';
        memcpy(at, half_end, HALF_END + 1);
        bool taken = !braces && len > 0 && key[0] == '{' && key[len - 1] == '}';
        if (!taken && bryc_slot(name, *half_len) == slot)
            return name;
        free(name);
    }
    return NULL;
}

/* ---- records and lists of values ----------------------------------------------------------- */

static bool reply_begins(const redisReply *reply, const char *text)
{
    return reply && reply->type == REDIS_REPLY_STRING &&
           strncmp(reply->str, text, strlen(text)) == 0;
}

static bool name_has(const char *key, size_t len, const char *part)
{
    return memmem(key, len, part, strlen(part)) != NULL;
}

/* The reply of both sides to the same question about the key; false if one refuses it. */
static bool ask_both(cluster_view *view, uint32_t source, uint32_t target, const char *question,
                     const char *key, size_t len, redisReply *replies[2])
{
    char format[32];
    snprintf(format, sizeof format, "%s %%b", question);
    replies[0] = replies[1] = NULL;
    return view_ask(view, source, 0, &replies[0], format, key, len) == BRY_OK &&
           view_ask(view, target, BRYC_ASKING, &replies[1], format, key, len) == BRY_OK;
}

/* True for the record of a distributed map or of counters, which never changes, and for a list of
 * values that is at least as long at the target: what the source has was made by clients that could
 * not see the target's. */
static bool target_wins(cluster_view *view, uint32_t source, uint32_t target, const char *key,
                        size_t len)
{
    redisReply *replies[2];
    bool wins = false;
    if (name_has(key, len, "}:values:")) {
        if (ask_both(view, source, target, "LLEN", key, len, replies))
            wins = replies[1]->integer >= replies[0]->integer;
    } else if (name_has(key, len, "}:map") || name_has(key, len, "}:counters")) {
        if (ask_both(view, source, target, "GET", key, len, replies))
            wins = reply_begins(replies[0], "bloomery-") && reply_begins(replies[1], "bloomery-");
    } else {
        return false;
    }
    freeReplyObject(replies[0]);
    freeReplyObject(replies[1]);
    return wins;
}

/* ---- both sides ---------------------------------------------------------------------------- */

bry_status half_set_aside(cluster_view *view, uint32_t source, uint32_t target, const char *key,
                          size_t len, bool *named)
{
    half_state ours, theirs = {0};
    redisReply *reply = NULL;
    *named = true;
    if (target_wins(view, source, target, key, len)) {
        bry_status deleted = view_ask(view, source, 0, &reply, "DEL %b", key, len);
        freeReplyObject(reply);
        return deleted;
    }
    bry_status status = state_read(view, source, 0, key, len, &ours);
    if (status == BRY_OK)
        status = state_read(view, target, BRYC_ASKING, key, len, &theirs);
    bool keep = status == BRY_OK && ours.dump->type == REDIS_REPLY_STRING &&
                theirs.dump->type == REDIS_REPLY_STRING && !same_dump(ours.dump, theirs.dump);
    if (keep && ours.is_map && theirs.is_map && theirs.is_kbf)
        keep = 2 * ours.items < theirs.items;
    if (keep) {
        size_t half_len;
        char *half = half_name(key, len, &half_len);
        *named = half != NULL;
        if (half)
            status = view_ask(view, target, BRYC_ASKING, &reply, "RESTORE %b %lld %b REPLACE", half,
                              half_len, theirs.ttl, theirs.dump->str, theirs.dump->len);
        freeReplyObject(reply);
        free(half);
    }
    /* A key that the source has lost meanwhile is the target's alone. */
    if (status == BRY_OK && *named && ours.dump->type == REDIS_REPLY_STRING) {
        status = view_ask(view, target, BRYC_ASKING, &reply, "DEL %b", key, len);
        freeReplyObject(reply);
    }
    state_free(&ours);
    state_free(&theirs);
    return status;
}

/* The older half is the destination, so that the newer values win. The script stops at an error of
 * MAP.MERGE, which changes nothing then. */
bry_status half_join(cluster_view *view, uint32_t node, const char *half, size_t len, bool *joined)
{
    static const char script[] = "redis.call('MAP.MERGE', KEYS[1], KEYS[2]) "
                                 "return redis.call('RENAME', KEYS[1], KEYS[2])";
    redisReply *type, *reply = NULL;
    *joined = false;
    bry_status status = view_ask(view, node, 0, &type, "TYPE %b", half, len);
    if (status != BRY_OK)
        return status;
    bool is_map = type->str && strcmp(type->str, "bloom-map") == 0;
    freeReplyObject(type);
    if (!is_map)
        return BRY_OK;
    const char *key = half;
    size_t key_len = len - HALF_END;
    const char *tag_end = memchr(half, '}', len);
    if (half[0] == '{' && tag_end == half + key_len - 1) { /* {KEY}:bloomery-half */
        key++;
        key_len -= 2;
    }
    status =
        view_ask(view, node, BRYC_ONCE, &reply, "EVAL %s 2 %b %b", script, half, len, key, key_len);
    freeReplyObject(reply);
    *joined = status == BRY_OK;
    return status;
}
