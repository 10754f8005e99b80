/* Names of files: arguments, contents of folders, and NUL-terminated names in a list
 * (--files0-from). */
#ifndef BLOOMERY_CLI_INDEX_PATHS_H
#define BLOOMERY_CLI_INDEX_PATHS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_paths {
    char **path;
    size_t count, capacity;
} cli_paths;

typedef struct cli_paths_how {
    const char *command;
    const char *list; /* --files0-from, or NULL */
    bool recursive; /* search folders, in order of names */
    bool skip; /* skip folders that cannot be read */
    const char *except; /* the index, which may be in one of the folders */
} cli_paths_how;

/* Rows for a table of options. */
#define CLI_FILES_ROWS(value)                                                                      \
    {"r", CLI_FLAG, NULL, "add all files in folders and subfolders", &(value)->recursive, 0},      \
        {"skip", CLI_FLAG, NULL, "skip files that cannot be read", &(value)->skip, 0},             \
    {                                                                                              \
        "files0-from", CLI_TEXT, "LIST",                                                           \
            "also the files named in LIST, each ended by a NUL; - is stdin", &(value)->list, 0     \
    }

/* Finds all of them; at least one. CLI_GO_ON, or an exit code after a message. Call
 * cli_paths_free() in both cases. */
int cli_paths_read(cli_paths *paths, const cli_paths_how *how, char **words, size_t count);
void cli_paths_free(cli_paths *paths);

#endif
