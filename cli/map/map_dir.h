/*
 * A distributed map in a directory, as `map save` writes it:
 *
 *   record           the line that describes the map, as on the servers
 *   values           byte strings in the order of their codes, if the map has them
 *   slab-000000.map  each slab, an ordinary map of integers; also those without keys
 *
 * `values` is a line "bloomery-values 1 count=N check=X", then for each value four bytes with its
 * length, the lowest first, and its bytes. X is a chain of hashes: bry_hash_key(the hash before,
 * value).lo, beginning with 0. The record is written last: a directory without one is incomplete.
 */
#ifndef BLOOMERY_CLI_MAP_DIR_H
#define BLOOMERY_CLI_MAP_DIR_H

#include "cli/map/map_client.h"

#include <stdio.h>

#define CLI_DIR_VALUES "values"

/* The path of a file in the directory. The caller frees it; NULL if memory runs out. */
char *cli_dir_path(const char *dir, const char *name);
char *cli_dir_slab_path(const char *dir, uint64_t slab);

/* All byte strings of a map in a directory. */
typedef struct cli_dir_values {
    bry_map_value *values;
    size_t count;
    char *bytes;
} cli_dir_values;

/* These return CLI_GO_ON, or an exit code after a message. */

/* Reads the record, without the end of its line. */
int cli_dir_read_record(const char *dir, char *record, size_t room);
int cli_dir_read_values(const char *dir, cli_dir_values *values);
void cli_dir_values_free(cli_dir_values *values);

/* Writes values to a file. */
typedef struct cli_dir_writer {
    FILE *file;
    uint64_t count; /* Values written so far. */
    uint64_t check; /* Checksum of what was written so far. */
} cli_dir_writer;
bool cli_dir_begin_values(cli_dir_writer *writer, const char *path);
bry_status cli_dir_write_value(void *opaque, bry_map_value value); /* opaque: the writer */
bool cli_dir_end_values(cli_dir_writer *writer);

/* Reads the file of a slab as it is. The caller frees the bytes. */
int cli_dir_read_slab(const char *dir, uint64_t slab, char **bytes, size_t *len);

/* Loads slab number `slab`, and checks that it belongs to the map `of`. */
int cli_dir_load_slab(const char *dir, const bryc_map *of, uint64_t slab, cli_memory *memory,
                      bry_map **map);

#endif
