/* Names of files: the words of a command, and those in a list that NULs end (--files0-from). */
#ifndef BLOOMERY_CLI_INDEX_PATHS_H
#define BLOOMERY_CLI_INDEX_PATHS_H

#include <stddef.h>

typedef struct cli_paths {
    char **path;
    size_t count, capacity;
    size_t owned; /* the first so many are copies */
} cli_paths;

#define CLI_FILES_FROM(value)                                                                      \
    {                                                                                              \
        "files0-from", CLI_TEXT, "LIST",                                                           \
            "also the files named in LIST, ended by NULs; - is stdin", (value), 0                  \
    }

/* All of them; at least one. CLI_GO_ON, or an exit code after a message. cli_paths_free() is due in
 * both cases. */
int cli_paths_read(cli_paths *paths, const char *command, const char *list, char **words,
                   size_t count);
void cli_paths_free(cli_paths *paths);

#endif
