/* The names of a table of counters and their exact values. counter_names.c explains the structure.
 */
#ifndef BRY_COUNTER_NAMES_H
#define BRY_COUNTER_NAMES_H

#include <bloomery/counters.h>

enum { BRY__COUNTER_HASH_BITS = 48, BRY__COUNTER_TIE_BITS = 15 };

typedef struct bry__counter_name {
    int64_t value;
    uint64_t hash : BRY__COUNTER_HASH_BITS;
    uint64_t tie : BRY__COUNTER_TIE_BITS; /* distinguishes names with equal hashes */
    uint64_t fresh : 1; /* for the caller; set in new names */
    uint16_t len;
    unsigned char bytes[];
} bry__counter_name;

struct bry__counter_block; /* a bucket */

typedef struct bry__counter_names {
    const bry_allocator *allocator;
    uint64_t seed;
    uint64_t count; /* of names */
    uint64_t buckets;
    struct bry__counter_block ***piece; /* the row of buckets, in pieces */
    size_t pieces, room; /* in use, and in the directory */
    unsigned first_room; /* buckets in the first piece */
} bry__counter_names;

/* Bytes of a table without names, and of one name with its share of the buckets. */
uint64_t bry__counter_names_bytes_empty(void);
uint64_t bry__counter_names_bytes_each(size_t len);

/* BRY_E_NOMEM. The allocator is used until the names are freed. */
bry_status bry__counter_names_init(bry__counter_names *names, uint64_t seed,
                                   const bry_allocator *allocator);
void bry__counter_names_free(bry__counter_names *names);

/* A copy of the names and values, in memory of another table. BRY_E_NOMEM. */
bry_status bry__counter_names_clone(const bry__counter_names *names, bry__counter_names *copy,
                                    const bry_allocator *allocator);

/* Removes all names. */
void bry__counter_names_clear(bry__counter_names *names);

/* A name to look up, with its hash in this table. */
typedef struct bry__counter_key {
    const void *bytes;
    size_t len; /* at most BRY_COUNTERS_NAME_MAX */
    uint64_t hash;
} bry__counter_key;

bry__counter_key bry__counter_names_key(const bry__counter_names *names, const void *bytes,
                                        size_t len);

/*
 * Prefetching, for callers that do something else before they look the name up: the first call
 * prefetches where its bucket is, and the second, once that has arrived, the bucket. False: there
 * is no such name.
 */
void bry__counter_names_fetch_bucket(const bry__counter_names *names, uint64_t hash);
bool bry__counter_names_fetch_name(const bry__counter_names *names, bry__counter_key key);

/* NULL: there is no such name. The name stays where it is until a name is added or deleted. */
bry__counter_name *bry__counter_names_find(const bry__counter_names *names, bry__counter_key key);

/* The same for any bytes. */
bry__counter_name *bry__counter_names_get(const bry__counter_names *names, const void *bytes,
                                          size_t len);

/* Adds a name that is absent, with the value 0. BRY_E_NOMEM; BRY_E_FULL: 2^15 names have the same
 * hash. */
bry_status bry__counter_names_add(bry__counter_names *names, bry__counter_key key,
                                  bry__counter_name **added);

/* Deletes and frees a name. */
void bry__counter_names_del(bry__counter_names *names, bry__counter_name *name);

/* As bry_counters_scan(). */
size_t bry__counter_names_scan(const bry__counter_names *names, uint64_t *cursor,
                               bry_counters_entry *entries, size_t entry_size, size_t room);

#endif
