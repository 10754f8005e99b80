/* A connection to the servers of a map. */
#ifndef BLOOMERY_CLI_MAP_CLIENT_H
#define BLOOMERY_CLI_MAP_CLIENT_H

#include "cli/map/map_remote.h"

#include <bloomery_cluster.h>

typedef struct cli_remote {
    bryc_client *client;
    bryc_map *map;
    uint32_t wait; /* replicas that must confirm */
    uint32_t confirmed; /* the fewest that did */
} cli_remote;

/* These return CLI_GO_ON, or an exit code after a message. Call cli_remote_close() in any case. */

/* Connects. `named`: whether the address must have a name or must not. */
int cli_remote_connect(const char *url, bool named, cli_remote *remote);

/* Connects and opens the map. wait: replicas that must confirm each change. */
int cli_remote_open(const char *url, uint64_t wait, cli_remote *remote);

/* Whether there is a map of this name. */
int cli_remote_exists(const cli_remote *remote, const char *name, bool *exists);

void cli_remote_close(cli_remote *remote);

/* Reports a failure of the client. Returns an exit code. */
int cli_remote_failed(const cli_remote *remote, bry_status status);

/* Of integers; 0: values are byte strings. */
uint32_t cli_remote_value_bits(const cli_remote *remote);

/* Notes how many replicas confirmed the last change. False if too few. */
bool cli_remote_confirmed(cli_remote *remote);

/* Reports that too few replicas have confirmed. Returns CLI_NO. */
int cli_remote_unconfirmed(const cli_remote *remote);

/* ---- pairs --------------------------------------------------------------------------------- */

/* Keys, and their values if there are any, copied from the input. */
typedef struct cli_remote_batch {
    size_t n;
    size_t used; /* bytes of text */
    bryc_key *keys;
    bry_map_value *values;
    bry_answer *was;
    char *text;
} cli_remote_batch;

/* False if memory runs out. */
bool cli_remote_batch_make(cli_remote_batch *batch);
void cli_remote_batch_free(cli_remote_batch *batch);

/* Whether one more line fits, whatever its length. */
bool cli_remote_batch_has_room(const cli_remote_batch *batch);

/* Copies a key, and a value that may be NULL. */
void cli_remote_batch_add(cli_remote_batch *batch, cli_text key, const bry_map_value *value);

/* Reads all pairs, with a progress line, and calls `full` with each full batch and with the last one;
 * it stores the batch and empties it. Batches end between lines. Stops at the first exit code. */
int cli_remote_each_batch(cli_pairs *pairs, cli_remote_batch *batch, int (*full)(void *opaque),
                          void *opaque);

#endif
