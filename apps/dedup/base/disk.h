/*
 * File operations of a repository: complete writes and reads, files that are replaced atomically,
 * and problems, which are described once, where they are noticed, and printed by the command.
 */
#ifndef BLOOMERY_DEDUP_DISK_H
#define BLOOMERY_DEDUP_DISK_H

#include <bloomery/base.h>
#include <sys/types.h>

/* Describes what went wrong, for this thread, and is the status. A description ending in ": " gets
 * the text of errno, which stays as it is. */
#define dedup_problem(status, ...) (dedup_describe(__VA_ARGS__), (status))
__attribute__((format(printf, 1, 2))) void dedup_describe(const char *format, ...);

static inline bry_status dedup_no_memory(void)
{
    return dedup_problem(BRY_E_NOMEM, "%s", bry_status_text(BRY_E_NOMEM));
}

/* The last description of this thread. */
const char *dedup_problem_text(void);

/* Prints it as the error message of the command and returns the exit code. */
int dedup_report(bry_status status);

/* Writes all bytes at the file's offset. `name` is for the message. */
bry_status dedup_write_all(int fd, const void *bytes, size_t len, const char *name);

/* Reads up to len bytes; fewer only at the end of the file. */
bry_status dedup_read_at(int fd, void *bytes, size_t len, uint64_t at, const char *name,
                         size_t *got);

/* fsync of a file or folder, named relative to a folder. */
bry_status dedup_sync(int fd, const char *name);
bry_status dedup_sync_at(int folder, const char *name);

/* Replaces a file under a folder: the old or the new content, also after a crash. The new content
 * is on disk when this returns. `subfolder` contains it. */
bry_status dedup_replace(int folder, const char *subfolder, const char *name, const void *bytes,
                         size_t len);

/* Reads a whole file of at most `most` bytes into a buffer of the caller's. BRY_E_NOUNIT: it does not
 * exist. */
bry_status dedup_read_whole(int folder, const char *name, size_t most, bry_buffer *into);

/* Appends to a buffer. */
bry_status dedup_append(bry_buffer *buffer, const void *bytes, size_t len);

/* A list of names in a folder, sorted by their bytes; without "." and "..". */
typedef struct dedup_names {
    char **name;
    size_t count;
} dedup_names;
/* `fd` is closed. */
bry_status dedup_names_read(int fd, const char *what, dedup_names *names);
void dedup_names_free(dedup_names *names);

/* Removes all files in a folder, which may be missing. */
bry_status dedup_empty_folder(int parent, const char *name);

#endif
