#include "bench/cases/map/map_stores.h"

#include "bench/peers/peer_memcached.h"

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

/* ---- memcached ----------------------------------------------------------------------------- */

static void *open_memcached(const map_store_options *options)
{
    return memcached_start(options->megabytes, false);
}

static void stop_memcached(void *server)
{
    local_server_stop(server);
}

static bool set_in_memcached(void *server, const kbf_text *const *keys,
                             const kbf_text *const *values, size_t n, bool fresh)
{
    (void)fresh;
    size_t stored;
    return memcached_set(server, keys, values, n, &stored) && stored == n;
}

static bool get_from_memcached(void *server, const kbf_text *const *keys, size_t n,
                               kbf_text *values, uint8_t *answers)
{
    return memcached_get(server, keys, n, values, answers);
}

static bool delete_from_memcached(void *server, const kbf_text *const *keys, size_t n,
                                  uint8_t *answers)
{
    return memcached_delete(server, keys, n, answers);
}

static bool size_of_memcached(void *server, map_store_size *size)
{
    size->resident = local_growth(server);
    return memcached_stat_count(server, "bytes", &size->bytes);
}

static uint64_t memcached_processor_time(const void *server)
{
    return local_processor_time(server);
}

const map_store memcached_store = {
    open_memcached,        stop_memcached,    set_in_memcached,        get_from_memcached,
    delete_from_memcached, size_of_memcached, memcached_processor_time};
