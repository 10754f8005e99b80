#include "frame/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "common/random.h"
#include "frame/frame.h"

enum { BUFFER = 4096, TRIES = 16 };

/* ---- saving -------------------------------------------------------------------------------- */

/* Collects small writes; large ones bypass it. */
typedef struct saver {
    const bry__io *io;
    int fd;
    uint64_t offset;
    size_t held;
    unsigned char buffer[BUFFER];
} saver;

static bry_status file_flush(saver *s)
{
    bry_status status = bry__io_write_at(s->io, s->fd, s->buffer, s->held, s->offset);
    s->offset += s->held;
    s->held = 0;
    return status;
}

static bry_status file_saver_write(void *opaque, const void *bytes, size_t len)
{
    saver *s = opaque;
    if (len > BUFFER - s->held) {
        bry_status status = file_flush(s);
        if (status != BRY_OK)
            return status;
    }
    if (len > BUFFER) {
        bry_status status = bry__io_write_at(s->io, s->fd, bytes, len, s->offset);
        s->offset += len;
        return status;
    }
    if (len)
        memcpy(s->buffer + s->held, bytes, len);
    s->held += len;
    return BRY_OK;
}

/* The path of the file to write. *exists: there is an old one, with these facts. */
static bry_status file_find_target(const bry__io *io, const char *path, char target[PATH_MAX],
                                   bry__file_facts *facts, bool *exists)
{
    *exists = io->resolve(io->opaque, path, target) == 0;
    if (!*exists) {
        if (errno != ENOENT)
            return BRY_E_IO;
        if (strlen(path) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return BRY_E_IO;
        }
        memcpy(target, path, strlen(path) + 1);
        return BRY_OK;
    }
    if (io->facts_of(io->opaque, target, facts) < 0)
        return BRY_E_IO;
    if (facts->kind != BRY__FILE_REGULAR) {
        errno = facts->kind == BRY__FILE_DIR ? EISDIR : ENOTSUP;
        return BRY_E_IO;
    }
    return BRY_OK;
}

/* Creates a file in target's directory. Its name does not contain target's, which may have full
 * length. */
static bry_status file_open_temporary(const bry__io *io, const char *target, mode_t mode,
                                      char temporary[PATH_MAX], int *fd)
{
    const char *slash = strrchr(target, '/');
    int dir = slash ? (int)(slash - target) + 1 : 0;
    for (int i = 0; i < TRIES; i++) {
        uint64_t name;
        bry_status status = bry__random_seed(&name);
        if (status != BRY_OK)
            return status;
        int len = snprintf(temporary, PATH_MAX, "%.*s.bloomery-%016llx.tmp", dir, target,
                           (unsigned long long)name);
        if (len < 0 || len >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return BRY_E_IO;
        }
        status = bry__io_open(io, temporary, O_WRONLY | O_CREAT | O_EXCL, mode, fd);
        if (status == BRY_OK || errno != EEXIST)
            return status;
    }
    return BRY_E_IO;
}

/* Everything between open and close of the temporary file. */
static bry_status file_fill(const bry__io *io, int fd, bry__file_writer *write, void *context)
{
    saver s;
    s.io = io;
    s.fd = fd;
    s.offset = 0;
    s.held = 0;
    bry_sink sink = {file_saver_write, &s};
    bry_status status = write(context, &sink);
    if (status == BRY_OK)
        status = file_flush(&s);
    if (status == BRY_OK)
        status = bry__io_sync(io, fd);
    return status;
}

/* Fills the temporary file, which is open, and gives it target's name. */
static bry_status file_fill_and_place(const bry__io *io, int fd, const char *temporary,
                                      const char *target, bry__file_writer *write, void *context)
{
    bry_status status = file_fill(io, fd, write, context);
    if (status != BRY_OK)
        bry__io_drop(io, fd);
    else if (io->close(io->opaque, fd) < 0 && errno != EINTR)
        status = BRY_E_IO;
    if (status == BRY_OK && io->rename(io->opaque, temporary, target) < 0)
        status = BRY_E_IO;
    if (status != BRY_OK) {
        int kept = errno;
        io->unlink(io->opaque, temporary);
        errno = kept;
        return status;
    }
    return bry__io_sync_parent(io, target);
}

/* The same with a temporary file next to target, with the access rights of `like` unless NULL. */
static bry_status file_save_at(const bry__io *io, const char *target, const bry__file_facts *like,
                               bry__file_writer *write, void *context)
{
    char temporary[PATH_MAX];
    int fd;
    bry_status status = file_open_temporary(io, target, like ? 0600 : 0666, temporary, &fd);
    if (status != BRY_OK)
        return status;
    if (like && io->set_access(io->opaque, fd, like) < 0) {
        int kept = errno;
        bry__io_drop(io, fd);
        io->unlink(io->opaque, temporary);
        errno = kept;
        return BRY_E_IO;
    }
    return file_fill_and_place(io, fd, temporary, target, write, context);
}

bry_status bry__file_save(const bry__io *io, const char *path, bry__file_writer *write,
                          void *context)
{
    char target[PATH_MAX];
    bry__file_facts old;
    bool exists;
    bry_status status = file_find_target(io, path, target, &old, &exists);
    if (status != BRY_OK)
        return status;
    return file_save_at(io, target, exists ? &old : NULL, write, context);
}

bry_status bry__file_save_via(const bry__io *io, const char *path, const char *temporary,
                              bry__file_writer *write, void *context)
{
    int fd;
    if (io->unlink(io->opaque, temporary) < 0 && errno != ENOENT)
        return BRY_E_IO;
    bry_status status = bry__io_open(io, temporary, O_WRONLY | O_CREAT | O_EXCL, 0666, &fd);
    if (status != BRY_OK)
        return status;
    return file_fill_and_place(io, fd, temporary, path, write, context);
}

bry_status bry__file_write(const bry__io *io, const char *path, bry__file_writer *write,
                           void *context)
{
    int fd;
    bry_status status = bry__io_open(io, path, O_WRONLY | O_CREAT | O_EXCL, 0666, &fd);
    if (status != BRY_OK)
        return status;
    status = file_fill(io, fd, write, context);
    if (status != BRY_OK)
        bry__io_drop(io, fd);
    else if (io->close(io->opaque, fd) < 0 && errno != EINTR)
        status = BRY_E_IO;
    if (status != BRY_OK) {
        int kept = errno;
        io->unlink(io->opaque, path);
        errno = kept;
    }
    return status;
}

/* ---- loading ------------------------------------------------------------------------------- */

typedef struct loader {
    const bry__io *io;
    int fd;
    uint64_t given; /* bytes handed to the reader */
    size_t at, held;
    unsigned char buffer[BUFFER];
} loader;

static bry_status file_loader_read(void *opaque, void *bytes, size_t len, size_t *got)
{
    loader *l = opaque;
    *got = 0;
    if (l->at == l->held && len >= BUFFER) {
        bry_status status = bry__io_read(l->io, l->fd, bytes, len, got);
        l->given += *got;
        return status;
    }
    if (l->at == l->held) {
        l->at = l->held = 0;
        bry_status status = bry__io_read(l->io, l->fd, l->buffer, BUFFER, &l->held);
        if (status != BRY_OK)
            return status;
    }
    *got = len < l->held - l->at ? len : l->held - l->at;
    if (*got)
        memcpy(bytes, l->buffer + l->at, *got);
    l->at += *got;
    l->given += *got;
    return BRY_OK;
}

bry_status bry__file_load(const bry__io *io, const char *path, bry__file_reader *read,
                          void *context, bry_load *load)
{
    if (bry__load_begin(load) != BRY_OK)
        return BRY_E_RANGE;
    loader l;
    l.io = io;
    l.given = 0;
    l.at = l.held = 0;
    bry_status status = bry__io_open(io, path, O_RDONLY, 0, &l.fd);
    if (status != BRY_OK)
        return bry__load_fail(load, status, 0, "the file cannot be opened");

    bry_source source = {file_loader_read, &l};
    status = read(context, &source, load);
    if (status == BRY_OK) {
        uint64_t end = l.given;
        unsigned char more;
        size_t got;
        status = file_loader_read(&l, &more, 1, &got);
        if (status != BRY_OK)
            bry__load_fail(load, status, end, "the file cannot be read");
        else if (got)
            status = bry__load_fail(load, BRY_E_BADDATA, end, "trailing data");
    }
    bry__io_drop(io, l.fd);
    return status;
}
