/* Where programs and their files are: beside the running program, or in PATH. */
#ifndef BLOOMERY_CLI_PROGRAM_FILES_H
#define BLOOMERY_CLI_PROGRAM_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct cli_path {
    char text[PATH_MAX];
} cli_path;

/* dir/name, where dir has `len` bytes. False if that is too long. */
bool cli_join_path(cli_path *path, const char *dir, size_t len, const char *name);

bool cli_is_executable(const char *path);

/* A file whose path is relative to the directory of the running program, with links resolved. False
 * if there is none. */
bool cli_find_beside(const char *name, cli_path *found);

/* An executable file in PATH, then in /usr/bin. As in the shell, an empty part of PATH is the
 * working directory. */
bool cli_find_in_path(const char *name, cli_path *found);

#endif
