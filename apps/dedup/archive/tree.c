#include "apps/dedup/archive/tree_file.h"

#include "cli/core/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the given paths ------------------------------------------------------------------------- */

typedef struct given_path {
    char *stored;
    size_t index; /* in the list of the user */
    bool absolute;
} given_path;

/* The path as it is stored: without a leading slash, empty components and ".". `to` has room for two
 * bytes more than the given one. False: it contains "..". */
static bool stored_path(const char *given, char *to)
{
    char *start = to;
    while (*given) {
        size_t len = strcspn(given, "/");
        if (len == 2 && memcmp(given, "..", 2) == 0)
            return false;
        if (len > 0 && !(len == 1 && *given == '.')) {
            if (to > start)
                *to++ = '/';
            memcpy(to, given, len);
            to += len;
        }
        given += len + (given[len] == '/');
    }
    if (to == start)
        *to++ = '.';
    *to = 0;
    return true;
}

/* Directories come right before what is below them: a slash sorts before all other bytes. */
static int path_byte_rank(unsigned char byte)
{
    return byte == 0 ? 0 : byte == '/' ? 1 : byte + 1;
}

static int compare_paths(const void *a, const void *b)
{
    const given_path *x = a, *y = b;
    bool x_root = strcmp(x->stored, ".") == 0, y_root = strcmp(y->stored, ".") == 0;
    if (x_root != y_root)
        return x_root ? -1 : 1;
    size_t at = 0;
    while (x->stored[at] && x->stored[at] == y->stored[at])
        at++;
    int order =
        path_byte_rank((unsigned char)x->stored[at]) - path_byte_rank((unsigned char)y->stored[at]);
    return order ? order : x->index < y->index ? -1 : 1;
}

static dedup_status read_given(char *const *given, size_t count, given_path *paths)
{
    for (size_t i = 0; i < count; i++) {
        paths[i] = (given_path){malloc(strlen(given[i]) + 2), i, given[i][0] == '/'};
        if (!paths[i].stored)
            return dedup_no_memory();
        if (!stored_path(given[i], paths[i].stored))
            return dedup_problem(DEDUP_FAILED, "%s: a path must not contain \"..\"",
                                 cli_name(given[i]).text);
    }
    return DEDUP_OK;
}

/* In sorted paths, one is covered by the last that is not covered, or by none. */
static dedup_status mark_covered(char *const *given, const given_path *paths, size_t count,
                                 bool *covered)
{
    bool whole[2] = {false, false}; /* "." and "/" */
    const given_path *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const given_path *path = &paths[i];
        dedup_text text = {path->stored, strlen(path->stored)};
        if (last && dedup_path_is_under(text, last->stored) && last->absolute != path->absolute)
            return dedup_problem(DEDUP_FAILED, "%s and %s would be stored under the same name",
                                 cli_name(given[last->index]).text,
                                 cli_name(given[path->index]).text);
        if (whole[path->absolute] || (last && dedup_path_is_under(text, last->stored)))
            covered[path->index] = true;
        else
            last = path;
        if (dedup_path_is_root(text))
            whole[path->absolute] = true;
    }
    return DEDUP_OK;
}

/* Sets covered[i] for each path that is stored with another one: it is the same or below it.
 * DEDUP_FAILED: a path contains "..", or two different ones would get the same name. */
static dedup_status find_covered(char *const *given, size_t count, bool *covered)
{
    given_path *paths = calloc(count + 1, sizeof *paths);
    if (!paths)
        return dedup_no_memory();
    dedup_status status = read_given(given, count, paths);
    if (status == DEDUP_OK) {
        qsort(paths, count, sizeof *paths, compare_paths);
        status = mark_covered(given, paths, count, covered);
    }
    for (size_t i = 0; i < count; i++)
        free(paths[i].stored);
    free(paths);
    return status;
}

/* ---- walking --------------------------------------------------------------------------------- */

/* A directory that is being walked through. */
typedef struct open_dir {
    int fd;
    dedup_names names;
    size_t next;
    size_t path_len; /* of its path as stored */
} open_dir;

typedef struct dir_stack {
    open_dir *dir;
    size_t count, room;
} dir_stack;

static dedup_status set_path(dedup_tree *tree, size_t len, const char *name)
{
    dedup_status status = DEDUP_OK;
    tree->path.len = len;
    if (len > 0)
        status = dedup_append(&tree->path, "/", 1);
    if (status == DEDUP_OK)
        status = dedup_append(&tree->path, name, strlen(name) + 1);
    tree->path.len -= status == DEDUP_OK; /* the NUL is not part of it */
    return status;
}

/* A pattern matches the whole path or the last name. */
static bool is_excluded(const dedup_tree *tree)
{
    const char *path = (const char *)tree->path.bytes, *slash = strrchr(path, '/');
    for (size_t i = 0; tree->exclude && i < tree->exclude->count; i++)
        if (fnmatch(tree->exclude->text[i], path, 0) == 0 ||
            (slash && fnmatch(tree->exclude->text[i], slash + 1, 0) == 0))
            return true;
    return false;
}

static dedup_status push_dir(dedup_tree *tree, dir_stack *stack, int parent, const char *name,
                             size_t path_len)
{
    dedup_status status =
        dedup_make_room(&stack->dir, &stack->room, stack->count + 1, sizeof *stack->dir);
    if (status != DEDUP_OK)
        return status;
    open_dir opened = {.path_len = path_len};
    opened.fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int copy = opened.fd < 0 ? -1 : fcntl(opened.fd, F_DUPFD_CLOEXEC, 3);
    if (copy < 0) {
        dedup_tree_skip(tree, strerror(errno));
        if (opened.fd >= 0)
            close(opened.fd);
        return DEDUP_OK;
    }
    status = dedup_names_read(copy, name, &opened.names);
    if (status != DEDUP_OK) {
        close(opened.fd);
        if (status == DEDUP_NO_MEMORY)
            return status;
        dedup_tree_skip(tree, strerror(errno));
        return DEDUP_OK;
    }
    stack->dir[stack->count++] = opened;
    return DEDUP_OK;
}

static void pop_dir(dir_stack *stack)
{
    open_dir *top = &stack->dir[--stack->count];
    close(top->fd);
    dedup_names_free(&top->names);
}

/* Passes one entry, and enters it if it is a directory. */
static dedup_status visit_name(dedup_tree *tree, dir_stack *stack, int parent, const char *name)
{
    struct stat facts;
    if (is_excluded(tree))
        return DEDUP_OK;
    if (fstatat(parent, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) {
        dedup_tree_skip(tree, strerror(errno));
        return DEDUP_OK;
    }
    if (facts.st_ino == tree->repository.st_ino && facts.st_dev == tree->repository.st_dev) {
        if (tree->pipeline)
            cli_note("%s: skipped, because it is the repository",
                     cli_name((const char *)tree->path.bytes).text);
        return DEDUP_OK;
    }
    bool root = dedup_path_is_root((dedup_text){(const char *)tree->path.bytes, tree->path.len});
    dedup_status status = dedup_tree_entry(tree, parent, name, &facts);
    if (status == DEDUP_OK && S_ISDIR(facts.st_mode))
        status = push_dir(tree, stack, parent, name, root ? 0 : tree->path.len);
    return status;
}

static dedup_status walk_tree(dedup_tree *tree, const char *given)
{
    dir_stack stack = {NULL, 0, 0};
    dedup_status status = visit_name(tree, &stack, AT_FDCWD, given);
    while (status == DEDUP_OK && stack.count > 0) {
        open_dir *top = &stack.dir[stack.count - 1];
        if (top->next == top->names.count) {
            pop_dir(&stack);
            continue;
        }
        const char *name = top->names.name[top->next++];
        status = set_path(tree, top->path_len, name);
        if (status == DEDUP_OK)
            status = visit_name(tree, &stack, top->fd, name);
    }
    while (stack.count > 0)
        pop_dir(&stack);
    free(stack.dir);
    return status;
}

/* The paths have been looked at by find_covered(). */
static dedup_status begin_path(dedup_tree *tree, const char *given)
{
    char *stored = malloc(strlen(given) + 2);
    if (!stored)
        return dedup_no_memory();
    stored_path(given, stored);
    dedup_status status = set_path(tree, 0, stored);
    free(stored);
    tree->key.len = 0;
    if (status == DEDUP_OK && given[0] != '/') {
        if (!tree->dir && !(tree->dir = getcwd(NULL, 0)))
            return dedup_problem(DEDUP_FAILED, "getcwd: ");
        status = dedup_append(&tree->key, tree->dir, strlen(tree->dir));
    }
    return status == DEDUP_OK ? dedup_append(&tree->key, "/", 1) : status;
}

static dedup_status add_path(dedup_tree *tree, const char *given)
{
    struct stat facts;
    dedup_status status = begin_path(tree, given);
    if (status == DEDUP_OK && lstat(given, &facts) != 0)
        status = dedup_problem(DEDUP_FAILED, "%s: ", cli_name(given).text);
    return status == DEDUP_OK ? walk_tree(tree, given) : status;
}

dedup_status dedup_tree_add(dedup_tree *tree, char *const *given, size_t count)
{
    bool *covered = calloc(count + 1, sizeof *covered);
    dedup_status status = covered ? find_covered(given, count, covered) : dedup_no_memory();
    for (size_t i = 0; status == DEDUP_OK && i < count; i++)
        if (!covered[i])
            status = add_path(tree, given[i]);
    free(covered);
    return status;
}

dedup_status dedup_tree_add_stream(dedup_tree *tree, int fd, const char *name)
{
    uint64_t got = 0;
    bool failed = false;
    dedup_file_entry entry = {.type = DEDUP_FILE,
                              .path = {name, strlen(name)},
                              .mode = 0600,
                              .user = getuid(),
                              .group = getgid(),
                              .seconds = tree->started.tv_sec,
                              .nanoseconds = (uint32_t)tree->started.tv_nsec};
    dedup_status status = dedup_pipeline_entry(tree->pipeline, &entry);
    if (status == DEDUP_OK)
        status = dedup_pipeline_read(tree->pipeline, fd, UINT64_MAX, &got, &failed);
    if (status == DEDUP_FAILED && failed)
        return dedup_problem(status, "standard input: ");
    if (status != DEDUP_OK)
        return status;
    tree->bytes += got;
    tree->entries++;
    return dedup_pipeline_file_end(tree->pipeline, NULL);
}

void dedup_tree_free(dedup_tree *tree)
{
    for (size_t i = 0; i < tree->link_room; i++)
        free(tree->links[i].path);
    free(tree->links);
    free(tree->dir);
    bry_buffer_free(&tree->path);
    bry_buffer_free(&tree->key);
}
