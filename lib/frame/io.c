#include "frame/io.h"

#include <errno.h>
#include <string.h>

bry_status bry__io_write_at(const bry__io *io, int fd, const void *bytes, size_t len,
                            uint64_t offset)
{
    const unsigned char *next = bytes;
    while (len) {
        ssize_t put = io->write_at(io->opaque, fd, next, len, offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put == 0)
            errno = ENOSPC; /* a write of 0 bytes without an error */
        if (put <= 0)
            return BRY_E_IO;
        next += put;
        len -= (size_t)put;
        offset += (uint64_t)put;
    }
    return BRY_OK;
}

bry_status bry__io_read_at(const bry__io *io, int fd, void *bytes, size_t len, uint64_t offset,
                           size_t *got)
{
    unsigned char *next = bytes;
    size_t sum = 0;
    while (sum < len) {
        ssize_t part = io->read_at(io->opaque, fd, next + sum, len - sum, offset + sum);
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return BRY_E_IO;
        if (part == 0)
            break;
        sum += (size_t)part;
    }
    *got = sum;
    return BRY_OK;
}

bry_status bry__io_read(const bry__io *io, int fd, void *bytes, size_t len, size_t *got)
{
    ssize_t part;
    do
        part = io->read(io->opaque, fd, bytes, len);
    while (part < 0 && errno == EINTR);
    if (part < 0)
        return BRY_E_IO;
    *got = (size_t)part;
    return BRY_OK;
}

bry_status bry__io_open(const bry__io *io, const char *path, int flags, mode_t mode, int *fd)
{
    int opened;
    do
        opened = io->open(io->opaque, path, flags, mode);
    while (opened < 0 && errno == EINTR);
    if (opened < 0)
        return BRY_E_IO;
    *fd = opened;
    return BRY_OK;
}

bry_status bry__io_truncate(const bry__io *io, int fd, uint64_t size)
{
    int result;
    do
        result = io->truncate(io->opaque, fd, size);
    while (result < 0 && errno == EINTR);
    return result < 0 ? BRY_E_IO : BRY_OK;
}

bry_status bry__io_sync(const bry__io *io, int fd)
{
    return io->sync(io->opaque, fd) < 0 ? BRY_E_IO : BRY_OK;
}

void bry__io_drop(const bry__io *io, int fd)
{
    int kept = errno;
    io->close(io->opaque, fd);
    errno = kept;
}

bry_status bry__io_sync_parent(const bry__io *io, const char *path)
{
    char dir[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    if (slash) {
        size_t len = slash == path ? 1 : (size_t)(slash - path);
        if (len >= sizeof dir) {
            errno = ENAMETOOLONG;
            return BRY_E_IO;
        }
        memcpy(dir, path, len);
        dir[len] = '\0';
    }
    return io->sync_dir(io->opaque, dir) < 0 ? BRY_E_IO : BRY_OK;
}
