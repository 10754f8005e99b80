/*
 * An in-process map and memcached behind a socket, as candidates. This is wall-clock time, because a
 * client waits for a server.
 */
#ifndef BLOOMERY_BENCH_MEMCACHED_CANDIDATES_H
#define BLOOMERY_BENCH_MEMCACHED_CANDIDATES_H

#include "bench/cases/map/map_stores.h"
#include "bench/harness/measure.h"

enum remote_phase {
    REMOTE_FILL, /* all pairs, REMOTE_BATCH per request */
    REMOTE_HIT, /* from here on: `asked` keys, one by one … */
    REMOTE_MISS,
    REMOTE_HIT_BATCH, /* … or REMOTE_BATCH per request */
    REMOTE_MISS_BATCH,
    REMOTE_UPDATE,
    REMOTE_DELETE,
    REMOTE_PHASES
};
#define REMOTE_BATCH MAP_STORE_MOST_KEYS

typedef struct remote_record {
    map_store_size size; /* when filled */
    uint64_t wrong[REMOTE_PHASES]; /* wrong answers; deletions of absent keys */
} remote_record;

typedef struct remote_work {
    const kbf_workload *load;
    map_store_options options;
    remote_record *record;
} remote_work;

extern const bench_candidate candidate_memcached, candidate_local_map;

#endif
