/* Owner, attributes, mode and times of a restored entry. */
#ifndef BLOOMERY_DEDUP_RESTORE_META_H
#define BLOOMERY_DEDUP_RESTORE_META_H

#include "apps/dedup/archive/manifest_items.h"

/* Sets them on an open file or directory (fd), or, if fd is -1, on `name` in the directory `parent`
 * without following a link. NULL, or what could not be set, with errno. */
const char *dedup_set_meta(int fd, int parent, const char *name, const dedup_file_entry *entry);

/* Opens the directory of a path below `directory` and sets *name to its last part. Creates missing
 * directories; follows no links. -1 with errno. The path is NUL-terminated and changed
 * meanwhile. */
int dedup_open_parent(int dir, char *path, const char **name);

#endif
