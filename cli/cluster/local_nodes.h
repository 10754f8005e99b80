/*
 * The servers of a cluster on this machine. Each has a directory of its own, DIR/PORT, and goes on
 * running after this program has ended. DIR/ports lists their ports, primaries first; while they
 * are not a cluster yet, the file is DIR/ports.new.
 */
#ifndef BLOOMERY_CLI_LOCAL_NODES_H
#define BLOOMERY_CLI_LOCAL_NODES_H

#include "cli/serve/serve_places.h"

#include <bloomery_cluster.h>

#define LOCAL_MOST 200 /* servers */

typedef struct local_nodes {
    cli_path dir; /* The directory of the cluster. */
    cli_path server; /* The program of the servers. */
    cli_path module; /* The module that they load. */
    uint32_t count;
    uint32_t ports[LOCAL_MOST];
    bool formed; /* they are a cluster */
    bryc_client *client; /* NULL until a server answers */
    uint32_t links[LOCAL_MOST]; /* numbers for bryc_ask_node() */
} local_nodes;

/* All functions return CLI_GO_ON (args.h), or an exit code after a message. */

/* Reads the ports, and whether the servers became a cluster; *exists is false if there are none. */
int local_read(local_nodes *nodes, bool *exists);

/* Writes the ports of servers that are about to be started, so that they are found if this is
 * interrupted; and notes that they have become a cluster. */
int local_write(const local_nodes *nodes);
int local_keep(const local_nodes *nodes);

/* Starts all servers and waits until they answer. Those that run already are left alone. */
int local_start(local_nodes *nodes);

/* Makes the servers, which know nothing yet, a cluster. */
int local_form(local_nodes *nodes, uint32_t primaries);

/* Waits until all serve all slots. */
int local_wait_served(local_nodes *nodes);

/* Ends all servers that run in their directories; *ended says how many. */
int local_stop(local_nodes *nodes, uint32_t *ended);

void local_close(local_nodes *nodes);

#endif
