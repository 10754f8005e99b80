#include "apps/dedup/archive/restore.h"

#include "cli/core/files/target_file.h"
#include "cli/core/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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

/* Sets owner, attributes, mode and times on an open file or directory (fd), or, if fd is -1, on
 * `name` in the directory `parent` without following a link. NULL, or what could not be set, with
 * errno. */
static const char *set_meta(int fd, int parent, const char *name, const dedup_file_entry *entry)
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

/* Opens the directory of a path below `dir` and sets *name to its last part. Creates missing
 * directories; follows no links. -1 with errno. The path is NUL-terminated and changed
 * meanwhile. */
static int open_parent(int dir, char *path, const char **name)
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

/* With its own copies of the texts. */
struct dedup_postponed_entry {
    dedup_file_entry entry;
    char *texts;
};

dedup_status dedup_restore_begin(dedup_restore *restore)
{
    restore->fd = -1;
    restore->found = calloc(restore->wanted_count + 1, sizeof *restore->found);
    return restore->found ? DEDUP_OK : dedup_no_memory();
}

static void restore_failed(dedup_restore *restore, const char *path, const char *why)
{
    cli_note("%s: %s", cli_name(path).text, why);
    restore->failed++;
}

static bool path_is_wanted(dedup_restore *restore, dedup_text path)
{
    bool wanted = restore->wanted_count == 0;
    for (size_t i = 0; i < restore->wanted_count; i++)
        if (dedup_path_is_under(path, restore->wanted[i]))
            wanted = restore->found[i] = true;
    return wanted;
}

/* Copies an entry and its texts into memory that begins with the path. */
static dedup_file_entry copy_texts(const dedup_file_entry *entry, char *to)
{
    dedup_file_entry copy = *entry;
    dedup_text *const texts[] = {&copy.path, &copy.target, &copy.attribute_bytes};
    for (size_t i = 0; i < 3; i++) {
        if (texts[i]->len)
            memcpy(to, texts[i]->bytes, texts[i]->len);
        to[texts[i]->len] = 0;
        texts[i]->bytes = to;
        to += texts[i]->len + 1;
    }
    return copy;
}

static size_t texts_len(const dedup_file_entry *entry)
{
    return entry->path.len + entry->target.len + entry->attribute_bytes.len + 3;
}

static dedup_status keep_for_later(dedup_postponed *list, const dedup_file_entry *entry)
{
    dedup_status status =
        dedup_make_room(&list->entry, &list->room, list->count + 1, sizeof *list->entry);
    char *texts = status == DEDUP_OK ? malloc(texts_len(entry)) : NULL;
    if (!texts)
        return dedup_no_memory();
    list->entry[list->count++] = (struct dedup_postponed_entry){copy_texts(entry, texts), texts};
    return DEDUP_OK;
}

static void free_postponed(dedup_postponed *list)
{
    while (list->count > 0)
        free(list->entry[--list->count].texts);
    free(list->entry);
}

/* Makes way for a new entry. False: something is there and stays. */
static bool clear_way_of_entry(const dedup_restore *restore, int parent, const char *name)
{
    struct stat facts;
    if (fstatat(parent, name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
        return true;
    if (!restore->force || S_ISDIR(facts.st_mode)) {
        errno = EEXIST;
        return false;
    }
    return unlinkat(parent, name, 0) == 0;
}

static bool create_dir(dedup_restore *restore, int parent, const char *name)
{
    struct stat facts;
    if (dedup_path_is_root(restore->entry.path))
        return true;
    if (mkdirat(parent, name, 0700) == 0)
        return true;
    return errno == EEXIST && fstatat(parent, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
           (S_ISDIR(facts.st_mode) || (errno = EEXIST, false));
}

static bool create_link(dedup_restore *restore, int parent, const char *name)
{
    const char *last;
    int dir = open_parent(restore->dir, (char *)(uintptr_t)restore->entry.target.bytes, &last);
    if (dir < 0)
        return false;
    bool done = linkat(dir, last, parent, name, 0) == 0;
    int kept = errno;
    close(dir);
    errno = kept;
    return done;
}

/* Creates the entry; a file stays open as restore->fd. */
static bool create_entry(dedup_restore *restore, int parent, const char *name)
{
    const dedup_file_entry *entry = &restore->entry;
    if (entry->type == DEDUP_DIR)
        return create_dir(restore, parent, name);
    if (!clear_way_of_entry(restore, parent, name))
        return false;
    switch (entry->type) {
    case DEDUP_FILE:
        restore->fd =
            openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        return restore->fd >= 0;
    case DEDUP_SYMLINK:
        return symlinkat(entry->target.bytes, parent, name) == 0;
    case DEDUP_HARDLINK:
        return create_link(restore, parent, name);
    case DEDUP_FIFO:
        return mkfifoat(parent, name, 0600) == 0;
    default:
        return mknodat(parent, name, (entry->type == DEDUP_CHARDEV ? S_IFCHR : S_IFBLK) | 0600,
                       (dev_t)entry->device) == 0;
    }
}

static dedup_status begin_entry(dedup_restore *restore)
{
    const dedup_file_entry *entry = &restore->entry;
    char *path = (char *)(uintptr_t)entry->path.bytes;
    const char *name;
    dedup_status status = DEDUP_OK;
    int parent = open_parent(restore->dir, path, &name);
    if (parent < 0 || !create_entry(restore, parent, name)) {
        int kept = errno;
        if (entry->type != DEDUP_DIR)
            status = keep_for_later(&restore->refused, entry);
        errno = kept;
        restore_failed(restore, path, errno == EEXIST ? CLI_EXISTS : strerror(errno));
    } else {
        restore->entries++;
        restore->taking = entry->type == DEDUP_FILE;
        const char *problem = NULL;
        if (entry->type != DEDUP_FILE && entry->type != DEDUP_DIR && entry->type != DEDUP_HARDLINK)
            problem = set_meta(-1, parent, name, entry);
        if (problem)
            restore_failed(restore, path, problem);
    }
    if (parent >= 0)
        close(parent);
    return entry->type == DEDUP_DIR ? keep_for_later(&restore->later, entry) : status;
}

/* Whether a hard link's file was restored; if not, its content is needed once more. What has the
 * name of a file that was refused is another file. */
static bool link_is_restored(const dedup_restore *restore)
{
    const dedup_text target = restore->entry.target;
    for (size_t i = 0; i < restore->refused.count; i++) {
        const dedup_text path = restore->refused.entry[i].entry.path;
        if (path.len == target.len && memcmp(path.bytes, target.bytes, path.len) == 0)
            return false;
    }
    bool wanted = restore->wanted_count == 0;
    for (size_t i = 0; i < restore->wanted_count && !wanted; i++)
        wanted = dedup_path_is_under(target, restore->wanted[i]);
    return wanted;
}

static dedup_status restore_entry(dedup_restore *restore, const dedup_file_entry *entry)
{
    dedup_status status = dedup_restore_end_file(restore);
    if (status != DEDUP_OK || !path_is_wanted(restore, entry->path))
        return status;
    size_t path_len = restore->instead ? strlen(restore->instead) : 0;
    status = dedup_buffer_reserve(&restore->texts, texts_len(entry) + path_len);
    if (status != DEDUP_OK)
        return status;
    dedup_file_entry renamed = *entry;
    if (restore->instead) /* the name of a link whose file was not wanted */
        renamed.path = (dedup_text){restore->instead, path_len};
    restore->entry = copy_texts(&renamed, (char *)restore->texts.bytes);
    restore->at = 0;
    if (entry->type == DEDUP_HARDLINK && (restore->dir < 0 || !link_is_restored(restore)))
        return keep_for_later(&restore->links, &restore->entry);
    if (restore->dir >= 0)
        return begin_entry(restore);
    restore->taking = entry->type == DEDUP_FILE;
    restore->entries += restore->taking;
    return DEDUP_OK;
}

static dedup_status write_content(dedup_restore *restore, const unsigned char *bytes, size_t len)
{
    if (restore->dir < 0)
        return fwrite(bytes, 1, len, stdout) == len
                   ? DEDUP_OK
                   : dedup_problem(DEDUP_FAILED, "standard output: ");
    for (size_t done = 0; done < len;) {
        ssize_t got = pwrite(restore->fd, bytes + done, len - done, (off_t)(restore->at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return dedup_problem(DEDUP_FAILED, "%s: ", cli_name(restore->entry.path.bytes).text);
        done += (size_t)got;
    }
    return DEDUP_OK;
}

static dedup_status restore_chunk(dedup_restore *restore, const dedup_item *item)
{
    dedup_status status = dedup_store_read(restore->store, &item->digest, &restore->chunk);
    if (status == DEDUP_OK && restore->chunk.len != item->len)
        status = dedup_problem(DEDUP_DAMAGED, "a chunk is not as long as the manifest says");
    if (status == DEDUP_OK) {
        status = write_content(restore, restore->chunk.bytes, restore->chunk.len);
    } else if (restore->dir >= 0 && (status == DEDUP_DAMAGED || status == DEDUP_MISSING)) {
        cli_note("%s: bytes %llu to %llu are lost and restored as zeros: %s",
                 cli_name(restore->entry.path.bytes).text, (unsigned long long)restore->at,
                 (unsigned long long)(restore->at + item->len - 1), dedup_problem_text());
        restore->failed++;
        status = DEDUP_OK;
    }
    restore->at += item->len;
    restore->bytes += item->len;
    return status;
}

static dedup_status restore_hole(dedup_restore *restore, uint64_t len)
{
    static const unsigned char zeros[65536];
    dedup_status status = DEDUP_OK;
    for (uint64_t left = restore->dir < 0 ? len : 0; status == DEDUP_OK && left > 0;) {
        size_t part = left < sizeof zeros ? (size_t)left : sizeof zeros;
        status = write_content(restore, zeros, part);
        left -= part;
    }
    restore->at += len;
    restore->bytes += len;
    return status;
}

dedup_status dedup_restore_item(void *context, const dedup_item *item)
{
    dedup_restore *restore = context;
    if (item->tag == 'E')
        return restore_entry(restore, &item->entry);
    if (!restore->taking)
        return DEDUP_OK;
    return item->tag == 'C' ? restore_chunk(restore, item) : restore_hole(restore, item->len);
}

dedup_status dedup_restore_end_file(dedup_restore *restore)
{
    const char *problem = NULL;
    if (restore->fd >= 0) {
        if (ftruncate(restore->fd, (off_t)restore->at) != 0)
            problem = strerror(errno);
        if (!problem)
            problem = set_meta(restore->fd, -1, "", &restore->entry);
        if (close(restore->fd) != 0)
            problem = strerror(errno);
        if (problem)
            restore_failed(restore, restore->entry.path.bytes, problem);
    }
    restore->fd = -1;
    restore->taking = false;
    return DEDUP_OK;
}

bool dedup_restore_next_link(dedup_restore *restore)
{
    if (restore->links_done == restore->links.count)
        return false;
    const dedup_file_entry *link = &restore->links.entry[restore->links_done++].entry;
    restore->only = (char *)(uintptr_t)link->target.bytes;
    restore->wanted = &restore->only;
    restore->wanted_count = 1;
    restore->instead = link->path.bytes;
    return true;
}

void dedup_restore_finish(dedup_restore *restore)
{
    while (restore->later.count > 0) {
        struct dedup_postponed_entry *later = &restore->later.entry[--restore->later.count];
        char *path = later->texts;
        const char *name, *problem = NULL;
        int parent = open_parent(restore->dir, path, &name);
        int fd =
            parent < 0 ? -1 : openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            problem = strerror(errno);
        else
            problem = set_meta(fd, -1, "", &later->entry);
        if (problem)
            restore_failed(restore, path, problem);
        if (fd >= 0)
            close(fd);
        if (parent >= 0)
            close(parent);
        free(later->texts);
    }
}

void dedup_restore_free(dedup_restore *restore)
{
    if (restore->fd >= 0)
        close(restore->fd);
    free_postponed(&restore->later);
    free_postponed(&restore->links);
    free_postponed(&restore->refused);
    free(restore->found);
    bry_buffer_free(&restore->texts);
    bry_buffer_free(&restore->chunk);
}
