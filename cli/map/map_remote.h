/*
 * Maps on servers: redis://[USER[:PASSWORD]@]HOST[:PORT]/NAME, a single server or a cluster. User
 * and password may also be in the environment, in BLOOMERY_USER and BLOOMERY_PASSWORD.
 *
 * A build without the client for servers has map_without_cluster.c instead of what is declared
 * here.
 */
#ifndef BLOOMERY_CLI_MAP_REMOTE_H
#define BLOOMERY_CLI_MAP_REMOTE_H

#include "cli/map/map_target.h"

/* Whether the word is an address rather than the name of a file. */
bool cli_map_is_remote(const char *path);

/* For commands on files only: CLI_GO_ON, or CLI_USAGE after a message if the word is an address. */
int cli_map_check_file(const char *path);

/* The row of --wait. */
#define CLI_MAP_WAIT(value)                                                                        \
    {                                                                                              \
        "wait", CLI_PLAIN, "N", "on a server: wait until N replicas have confirmed", (value)       \
    }

/* The file that makes a directory a saved map. */
#define CLI_DIR_RECORD "record"

/* All functions below return CLI_GO_ON, or an exit code after a message. */

int cli_remote_target(const cli_map_wants *wants, cli_map_target *target);
int cli_dir_target(const char *path, cli_map_target *target);

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
