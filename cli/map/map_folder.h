/*
 * A distributed map in a folder, as `map save` writes it:
 *
 *   record           the line that describes the map, as on the servers
 *   values           byte strings in the order of their codes, if the map has them
 *   slab-000000.map  each slab, an ordinary map of integers; also those without keys
 *
 * `values` is a line "bloomery-values 1 count=N check=X", then for each value four bytes with its
 * length, the lowest first, and its bytes. X is a chain of hashes: bry_hash_key(the hash before,
 * value).lo, beginning with 0. The record is written last: a folder without one is incomplete.
 */
#ifndef BLOOMERY_CLI_MAP_FOLDER_H
#define BLOOMERY_CLI_MAP_FOLDER_H

#include "cli/map/map_client.h"

#include <stdio.h>

#define CLI_FOLDER_VALUES "values"

/* The path of a file in the folder. The caller frees it; NULL if memory runs out. */
char *cli_folder_path(const char *folder, const char *name);
char *cli_folder_slab_path(const char *folder, uint64_t slab);

/* All byte strings of a map in a folder. */
typedef struct cli_folder_values {
    bry_map_value *values;
    size_t count;
    char *bytes;
} cli_folder_values;

/* These return CLI_GO_ON, or an exit code after a message. */

/* Reads the record, without the end of its line. */
int cli_folder_read_record(const char *folder, char *record, size_t room);
int cli_folder_read_values(const char *folder, cli_folder_values *values);
void cli_folder_values_free(cli_folder_values *values);

/* Writes values to a file. */
typedef struct cli_folder_writer {
    FILE *file;
    uint64_t count, check;
} cli_folder_writer;
bool cli_folder_begin_values(cli_folder_writer *writer, const char *path);
bry_status cli_folder_write_value(void *opaque, bry_map_value value); /* opaque: the writer */
bool cli_folder_end_values(cli_folder_writer *writer);

/* Reads the file of a slab as it is. The caller frees the bytes. */
int cli_folder_read_slab(const char *folder, uint64_t slab, char **bytes, size_t *len);

/* Loads slab number `slab`, and checks that it belongs to the map `of`. */
int cli_folder_load_slab(const char *folder, const bryc_map *of, uint64_t slab, cli_memory *memory,
                         bry_map **map);

#endif
