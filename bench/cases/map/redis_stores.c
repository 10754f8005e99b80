#include "bench/cases/map/map_stores.h"
#include "bench/peers/peer_redis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAP_KEY "map"

typedef struct redis_state {
    local_server *server;
    redisReply *reply; /* the last one, which the values are part of */
    uint64_t bytes_before; /* when empty */
} redis_state;

static bool count_redis_bytes(const redis_state *state, uint64_t *bytes)
{
    return redis_info_count(state->server, "memory", "used_memory", bytes);
}

static void close_redis(void *opaque)
{
    redis_state *state = opaque;
    freeReplyObject(state->reply);
    if (state->server)
        local_server_stop(state->server);
    free(state);
}

static void *open_redis(const char *module)
{
    redis_state *state = calloc(1, sizeof *state);
    if (state && (state->server = redis_start(module)) &&
        count_redis_bytes(state, &state->bytes_before))
        return state;
    if (state)
        close_redis(state);
    return NULL;
}

static void *open_redis_strings(const map_store_options *options)
{
    (void)options;
    return open_redis(NULL);
}

/* The reply if it is of this type, and, if that is an array, has n elements; else NULL. `map` and
 * `values` may be NULL. */
static const redisReply *ask_redis(redis_state *state, const char *command, const char *map,
                                   const kbf_text *const *keys, const kbf_text *const *values,
                                   size_t n, int type)
{
    const char *words[2 * MAP_STORE_MOST_KEYS + 2] = {command, map};
    size_t lens[2 * MAP_STORE_MOST_KEYS + 2] = {strlen(command), map ? strlen(map) : 0};
    int count = map ? 2 : 1;
    for (size_t i = 0; i < n; i++) {
        words[count] = keys[i]->bytes;
        lens[count++] = keys[i]->len;
        if (values) {
            words[count] = values[i]->bytes;
            lens[count++] = values[i]->len;
        }
    }
    freeReplyObject(state->reply);
    state->reply = redisCommandArgv(redis_context(state->server), count, words, lens);
    const redisReply *reply = state->reply;
    return reply && reply->type == type && (type != REDIS_REPLY_ARRAY || reply->elements == n)
               ? reply
               : NULL;
}

/* Numbers, 1 if the key was there; an error of a single key means that kbf is unsure. */
static bool read_numbers(const redisReply *reply, uint8_t *answers)
{
    for (size_t i = 0; reply && i < reply->elements; i++) {
        const redisReply *one = reply->element[i];
        if (one->type != REDIS_REPLY_INTEGER && one->type != REDIS_REPLY_ERROR)
            return false;
        answers[i] = one->type == REDIS_REPLY_ERROR ? BRY_UNSURE
                     : one->integer                 ? BRY_PRESENT
                                                    : BRY_ABSENT;
    }
    return reply != NULL;
}

static bool read_found_values(const redisReply *reply, kbf_text *values, uint8_t *answers)
{
    for (size_t i = 0; reply && i < reply->elements; i++) {
        const redisReply *one = reply->element[i];
        if (one->type != REDIS_REPLY_STRING && one->type != REDIS_REPLY_NIL &&
            one->type != REDIS_REPLY_ERROR)
            return false;
        answers[i] = one->type == REDIS_REPLY_STRING ? BRY_PRESENT
                     : one->type == REDIS_REPLY_NIL  ? BRY_ABSENT
                                                     : BRY_UNSURE;
        values[i] = (kbf_text){one->str, one->len};
    }
    return reply != NULL;
}

static bool size_of_redis(void *opaque, map_store_size *size)
{
    const redis_state *state = opaque;
    uint64_t bytes;
    size->resident = local_growth(state->server);
    bool good = count_redis_bytes(state, &bytes);
    size->bytes = good && bytes > state->bytes_before ? bytes - state->bytes_before : 0;
    return good;
}

static uint64_t redis_processor_time(const void *state)
{
    return local_processor_time(((const redis_state *)state)->server);
}

static bool set_strings(void *state, const kbf_text *const *keys, const kbf_text *const *values,
                        size_t n, bool fresh)
{
    (void)fresh;
    return ask_redis(state, "MSET", NULL, keys, values, n, REDIS_REPLY_STATUS);
}

static bool get_strings(void *state, const kbf_text *const *keys, size_t n, kbf_text *values,
                        uint8_t *answers)
{
    return read_found_values(ask_redis(state, "MGET", NULL, keys, NULL, n, REDIS_REPLY_ARRAY),
                             values, answers);
}

/* DEL tells only how many there were, so which of them is unknown unless all or none. */
static bool delete_strings(void *state, const kbf_text *const *keys, size_t n, uint8_t *answers)
{
    const redisReply *reply = ask_redis(state, "DEL", NULL, keys, NULL, n, REDIS_REPLY_INTEGER);
    for (size_t i = 0; reply && i < n; i++)
        answers[i] = i < (size_t)reply->integer ? BRY_PRESENT : BRY_ABSENT;
    return reply != NULL;
}

const map_store redis_string_store = {open_redis_strings,  close_redis,    set_strings,
                                      get_strings,         delete_strings, size_of_redis,
                                      redis_processor_time};

static void *open_redis_map(const map_store_options *options)
{
    char create[256];
    const bry_map_options *map = &options->map;
    snprintf(create, sizeof create,
             "MAP.CREATE " MAP_KEY " CAPACITY %" PRIu64 " ERROR %.9g VALUES %" PRIu64
             " ENGINE %s%s",
             map->capacity, map->error, map->values,
             map->engine == BRY_ENGINE_KBF ? "kbf" : "compact", map->fixed ? " NOGROW" : "");
    redis_state *state = open_redis(options->module);
    if (!state)
        return NULL;
    state->reply = redisCommand(redis_context(state->server), create);
    if (state->reply && state->reply->type == REDIS_REPLY_STATUS)
        return state;
    close_redis(state);
    return NULL;
}

static bool set_in_redis_map(void *state, const kbf_text *const *keys,
                             const kbf_text *const *values, size_t n, bool fresh)
{
    (void)fresh;
    uint8_t answers[MAP_STORE_MOST_KEYS];
    return read_numbers(ask_redis(state, "MAP.SET", MAP_KEY, keys, values, n, REDIS_REPLY_ARRAY),
                        answers);
}

static bool get_from_redis_map(void *state, const kbf_text *const *keys, size_t n, kbf_text *values,
                               uint8_t *answers)
{
    return read_found_values(ask_redis(state, "MAP.GET", MAP_KEY, keys, NULL, n, REDIS_REPLY_ARRAY),
                             values, answers);
}

static bool delete_from_redis_map(void *state, const kbf_text *const *keys, size_t n,
                                  uint8_t *answers)
{
    return read_numbers(ask_redis(state, "MAP.DEL", MAP_KEY, keys, NULL, n, REDIS_REPLY_ARRAY),
                        answers);
}

const map_store redis_map_store = {open_redis_map,      close_redis,           set_in_redis_map,
                                   get_from_redis_map,  delete_from_redis_map, size_of_redis,
                                   redis_processor_time};
