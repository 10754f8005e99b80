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
    const char *user; /* if the URL has none; NULL: the server's default user */
    const char *password; /* if the URL has none; NULL: none */
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

/* The user and password that the client sends to the servers, for commands that need them (MIGRATE);
 * NULL if there is none. Valid until bryc_close(). */
BRY_API void bryc_credentials(const bryc_client *client, const char **user, const char **password);

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
    const char *host; /* as the cluster announces it; valid until bryc_close() */
    uint32_t port; /* of its clients */
    uint32_t slots; /* how many slots it has; 0: a replica, an empty primary, or gone */
    uint32_t replicas; /* of these slots, as the cluster sees them; 0 for a single server */
    uint32_t reserved; /* 0 */
} bryc_node;

/* How many nodes the client knows; their numbers are 0 to this - 1. */
BRY_API uint32_t bryc_nodes(const bryc_client *client);

/* bryc_node_at() for a struct of `size` bytes (<bloomery/base.h>). */
BRY_API bry_status bryc_node_at_sized(const bryc_client *client, uint32_t number, bryc_node *node,
                                      size_t size);

/* Describes a node. BRY_E_RANGE: there is no such node. */
static inline bry_status bryc_node_at(const bryc_client *client, uint32_t number, bryc_node *node)
{
    return bryc_node_at_sized(client, number, node, sizeof *node);
}

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
    int32_t status; /* set by the call: a bry_status, BRY_OK if there is a reply that is not an
                       error */
    uint32_t reserved; /* 0 */
} bryc_command;

/*
 * Sends all commands, to each node in one go and to all nodes at the same time, and waits for all
 * replies. Commands for the same node are executed in their order, unless the cluster changes
 * meanwhile. Returns BRY_OK if every command has a reply that is not an error; otherwise the status
 * of the first command that failed, and bryc_error() is about it.
 *
 * `reply` and `status` of every command are set also if the call fails. BRY_E_RANGE: a reserved
 * field is not 0. An error reply gives the status that its first word names (MISMATCH, FULL, …), BRY_E_NOMEM for
 * OOM, and otherwise BRY_E_IO; `reply` is set too.
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

/* ---- the distributed map ------------------------------------------------------------------- */

/*
 * A map that is spread over a cluster: its keys are divided among S slabs by their CRC-32, and each
 * slab is an ordinary map of the server under a key of its own, which the cluster places, copies
 * and moves as any other key. The record {NAME}:map holds S and the options of the slabs; clients
 * in other languages read the same record. doc/cluster.md describes all this.
 *
 * Values are integers, or byte strings of which few differ. A list beside the record holds each
 * byte string once, and the slabs hold their positions in it.
 *
 * The answers are those of <bloomery/map.h>, with the same errors. A call with many keys sends one
 * command per slab, to all nodes at the same time. It is not atomic: if it fails, some keys may have
 * been changed, and `was` tells which.
 */
typedef struct bryc_map bryc_map;

/* What a map is created with. Zero means the default, and for a map that exists: any. */
typedef struct bryc_map_options {
    size_t struct_size;
    uint64_t capacity; /* keys to plan for; 0: 1,000,000 */
    double error; /* as of bry_map_options; 0: 0.001 */
    bry_engine engine; /* compact or kbf; 0: compact */
    uint32_t value_bits; /* values are integers of this many bits; 0: byte strings */
    uint64_t values; /* byte strings that differ; there is room for four times as many. 0: 1000 */
    uint64_t slabs; /* 0: planned, of about 1,000,000 keys each and at least 32 per primary */
    uint64_t seed; /* for hashing keys; 0: random */
    uint64_t
        keyed; /* how the slab of a key is chosen: 1: by HMAC-SHA256 with a random key, for keys
                       that somebody may choose so that all are in one slab; 2: by CRC-32. 0: by
                       CRC-32 for a new map, and whatever a map that exists has */
} bryc_map_options;

#define BRYC_MAP_OPTIONS                                                                           \
    {                                                                                              \
        sizeof(bryc_map_options), 0, 0, BRY_ENGINE_AUTO, 0, 0, 0, 0, 0                             \
    }

/*
 * Creates a map, or opens the one of this name if no option that is given differs from it. The name
 * has 1 to 200 bytes, and neither braces nor control characters. BRY_E_MISMATCH: it exists with
 * another value of an option; BRY_E_RANGE: an invalid name or option; BRY_E_IO.
 */
BRY_API bry_status bryc_map_create(bryc_client *client, const char *name,
                                   const bryc_map_options *options, bryc_map **map);

/* Opens a map. BRY_E_NOTFOUND: there is none of this name; BRY_E_VERSION: it was made by a newer
 * Bloomery; BRY_E_IO. */
BRY_API bry_status bryc_map_open(bryc_client *client, const char *name, bryc_map **map);

/* Frees the map's memory; the map itself stays. NULL is allowed. */
BRY_API void bryc_map_close(bryc_map *map);

/* Deletes a map: its record, then its slabs and values. BRY_E_NOTFOUND: there is none; BRY_E_IO: the
 * record may be deleted, and some slabs not. */
BRY_API bry_status bryc_map_drop(bryc_client *client, const char *name);

/* bryc_map_get_options() for a struct of `size` bytes (<bloomery/base.h>). */
BRY_API bry_status bryc_map_get_options_sized(const bryc_map *map, bryc_map_options *options,
                                              size_t size);

/* The options of a map, all of them set. `values` is the number of different values that fit; 0 for
 * integers. Cannot fail if program and library were built with the same headers. */
static inline bry_status bryc_map_get_options(const bryc_map *map, bryc_map_options *options)
{
    return bryc_map_get_options_sized(map, options, sizeof *options);
}

/* The text of the map's record. Valid until the map is closed. */
BRY_API const char *bryc_map_record(const bryc_map *map);

/* Calls `each` for every map whose record this user may read, in the order of their names. BRY_E_IO,
 * BRY_E_NOMEM. */
BRY_API bry_status bryc_map_list(bryc_client *client,
                                 void (*each)(void *opaque, const char *name, const char *record),
                                 void *opaque);

/* A key: any bytes. */
typedef struct bryc_key {
    const void *bytes; /* may be NULL if len is 0 */
    size_t len; /* in bytes */
} bryc_key;

/* In `was`: the command for this key failed, or it is not known whether it was executed. */
#define BRYC_UNKNOWN 255

/*
 * Looks up n keys: answers[i] is BRY_PRESENT, with the value in values[i], BRY_ABSENT, or with
 * engine kbf BRY_UNSURE. The bytes of a value are valid until the map is used again. `values` may be
 * NULL. If the call fails, answers has what arrived, and BRYC_UNKNOWN for the other keys.
 */
BRY_API bry_status bryc_map_get_n(bryc_map *map, const bryc_key *keys, size_t n,
                                  bry_map_value *values, bry_answer *answers);

/*
 * Sets n keys. was[i] is what the map held before: BRY_ABSENT, BRY_PRESENT, or with engine kbf
 * BRY_UNSURE, and then the key is unchanged. `was` may be NULL. If a key occurs twice, the last
 * value wins. BRY_E_RANGE: a number is too wide; BRY_E_TOOLONG: a byte string is; BRY_E_FULL: no
 * code is left for another byte string, or a server's limit is reached; BRY_E_BADDATA: the list of
 * byte strings is missing or too short, as after a failover of its node while its slot moved.
 */
BRY_API bry_status bryc_map_set_n(bryc_map *map, const bryc_key *keys, const bry_map_value *values,
                                  size_t n, bry_answer *was);

/* Sets those keys that have a value; was[i] is BRY_PRESENT for them. */
BRY_API bry_status bryc_map_update_n(bryc_map *map, const bryc_key *keys,
                                     const bry_map_value *values, size_t n, bry_answer *was);

/* Deletes n keys. was[i] is BRY_PRESENT for those that were there. A slab that becomes empty is
 * deleted. */
BRY_API bry_status bryc_map_del_n(bryc_map *map, const bryc_key *keys, size_t n, bry_answer *was);

/*
 * From now on, calls that change the map wait until `replicas` replicas have confirmed the change,
 * for at most `ms` milliseconds (0: 5000). With 0 replicas they do not wait. A change that is not
 * confirmed in time is not undone, and the call does not fail: compare bryc_map_confirmed(). `ms`
 * also limits the wait for replicas that must confirm a new byte string; if they do not, the call
 * fails with BRY_E_IO, and nothing is set.
 */
BRY_API void bryc_map_wait(bryc_map *map, uint32_t replicas, uint32_t ms);

/* The fewest replicas that confirmed a part of the last call that changed the map; UINT32_MAX if it
 * did not wait. */
BRY_API uint32_t bryc_map_confirmed(const bryc_map *map);

/* The slabs of a map. */
typedef struct bryc_map_info {
    uint64_t slabs_used; /* slabs that have keys */
    uint64_t queries; /* keys asked for, set or deleted since their slabs were loaded */
} bryc_map_info;

/* bryc_map_get_info() for structs of these sizes (<bloomery/base.h>). */
BRY_API bry_status bryc_map_get_info_sized(bryc_map *map, bryc_map_info *info, size_t info_size,
                                           bry_map_stats *stats, size_t stats_size);

/*
 * Describes the whole map. *stats, which may be NULL, is as of one map: errors are those of a random
 * key, `tables` is that of the slab with the most of them, and bytes include the list of values.
 * BRY_E_IO, BRY_E_NOMEM.
 */
static inline bry_status bryc_map_get_info(bryc_map *map, bryc_map_info *info, bry_map_stats *stats)
{
    return bryc_map_get_info_sized(map, info, sizeof *info, stats, sizeof *stats);
}

/* ---- copying a whole map ------------------------------------------------------------------- */

/*
 * A map with the options of this record, but not visible to others yet: what is placed in it cannot
 * be seen before bryc_map_publish(). `client` may be NULL; then only bryc_map_slab_of(),
 * bryc_map_get_options() and bryc_map_record() may be called. BRY_E_RANGE: an invalid name;
 * BRY_E_VERSION: not a record, or one of a newer version; BRY_E_NOMEM. *problem, which may be NULL,
 * explains these.
 */
BRY_API bry_status bryc_map_prepare(bryc_client *client, const char *name, const char *record,
                                    bryc_map **map, const char **problem);

/* Makes a prepared map visible. If there is one of that name: with `replace` it is replaced, and
 * then deleted; else BRY_E_MISMATCH. */
BRY_API bry_status bryc_map_publish(bryc_map *map, bool replace);

/* Deletes the slabs and values of a map that was not published. */
BRY_API bry_status bryc_map_discard(bryc_map *map);

/* The slab of a key. */
BRY_API uint64_t bryc_map_slab_of(const bryc_map *map, const void *key, size_t len);

/* Writes a slab as bry_map_save() would: an ordinary map, whose values are codes if those of the
 * distributed map are byte strings. *there is false, and nothing is written, if the slab has no
 * keys. */
BRY_API bry_status bryc_map_fetch_slab(bryc_map *map, uint64_t slab, const bry_sink *sink,
                                       bool *there);

/* Creates a slab that does not exist, from the bytes of bryc_map_fetch_slab(). BRY_E_BADDATA: the
 * server refused them. */
BRY_API bry_status bryc_map_place_slab(bryc_map *map, uint64_t slab, const void *bytes, size_t len);

/* Calls `each` for every byte string, in the order of their codes. It returns BRY_OK to go on. */
BRY_API bry_status bryc_map_fetch_values(bryc_map *map,
                                         bry_status (*each)(void *opaque, bry_map_value value),
                                         void *opaque);

/* Appends byte strings, which get the next codes. */
BRY_API bry_status bryc_map_place_values(bryc_map *map, const bry_map_value *values, size_t n);

#ifdef __cplusplus
}
#endif

#endif
