/*
 * A map in the process and one behind a socket, as candidates: the same keys and values as text,
 * hashed or sent inside the measured time, which here is the time on the wall, since asking a
 * server is waiting. Each value that comes back is compared with the one that was stored.
 */
#ifndef BLOOMERY_BENCH_MEMCACHED_CANDIDATES_H
#define BLOOMERY_BENCH_MEMCACHED_CANDIDATES_H

#include "bench/harness/kbf_workload.h"
#include "bench/harness/measure.h"

#include <bloomery/map.h>

enum remote_phase {
    REMOTE_FILL, /* all pairs; memcached does not answer to these */
    REMOTE_HIT, /* from here on: `asked` keys, one by one … */
    REMOTE_MISS,
    REMOTE_HIT_BATCH, /* … or REMOTE_BATCH of them at once */
    REMOTE_MISS_BATCH,
    REMOTE_UPDATE,
    REMOTE_DELETE,
    REMOTE_PHASES
};
#define REMOTE_BATCH 100u

typedef struct remote_record {
    uint64_t bytes, resident;
    uint64_t wrong[REMOTE_PHASES]; /* answers that are not what was stored; deletions of nothing */
} remote_record;

typedef struct remote_work {
    const kbf_workload *load;
    bry_map_options options; /* of the maps in the process */
    uint64_t megabytes; /* that the server may use */
    remote_record *record;
} remote_work;

extern const bench_candidate candidate_memcached, candidate_local_map;

#endif
