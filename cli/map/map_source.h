/* Where `bloomery map get` looks up keys: a file, a directory that `map save` wrote, or a
 * server. */
#ifndef BLOOMERY_CLI_MAP_SOURCE_H
#define BLOOMERY_CLI_MAP_SOURCE_H

#include "cli/core/input/lines.h"
#include "cli/map/map_file.h"

typedef struct cli_map_source {
    uint32_t value_bits; /* of integers; 0: values are byte strings */
    /* CLI_GO_ON, or an exit code after a message. The bytes of values are valid until the next
     * call. */
    int (*get)(struct cli_map_source *self, const cli_text *keys, size_t n, bry_map_value *values,
               bry_answer *answers);
    void (*close)(struct cli_map_source *self);
    bry_map *map; /* of a file */
    void *inside; /* of the others */
} cli_map_source;

/* CLI_GO_ON, or an exit code after a message. */
int cli_source_open(const char *path, uint64_t max_bytes, cli_memory *memory,
                    cli_map_source *source);

#endif
