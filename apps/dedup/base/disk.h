/*
 * File operations of a repository: complete writes and reads, and files that are replaced
 * atomically.
 */
#ifndef BLOOMERY_DEDUP_DISK_H
#define BLOOMERY_DEDUP_DISK_H

#include "apps/dedup/base/problem.h"

#include <bloomery/base.h>

/* Writes all bytes at the file's offset. `name` is for the message. */
dedup_status dedup_write_all(int fd, const void *bytes, size_t len, const char *name);

/* Reads up to len bytes; fewer only at the end of the file. */
dedup_status dedup_read_at(int fd, void *bytes, size_t len, uint64_t at, const char *name,
                           size_t *got);

/* fsync of a file or directory, named relative to a directory. */
dedup_status dedup_sync(int fd, const char *name);
dedup_status dedup_sync_at(int dir, const char *name);

/* Replaces a file under a directory: the old or the new content, also after a crash. The new
 * content is on disk when this returns. `subdirectory` contains it. */
dedup_status dedup_replace(int dir, const char *subdir, const char *name, const void *bytes,
                           size_t len);

/* Reads a whole file of at most `most` bytes into a buffer of the caller's. DEDUP_MISSING: it does
 * not exist. */
dedup_status dedup_read_whole(int dir, const char *name, size_t most, bry_buffer *into);

/* Appends to a buffer. */
dedup_status dedup_append(bry_buffer *buffer, const void *bytes, size_t len);

/* Makes room in a buffer, without its content. */
dedup_status dedup_buffer_reserve(bry_buffer *buffer, size_t len);

/* Makes room for `wanted` items of `each` bytes. `list` is the address of the pointer to them. */
dedup_status dedup_make_room(void *list, size_t *room, size_t wanted, size_t each);

/* A list of names in a directory, sorted by their bytes; without "." and "..". */
typedef struct dedup_names {
    char **name;
    size_t count;
} dedup_names;
/* `fd` is closed. */
dedup_status dedup_names_read(int fd, const char *what, dedup_names *names);
void dedup_names_free(dedup_names *names);

/* Removes all files in a directory, which may be missing. */
dedup_status dedup_empty_dir(int parent, const char *name);

#endif
