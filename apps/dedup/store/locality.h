/*
 * The locality cache: directories of containers in memory, and a hash table over their digests.
 * Chunks that were stored together are read together: when one chunk is found in a container, the
 * next ones are probably there too, so its whole directory is kept. The least recently used one
 * leaves. Directories of containers that are not in the exact index yet are pinned.
 *
 *   bucket[hash] ─► node = slot << 16 | place ─► next[place] of that slot ─► …
 */
#ifndef BLOOMERY_DEDUP_LOCALITY_H
#define BLOOMERY_DEDUP_LOCALITY_H

#include "apps/dedup/store/container.h"
#include "apps/dedup/store/exact.h"

typedef struct dedup_slot {
    dedup_directory directory;
    uint32_t *next; /* for each place, the next node in its bucket */
    uint32_t room;
    int fd; /* of the container, once a chunk was read from it; -1: closed */
    bool used; /* The slot has a directory. */
    bool pinned; /* The directory must stay. */
    uint64_t used_at; /* When it was last used, by the clock of the cache. */
} dedup_slot;

typedef struct dedup_locality {
    dedup_slot *slot;
    uint32_t slots; /* allocated */
    uint32_t *bucket;
    uint64_t clock;
    uint64_t entries; /* Entries in directories that are not pinned. */
    uint64_t most_entries; /* How many of them may be kept. */
    unsigned open_files;
} dedup_locality;

dedup_status dedup_locality_init(dedup_locality *cache);
void dedup_locality_free(dedup_locality *cache);

/* The slot and place of a digest; NULL if no directory in memory has it. */
dedup_slot *dedup_locality_find(dedup_locality *cache, const dedup_digest *digest, uint32_t *place);

/* The slot of a container, or NULL. */
dedup_slot *dedup_locality_container(dedup_locality *cache, uint64_t number);

/* Takes over a directory, which is empty afterwards. Slots returned before may move. */
dedup_status dedup_locality_take(dedup_locality *cache, dedup_directory *directory, bool pinned,
                                 dedup_slot **taken);

/* Adds a chunk to a pinned directory. */
dedup_status dedup_locality_add(dedup_locality *cache, dedup_slot *slot, const dedup_digest *digest,
                                const dedup_entry *entry);

/* Unpins all. */
void dedup_locality_unpin(dedup_locality *cache);

/* Removes a container. */
void dedup_locality_remove(dedup_locality *cache, dedup_slot *slot);

/* Notes that a slot got a descriptor; closes others when there are too many. */
void dedup_locality_opened(dedup_locality *cache, const dedup_slot *slot);

#endif
