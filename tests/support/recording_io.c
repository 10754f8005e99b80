#include "support/recording_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *block)
{
    if (!block) {
        fputs("recording_io: out of memory or places\n", stderr);
        abort();
    }
    return block;
}

static void *copy_of(const void *bytes, size_t len)
{
    void *copy = must(malloc(len ? len : 1));
    if (len)
        memcpy(copy, bytes, len);
    return copy;
}

static char *text_copy(const char *text)
{
    return text ? copy_of(text, strlen(text) + 1) : NULL;
}

/* ---- names and contents -------------------------------------------------------------------- */

static recorded_name *find_name(const recording_io *fs, const char *path)
{
    for (int i = 0; i < RECORDED_NAMES; i++)
        if (fs->names[i].path && strcmp(fs->names[i].path, path) == 0)
            return (recorded_name *)&fs->names[i];
    return NULL;
}

static void set_name(recording_io *fs, const char *path, int file)
{
    recorded_name *name = find_name(fs, path);
    for (int i = 0; !name && i < RECORDED_NAMES; i++) {
        if (!fs->names[i].path) {
            name = &fs->names[i];
            name->path = text_copy(path);
        }
    }
    name = must(name);
    name->file = file;
}

static void drop_name(recording_io *fs, const char *path, int file)
{
    recorded_name *name = find_name(fs, path);
    if (name && name->file == file) {
        free(name->path);
        name->path = NULL;
    }
}

/* Files are numbered in the order of their creation, in a crash state as in the recording. */
static recorded_file *reach_file(recording_io *fs, int file)
{
    must(file < RECORDED_FILES ? fs : NULL);
    while (fs->file_count <= file)
        fs->files[fs->file_count++] = (recorded_file){.bytes = copy_of("", 0), .mode = 0666};
    return &fs->files[file];
}

static void resize(recorded_file *file, size_t len)
{
    if (len > file->room || len < file->room / 2) {
        file->room = len + len / 2 + 1;
        file->bytes = must(realloc(file->bytes, file->room));
    }
    if (len > file->len)
        memset(file->bytes + file->len, 0, len - file->len);
    file->len = len;
}

void recording_apply(recording_io *fs, const recorded_op *op)
{
    switch (op->kind) {
    case RECORDED_CREATE:
        reach_file(fs, op->file);
        set_name(fs, op->path, op->file);
        break;
    case RECORDED_RENAME:
        reach_file(fs, op->file);
        set_name(fs, op->other, op->file);
        drop_name(fs, op->path, op->file);
        break;
    case RECORDED_UNLINK:
        drop_name(fs, op->path, op->file);
        break;
    case RECORDED_WRITE: {
        recorded_file *file = reach_file(fs, op->file);
        if (op->offset + op->len > file->len)
            resize(file, op->offset + op->len);
        memcpy(file->bytes + op->offset, op->bytes, op->len);
        break;
    }
    case RECORDED_TRUNCATE:
        resize(reach_file(fs, op->file), op->offset);
        break;
    case RECORDED_SYNC:
    case RECORDED_SYNC_DIR:
    case RECORDED_MARK:
        break;
    }
}

static void record(recording_io *fs, const recorded_op *op)
{
    if (fs->op_count == fs->op_room) {
        fs->op_room = fs->op_room ? fs->op_room * 2 : 64;
        fs->ops = must(realloc(fs->ops, fs->op_room * sizeof *fs->ops));
    }
    recorded_op *kept = &fs->ops[fs->op_count++];
    *kept = *op;
    kept->bytes = op->bytes ? copy_of(op->bytes, op->len) : NULL;
    kept->path = text_copy(op->path);
    kept->other = text_copy(op->other);
}

static void perform(recording_io *fs, const recorded_op *op)
{
    recording_apply(fs, op);
    record(fs, op);
}

/* ---- the operations ------------------------------------------------------------------------ */

static bool fails(recording_io *fs)
{
    fs->calls++;
    if (!fs->fail_at || fs->calls < fs->fail_at || (fs->calls > fs->fail_at && !fs->keep_failing))
        return false;
    errno = fs->fail_errno ? fs->fail_errno : EIO;
    return true;
}

static bool interrupts(recording_io *fs)
{
    fs->interrupted = fs->interrupt && !fs->interrupted;
    if (fs->interrupted)
        errno = EINTR;
    return fs->interrupted;
}

static int no(int error)
{
    errno = error;
    return -1;
}

static int rec_open(void *opaque, const char *path, int flags, mode_t mode)
{
    recording_io *fs = opaque;
    if (interrupts(fs) || fails(fs))
        return -1;
    recorded_name *name = find_name(fs, path);
    if (name && (flags & O_CREAT) && (flags & O_EXCL))
        return no(EEXIST);
    if (!name && !(flags & O_CREAT))
        return no(ENOENT);
    int file = name ? name->file : fs->file_count;
    if (!name) {
        recorded_op op = {.kind = RECORDED_CREATE, .file = file, .path = (char *)path};
        perform(fs, &op);
        fs->files[file].mode = mode;
    }
    for (int fd = 0; fd < RECORDED_DESCRIPTORS; fd++) {
        if (!fs->descriptors[fd].open) {
            fs->descriptors[fd].open = true;
            fs->descriptors[fd].locked = false;
            fs->descriptors[fd].file = file;
            fs->descriptors[fd].at = 0;
            return fd;
        }
    }
    return no(EMFILE);
}

static int rec_close(void *opaque, int fd)
{
    recording_io *fs = opaque;
    must(fs->descriptors[fd].open ? fs : NULL); /* closing twice stops the test */
    fs->descriptors[fd].open = false;
    bool kept = fs->keep_failing;
    fs->keep_failing = false;
    bool failed = fails(fs);
    fs->keep_failing = kept;
    return failed ? -1 : 0;
}

static recorded_file *file_of(recording_io *fs, int fd)
{
    must(fs->descriptors[fd].open ? fs : NULL);
    return &fs->files[fs->descriptors[fd].file];
}

static size_t limited(const recording_io *fs, size_t len)
{
    return fs->at_most && len > fs->at_most ? fs->at_most : len;
}

static ssize_t rec_read_at(void *opaque, int fd, void *bytes, size_t len, uint64_t offset)
{
    recording_io *fs = opaque;
    const recorded_file *file = file_of(fs, fd);
    if (interrupts(fs) || fails(fs))
        return -1;
    size_t left = offset < file->len ? file->len - (size_t)offset : 0;
    len = limited(fs, len < left ? len : left);
    if (len)
        memcpy(bytes, file->bytes + offset, len);
    return (ssize_t)len;
}

static ssize_t rec_read(void *opaque, int fd, void *bytes, size_t len)
{
    recording_io *fs = opaque;
    ssize_t got = rec_read_at(opaque, fd, bytes, len, fs->descriptors[fd].at);
    if (got > 0)
        fs->descriptors[fd].at += (uint64_t)got;
    return got;
}

static ssize_t rec_write_at(void *opaque, int fd, const void *bytes, size_t len, uint64_t offset)
{
    recording_io *fs = opaque;
    file_of(fs, fd);
    if (interrupts(fs))
        return -1;
    bool failed = fails(fs);
    int error = errno;
    len = failed && !fs->fail_late ? len / 2 : limited(fs, len);
    recorded_op op = {.kind = RECORDED_WRITE,
                      .file = fs->descriptors[fd].file,
                      .offset = offset,
                      .len = len,
                      .bytes = (unsigned char *)bytes};
    if (len)
        perform(fs, &op);
    return failed ? no(error) : (ssize_t)len;
}

static int rec_truncate(void *opaque, int fd, uint64_t size)
{
    recording_io *fs = opaque;
    file_of(fs, fd);
    if (interrupts(fs) || fails(fs))
        return -1;
    recorded_op op = {.kind = RECORDED_TRUNCATE, .file = fs->descriptors[fd].file, .offset = size};
    perform(fs, &op);
    return 0;
}

static int rec_sync(void *opaque, int fd)
{
    recording_io *fs = opaque;
    file_of(fs, fd);
    if (fails(fs))
        return -1;
    recorded_op op = {.kind = RECORDED_SYNC, .file = fs->descriptors[fd].file};
    perform(fs, &op);
    return 0;
}

static int rec_set_access(void *opaque, int fd, const bry__file_facts *like)
{
    recording_io *fs = opaque;
    if (fails(fs))
        return -1;
    file_of(fs, fd)->mode = like->mode;
    return 0;
}

static int rec_lock(void *opaque, int fd)
{
    recording_io *fs = opaque;
    if (fails(fs))
        return -1;
    for (int i = 0; i < RECORDED_DESCRIPTORS; i++)
        if (i != fd && fs->descriptors[i].open && fs->descriptors[i].locked &&
            fs->descriptors[i].file == fs->descriptors[fd].file)
            return no(EWOULDBLOCK);
    fs->descriptors[fd].locked = true;
    return 0;
}

static int rec_facts(void *opaque, int fd, bry__file_facts *facts)
{
    recording_io *fs = opaque;
    if (fails(fs))
        return -1;
    const recorded_file *file = file_of(fs, fd);
    *facts = (bry__file_facts){.kind = BRY__FILE_REGULAR, .mode = file->mode, .size = file->len};
    return 0;
}

static int rec_facts_of(void *opaque, const char *path, bry__file_facts *facts)
{
    recording_io *fs = opaque;
    if (fails(fs))
        return -1;
    const recorded_name *name = find_name(fs, path);
    if (!name)
        return no(ENOENT);
    const recorded_file *file = &fs->files[name->file];
    *facts = (bry__file_facts){.kind = BRY__FILE_REGULAR, .mode = file->mode, .size = file->len};
    return 0;
}

static int rec_resolve(void *opaque, const char *path, char resolved[PATH_MAX])
{
    recording_io *fs = opaque;
    if (fails(fs))
        return -1;
    if (!find_name(fs, path))
        return no(ENOENT);
    snprintf(resolved, PATH_MAX, "%s", path);
    return 0;
}

static int rec_rename(void *opaque, const char *from, const char *to)
{
    recording_io *fs = opaque;
    if (fails(fs))
        return -1;
    const recorded_name *name = find_name(fs, from);
    if (!name)
        return no(ENOENT);
    recorded_op op = {
        .kind = RECORDED_RENAME, .file = name->file, .path = (char *)from, .other = (char *)to};
    perform(fs, &op);
    return 0;
}

static int rec_unlink(void *opaque, const char *path)
{
    recording_io *fs = opaque;
    if (fails(fs))
        return -1;
    const recorded_name *name = find_name(fs, path);
    if (!name)
        return no(ENOENT);
    recorded_op op = {.kind = RECORDED_UNLINK, .file = name->file, .path = (char *)path};
    perform(fs, &op);
    return 0;
}

/* The only directory always exists, under any name. */
static int rec_make_dir(void *opaque, const char *dir)
{
    recording_io *fs = opaque;
    (void)dir;
    return fails(fs) ? -1 : no(EEXIST);
}

static int rec_sync_dir(void *opaque, const char *dir)
{
    recording_io *fs = opaque;
    (void)dir;
    if (fails(fs))
        return -1;
    recorded_op op = {.kind = RECORDED_SYNC_DIR};
    perform(fs, &op);
    return 0;
}

/* Names that begin with the directory's. */
static int rec_list(void *opaque, const char *dir, bry__visit_name *visit, void *context)
{
    recording_io *fs = opaque;
    size_t len = strlen(dir);
    if (fails(fs))
        return -1;
    for (int i = 0; i < RECORDED_NAMES; i++) {
        const char *path = fs->names[i].path;
        if (path && strncmp(path, dir, len) == 0 && path[len] == '/') {
            char *name = text_copy(path + len + 1); /* the visit may remove it */
            visit(context, name);
            free(name);
        }
    }
    return 0;
}

/* ---- set-up -------------------------------------------------------------------------------- */

void recording_init(recording_io *fs)
{
    memset(fs, 0, sizeof *fs);
    fs->io = (bry__io){
        .opaque = fs,
        .open = rec_open,
        .close = rec_close,
        .read = rec_read,
        .read_at = rec_read_at,
        .write_at = rec_write_at,
        .truncate = rec_truncate,
        .sync = rec_sync,
        .set_access = rec_set_access,
        .lock = rec_lock,
        .facts = rec_facts,
        .facts_of = rec_facts_of,
        .resolve = rec_resolve,
        .rename = rec_rename,
        .unlink = rec_unlink,
        .make_dir = rec_make_dir,
        .sync_dir = rec_sync_dir,
        .list = rec_list,
    };
}

static void forget_record(recording_io *fs)
{
    for (size_t i = 0; i < fs->op_count; i++) {
        free(fs->ops[i].bytes);
        free(fs->ops[i].path);
        free(fs->ops[i].other);
    }
    fs->op_count = 0;
    for (int i = 0; i < fs->base_file_count; i++)
        free(fs->base_files[i].bytes);
    fs->base_file_count = 0;
    for (int i = 0; i < RECORDED_NAMES; i++) {
        free(fs->base_names[i].path);
        fs->base_names[i].path = NULL;
    }
}

void recording_free(recording_io *fs)
{
    forget_record(fs);
    free(fs->ops);
    for (int i = 0; i < fs->file_count; i++)
        free(fs->files[i].bytes);
    for (int i = 0; i < RECORDED_NAMES; i++)
        free(fs->names[i].path);
    memset(fs, 0, sizeof *fs);
}

void recording_start(recording_io *fs)
{
    forget_record(fs);
    for (int i = 0; i < fs->file_count; i++) {
        fs->base_files[i] = fs->files[i];
        fs->base_files[i].bytes = copy_of(fs->files[i].bytes, fs->files[i].len);
    }
    fs->base_file_count = fs->file_count;
    for (int i = 0; i < RECORDED_NAMES; i++) {
        fs->base_names[i] = fs->names[i];
        fs->base_names[i].path = text_copy(fs->names[i].path);
    }
}

void recording_mark(recording_io *fs, uint64_t first, uint64_t second)
{
    recorded_op op = {.kind = RECORDED_MARK, .offset = first, .len = (size_t)second};
    record(fs, &op);
}

void recording_put(recording_io *fs, const char *path, const void *bytes, size_t len)
{
    recorded_name *name = find_name(fs, path);
    int number = name ? name->file : fs->file_count;
    recorded_file *file = reach_file(fs, number);
    set_name(fs, path, number);
    unsigned char *copy = copy_of(bytes, len); /* copied first: `bytes` may be the old content */
    free(file->bytes);
    file->bytes = copy;
    file->len = file->room = len;
}

const recorded_file *recording_get(const recording_io *fs, const char *path)
{
    const recorded_name *name = find_name(fs, path);
    return name ? &fs->files[name->file] : NULL;
}

size_t recording_names(const recording_io *fs)
{
    size_t count = 0;
    for (int i = 0; i < RECORDED_NAMES; i++)
        count += fs->names[i].path != NULL;
    return count;
}

size_t recording_open_files(const recording_io *fs)
{
    size_t count = 0;
    for (int i = 0; i < RECORDED_DESCRIPTORS; i++)
        count += fs->descriptors[i].open;
    return count;
}
