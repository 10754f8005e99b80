#include "apps/dedup/archive/tree_file.h"

#include "cli/core/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

void dedup_tree_skip(dedup_tree *tree, const char *why)
{
    cli_note("%s: %s", cli_name((const char *)tree->path.bytes).text, why);
    tree->skipped++;
}

/* ---- hard links ------------------------------------------------------------------------------ */

static dedup_link *find_link(dedup_link *links, size_t room, const struct stat *facts)
{
    size_t at = (size_t)(facts->st_ino * 0x9e3779b97f4a7c15u + facts->st_dev) & (room - 1);
    while (links[at].path &&
           (links[at].inode != facts->st_ino || links[at].device != facts->st_dev))
        at = (at + 1) & (room - 1);
    return &links[at];
}

static dedup_status grow_links(dedup_tree *tree)
{
    size_t room = tree->link_room ? 2 * tree->link_room : 64;
    dedup_link *larger = calloc(room, sizeof *larger);
    if (!larger)
        return dedup_no_memory();
    for (size_t i = 0; i < tree->link_room; i++)
        if (tree->links[i].path) {
            struct stat facts = {.st_ino = tree->links[i].inode, .st_dev = tree->links[i].device};
            *find_link(larger, room, &facts) = tree->links[i];
        }
    free(tree->links);
    tree->links = larger;
    tree->link_room = room;
    return DEDUP_OK;
}

/* Remembers that the file was stored under the current path. */
static dedup_status note_link(dedup_tree *tree, const struct stat *facts)
{
    if (2 * (tree->link_count + 1) > tree->link_room) {
        dedup_status status = grow_links(tree);
        if (status != DEDUP_OK)
            return status;
    }
    char *path = strdup((const char *)tree->path.bytes);
    if (!path)
        return dedup_no_memory();
    *find_link(tree->links, tree->link_room, facts) =
        (dedup_link){facts->st_dev, facts->st_ino, path};
    tree->link_count++;
    return DEDUP_OK;
}

/* ---- extended attributes --------------------------------------------------------------------- */

/* "/proc/self/fd/N/name": the calls have no form that takes a directory. */
static const char *attribute_path(char room[320], int parent, const char *name)
{
    if (parent == AT_FDCWD)
        return name;
    snprintf(room, 320, "/proc/self/fd/%d/%s", parent, name);
    return room;
}

static dedup_status add_attribute(const char *path, const char *name, bry_buffer *to, bool *added)
{
    enum { MOST = 65536 };
    char *value = malloc(MOST);
    *added = false;
    if (!value)
        return dedup_no_memory();
    ssize_t len = lgetxattr(path, name, value, MOST);
    dedup_status status = DEDUP_OK;
    if (len >= 0) {
        status = dedup_put_attribute(to, (dedup_text){name, strlen(name)},
                                     (dedup_text){value, (size_t)len});
        *added = true;
    }
    free(value);
    return status;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted by name, so that the item does not depend on the order in the file system. */
static dedup_status add_sorted(const char *path, char *list, size_t len, bry_buffer *to,
                               uint64_t *count)
{
    const char *names[1024];
    size_t found = 0;
    for (char *name = list; name < list + len && found < 1024; name += strlen(name) + 1)
        names[found++] = name;
    qsort(names, found, sizeof names[0], compare_texts);
    dedup_status status = DEDUP_OK;
    for (size_t i = 0; status == DEDUP_OK && i < found; i++) {
        bool added;
        status = add_attribute(path, names[i], to, &added);
        *count += added;
    }
    return status;
}

static dedup_status read_attributes(int parent, const char *name, bry_buffer *to, uint64_t *count)
{
    char room[320], list[4096], *larger = NULL;
    const char *path = attribute_path(room, parent, name);
    *count = 0;
    ssize_t len = llistxattr(path, list, sizeof list);
    if (len < 0 && errno == ERANGE && (larger = malloc(65536)))
        len = llistxattr(path, larger, 65536);
    dedup_status status =
        len > 0 ? add_sorted(path, larger ? larger : list, (size_t)len, to, count) : DEDUP_OK;
    free(larger);
    return status;
}

/* ---- content --------------------------------------------------------------------------------- */

/* Whether a change right after reading would show in the times. */
static bool times_are_old(const dedup_tree *tree, const struct stat *facts)
{
    bool coarse = facts->st_mtim.tv_nsec == 0 && facts->st_ctim.tv_nsec == 0;
    int64_t margin = coarse ? 2000 : 100; /* in ms */
    int64_t now = (int64_t)tree->started.tv_sec * 1000 + tree->started.tv_nsec / 1000000;
    int64_t changed = (int64_t)facts->st_ctim.tv_sec * 1000 + facts->st_ctim.tv_nsec / 1000000;
    return changed < now - margin;
}

static dedup_status read_range(dedup_tree *tree, int fd, uint64_t len, uint64_t *got)
{
    bool failed;
    dedup_status status = dedup_pipeline_read(tree->pipeline, fd, len, got, &failed);
    tree->bytes += *got;
    if (!failed)
        return status;
    dedup_tree_skip(tree, strerror(errno));
    return DEDUP_OK;
}

static dedup_status pass_hole(dedup_tree *tree, uint64_t len)
{
    if (len == 0)
        return DEDUP_OK;
    tree->bytes += len;
    dedup_pipeline_passed(tree->pipeline, len);
    return dedup_pipeline_hole(tree->pipeline, len);
}

static dedup_status read_sparse(dedup_tree *tree, int fd, uint64_t size)
{
    uint64_t at = 0, got;
    while (at < size) {
        off_t data = lseek(fd, (off_t)at, SEEK_DATA);
        if (data < 0 && errno != ENXIO)
            return lseek(fd, (off_t)at, SEEK_SET) < 0 ? DEDUP_OK
                                                      : read_range(tree, fd, size - at, &got);
        uint64_t start = data < 0 || (uint64_t)data > size ? size : (uint64_t)data;
        dedup_status status = pass_hole(tree, start - at);
        if (status != DEDUP_OK || start == size)
            return status;
        off_t end = lseek(fd, (off_t)start, SEEK_HOLE);
        at = end < 0 || (uint64_t)end > size ? size : (uint64_t)end;
        if (lseek(fd, (off_t)start, SEEK_SET) < 0)
            break;
        status = read_range(tree, fd, at - start, &got);
        if (status == DEDUP_OK) /* what cannot be read must not move what follows */
            status = pass_hole(tree, at - start - got);
        if (status != DEDUP_OK)
            return status;
    }
    return DEDUP_OK;
}

static bool same_facts(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static dedup_status read_content(dedup_tree *tree, int fd, const struct stat *facts,
                                 const dedup_cached_file *file)
{
    struct stat after;
    bool sparse = (uint64_t)facts->st_blocks * 512 < (uint64_t)facts->st_size;
    uint64_t skipped = tree->skipped;
    /* What is appended meanwhile is left out, or a file that grows quickly would have no end. The
     * size of a file in /proc is 0. */
    uint64_t size = (uint64_t)facts->st_size, got;
    dedup_status status =
        sparse ? read_sparse(tree, fd, size) : read_range(tree, fd, size ? size : UINT64_MAX, &got);
    if (status != DEDUP_OK)
        return status;
    bool stable = fstat(fd, &after) == 0 && same_facts(facts, &after);
    if (!stable && tree->skipped == skipped)
        cli_note("%s: changed while it was read", cli_name((const char *)tree->path.bytes).text);
    bool keep = stable && tree->skipped == skipped && times_are_old(tree, facts);
    return dedup_pipeline_file_end(tree->pipeline, keep ? file : NULL);
}

static dedup_status file_key(dedup_tree *tree, const struct stat *facts, dedup_cached_file *file)
{
    size_t prefix = tree->key.len;
    dedup_status status = dedup_append(&tree->key, tree->path.bytes, tree->path.len);
    if (status == DEDUP_OK)
        *file = dedup_cached_of((dedup_text){(const char *)tree->key.bytes, tree->key.len}, facts);
    tree->key.len = prefix;
    return status;
}

static dedup_status pass_file(dedup_tree *tree, int parent, const char *name,
                              dedup_file_entry *entry)
{
    struct stat facts;
    dedup_cached_file file;
    dedup_text items;
    int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        dedup_tree_skip(tree, fd < 0 ? strerror(errno) : "changed while it was read");
        if (fd >= 0)
            close(fd);
        return DEDUP_OK;
    }
    entry->size = (uint64_t)facts.st_size;
    dedup_status status = file_key(tree, &facts, &file);
    if (status == DEDUP_OK)
        status = dedup_pipeline_entry(tree->pipeline, entry);
    if (status == DEDUP_OK && tree->cache && dedup_file_cache_find(tree->cache, &file, &items)) {
        tree->cached++;
        tree->bytes += (uint64_t)facts.st_size;
        dedup_pipeline_passed(tree->pipeline, (uint64_t)facts.st_size);
        status = dedup_pipeline_known(tree->pipeline, items);
    } else if (status == DEDUP_OK) {
        status = read_content(tree, fd, &facts, &file);
    }
    close(fd);
    tree->entries++;
    return status;
}

static bool entry_type_of(const struct stat *facts, dedup_type *type)
{
    switch (facts->st_mode & S_IFMT) {
    case S_IFREG:
        *type = DEDUP_FILE;
        return true;
    case S_IFDIR:
        *type = DEDUP_DIR;
        return true;
    case S_IFLNK:
        *type = DEDUP_SYMLINK;
        return true;
    case S_IFIFO:
        *type = DEDUP_FIFO;
        return true;
    case S_IFCHR:
        *type = DEDUP_CHARDEV;
        return true;
    case S_IFBLK:
        *type = DEDUP_BLOCKDEV;
        return true;
    default:
        return false; /* a socket exists only while its program runs */
    }
}

enum { LINK_ROOM = 4097 }; /* a link has at most 4096 bytes */

static dedup_status pass_entry(dedup_tree *tree, int parent, const char *name,
                               const struct stat *facts, dedup_file_entry *entry,
                               char target[LINK_ROOM])
{
    if (entry->type == DEDUP_SYMLINK) {
        ssize_t len = readlinkat(parent, name, target, LINK_ROOM);
        if (len < 0 || len == LINK_ROOM) {
            dedup_tree_skip(tree, len < 0 ? strerror(errno) : "the link is too long");
            return DEDUP_OK;
        }
        entry->target = (dedup_text){target, (size_t)len};
    }
    bool linked = entry->type != DEDUP_DIR && facts->st_nlink > 1;
    const char *first =
        linked && tree->link_room ? find_link(tree->links, tree->link_room, facts)->path : NULL;
    if (first) {
        entry->type = DEDUP_HARDLINK;
        entry->target = (dedup_text){first, strlen(first)};
        entry->attributes = 0;
        entry->attribute_bytes.len = 0;
    }
    uint64_t before = tree->entries;
    dedup_status status = DEDUP_OK;
    if (entry->type == DEDUP_FILE) {
        status = pass_file(tree, parent, name, entry);
    } else {
        tree->entries++;
        status = dedup_pipeline_entry(tree->pipeline, entry);
    }
    /* Not before: a file that vanished under this name may still be read under its other ones. */
    bool stored = tree->entries > before;
    return status == DEDUP_OK && stored && linked && !first ? note_link(tree, facts) : status;
}

dedup_status dedup_tree_entry(dedup_tree *tree, int parent, const char *name,
                              const struct stat *facts)
{
    dedup_file_entry entry = {.path = {(const char *)tree->path.bytes, tree->path.len},
                              .mode = facts->st_mode & 07777,
                              .user = facts->st_uid,
                              .group = facts->st_gid,
                              .seconds = facts->st_mtim.tv_sec,
                              .nanoseconds = (uint32_t)facts->st_mtim.tv_nsec};
    if (!entry_type_of(facts, &entry.type))
        return DEDUP_OK;
    if (!tree->pipeline) {
        tree->bytes += S_ISREG(facts->st_mode) ? (uint64_t)facts->st_size : 0;
        return DEDUP_OK;
    }
    if (entry.type == DEDUP_CHARDEV || entry.type == DEDUP_BLOCKDEV)
        entry.device = (uint64_t)facts->st_rdev;
    char target[LINK_ROOM];
    bry_buffer attributes = BRY_BUFFER;
    dedup_status status = read_attributes(parent, name, &attributes, &entry.attributes);
    entry.attribute_bytes = (dedup_text){(const char *)attributes.bytes, attributes.len};
    if (status == DEDUP_OK)
        status = pass_entry(tree, parent, name, facts, &entry, target);
    bry_buffer_free(&attributes);
    return status;
}
