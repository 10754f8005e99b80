/* Maps in files: memory with a ceiling, loading, saving, and what is said when either fails. */
#ifndef BLOOMERY_CLI_MAP_FILE_H
#define BLOOMERY_CLI_MAP_FILE_H

#include "args.h"
#include "output.h"

#include <bloomery/map.h>

/* What maps may take together. It has to stay where it is while a map lives. */
typedef struct cli_map_memory {
    uint64_t most, used;
    bool refused; /* something was asked for beyond the most */
    bry_allocator allocator;
} cli_map_memory;

/* most 0: three quarters of what the machine has. */
void cli_map_memory_init(cli_map_memory *memory, uint64_t most);

/* The row of --max-bytes for a table of options. */
#define CLI_MAP_MAX_BYTES(value)                                                                   \
    {                                                                                              \
        "max-bytes", CLI_BYTES, "B", "memory for maps (default 3/4 of the machine's)", (value), 0  \
    }

/* These return CLI_GO_ON, or have said what went wrong and return an exit code. */

int cli_map_load(const char *path, cli_map_memory *memory, bry_map **map);

/* For the syntax of a command whose first word is a map's file. */
#define CLI_MAP_FIRST_WORD .least_words = 1, .missing = "the name of the file is needed"

/* The memory, max_bytes as --max-bytes gave it, and the map in it. */
int cli_map_open(const char *path, uint64_t max_bytes, cli_map_memory *memory, bry_map **map);

/* Whether a map may be written there, as far as that can be told before: said before an input is
 * read that may be long. */
int cli_map_check_target(const char *path, bool replace);

/*
 * Replaces the file whole or not at all. Signals that end the program wait meanwhile, so that no
 * temporary file stays behind, and are ignored once the file is there: who is told that the program
 * was interrupted can rely on the old file. Returns CLI_YES.
 */
int cli_map_save(const bry_map *map, const char *path);

/* Reports that a change of a map was refused; `where` names the line or the key. */
int cli_map_refused(bry_status status, const bry_map *map, const cli_map_memory *memory,
                    const char *where);

#endif
