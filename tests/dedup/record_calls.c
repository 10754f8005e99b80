/*
 * Loaded before the program's libraries (LD_PRELOAD): records every call that changes a file or a
 * directory below RECORD_ROOT in the file RECORD_LOG, for our own files and for LMDB's.
 * crash_model.py replays what a crash may leave.
 *
 * A record: one letter, numbers of 8 bytes and texts with their lengths before them.
 *   O open path flags    W open offset bytes    T open size    S open    (S: fsync, fdatasync)
 *   D path (directory synced)    R from to    L from to    U path    M path (directory made)
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { DESCRIPTORS = 4096 };

static pthread_mutex_t recording = PTHREAD_MUTEX_INITIALIZER;
static uint64_t opened[DESCRIPTORS]; /* number of the open, or 0 */
static uint64_t opens;

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a name */
#define REAL(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))

static void emit(const void *bytes, size_t len)
{
    static int log = -1;
    if (log < 0)
        log = REAL(open)(getenv("RECORD_LOG"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (REAL(write)(log, bytes, len) != (ssize_t)len)
        abort();
}

static void emit_number(uint64_t number)
{
    emit(&number, sizeof number);
}

static void emit_text(const char *text)
{
    emit_number(strlen(text));
    emit(text, strlen(text));
}

/* The path below the root, or NULL. */
static const char *below_root(int dir, const char *path, char room[2 * PATH_MAX])
{
    const char *root = getenv("RECORD_ROOT");
    char link[64];
    if (!root || !getenv("RECORD_LOG"))
        return NULL;
    if (path[0] == '/') {
        snprintf(room, 2 * PATH_MAX, "%s", path);
    } else {
        snprintf(link, sizeof link, dir == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", dir);
        ssize_t len = readlink(link, room, PATH_MAX);
        if (len < 0)
            return NULL;
        snprintf(room + len, PATH_MAX, "/%s", path);
    }
    size_t len = strlen(root);
    if (strncmp(room, root, len) != 0 || (room[len] != '/' && room[len] != 0))
        return NULL;
    return room[len] ? room + len + 1 : room + len;
}

static bool is_ours(int fd)
{
    return fd >= 0 && fd < DESCRIPTORS && opened[fd];
}

static void emit_call(char what, int fd)
{
    emit(&what, 1);
    emit_number((uint64_t)getpid() << 32 | opened[fd]);
}

static void note_open(int fd, int dir, const char *path, int flags)
{
    char room[2 * PATH_MAX];
    const char *below = below_root(dir, path, room);
    if (fd < 0 || fd >= DESCRIPTORS)
        return;
    pthread_mutex_lock(&recording);
    opened[fd] = 0;
    if (below && ((flags & O_ACCMODE) != O_RDONLY)) {
        opened[fd] = ++opens;
        emit_call('O', fd);
        emit_text(below);
        emit_number((uint64_t)(flags & O_TRUNC ? 1 : 0) | (flags & O_DSYNC ? 2 : 0));
    }
    pthread_mutex_unlock(&recording);
}

static void note_write(int fd, const void *bytes, size_t len, uint64_t offset)
{
    if (!is_ours(fd))
        return;
    pthread_mutex_lock(&recording);
    emit_call('W', fd);
    emit_number(offset);
    emit_number(len);
    emit(bytes, len);
    pthread_mutex_unlock(&recording);
}

static void note_open_call(char what, int fd)
{
    if (!is_ours(fd))
        return;
    pthread_mutex_lock(&recording);
    emit_call(what, fd);
    pthread_mutex_unlock(&recording);
}

static void note_path_call(char what, int dir, const char *path)
{
    char room[2 * PATH_MAX];
    const char *below = below_root(dir, path, room);
    if (!below)
        return;
    pthread_mutex_lock(&recording);
    emit(&what, 1);
    emit_text(below);
    pthread_mutex_unlock(&recording);
}

/* Whether a call fails: with RECORD_FAIL=N, the N-th call that changes something below the root and
 * all later ones of this process do, with the error RECORD_ERRNO. */
static bool must_fail(bool below)
{
    static uint64_t calls;
    const char *at = getenv("RECORD_FAIL");
    if (!at || !below || __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) < strtoull(at, NULL, 10))
        return false;
    const char *code = getenv("RECORD_ERRNO");
    errno = code ? (int)strtol(code, NULL, 10) : EIO;
    return true;
}

static bool is_below(int dir, const char *path)
{
    char room[2 * PATH_MAX];
    return below_root(dir, path, room) != NULL;
}

/* ---- the calls ------------------------------------------------------------------------------ */

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library has its own
 * names */

/* Declares `mode`, from the optional last argument. */
#define MODE_AFTER_FLAGS                                                                           \
    mode_t mode = 0;                                                                               \
    if (flags & O_CREAT) {                                                                         \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode = (mode_t)va_arg(list, int);                                                          \
        va_end(list);                                                                              \
    }

int open(const char *path, int flags, ...)
{
    MODE_AFTER_FLAGS
    int fd = REAL(open)(path, flags, mode);
    note_open(fd, AT_FDCWD, path, flags);
    return fd;
}

int open64(const char *path, int flags, ...)
{
    MODE_AFTER_FLAGS
    return open(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
    MODE_AFTER_FLAGS
    if ((flags & O_CREAT) && must_fail(is_below(dir, path)))
        return -1;
    int fd = REAL(openat)(dir, path, flags, mode);
    note_open(fd, dir, path, flags);
    return fd;
}

ssize_t write(int fd, const void *bytes, size_t len)
{
    if (must_fail(is_ours(fd)))
        return -1;
    off_t at = is_ours(fd) ? lseek(fd, 0, SEEK_CUR) : 0;
    ssize_t done = REAL(write)(fd, bytes, len);
    if (done > 0)
        note_write(fd, bytes, (size_t)done, (uint64_t)at);
    return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset)
{
    if (must_fail(is_ours(fd)))
        return -1;
    ssize_t done = REAL(pwrite)(fd, bytes, len, offset);
    if (done > 0)
        note_write(fd, bytes, (size_t)done, (uint64_t)offset);
    return done;
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off_t offset)
{
    return pwrite(fd, bytes, len, offset);
}

/* The parts that were written, up to the number of bytes that were. */
static ssize_t note_parts(int fd, const struct iovec *parts, ssize_t done, off_t offset)
{
    ssize_t left = done;
    for (int i = 0; left > 0; i++) {
        size_t len = parts[i].iov_len < (size_t)left ? parts[i].iov_len : (size_t)left;
        note_write(fd, parts[i].iov_base, len, (uint64_t)offset);
        offset += (off_t)len;
        left -= (ssize_t)len;
    }
    return done;
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    if (must_fail(is_ours(fd)))
        return -1;
    return note_parts(fd, parts, REAL(pwritev)(fd, parts, count, offset), offset);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    if (must_fail(is_ours(fd)))
        return -1;
    off_t offset = lseek(fd, 0, SEEK_CUR);
    return note_parts(fd, parts, REAL(writev)(fd, parts, count), offset);
}

int ftruncate(int fd, off_t size)
{
    if (must_fail(is_ours(fd)))
        return -1;
    int done = REAL(ftruncate)(fd, size);
    if (done == 0 && is_ours(fd)) {
        pthread_mutex_lock(&recording);
        emit_call('T', fd);
        emit_number((uint64_t)size);
        pthread_mutex_unlock(&recording);
    }
    return done;
}

/* A directory is opened for reading only, so it is recorded by its path. */
static int note_sync(int fd, int done)
{
    struct stat facts;
    char link[64], path[PATH_MAX];
    if (done != 0 || fstat(fd, &facts) != 0)
        return done;
    if (!S_ISDIR(facts.st_mode)) {
        note_open_call('S', fd);
        return done;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof path - 1);
    if (len > 0) {
        path[len] = 0;
        note_path_call('D', AT_FDCWD, path);
    }
    return done;
}

int fsync(int fd)
{
    return must_fail(is_ours(fd)) ? -1 : note_sync(fd, REAL(fsync)(fd));
}

int fdatasync(int fd)
{
    return must_fail(is_ours(fd)) ? -1 : note_sync(fd, REAL(fdatasync)(fd));
}

/* Content that was written by the C library, past these functions, is recorded when the file gets
 * its name. */
static void note_content(int dir, const char *path)
{
    char room[2 * PATH_MAX];
    const char *below = below_root(dir, path, room);
    if (!below || !strstr(below, "cache/"))
        return;
    int fd = REAL(openat)(dir, path, O_RDONLY | O_CLOEXEC);
    struct stat facts;
    char *bytes = fd >= 0 && fstat(fd, &facts) == 0 ? malloc((size_t)facts.st_size + 1) : NULL;
    if (bytes && pread(fd, bytes, (size_t)facts.st_size, 0) == facts.st_size) {
        note_open(fd, dir, path, O_WRONLY);
        note_write(fd, bytes, (size_t)facts.st_size, 0);
        opened[fd] = 0;
    }
    free(bytes);
    close(fd);
}

static void note_names(char what, int from_dir, const char *from, int to_dir, const char *to)
{
    char room[2][2 * PATH_MAX];
    const char *old = below_root(from_dir, from, room[0]);
    const char *new = below_root(to_dir, to, room[1]);
    if (!old || !new)
        return;
    pthread_mutex_lock(&recording);
    emit(&what, 1);
    emit_text(old);
    emit_text(new);
    pthread_mutex_unlock(&recording);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    if (must_fail(is_below(to_dir, to)))
        return -1;
    note_content(from_dir, from);
    int done = REAL(renameat)(from_dir, from, to_dir, to);
    if (done == 0)
        note_names('R', from_dir, from, to_dir, to);
    return done;
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int link(const char *from, const char *to)
{
    if (must_fail(is_below(AT_FDCWD, to)))
        return -1;
    int done = REAL(link)(from, to);
    if (done == 0)
        note_names('L', AT_FDCWD, from, AT_FDCWD, to);
    return done;
}

int unlinkat(int dir, const char *path, int flags)
{
    int done = REAL(unlinkat)(dir, path, flags);
    if (done == 0)
        note_path_call('U', dir, path);
    return done;
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    if (must_fail(is_below(dir, path)))
        return -1;
    int done = REAL(mkdirat)(dir, path, mode);
    if (done == 0)
        note_path_call('M', dir, path);
    return done;
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
