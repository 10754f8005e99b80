#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frame/io.h"

static int posix_open(void *opaque, const char *path, int flags, mode_t mode)
{
    (void)opaque;
    return open(path, flags | O_CLOEXEC, mode);
}

static int posix_close(void *opaque, int fd)
{
    (void)opaque;
    return close(fd);
}

static ssize_t posix_read(void *opaque, int fd, void *bytes, size_t len)
{
    (void)opaque;
    return read(fd, bytes, len);
}

static ssize_t posix_read_at(void *opaque, int fd, void *bytes, size_t len, uint64_t offset)
{
    (void)opaque;
    return pread(fd, bytes, len, (off_t)offset);
}

static ssize_t posix_write_at(void *opaque, int fd, const void *bytes, size_t len, uint64_t offset)
{
    (void)opaque;
    return pwrite(fd, bytes, len, (off_t)offset);
}

static int posix_truncate(void *opaque, int fd, uint64_t size)
{
    (void)opaque;
    return ftruncate(fd, (off_t)size);
}

static int posix_sync(void *opaque, int fd)
{
    (void)opaque;
    return fsync(fd);
}

static int posix_set_access(void *opaque, int fd, const bry__file_facts *like)
{
    (void)opaque;
    struct stat now;
    if (fstat(fd, &now) < 0)
        return -1;
    mode_t mode = like->mode;
    if (now.st_gid != like->group && fchown(fd, (uid_t)-1, like->group) < 0)
        mode = (mode & ~(mode_t)070) | (mode & 07) << 3;
    if (now.st_uid != like->owner && fchown(fd, like->owner, (gid_t)-1) < 0 && errno != EPERM)
        return -1;
    return fchmod(fd, mode);
}

static int posix_lock(void *opaque, int fd)
{
    (void)opaque;
    return flock(fd, LOCK_EX | LOCK_NB);
}

static int facts_from(int result, const struct stat *st, bry__file_facts *facts)
{
    if (result < 0)
        return -1;
    facts->kind = S_ISREG(st->st_mode)   ? BRY__FILE_REGULAR
                  : S_ISDIR(st->st_mode) ? BRY__FILE_DIR
                                         : BRY__FILE_OTHER;
    facts->mode = st->st_mode & 07777;
    facts->size = (uint64_t)st->st_size;
    facts->owner = st->st_uid;
    facts->group = st->st_gid;
    return 0;
}

static int posix_facts(void *opaque, int fd, bry__file_facts *facts)
{
    (void)opaque;
    struct stat st;
    return facts_from(fstat(fd, &st), &st, facts);
}

static int posix_facts_of(void *opaque, const char *path, bry__file_facts *facts)
{
    (void)opaque;
    struct stat st;
    return facts_from(stat(path, &st), &st, facts);
}

static int posix_resolve(void *opaque, const char *path, char resolved[PATH_MAX])
{
    (void)opaque;
    return realpath(path, resolved) ? 0 : -1;
}

static int posix_rename(void *opaque, const char *from, const char *to)
{
    (void)opaque;
    return rename(from, to);
}

static int posix_unlink(void *opaque, const char *path)
{
    (void)opaque;
    return unlink(path);
}

static int posix_make_dir(void *opaque, const char *dir)
{
    (void)opaque;
    return mkdir(dir, 0777);
}

static int posix_sync_dir(void *opaque, const char *dir)
{
    (void)opaque;
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int result = fsync(fd), kept = errno;
    close(fd);
    errno = kept;
    /* Some file systems cannot sync a directory and say so: nothing more can be done there. */
    return result < 0 && (errno == EINVAL || errno == ENOTSUP) ? 0 : result;
}

static int posix_list(void *opaque, const char *dir, bry__visit_name *visit, void *context)
{
    (void)opaque;
    DIR *open = opendir(dir);
    if (!open)
        return -1;
    const struct dirent *entry;
    errno = 0;
    while ((entry = readdir(open)) != NULL) {
        visit(context, entry->d_name);
        errno = 0;
    }
    int kept = errno;
    closedir(open);
    errno = kept;
    return kept ? -1 : 0;
}

const bry__io *bry__io_posix(void)
{
    static const bry__io posix = {
        .open = posix_open,
        .close = posix_close,
        .read = posix_read,
        .read_at = posix_read_at,
        .write_at = posix_write_at,
        .truncate = posix_truncate,
        .sync = posix_sync,
        .set_access = posix_set_access,
        .lock = posix_lock,
        .facts = posix_facts,
        .facts_of = posix_facts_of,
        .resolve = posix_resolve,
        .rename = posix_rename,
        .unlink = posix_unlink,
        .make_dir = posix_make_dir,
        .sync_dir = posix_sync_dir,
        .list = posix_list,
    };
    return &posix;
}
