/* One entry of the tree: its facts, attributes and content, on their way to the pipeline. */
#ifndef BLOOMERY_DEDUP_TREE_FILE_H
#define BLOOMERY_DEDUP_TREE_FILE_H

#include "apps/dedup/archive/tree.h"

struct dedup_link {
    dev_t device;
    ino_t inode;
    char *path; /* NULL: free */
};

/* Passes one entry, `name` in the directory `parent`, whose stored path is tree->path. Everything
 * but the names in a directory. Reports and counts what cannot be read. */
dedup_status dedup_tree_entry(dedup_tree *tree, int parent, const char *name,
                              const struct stat *facts);

/* Reports that the current entry cannot be read, with errno, and counts it. */
void dedup_tree_skip(dedup_tree *tree, const char *why);

#endif
