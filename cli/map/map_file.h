/* Maps in files: loading, saving, and the messages for refused changes. */
#ifndef BLOOMERY_CLI_MAP_FILE_H
#define BLOOMERY_CLI_MAP_FILE_H

#include "cli/core/args.h"
#include "cli/core/files/target_file.h"
#include "cli/core/memory_limit.h"
#include "cli/core/output/output.h"

#include <bloomery/map.h>

/* The row of --max-memory. */
#define CLI_MAP_MAX_MEMORY(value) CLI_MAX_MEMORY("maps", value)

/* For commands whose first argument is the file of a map. */
#define CLI_MAP_FIRST_WORD .least_words = 1, .missing = "missing file name"

/* These return CLI_GO_ON, or an exit code after a message. */

/* The map's note, which another program may have written, is stored in the buffer; NULL discards
 * it. */
int cli_map_load(const char *path, cli_memory *memory, bry_map **map, bry_buffer *note);

/* Initialises the memory with `max_bytes` from --max-memory, and loads the map into it. */
int cli_map_open(const char *path, uint64_t max_bytes, cli_memory *memory, bry_map **map,
                 bry_buffer *note);

/* The same, after the file was locked for replacing it. */
int cli_map_open_to_change(const char *path, uint64_t max_bytes, cli_memory *memory, bry_map **map,
                           bry_buffer *note);

/* Options for creating a map like this one. */
bry_map_options cli_map_options(const bry_map *map);

/* As cli_target_save(). */
int cli_map_save(const bry_map *map, const char *path, const char *taken, const bry_buffer *note);

/* Reports that a change of a map was refused; `where` names the line or the key. */
int cli_map_refused(bry_status status, const bry_map *map, const cli_memory *memory,
                    const char *where);

#endif
