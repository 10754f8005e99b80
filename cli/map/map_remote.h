/*
 * Maps on servers: redis://[USER[:PASSWORD]@]HOST[:PORT]/NAME, a single server or a cluster. User
 * and password may also be in the environment, in BLOOMERY_USER and BLOOMERY_PASSWORD.
 *
 * A build without the client for servers has map_without_cluster.c instead of what is declared
 * here.
 */
#ifndef BLOOMERY_CLI_MAP_REMOTE_H
#define BLOOMERY_CLI_MAP_REMOTE_H

#include "cli/map/map_pairs.h"
#include "cli/map/map_source.h"

/* Whether the word is an address rather than the name of a file. */
bool cli_map_is_remote(const char *path);

/* For commands on files only: CLI_GO_ON, or CLI_USAGE after a message if the word is an address. */
int cli_map_check_file(const char *command, const char *path);

/* For commands on servers only: CLI_GO_ON, or CLI_USAGE after a message if it is no address. */
int cli_map_check_address(const char *command, const char *word, bool named);

/* The row of --wait. */
#define CLI_MAP_WAIT(value)                                                                        \
    {                                                                                              \
        "wait", CLI_PLAIN, "N", "on a server: wait until N replicas have confirmed", (value), 0    \
    }

/* The file that makes a directory a saved map. */
#define CLI_DIR_RECORD "record"

/* All functions below return CLI_GO_ON, or an exit code after a message. */

int cli_remote_source(const char *url, cli_map_source *source);
int cli_dir_source(const char *path, cli_memory *memory, cli_map_source *source);

/* Sets one pair, if `key` is not NULL, or those of the input, whose value_bits are filled in. */
int cli_remote_put(const char *url, const char *key, const char *value, cli_pairs *pairs,
                   uint64_t wait);

/* Deletes keys, or those on standard input if n is 0. The exit code of `map del`. */
int cli_remote_del(const char *url, char **keys, size_t n, char end, uint64_t wait);

/* What `map info` prints about a map on servers. */
typedef struct cli_remote_facts {
    bry_map_options options;
    bry_map_stats stats;
    uint64_t slabs; /* Slabs of the map. */
    uint64_t slabs_used; /* Slabs that have pairs. */
    uint64_t queries; /* Keys looked up since the servers have the slabs. */
    bool keyed; /* Slabs are chosen with a secret key. */
} cli_remote_facts;

int cli_remote_info(const char *url, cli_remote_facts *facts);

/* What `map build` creates on servers. */
typedef struct cli_remote_build {
    const char *url;
    const bry_map_options *map;
    uint64_t slabs; /* Slabs to create; 0: chosen by the size. */
    uint64_t wait; /* Replicas that must confirm each change. */
    bool keyed; /* Choose slabs with a secret key. */
    bool force; /* Replace a map of the same name. */
    const char *resume; /* the file that records the progress; may be NULL */
} cli_remote_build;

/* Whether a build is going to be continued: the file that records its progress exists. */
bool cli_remote_continues(const cli_remote_build *build);

/* Creates the map and loads the pairs, or continues that. */
int cli_remote_load(const cli_remote_build *build, cli_pairs *pairs);

#endif
