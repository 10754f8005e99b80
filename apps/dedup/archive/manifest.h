/*
 * A manifest: everything an archive contains, as a tree of chunks that are deduplicated like all
 * others. The leaves are sequences of items (manifest_manifest_items.h). The levels above are lists of digests, each
 * a chunk that begins with 'T' and its level, from 1.
 *
 * Chunks of a manifest end between items, at items whose hash says so. So each can be read alone, a
 * changed file changes one leaf and the chunks above it, and whoever walks through many archives
 * can skip what it has seen.
 */
#ifndef BLOOMERY_DEDUP_MANIFEST_H
#define BLOOMERY_DEDUP_MANIFEST_H

#include "apps/dedup/archive/manifest_items.h"
#include "apps/dedup/store/store.h"

enum { DEDUP_LEVELS = 12 }; /* with at least two digests in each list it never has more */

typedef struct dedup_manifest {
    dedup_store *store;
    bry_buffer level[DEDUP_LEVELS]; /* the chunks being filled */
    unsigned levels; /* in use */
} dedup_manifest;

void dedup_manifest_free(dedup_manifest *manifest);

/* Adds one item, encoded. */
dedup_status dedup_manifest_add(dedup_manifest *manifest, const void *item, size_t len);

/* Stores what is left. The root is at level `depth`; 0: the only leaf. */
dedup_status dedup_manifest_end(dedup_manifest *manifest, dedup_digest *root, unsigned *depth);

/* What a walk through a manifest does. Another status than DEDUP_OK ends it. */
typedef struct dedup_walk {
    void *context;
    /* A chunk of the manifest, before it is read; false skips it and all below. May be NULL. */
    bool (*enter)(void *context, const dedup_digest *digest, dedup_status *status);
    dedup_status (*item)(void *context, const dedup_item *item);
    /* A chunk of the manifest that cannot be read. NULL: the walk ends with its status. */
    dedup_status (*lost)(void *context, const dedup_digest *digest, dedup_status status);
} dedup_walk;

dedup_status dedup_manifest_walk(dedup_store *store, const dedup_digest *root, unsigned depth,
                                 const dedup_walk *walk);

#endif
