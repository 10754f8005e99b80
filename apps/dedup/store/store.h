/*
 * The store: chunks in, chunks out. The path of a chunk that is added:
 *
 *   units (memory)  ── no candidate ──► new: append to the container, no disk look-up
 *      │ candidates
 *      ▼
 *   locality cache  ── found ─────────► known
 *      │
 *      ▼
 *   next container  ── found ─────────► known; if one unit is named: the container after the one in
 *      │                                which a chunk of this unit was found last
 *      ▼
 *   exact index     ── found ─────────► known; the directory of its container enters the cache
 *      └ not found: a false alarm ────► new
 *
 * Containers are written as NUMBER.new. dedup_store_commit() syncs them, renames them to NUMBER,
 * syncs the directory, and only then enters the chunks into the exact index. So a container NUMBER
 * is always complete, and everything in the exact index is on disk. A crash before the renaming
 * leaves files NUMBER.new, which the next writer removes; a crash after it leaves containers that
 * the exact index does not know, which the next writer adds.
 */
#ifndef BLOOMERY_DEDUP_STORE_H
#define BLOOMERY_DEDUP_STORE_H

#include "apps/dedup/base/repository.h"
#include "apps/dedup/store/container.h"
#include "apps/dedup/store/exact.h"
#include "apps/dedup/store/locality.h"
#include "apps/dedup/store/units.h"

/* What happened to the chunks that were added. */
typedef struct dedup_counters {
    uint64_t chunks; /* Chunks added, duplicates included. */
    uint64_t bytes; /* Bytes of these. */
    uint64_t new_chunks; /* Chunks stored. */
    uint64_t new_bytes; /* Bytes of these, before compression. */
    uint64_t stored_bytes; /* Bytes of these, after compression and with headers. */
    uint64_t decided; /* Chunks found to be new without a disk look-up. */
    uint64_t cache_hits; /* Known chunks found in the locality cache. */
    uint64_t read_ahead; /* Known chunks found in the next container of their unit. */
    uint64_t lookups; /* Look-ups in the exact index. */
    uint64_t false_alarms; /* Look-ups in the exact index that found nothing. */
} dedup_counters;

typedef struct dedup_store {
    dedup_repo *repo;
    bool write;
    dedup_exact *exact;
    dedup_rows rows;
    dedup_units units;
    dedup_locality cache;
    uint64_t *next_in_unit; /* for each unit, the number after the container found last; 0: none */
    size_t next_room; /* For how many units. */
    dedup_hasher hasher;
    void *compressor; /* A ZSTD_CCtx. */
    void *decompressor; /* A ZSTD_DCtx. */
    bry_buffer scratch; /* Stored bytes of the chunk that was read or compressed last. */
    bry_buffer front; /* Header and directory of a container, or content of a chunk. */

    /* The container being filled. */
    bool filling;
    uint32_t filled; /* its slot in the cache */
    bry_buffer data;
    uint64_t next; /* number of the next container */
    uint64_t adopted; /* lowest number of those that the exact index did not know; 0: none */

    /* Containers written since the last commit. */
    struct dedup_pending {
        uint64_t number;
        int fd;
    } * pending;
    size_t pending_count; /* How many there are. */
    size_t pending_room; /* For how many there is room. */

    dedup_counters counters;
} dedup_store;

enum { DEDUP_COMMIT_CONTAINERS = 64 }; /* written between two commits of a long put */

/*
 * Opens the store of a locked repository. For writing it removes what a crashed process left and
 * enters containers that the exact index does not know. DEDUP_DAMAGED: a container is missing or
 * damaged.
 */
dedup_status dedup_store_open(dedup_store *store, dedup_repo *repo, bool write);

/* Opens the exact index. A writer replaces one that cannot be opened, such as one that a crash left
 * half created: everything in it follows from the containers. A reader that may not write LMDB's
 * lock file keeps writers out instead. */
dedup_status dedup_store_open_exact(dedup_repo *repo, bool write, dedup_exact **exact);

/* The same without the units, for commands that look at all chunks. */
dedup_status dedup_store_open_plain(dedup_store *store, dedup_repo *repo, bool write);

/* Removes the indexes of a repository locked for writing and opens the store with new ones, which
 * are complete but not saved. If the process dies meanwhile, the next writer does the rest. */
dedup_status dedup_store_open_rebuilt(dedup_store *store, dedup_repo *repo);

/* Enters the chunks of all containers that the exact index does not know, of which there may be
 * some after another copy of a chunk was removed. */
dedup_status dedup_store_enter_again(dedup_store *store);

/* Containers that the exact index is going to get. */
typedef struct dedup_entering {
    dedup_change *changes; /* Their chunks. */
    size_t count; /* How many there are. */
    size_t room; /* For how many there is room. */
    dedup_rows rows; /* The containers. */
} dedup_entering;

/* `keep`: chunks that the exact index has stay where they are. */
dedup_status dedup_entering_add(dedup_entering *list, const dedup_directory *directory, bool keep);
/* Enters them into the exact index, and empties the list. */
dedup_status dedup_store_enter(dedup_store *store, dedup_entering *list);
void dedup_entering_free(dedup_entering *list);

/* Closes it. What was not committed is removed. */
void dedup_store_close(dedup_store *store);

/* Adds a chunk, and sets its digest. */
dedup_status dedup_store_add(dedup_store *store, dedup_kind kind, const void *bytes, size_t len,
                             dedup_digest *digest);

/* Appends a chunk to the container being filled, without looking for it. `source` and `stored` are
 * its entry and its stored bytes, compressed or not. */
dedup_status dedup_store_append(dedup_store *store, const dedup_digest *digest,
                                const dedup_entry *source, const void *stored);

/* Makes everything that was added durable. */
dedup_status dedup_store_commit(dedup_store *store);

/* Saves the units. */
dedup_status dedup_store_save(dedup_store *store);

/* Whether the store has a chunk. `unit` is the only one that may have it; NULL: unknown. */
dedup_status dedup_store_has(dedup_store *store, const dedup_digest *digest, const uint32_t *unit,
                             bool *has);

/* Finds a chunk where the exact index says, since after a crash it may be in two containers: the slot
 * of its container and the place in it. DEDUP_MISSING: no such chunk. */
dedup_status dedup_store_locate(dedup_store *store, const dedup_digest *digest, dedup_slot **slot,
                                uint32_t *place);

/* The slot of a container, read if it is not in memory. */
dedup_status dedup_store_container(dedup_store *store, uint64_t number, dedup_slot **slot);

/* Describes why there is no such chunk. DEDUP_MISSING: it is lost; DEDUP_FAILED: the exact index is
 * incomplete, because a process that made a new one was killed. */
dedup_status dedup_store_missing(const dedup_store *store, const dedup_digest *digest);

/* Reads a chunk and verifies its digest. DEDUP_MISSING: no such chunk; DEDUP_DAMAGED. */
dedup_status dedup_store_read(dedup_store *store, const dedup_digest *digest, bry_buffer *bytes);

/* The stored bytes of a chunk, after verifying its content; in the buffer `scratch` of the store
 * until the next call. */
dedup_status dedup_store_read_stored(dedup_store *store, dedup_slot *slot, uint32_t place,
                                     const unsigned char **stored);

/* Decodes and verifies a chunk from its stored bytes. */
dedup_status dedup_store_decode(dedup_store *store, const dedup_digest *digest,
                                const dedup_entry *entry, const unsigned char *stored,
                                bry_buffer *raw);

#endif
