/*
 * Places where pairs can be stored: a map in this process, memcached, and a redis-server, with its
 * own strings or with a map of the module (redis_stores.c, which needs hiredis). All get the same keys and values as text, a number of
 * them per request, and hash or send them within the measured time.
 */
#ifndef BLOOMERY_BENCH_MAP_STORES_H
#define BLOOMERY_BENCH_MAP_STORES_H

#include "bench/harness/kbf_workload.h"

#include <bloomery/map.h>

#define MAP_STORE_MOST_KEYS 100u /* per request */

typedef struct map_store_options {
    bry_map_options map; /* of maps, here and in the server */
    uint64_t megabytes; /* memory limit of memcached */
    const char *module; /* the file, for the store that needs it */
} map_store_options;

typedef struct map_store_size {
    uint64_t bytes; /* as the store counts them */
    uint64_t resident; /* growth of a server's process; 0 for a map in this one */
} map_store_size;

/* Functions return false on failure. `state` is what open() has returned. */
typedef struct map_store {
    void *(*open)(const map_store_options *options); /* NULL on failure */
    void (*close)(void *state);
    /* A pair that engine kbf is unsure of keeps its value. `fresh`: the keys are not there yet. */
    bool (*set)(void *state, const kbf_text *const *keys, const kbf_text *const *values, size_t n,
                bool fresh);
    /* Values are valid until the next call. */
    bool (*get)(void *state, const kbf_text *const *keys, size_t n, kbf_text *values,
                uint8_t *answers);
    bool (*del)(void *state, const kbf_text *const *keys, size_t n, uint8_t *answers);
    bool (*size)(void *state, map_store_size *size);
    uint64_t (*processor_time)(const void *state); /* of the server, in ns; 0: there is none */
} map_store;

extern const map_store local_map_store, memcached_store, redis_string_store, redis_map_store;

#endif
