/*
 * A cluster as its primaries see it: nodes, owners of slots, and slots that are open because keys
 * are moving. Each primary is asked about itself, so that the view holds no hearsay about slots.
 */
#ifndef BLOOMERY_CLI_CLUSTER_VIEW_H
#define BLOOMERY_CLI_CLUSTER_VIEW_H

#include <bloomery_cluster.h>
#include <stdbool.h>
#include <stdint.h>

#define VIEW_NONE UINT32_MAX
#define VIEW_ID 41 /* 40 hexadecimal digits */

typedef struct view_node {
    char id[VIEW_ID];
    char primary[VIEW_ID]; /* of a replica; "" for a primary */
    char name[280]; /* HOST:PORT */
    char host[256];
    uint32_t port;
    uint32_t link; /* Its number for bryc_ask_node() with `client`. */
    uint32_t probe; /* Its number for bryc_ask_node() with `prober`. */
    bool failed; /* according to the cluster */
    bool answers; /* it described itself */
    uint32_t slots; /* of a primary that answers */
} view_node;

/* A slot that a primary marks as migrating or importing. */
typedef struct view_open_slot {
    uint32_t slot;
    uint32_t node; /* that marks it */
    bool importing;
    char other[VIEW_ID]; /* the other node */
} view_open_slot;

typedef struct cluster_view {
    bryc_client *client; /* waits for MIGRATE of large keys */
    bryc_client *prober; /* waits a second or two: for questions about the nodes */
    view_node *nodes;
    uint32_t count;
    uint32_t owners[BRYC_SLOTS]; /* a node, or VIEW_NONE */
    bool disputed; /* two primaries claim the same slot */
    view_open_slot *open; /* Slots that are migrating or importing. */
    size_t open_count; /* How many there are. */
    size_t open_capacity; /* For how many there is room. */
} cluster_view;

/* Connects to the cluster of the node at HOST:PORT, or redis://USER:PASSWORD@HOST:PORT, and reads
 * the view. CLI_GO_ON (args.h), or an exit code after a message. Close it in any case. */
int view_connect(cluster_view *view, const char *address);
void view_close(cluster_view *view);

/* Reads the view again; the numbers of nodes may change. Without a message:
 * bryc_error(view->prober). */
bry_status view_refresh(cluster_view *view);

static inline bool view_is_primary(const view_node *node)
{
    return node->primary[0] == '\0' && !node->failed && node->answers;
}

/* One command to a node, as bryc_ask_node(). */
#define view_ask(view, node, flags, reply, ...)                                                    \
    bryc_ask_node((view)->client, (view)->nodes[node].link, (flags), (reply), __VA_ARGS__)

/* A question about the node itself, which is answered at once or not at all. */
#define view_probe(view, node, reply, ...)                                                         \
    bryc_ask_node((view)->prober, (view)->nodes[node].probe, BRYC_ONCE, (reply), __VA_ARGS__)

/* A command whose words contain no spaces, and whose reply does not matter unless it is an error. */
__attribute__((format(printf, 4, 5))) bry_status view_tell(cluster_view *view, uint32_t node,
                                                           uint32_t flags, const char *format, ...);

#endif
