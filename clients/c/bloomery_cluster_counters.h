/*
 * Counters over a cluster that count each operation once, however often it is retried.
 *
 * A table of counters is divided among parts, by the names of the counters; each part is a table of
 * the server (COUNTER.CREATE). The record {NAME}:counters describes it; clients in other languages
 * read the same record. An operation has an id, 128 random bits of this table's handle and a
 * number, which every retry repeats, and the time at which it was created. The servers remember ids
 * for `window_ms`, so a repeat is recognised, and they refuse an operation that is too old to be
 * recognised (EXPIRED). doc/exactly-once.md says what is promised.
 *
 * Threads and fork: as in <bloomery_cluster.h>; after a fork, the child's ids are others.
 */
#ifndef BLOOMERY_CLUSTER_COUNTERS_H
#define BLOOMERY_CLUSTER_COUNTERS_H

#include <bloomery_cluster.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bryc_counters bryc_counters;

/* What a table is created with. Zero means the default, and for a table that exists: any. */
typedef struct bryc_counters_options {
    size_t struct_size;
    uint64_t window_ms; /* how long a retry is recognised; 0: 600,000 */
    uint64_t skew_ms; /* how far a client's clock may be off; 0: 1000, or a quarter of the window */
    double error; /* share of increments that may be lost; 0: 1e-9 */
    bry_engine engine; /* compact or fbf; 0: compact */
    uint32_t reserved; /* 0 */
    uint64_t capacity; /* operations per window to plan for; 0: 1,000,000 */
    uint64_t parts; /* number of parts; 0: 16 per primary */
    uint64_t seed; /* seed for hashing ids; 0: random */
    const bryc_key *hot; /* names of counters that are spread over all parts, because one part would
                            be too busy */
    size_t hot_count; /* number of hot counters; 0: none, or any for a table that exists */
} bryc_counters_options;

#define BRYC_COUNTERS_OPTIONS                                                                      \
    {                                                                                              \
        sizeof(bryc_counters_options), 0, 0, 0, BRY_ENGINE_AUTO, 0, 0, 0, 0, NULL, 0               \
    }

/* How a program uses a table. Zero means the default. */
typedef struct bryc_counters_use {
    size_t struct_size;
    uint32_t replicas; /* number of replicas that must confirm each increment; 0: 1 */
    uint32_t no_wait; /* 1: no replica has to confirm, whatever `replicas` says */
    uint32_t wait_ms; /* how long each try waits for replicas; 0: 500 */
    uint32_t retry_ms; /* how long a call keeps trying, at most the window less the skew; 0: half of
                          that, at most 30,000 */
    const char *outbox; /* name of a file for operations that are not finished; NULL: none */
} bryc_counters_use;

#define BRYC_COUNTERS_USE                                                                          \
    {                                                                                              \
        sizeof(bryc_counters_use), 0, 0, 0, 0, NULL                                                \
    }

/*
 * Creates a table, or opens the one of this name if no option that is given differs from it. `use`
 * may be NULL. With an outbox, call bryc_counters_recover() next. BRY_E_MISMATCH: it exists with
 * another value of an option; BRY_E_RANGE: an invalid name, option or retry_ms; BRY_E_BADDATA: the
 * outbox is damaged; BRY_E_IO: also if another process uses the outbox.
 */
BRY_API bry_status bryc_counters_create(bryc_client *client, const char *name,
                                        const bryc_counters_options *options,
                                        const bryc_counters_use *use, bryc_counters **table);

/* Opens a table. BRY_E_NOTFOUND: there is none of this name; else as above. */
BRY_API bry_status bryc_counters_open(bryc_client *client, const char *name,
                                      const bryc_counters_use *use, bryc_counters **table);

/* Frees the memory and closes the outbox. NULL is allowed. */
BRY_API void bryc_counters_close(bryc_counters *table);

/* Deletes a table: its record, then its parts. BRY_E_NOTFOUND, BRY_E_IO. */
BRY_API bry_status bryc_counters_drop(bryc_client *client, const char *name);

/* The text of the table's record. Valid until the table is closed. */
BRY_API const char *bryc_counters_record(const bryc_counters *table);

/* ---- counting ------------------------------------------------------------------------------ */

/* An increment. */
typedef struct bryc_increment {
    bryc_key name; /* name of the counter: any bytes, at most 65,535 */
    int64_t delta; /* number to add */
} bryc_increment;

/* What came of it. */
typedef struct bryc_added {
    int64_t value; /* value of the counter after the call */
    uint32_t applied; /* 1: applied by this call; 0: a repeat, also of this call's own first try */
    uint32_t reserved; /* 0 */
} bryc_added;

/* What identifies an operation in every retry. */
typedef struct bryc_operation {
    char id[64]; /* id of the operation, NUL-terminated */
    uint64_t sent_ms; /* when the operation was created, in milliseconds since 1970 */
} bryc_operation;

/*
 * Adds to counters, all or none and once. They must be in one part: names with the same {tag} are. A
 * hot counter must be alone. Tries again, always with the same id, after a timeout, a lost
 * connection, a redirection or a failover, and returns when the increment is counted and enough
 * replicas have it. added: room for n, or NULL. operation: may be NULL; receives the id with
 * BRY_OK and BRY_E_UNSURE.
 *
 * BRY_E_UNSURE: it is not known whether the operation is counted, or whether enough replicas have
 * it. Do not add it again: that would be another operation. bryc_counters_repeat() may be called
 * while its window lasts. After any other failure it is not counted, and bryc_error() says why:
 * BRY_E_RANGE also if the counters are in different parts or one occurs twice; BRY_E_OVERFLOW: a
 * sum would overflow.
 */
BRY_API bry_status bryc_counters_add(bryc_counters *table, const bryc_increment *increments,
                                     size_t n, bryc_added *added, bryc_operation *operation);

/* Tries the operation again, with the same increments. The same statuses; a refusal is
 * BRY_E_UNSURE, because an earlier try may have been counted. */
BRY_API bry_status bryc_counters_repeat(bryc_counters *table, const bryc_operation *operation,
                                        const bryc_increment *increments, size_t n,
                                        bryc_added *added);

/*
 * Repeats what the program that used the outbox before has begun and not finished, and calls `each`
 * (if not NULL) for every such operation, with its status as of bryc_counters_repeat(). Operations
 * that stay BRY_E_UNSURE remain in the outbox. Returns BRY_OK if there was none of these, else
 * BRY_E_UNSURE.
 */
BRY_API bry_status bryc_counters_recover(bryc_counters *table,
                                         void (*each)(void *opaque, const bryc_operation *operation,
                                                      bry_status status, const bryc_added *added,
                                                      size_t n),
                                         void *opaque);

/* ---- reading ------------------------------------------------------------------------------- */

/* The values of n counters. there[i] is false, and values[i] is not written, for one that does not
 * exist. */
BRY_API bry_status bryc_counters_get(bryc_counters *table, const bryc_key *names, size_t n,
                                     int64_t *values, bool *there);

/* The whole table, summed over its parts. */
typedef struct bryc_counters_info {
    uint64_t parts; /* number of parts */
    uint64_t counters; /* number of counters; a hot one counts in each part that has it */
    uint64_t ids; /* number of ids that are remembered */
    uint64_t applied; /* increments that were applied */
    uint64_t repeats; /* increments that were recognised as repeats */
    uint64_t refused_full; /* operations refused for lack of room */
    uint64_t refused_overflow; /* operations refused because a sum would overflow */
    uint64_t bytes; /* memory of all parts */
    double expected_lost; /* expected number of increments that were taken for repeats */
} bryc_counters_info;

/* bryc_counters_get_info() for a struct of `size` bytes (<bloomery/base.h>). */
BRY_API bry_status bryc_counters_get_info_sized(bryc_counters *table, bryc_counters_info *info,
                                                size_t size);

/* Describes the table. BRY_E_IO, BRY_E_NOMEM. */
static inline bry_status bryc_counters_get_info(bryc_counters *table, bryc_counters_info *info)
{
    return bryc_counters_get_info_sized(table, info, sizeof *info);
}

#ifdef __cplusplus
}
#endif

#endif
