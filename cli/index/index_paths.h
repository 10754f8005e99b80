/* Names of files: arguments, contents of directories, and NUL-terminated names in a list
 * (--files0-from). */
#ifndef BLOOMERY_CLI_INDEX_PATHS_H
#define BLOOMERY_CLI_INDEX_PATHS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_paths {
    char **path; /* The paths, each allocated. */
    size_t count; /* How many there are. */
    size_t capacity; /* For how many there is room. */
} cli_paths;

typedef struct cli_path_options {
    const char *list; /* --files0-from, or NULL */
    bool recursive; /* search directories, in order of names */
    bool skip; /* skip directories that cannot be read */
    const char *except; /* the index, which may be in one of the directories */
} cli_path_options;

/* Rows for a table of options. */
#define CLI_FILES_ROWS(value)                                                                      \
    {"r", CLI_FLAG, NULL, "add all files in directories and subdirectories", &(value)->recursive}, \
        {"skip", CLI_FLAG, NULL, "skip files that cannot be read", &(value)->skip},                \
    {                                                                                              \
        "files0-from", CLI_TEXT, "LIST",                                                           \
            "also the files named in LIST, each ended by a NUL; - is stdin", &(value)->list        \
    }

/* Finds all of them; at least one. CLI_GO_ON, or an exit code after a message. Call
 * cli_paths_free() in both cases. */
int cli_paths_read(cli_paths *paths, const cli_path_options *how, char **words, size_t count);
void cli_paths_free(cli_paths *paths);

#endif
