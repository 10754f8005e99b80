/*
 * An in-process map and memcached behind a socket, as candidates. Both get the same keys and values
 * as text, and hash or send them within the measured time. This is wall-clock time, because a
 * client waits for a server. Each value returned is compared with the stored one.
 */
#ifndef BLOOMERY_BENCH_MEMCACHED_CANDIDATES_H
#define BLOOMERY_BENCH_MEMCACHED_CANDIDATES_H

#include "bench/harness/kbf_workload.h"
#include "bench/harness/measure.h"

#include <bloomery/map.h>

enum remote_phase {
    REMOTE_FILL, /* all pairs; memcached does not reply to these */
    REMOTE_HIT, /* from here on: `asked` keys, one by one … */
    REMOTE_MISS,
    REMOTE_HIT_BATCH, /* … or REMOTE_BATCH per call */
    REMOTE_MISS_BATCH,
    REMOTE_UPDATE,
    REMOTE_DELETE,
    REMOTE_PHASES
};
#define REMOTE_BATCH 100u

typedef struct remote_record {
    uint64_t bytes, resident;
    uint64_t wrong[REMOTE_PHASES]; /* wrong answers; deletions of absent keys */
} remote_record;

typedef struct remote_work {
    const kbf_workload *load;
    bry_map_options options; /* of the in-process maps */
    uint64_t megabytes; /* memory limit of the server */
    remote_record *record;
} remote_work;

extern const bench_candidate candidate_memcached, candidate_local_map;

#endif
