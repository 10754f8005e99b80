/*
 * The file operations that files and logs are built on, as a table: tests replace it by a layer
 * that records, fails, and replays what a crash may leave.
 *
 * Each works as the POSIX call that it is named after: -1 and errno on failure. Writes and reads
 * may be short or stop with EINTR; bry__io_write_at() and the functions after it handle that.
 */
#ifndef BRY_FRAME_IO_H
#define BRY_FRAME_IO_H

#include <bloomery/base.h>
#include <limits.h>
#include <sys/types.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

typedef enum bry__file_kind { BRY__FILE_REGULAR, BRY__FILE_DIR, BRY__FILE_OTHER } bry__file_kind;

typedef struct bry__file_facts {
    bry__file_kind kind;
    mode_t mode; /* permission bits */
    uint64_t size;
    uid_t owner;
    gid_t group;
} bry__file_facts;

typedef void bry__visit_name(void *context, const char *name);

typedef struct bry__io {
    void *opaque;
    int (*open)(void *opaque, const char *path, int flags, mode_t mode);
    int (*close)(void *opaque, int fd);
    ssize_t (*read)(void *opaque, int fd, void *bytes, size_t len);
    ssize_t (*read_at)(void *opaque, int fd, void *bytes, size_t len, uint64_t offset);
    ssize_t (*write_at)(void *opaque, int fd, const void *bytes, size_t len, uint64_t offset);
    int (*truncate)(void *opaque, int fd, uint64_t size);
    int (*sync)(void *opaque, int fd);
    /* Sets owner, group and mode of another file. An owner that this process may not set is
     * skipped; if the group cannot be set, the group gets the permissions of others. */
    int (*set_access)(void *opaque, int fd, const bry__file_facts *like);
    int (*lock)(void *opaque, int fd); /* against other processes; EWOULDBLOCK: locked */
    int (*facts)(void *opaque, int fd, bry__file_facts *facts);
    int (*facts_of)(void *opaque, const char *path, bry__file_facts *facts);
    int (*resolve)(void *opaque, const char *path, char resolved[PATH_MAX]); /* follows links */
    int (*rename)(void *opaque, const char *from, const char *to);
    int (*unlink)(void *opaque, const char *path);
    int (*make_dir)(void *opaque, const char *dir); /* EEXIST */
    int (*sync_dir)(void *opaque, const char *dir);
    /* Calls visit for each name in the directory; visit may remove it. */
    int (*list)(void *opaque, const char *dir, bry__visit_name *visit, void *context);
} bry__io;

/* The operating system's. */
const bry__io *bry__io_posix(void);

/* All len bytes, or BRY_E_IO with errno set. */
bry_status bry__io_write_at(const bry__io *io, int fd, const void *bytes, size_t len,
                            uint64_t offset);

/* Up to len bytes; fewer only at the end of the file. */
bry_status bry__io_read_at(const bry__io *io, int fd, void *bytes, size_t len, uint64_t offset,
                           size_t *got);

/* One read, repeated if a signal interrupts it; *got is 0 at the end. */
bry_status bry__io_read(const bry__io *io, int fd, void *bytes, size_t len, size_t *got);

/* Repeated if a signal interrupts them. A failed sync is never repeated. */
bry_status bry__io_open(const bry__io *io, const char *path, int flags, mode_t mode, int *fd);
bry_status bry__io_truncate(const bry__io *io, int fd, uint64_t size);
bry_status bry__io_sync(const bry__io *io, int fd);

/* Closes and keeps errno: for paths that have failed already. */
void bry__io_drop(const bry__io *io, int fd);

/* Syncs the directory that contains path. */
bry_status bry__io_sync_parent(const bry__io *io, const char *path);

#endif
