#include "apps/dedup/archive/given_paths.h"

#include "apps/dedup/archive/manifest_items.h"
#include "cli/core/output/output.h"

#include <stdlib.h>
#include <string.h>

typedef struct given_path {
    char *stored;
    size_t index; /* in the list of the user */
    bool absolute;
} given_path;

bool dedup_stored_path(const char *given, char *to)
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
        if (!dedup_stored_path(given[i], paths[i].stored))
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

dedup_status dedup_find_covered(char *const *given, size_t count, bool *covered)
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
