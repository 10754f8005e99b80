/* Owner, attributes, mode and times of a restored entry. */
#ifndef BLOOMERY_DEDUP_RESTORE_META_H
#define BLOOMERY_DEDUP_RESTORE_META_H

#include "apps/dedup/archive/manifest_items.h"

/* Sets them on an open file or folder (fd), or, if fd is -1, on `name` in the folder `parent`
 * without following a link. NULL, or what could not be set, with errno. */
const char *dedup_set_meta(int fd, int parent, const char *name, const dedup_file_entry *entry);

/* Opens the folder of a path below `folder` and sets *name to its last part. Creates missing
 * folders; follows no links. -1 with errno. The path is NUL-terminated and changed meanwhile. */
int dedup_open_parent(int folder, char *path, const char **name);

#endif
