/*
 * Restores entries of an archive into a folder. No path leaves the folder, also not through a
 * symbolic link: folders on the way are opened without following links.
 */
#ifndef BLOOMERY_DEDUP_RESTORE_H
#define BLOOMERY_DEDUP_RESTORE_H

#include "apps/dedup/archive/manifest.h"

typedef struct dedup_later dedup_later;

typedef struct dedup_restore {
    dedup_store *store;
    int folder; /* that everything goes into; -1: content to standard output */
    bool force; /* replaces existing files */
    char **wanted; /* paths; none: everything */
    size_t wanted_count;
    bool *found; /* for each of them */

    /* The file being written. */
    int fd; /* -1: none */
    bool taking; /* its content is wanted */
    uint64_t at;
    dedup_file_entry entry;
    bry_buffer texts; /* its path, target and attributes */
    bry_buffer chunk;

    dedup_later *later; /* folders, whose modes and times are set at the end */
    size_t later_count, later_room;
    dedup_later *links; /* hard links to files that are not wanted, or were not created */
    size_t link_count, link_room, links_done;
    dedup_later *refused; /* files that were not created */
    size_t refused_count, refused_room;
    char *only; /* the file that a link needs */
    const char *instead; /* restore this path under the name of the link */

    uint64_t entries, bytes, failed; /* results */
} dedup_restore;

/* Initializes `found`. */
bry_status dedup_restore_begin(dedup_restore *restore);

/* For dedup_manifest_walk(). */
bry_status dedup_restore_item(void *context, const dedup_item *item);

/* Completes the last file. */
bry_status dedup_restore_end_file(dedup_restore *restore);

/* The next hard link whose file is not there: walk once more, with only that file as `wanted`.
 * False if there is none. */
bool dedup_restore_next_link(dedup_restore *restore);

/* Sets modes and times of folders. */
void dedup_restore_finish(dedup_restore *restore);
void dedup_restore_free(dedup_restore *restore);

#endif
