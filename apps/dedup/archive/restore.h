/*
 * Restores entries of an archive into a directory. No path leaves the directory, also not through a
 * symbolic link: directories on the way are opened without following links.
 */
#ifndef BLOOMERY_DEDUP_RESTORE_H
#define BLOOMERY_DEDUP_RESTORE_H

#include "apps/dedup/archive/manifest.h"

/* Entries that are completed later. */
typedef struct dedup_postponed {
    struct dedup_postponed_entry *entry;
    size_t count; /* How many there are. */
    size_t room; /* For how many there is room. */
} dedup_postponed;

typedef struct dedup_restore {
    dedup_store *store;
    int dir; /* that everything goes into; -1: content to standard output */
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

    dedup_postponed later; /* directories, whose modes and times are set at the end */
    dedup_postponed links; /* hard links to files that are not wanted, or were not created */
    size_t links_done; /* How many of them were restored. */
    dedup_postponed refused; /* files that were not created */
    char *only; /* the file that a link needs */
    const char *instead; /* restore this path under the name of the link */

    uint64_t entries; /* Entries restored. */
    uint64_t bytes; /* Bytes of their content. */
    uint64_t failed; /* Problems that were reported. */
} dedup_restore;

/* Initializes `found`. */
dedup_status dedup_restore_begin(dedup_restore *restore);

/* For dedup_manifest_walk(). */
dedup_status dedup_restore_item(void *context, const dedup_item *item);

/* Completes the last file. */
dedup_status dedup_restore_end_file(dedup_restore *restore);

/* The next hard link whose file is not there: walk once more, with only that file as `wanted`.
 * False if there is none. */
bool dedup_restore_next_link(dedup_restore *restore);

/* Sets modes and times of directories. */
void dedup_restore_finish(dedup_restore *restore);
void dedup_restore_free(dedup_restore *restore);

#endif
