/* The map that a command reads or changes: in a file, in a directory that `map save` wrote, or on
 * servers. */
#ifndef BLOOMERY_CLI_MAP_TARGET_H
#define BLOOMERY_CLI_MAP_TARGET_H

#include "cli/map/map_pairs.h"

/* What `map info` prints. */
typedef struct cli_map_facts {
    bry_map_options options;
    bry_map_stats stats;
    bool is_file; /* a pipe has no size */
    uint64_t file_bytes;
    bool is_remote; /* then these are set: */
    bool keyed; /* slabs are chosen with a secret key */
    uint64_t slabs, slabs_used; /* of the map, and those that have pairs */
    uint64_t queries; /* keys looked up since the servers have the slabs */
} cli_map_facts;

typedef struct cli_map_target cli_map_target;

/* All functions return CLI_GO_ON, or an exit code after a message. Directories have only get() and
 * close(). */
typedef struct cli_map_kind {
    /* The bytes of values are valid until the next call. */
    int (*get)(cli_map_target *self, const cli_text *keys, size_t n, bry_map_value *values,
               bry_answer *answers);
    int (*info)(cli_map_target *self, cli_map_facts *facts);
    int (*set)(cli_map_target *self, const cli_pair *pair);
    int (*set_all)(cli_map_target *self, cli_pairs *pairs);
    /* lines: where the key is from, or NULL. */
    int (*del)(cli_map_target *self, cli_text key, const cli_lines *lines);
    /* After the last change: makes all permanent, and returns CLI_YES or another exit code. */
    int (*end)(cli_map_target *self);
    void (*close)(cli_map_target *self);
} cli_map_kind;

struct cli_map_target {
    const cli_map_kind *kind;
    const char *path;
    uint32_t value_bits; /* of integers; 0: values are byte strings */
    uint64_t absent; /* keys that del() did not find; complete after end() */
    cli_memory memory; /* of a file or directory */
    bry_map *map; /* of a file, and so are these: */
    bry_buffer note;
    cli_map_mode mode;
    bool changed;
    void *inside; /* of the others */
};

typedef struct cli_map_wants {
    const char *path;
    bool changes; /* to set or delete */
    bool directories; /* may be one */
    uint64_t max_bytes; /* these two are for files only */
    bool known_new; /* keys that are set are not in the map */
    uint64_t wait; /* for servers only: the replicas that must confirm each change */
} cli_map_wants;

/* The target must not be moved. If this fails, it must not be closed. */
int cli_map_target_open(const cli_map_wants *wants, cli_map_target *target);

#endif
