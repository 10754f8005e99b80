#include "apps/dedup/archive/restore_meta.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static bool set_attribute(int fd, const char *path, dedup_text name, dedup_text value)
{
    char text[256];
    if (name.len >= sizeof text) {
        errno = ERANGE;
        return false;
    }
    memcpy(text, name.bytes, name.len);
    text[name.len] = 0;
    int done = fd >= 0 ? fsetxattr(fd, text, value.bytes, value.len, 0)
                       : lsetxattr(path, text, value.bytes, value.len, 0);
    /* Only root may set those of other kinds, and some file systems have none. */
    bool own = strncmp(text, "user.", 5) == 0 || geteuid() == 0;
    return done == 0 || ((errno == EPERM || errno == EACCES) && !own);
}

static bool set_attributes(int fd, int parent, const char *name, const dedup_file_entry *entry)
{
    char path[320];
    dedup_text rest = entry->attribute_bytes, key, value;
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", parent, name);
    for (uint64_t i = 0; i < entry->attributes; i++)
        if (!dedup_next_attribute(&rest, &key, &value) || !set_attribute(fd, path, key, value))
            return false;
    return true;
}

/* A program that ran with the rights of its owner must not get those of whoever restores it. */
static mode_t restored_mode(const dedup_file_entry *entry)
{
    bool owned = geteuid() == 0 || entry->user == geteuid();
    return owned || entry->type == DEDUP_DIR ? entry->mode
                                             : entry->mode & ~(mode_t)(S_ISUID | S_ISGID);
}

const char *dedup_set_meta(int fd, int parent, const char *name, const dedup_file_entry *entry)
{
    const struct timespec times[2] = {{0, UTIME_OMIT},
                                      {(time_t)entry->seconds, (long)entry->nanoseconds}};
    const char *problem = NULL;
    /* In this order: changing the owner clears attributes and bits of the mode. */
    if (geteuid() == 0 &&
        (fd >= 0 ? fchown(fd, entry->user, entry->group)
                 : fchownat(parent, name, entry->user, entry->group, AT_SYMLINK_NOFOLLOW)) != 0)
        problem = "the owner cannot be set";
    if (!set_attributes(fd, parent, name, entry))
        problem = "an extended attribute cannot be set";
    if (entry->type != DEDUP_SYMLINK &&
        (fd >= 0 ? fchmod(fd, restored_mode(entry))
                 : fchmodat(parent, name, restored_mode(entry), 0)) != 0)
        problem = "the mode cannot be set";
    if ((fd >= 0 ? futimens(fd, times) : utimensat(parent, name, times, AT_SYMLINK_NOFOLLOW)) != 0)
        problem = "the time cannot be set";
    return problem;
}

int dedup_open_parent(int dir, char *path, const char **name)
{
    enum { FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
    int at = openat(dir, ".", FLAGS);
    char *part = path, *slash;
    while (at >= 0 && (slash = strchr(part, '/')) != NULL) {
        *slash = 0;
        int next = openat(at, part, FLAGS);
        if (next < 0 && errno == ENOENT && mkdirat(at, part, 0777) == 0)
            next = openat(at, part, FLAGS);
        int kept = errno;
        *slash = '/';
        close(at);
        errno = kept;
        at = next;
        part = slash + 1;
    }
    *name = part;
    return at;
}
