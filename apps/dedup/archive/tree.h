/*
 * The first half of a `put`: walks the given paths and passes everything to the pipeline. Names in
 * a directory come sorted, so that the same tree gives the same manifest.
 */
#ifndef BLOOMERY_DEDUP_TREE_H
#define BLOOMERY_DEDUP_TREE_H

#include "apps/dedup/archive/pipeline.h"
#include "cli/core/args.h"

#include <time.h>

typedef struct dedup_link dedup_link;

typedef struct dedup_tree {
    dedup_pipeline *pipeline; /* NULL: only counts */
    dedup_file_cache *cache;
    const cli_list *exclude;
    struct stat repository; /* its directory, which is skipped */
    struct timespec started;
    char *dir; /* the current directory, for the keys of the file cache */

    bry_buffer path; /* of the current entry, as stored, NUL-terminated */
    bry_buffer key; /* absolute path of the directory that the given path is in */
    dedup_link *links; /* files with several names */
    size_t link_count; /* How many there are. */
    size_t link_room; /* For how many there is room. */

    uint64_t entries; /* Entries passed. */
    uint64_t bytes; /* Bytes of files. */
    uint64_t cached; /* Files that were not read again. */
    uint64_t skipped; /* Entries that could not be read. */
} dedup_tree;

/* Adds the paths given by the user, files and directories, each once. Entries that cannot be read
 * are reported and counted in `skipped`. DEDUP_FAILED: a path contains "..", or two would get one
 * name. */
dedup_status dedup_tree_add(dedup_tree *tree, char *const *given, size_t count);

/* Adds the data of a descriptor as a file. */
dedup_status dedup_tree_add_stream(dedup_tree *tree, int fd, const char *name);

void dedup_tree_free(dedup_tree *tree);

#endif
