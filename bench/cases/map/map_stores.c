#include "bench/cases/map/map_stores.h"

#include "bench/peers/peer_memcached.h"
#include "bench/peers/peer_redis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- a map in this process ----------------------------------------------------------------- */

static void *open_local_map(const map_store_options *options)
{
    bry_map *map = NULL;
    return bry_map_create(&options->map, &map) == BRY_OK ? map : NULL;
}

static void close_local_map(void *state)
{
    bry_map_destroy(state);
}

static bry_hash hash_text(const bry_map *map, const kbf_text *key)
{
    return bry_hash_key(bry_map_seed(map), key->bytes, key->len);
}

static bry_map_value text_value(const kbf_text *value)
{
    return bry_map_value_bytes(value->bytes, value->len);
}

static bool set_in_local_map(void *state, const kbf_text *const *keys,
                             const kbf_text *const *values, size_t n, bool fresh)
{
    if (n == 1 && !fresh) {
        bry_status status =
            bry_map_set(state, hash_text(state, keys[0]), text_value(values[0]), NULL);
        return status == BRY_OK || status == BRY_E_UNSURE;
    }
    bry_hash hashes[MAP_STORE_MOST_KEYS] = {0};
    bry_map_value bytes[MAP_STORE_MOST_KEYS];
    bry_answer was[MAP_STORE_MOST_KEYS];
    for (size_t i = 0; i < n; i++) {
        hashes[i] = hash_text(state, keys[i]);
        bytes[i] = text_value(values[i]);
    }
    bry_status status = fresh ? bry_map_add_n(state, hashes, bytes, n)
                              : bry_map_set_n(state, hashes, bytes, n, was);
    return status == BRY_OK;
}

static bool get_from_local_map(void *state, const kbf_text *const *keys, size_t n, kbf_text *values,
                               uint8_t *answers)
{
    bry_map_value found[MAP_STORE_MOST_KEYS];
    if (n == 1) {
        answers[0] = (uint8_t)bry_map_get(state, hash_text(state, keys[0]), &found[0]);
    } else {
        bry_hash hashes[MAP_STORE_MOST_KEYS] = {0};
        for (size_t i = 0; i < n; i++)
            hashes[i] = hash_text(state, keys[i]);
        bry_map_get_n(state, hashes, n, found, answers);
    }
    for (size_t i = 0; i < n; i++)
        if (answers[i] == BRY_PRESENT)
            values[i] = (kbf_text){found[i].bytes, found[i].len};
    return true;
}

static bool delete_from_local_map(void *state, const kbf_text *const *keys, size_t n,
                                  uint8_t *answers)
{
    if (n == 1) {
        bry_answer was = BRY_UNSURE;
        bry_status status = bry_map_del(state, hash_text(state, keys[0]), &was);
        answers[0] = status == BRY_OK ? (uint8_t)was : BRY_UNSURE;
        return status == BRY_OK || status == BRY_E_UNSURE;
    }
    bry_hash hashes[MAP_STORE_MOST_KEYS] = {0};
    bry_answer was[MAP_STORE_MOST_KEYS] = {0};
    for (size_t i = 0; i < n; i++)
        hashes[i] = hash_text(state, keys[i]);
    bool good = bry_map_del_n(state, hashes, n, was) == BRY_OK;
    for (size_t i = 0; i < n; i++)
        answers[i] = (uint8_t)was[i];
    return good;
}

static bool size_of_local_map(void *state, map_store_size *size)
{
    bry_map_stats stats = {0};
    bry_map_get_stats(state, &stats);
    *size = (map_store_size){stats.bytes, 0};
    return true;
}

static uint64_t no_processor_time(const void *state)
{
    (void)state;
    return 0;
}

const map_store local_map_store = {open_local_map,     close_local_map,       set_in_local_map,
                                   get_from_local_map, delete_from_local_map, size_of_local_map,
                                   no_processor_time};

/* ---- servers ------------------------------------------------------------------------------- */

typedef struct server_state {
    local_server *server;
    uint64_t bytes_before, resident_before; /* when empty */
} server_state;

static bool count_redis_bytes(local_server *server, uint64_t *bytes)
{
    return redis_info_count(server, "memory", "used_memory", bytes);
}

/* Takes the server over, which may be NULL. */
static void *open_server(local_server *server, bool is_redis)
{
    server_state *state = server ? calloc(1, sizeof *state) : NULL;
    if (state) {
        state->server = server;
        state->resident_before = local_resident(server);
        if (!is_redis || count_redis_bytes(server, &state->bytes_before))
            return state;
    }
    if (server)
        local_server_stop(server);
    free(state);
    return NULL;
}

static void close_server(void *opaque)
{
    server_state *state = opaque;
    local_server_stop(state->server);
    free(state);
}

static uint64_t grown_by(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

static uint64_t server_processor_time(const void *state)
{
    return local_processor_time(((const server_state *)state)->server);
}

/* ---- memcached ----------------------------------------------------------------------------- */

static void *open_memcached(const map_store_options *options)
{
    return open_server(memcached_start(options->megabytes, false), false);
}

static bool set_in_memcached(void *state, const kbf_text *const *keys,
                             const kbf_text *const *values, size_t n, bool fresh)
{
    (void)fresh;
    size_t stored;
    return memcached_set(((server_state *)state)->server, keys, values, n, &stored) && stored == n;
}

static bool get_from_memcached(void *state, const kbf_text *const *keys, size_t n, kbf_text *values,
                               uint8_t *answers)
{
    return memcached_get(((server_state *)state)->server, keys, n, values, answers);
}

static bool delete_from_memcached(void *state, const kbf_text *const *keys, size_t n,
                                  uint8_t *answers)
{
    return memcached_delete(((server_state *)state)->server, keys, n, answers);
}

static bool size_of_memcached(void *opaque, map_store_size *size)
{
    server_state *state = opaque;
    size->resident = grown_by(local_resident(state->server), state->resident_before);
    return memcached_stat_count(state->server, "bytes", &size->bytes);
}

const map_store memcached_store = {open_memcached,       close_server,          set_in_memcached,
                                   get_from_memcached,   delete_from_memcached, size_of_memcached,
                                   server_processor_time};

/* ---- redis-server -------------------------------------------------------------------------- */

#define MAP_KEY "map"

static bool send_keys(local_server *server, const char *command, bool in_map,
                      const kbf_text *const *keys, size_t n)
{
    bool good = redis_begin(server, n + (in_map ? 2 : 1)) && redis_add_text(server, command) &&
                (!in_map || redis_add_text(server, MAP_KEY));
    for (size_t i = 0; i < n && good; i++)
        good = redis_add(server, keys[i]);
    return good && local_send(server);
}

static bool send_pairs(local_server *server, const char *command, bool in_map,
                       const kbf_text *const *keys, const kbf_text *const *values, size_t n)
{
    bool good = redis_begin(server, 2 * n + (in_map ? 2 : 1)) && redis_add_text(server, command) &&
                (!in_map || redis_add_text(server, MAP_KEY));
    for (size_t i = 0; i < n && good; i++)
        good = redis_add(server, keys[i]) && redis_add(server, values[i]);
    return good && local_send(server);
}

/* Begins an array of n elements. */
static bool read_array(local_server *server, size_t n)
{
    redis_part part;
    return redis_read(server, &part) && part.kind == '*' && part.number == (int64_t)n;
}

/* Numbers, 1 if the key was there; an error of a single key means that kbf is unsure. */
static bool read_numbers(local_server *server, size_t n, uint8_t *answers)
{
    bool good = read_array(server, n);
    for (size_t i = 0; i < n && good; i++) {
        redis_part part;
        good = redis_read(server, &part) && (part.kind == ':' || part.kind == '-');
        if (good)
            answers[i] = part.kind == '-' ? BRY_UNSURE : part.number ? BRY_PRESENT : BRY_ABSENT;
    }
    return good;
}

/* The buffer may move while the answer arrives, so offsets are stored until the end. */
static bool read_found_values(local_server *server, size_t n, kbf_text *values, uint8_t *answers)
{
    size_t starts[MAP_STORE_MOST_KEYS];
    bool good = read_array(server, n);
    for (size_t i = 0; i < n && good; i++) {
        redis_part part;
        good = redis_read(server, &part) && (part.kind == '$' || part.kind == '-');
        if (!good)
            break;
        answers[i] = part.kind == '-' ? BRY_UNSURE : part.number >= 0 ? BRY_PRESENT : BRY_ABSENT;
        starts[i] = part.start;
        values[i].len = part.len;
    }
    for (size_t i = 0; i < n && good; i++)
        values[i].bytes = server->in + starts[i];
    return good;
}

static bool size_of_redis(void *opaque, map_store_size *size)
{
    server_state *state = opaque;
    uint64_t bytes;
    size->resident = grown_by(local_resident(state->server), state->resident_before);
    bool good = count_redis_bytes(state->server, &bytes);
    size->bytes = good ? grown_by(bytes, state->bytes_before) : 0;
    return good;
}

static void *open_redis_strings(const map_store_options *options)
{
    (void)options;
    return open_server(redis_start(NULL), true);
}

static bool set_strings(void *state, const kbf_text *const *keys, const kbf_text *const *values,
                        size_t n, bool fresh)
{
    (void)fresh;
    local_server *server = ((server_state *)state)->server;
    redis_part part;
    return send_pairs(server, "MSET", false, keys, values, n) && redis_read(server, &part) &&
           local_line_is(server, part.start, part.len, "+OK");
}

static bool get_strings(void *state, const kbf_text *const *keys, size_t n, kbf_text *values,
                        uint8_t *answers)
{
    local_server *server = ((server_state *)state)->server;
    return send_keys(server, "MGET", false, keys, n) &&
           read_found_values(server, n, values, answers);
}

/* DEL tells only how many there were, so which of them is unknown unless all or none. */
static bool delete_strings(void *state, const kbf_text *const *keys, size_t n, uint8_t *answers)
{
    local_server *server = ((server_state *)state)->server;
    redis_part part;
    if (!send_keys(server, "DEL", false, keys, n) || !redis_read(server, &part) || part.kind != ':')
        return false;
    for (size_t i = 0; i < n; i++)
        answers[i] = i < (size_t)part.number ? BRY_PRESENT : BRY_ABSENT;
    return true;
}

const map_store redis_string_store = {open_redis_strings,   close_server,   set_strings,
                                      get_strings,          delete_strings, size_of_redis,
                                      server_processor_time};

static void *open_redis_map(const map_store_options *options)
{
    char capacity[24], values[24], error[32];
    const bry_map_options *map = &options->map;
    snprintf(capacity, sizeof capacity, "%" PRIu64, map->capacity);
    snprintf(values, sizeof values, "%" PRIu64, map->values);
    snprintf(error, sizeof error, "%.9g", map->error);
    const char *const create[] = {"MAP.CREATE", MAP_KEY,
                                  "CAPACITY",   capacity,
                                  "ERROR",      error,
                                  "VALUES",     values,
                                  "ENGINE",     map->engine == BRY_ENGINE_KBF ? "kbf" : "compact",
                                  "NOGROW"};
    size_t words = sizeof create / sizeof create[0] - (map->fixed ? 0 : 1);
    server_state *state = open_server(redis_start(options->module), true);
    if (state && !redis_expect_ok(state->server, create, words)) {
        close_server(state);
        return NULL;
    }
    return state;
}

static bool set_in_redis_map(void *state, const kbf_text *const *keys,
                             const kbf_text *const *values, size_t n, bool fresh)
{
    (void)fresh;
    local_server *server = ((server_state *)state)->server;
    uint8_t answers[MAP_STORE_MOST_KEYS];
    return send_pairs(server, "MAP.SET", true, keys, values, n) && read_numbers(server, n, answers);
}

static bool get_from_redis_map(void *state, const kbf_text *const *keys, size_t n, kbf_text *values,
                               uint8_t *answers)
{
    local_server *server = ((server_state *)state)->server;
    return send_keys(server, "MAP.GET", true, keys, n) &&
           read_found_values(server, n, values, answers);
}

static bool delete_from_redis_map(void *state, const kbf_text *const *keys, size_t n,
                                  uint8_t *answers)
{
    local_server *server = ((server_state *)state)->server;
    return send_keys(server, "MAP.DEL", true, keys, n) && read_numbers(server, n, answers);
}

const map_store redis_map_store = {open_redis_map,       close_server,          set_in_redis_map,
                                   get_from_redis_map,   delete_from_redis_map, size_of_redis,
                                   server_processor_time};
