/*
 * Garbage collection. Chunks that no archive needs are stale. A container with a large share of them
 * is removed: its other chunks move to new containers first.
 *
 * The order makes every step safe: new containers are synced and in the exact index before anything
 * of the old ones is removed from it, first their rows, then their chunks. The old files are removed
 * last, when no process reads. If the process dies before that, the next writer finds the old
 * containers without rows and enters them again.
 */
#ifndef BLOOMERY_DEDUP_COLLECT_H
#define BLOOMERY_DEDUP_COLLECT_H

#include "apps/dedup/store/store.h"

typedef struct dedup_gc_result {
    uint64_t stale_chunks; /* Chunks that no archive needs. */
    uint64_t moved_chunks; /* Chunks copied to new containers. */
    uint64_t removed_containers; /* Containers removed. */
    uint64_t freed_bytes; /* Bytes of these. */
    uint64_t kept_containers; /* Containers kept because a chunk of them is damaged. */
} dedup_gc_result;

/* `share`: of stale bytes, from which on a container is removed. `dry`: only counts. */
dedup_status dedup_collect(dedup_store *store, double share, bool dry, dedup_gc_result *collected);

#endif
