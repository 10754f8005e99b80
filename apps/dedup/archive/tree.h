/*
 * The first half of a `put`: walks the given paths and passes everything to the pipeline. Names in a
 * folder come sorted, so that the same tree gives the same manifest.
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
    struct stat repository; /* its folder, which is skipped */
    struct timespec started;
    char *folder; /* the current folder, for the keys of the file cache */

    bry_buffer path; /* of the current entry, as stored, NUL-terminated */
    bry_buffer key; /* absolute path of the folder that the given path is in */
    dedup_link *links; /* files with several names */
    size_t link_count, link_room;

    uint64_t entries, bytes, cached, skipped; /* results */
} dedup_tree;

/* Adds the paths given by the user, files and folders, each once. Entries that cannot be read are
 * reported and counted in `skipped`. BRY_E_RANGE: a path contains "..", or two would get one name. */
bry_status dedup_tree_add(dedup_tree *tree, char *const *given, size_t count);

/* Adds the data of a descriptor as a file. */
bry_status dedup_tree_add_stream(dedup_tree *tree, int fd, const char *name);

void dedup_tree_free(dedup_tree *tree);

#endif
