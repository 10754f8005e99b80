#include "replace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 256 * 1024 };

static bry_status write_some(void *file, const void *bytes, size_t len)
{
    return fwrite(bytes, 1, len, file) == len ? BRY_OK : BRY_E_IO;
}

bry_sink cli_file_sink(FILE *file)
{
    return (bry_sink){write_some, file};
}

/* The name of the new file, and whose access it gets; a link that leads nowhere is replaced. */
static bry_status find_target(const char *path, char target[PATH_MAX], struct stat *like)
{
    if (realpath(path, target))
        return stat(target, like) == 0 ? BRY_OK : BRY_E_IO;
    if (errno != ENOENT)
        return BRY_E_IO;
    if (strlen(path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return BRY_E_IO;
    }
    memcpy(target, path, strlen(path) + 1);
    mode_t mask = umask(0);
    umask(mask);
    like->st_mode = 0666 & ~mask;
    like->st_uid = geteuid();
    like->st_gid = (gid_t)-1; /* the folder may decide it */
    return BRY_OK;
}

/* As the library does for files of one object: without the group, its members may do what
 * everyone may; an owner that this process may not give is left out. */
static bool set_access(int fd, const struct stat *like)
{
    struct stat now;
    if (fstat(fd, &now) != 0)
        return false;
    mode_t mode = like->st_mode & 07777;
    if (like->st_gid != (gid_t)-1 && like->st_gid != now.st_gid &&
        fchown(fd, (uid_t)-1, like->st_gid) != 0)
        mode = (mode & ~(mode_t)070) | (mode & 07) << 3;
    if (like->st_uid != now.st_uid && fchown(fd, like->st_uid, (gid_t)-1) != 0 && errno != EPERM)
        return false;
    return fchmod(fd, mode) == 0;
}

static bry_status sync_folder(const char *target)
{
    const char *slash = strrchr(target, '/');
    char folder[PATH_MAX] = ".";
    if (slash) {
        size_t len = (size_t)(slash - target) + 1;
        memcpy(folder, target, len);
        folder[len] = '\0';
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return BRY_E_IO;
    bry_status status = fsync(fd) == 0 ? BRY_OK : BRY_E_IO;
    int kept = errno;
    close(fd);
    errno = kept;
    return status;
}

/* Writes, syncs and closes. */
static bry_status fill(int fd, const struct stat *like, cli_writer *write, const void *object)
{
    FILE *file = fdopen(fd, "wb");
    if (!file) {
        int kept = errno;
        close(fd);
        errno = kept;
        return BRY_E_IO;
    }
    setvbuf(file, NULL, _IOFBF, BUFFER);
    bry_sink sink = cli_file_sink(file);
    bry_status status = set_access(fd, like) ? write(object, &sink) : BRY_E_IO;
    if (status == BRY_OK && (fflush(file) != 0 || fsync(fd) != 0))
        status = BRY_E_IO;
    int kept = errno;
    if (fclose(file) != 0 && status == BRY_OK)
        return BRY_E_IO;
    errno = kept;
    return status;
}

bry_status cli_replace_file(const char *path, cli_writer *write, const void *object)
{
    static const char name[] = ".bloomery-XXXXXX.tmp";
    char target[PATH_MAX], temporary[PATH_MAX];
    struct stat like;
    bry_status status = find_target(path, target, &like);
    if (status != BRY_OK)
        return status;
    const char *slash = strrchr(target, '/');
    size_t folder = slash ? (size_t)(slash - target) + 1 : 0;
    if (folder + sizeof name > sizeof temporary) {
        errno = ENAMETOOLONG;
        return BRY_E_IO;
    }
    memcpy(temporary, target, folder);
    memcpy(temporary + folder, name, sizeof name);
    int fd = mkostemps(temporary, (int)strlen(".tmp"), O_CLOEXEC);
    if (fd < 0)
        return BRY_E_IO;
    status = fill(fd, &like, write, object);
    if (status == BRY_OK && rename(temporary, target) != 0)
        status = BRY_E_IO;
    if (status != BRY_OK) {
        int kept = errno;
        unlink(temporary);
        errno = kept;
        return status;
    }
    return sync_folder(target);
}
