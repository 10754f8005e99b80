/*
 * Bloomery in a cluster: a client for Redis Cluster and Valkey Cluster, and for single servers.
 *
 * The first half is the connection to a cluster: it knows which node has which slot, sends commands
 * to many nodes at once, and follows redirections. The second half is the distributed map, which is
 * spread over all nodes (see bryc_map_create()).
 *
 * Statuses are those of <bloomery/base.h>. BRY_E_IO means that a server could not be reached, did
 * not answer in time, or refused the command; bryc_error() explains each failure in one line.
 *
 * Threads: use a client, and the maps opened with it, in one thread at a time. Clients share
 * nothing, so each thread can have its own. Fork: a child process may go on using a client; it gets
 * its own connections. The client never uses the signal SIGPIPE.
 *
 * Cluster changes: while slots move and replicas take over, calls wait and repeat what is needed,
 * for at most `patience_ms`. A command whose connection breaks before the reply arrives may have
 * been executed or not. It is repeated, unless it is marked BRYC_ONCE.
 */
#ifndef BLOOMERY_CLUSTER_H
#define BLOOMERY_CLUSTER_H

#include <bloomery/base.h>
#include <bloomery/map.h>
#include <hiredis/hiredis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- connecting ---------------------------------------------------------------------------- */

typedef struct bryc_client bryc_client;

/* How to connect. Zero means the default. */
typedef struct bryc_options {
    size_t struct_size;
    const char *user; /* NULL: the one of the URL, else the server's default user */
    const char *password; /* NULL: the one of the URL, else none */
    uint32_t connect_ms; /* limit for connecting to a node; 0: 2000 */
    uint32_t reply_ms; /* limit for a node that neither reads nor answers; 0: 10000 */
    uint32_t patience_ms; /* limit for repeating a command while the cluster changes; 0: 30000 */
    uint32_t reserved; /* 0 */
} bryc_options;

#define BRYC_OPTIONS                                                                               \
    {                                                                                              \
        sizeof(bryc_options), NULL, NULL, 0, 0, 0, 0                                               \
    }

/*
 * Connects to the server, and finds the other nodes if it belongs to a cluster. The URL is
 *   redis://[USER[:PASSWORD]@]HOST[:PORT][/NAME]
 * USER, PASSWORD and NAME may contain %XX; an IPv6 address is written in brackets; the port is 6379
 * if there is none. NAME is kept for bryc_url_name().
 *
 * *client is set even if the call fails, so that bryc_error(*client) can explain the failure; pass
 * it to bryc_close() in any case. (It is NULL if memory runs out.) BRY_E_RANGE: the URL is invalid;
 * BRY_E_IO: no connection, or wrong password.
 */
BRY_API bry_status bryc_open(const char *url, const bryc_options *options, bryc_client **client);

/* Closes all connections and frees the client. Close its maps first. NULL is allowed. */
BRY_API void bryc_close(bryc_client *client);

/* What went wrong in the last call that failed, as one line. Never NULL. */
BRY_API const char *bryc_error(const bryc_client *client);

/* The NAME of the URL, decoded; "" if there is none. */
BRY_API const char *bryc_url_name(const bryc_client *client);

/* Whether the servers are a cluster. */
BRY_API bool bryc_is_cluster(const bryc_client *client);

/* ---- nodes --------------------------------------------------------------------------------- */

/* The slots of a cluster. A single server has all of them. */
#define BRYC_SLOTS 16384u

/* The slot of a key: CRC-16 of what is between the first { and the next }, if that is not empty,
 * else of the whole key. */
BRY_API uint32_t bryc_slot(const void *key, size_t len);

/* Asks the cluster again which node has which slot. Calls do this by themselves when they are
 * redirected. BRY_E_IO: no node answered. */
BRY_API bry_status bryc_refresh(bryc_client *client);

/* A node that the client knows. The number of a node does not change while the client is open. */
typedef struct bryc_node {
    size_t struct_size;
    const char *host; /* as the cluster announces it; valid until bryc_close() */
    uint32_t port; /* of its clients */
    uint32_t slots; /* how many slots it has; 0: a replica, an empty primary, or gone */
} bryc_node;

#define BRYC_NODE                                                                                  \
    {                                                                                              \
        sizeof(bryc_node), NULL, 0, 0                                                              \
    }

/* How many nodes the client knows; their numbers are 0 to this - 1. */
BRY_API uint32_t bryc_nodes(const bryc_client *client);

/* Describes a node. BRY_E_RANGE: there is no such node. */
BRY_API bry_status bryc_node_at(const bryc_client *client, uint32_t number, bryc_node *node);

/* The number of the node at this address, which is added if the client does not know it yet.
 * BRY_E_NOMEM. */
BRY_API bry_status bryc_node_find(bryc_client *client, const char *host, uint32_t port,
                                  uint32_t *number);

/* The number of the node that has this slot; UINT32_MAX if none has it. */
BRY_API uint32_t bryc_node_of_slot(const bryc_client *client, uint32_t slot);

/* ---- commands ------------------------------------------------------------------------------ */

/* Flags of a command. */
enum {
    BRYC_ONCE = 1, /* do not repeat it after its connection broke */
    BRYC_FIXED = 2, /* send it to `node` and do not follow redirections */
    BRYC_ASKING = 4, /* precede it by ASKING: for a slot that the node is importing */
};

/* A command and its reply. Initialize with zeros. */
typedef struct bryc_command {
    uint32_t argc; /* number of arguments, with the name of the command */
    uint32_t key; /* which argument is the key that decides the node, from 1; for BRYC_FIXED: 0 */
    const char *const *argv; /* the arguments */
    const size_t *lens; /* their lengths; NULL: they end with a NUL */
    uint32_t flags; /* BRYC_ONCE … */
    uint32_t node; /* with BRYC_FIXED: the number of the node */
    redisReply *reply; /* set by the call; NULL if there is none. Free it: freeReplyObject() */
    bry_status status; /* set by the call: BRY_OK if there is a reply that is not an error */
} bryc_command;

/*
 * Sends all commands, to each node in one go and to all nodes at the same time, and waits for all
 * replies. Commands for the same node are executed in their order, unless the cluster changes
 * meanwhile. Returns BRY_OK if every command has a reply that is not an error; otherwise the status
 * of the first command that failed, and bryc_error() is about it.
 *
 * An error reply gives the status that its first word names (MISMATCH, FULL, …), BRY_E_NOMEM for
 * OOM, BRY_E_MISMATCH for WRONGTYPE and otherwise BRY_E_IO; `reply` is set too.
 */
BRY_API bry_status bryc_send(bryc_client *client, bryc_command *commands, size_t n);

/*
 * One command to one node, as redisCommand() formats it. The reply is yours to free; it is NULL
 * unless the status is BRY_OK. It is sent again after a broken connection if `flags` lacks
 * BRYC_ONCE.
 */
BRY_API bry_status bryc_ask_node(bryc_client *client, uint32_t node, uint32_t flags,
                                 redisReply **reply, const char *format, ...);

/* One command to the node that has the key `key`, in the same way. */
BRY_API bry_status bryc_ask_key(bryc_client *client, const void *key, size_t key_len,
                                uint32_t flags, redisReply **reply, const char *format, ...);

#ifdef __cplusplus
}
#endif

#endif
