/*
 * Entries that do not fit into their segment, because one fingerprint has very many values or
 * because the hashes are not uniform: a sorted list of (fingerprint, value), in chunks. This is
 * rare by design, so the list is simple: no packing, binary search, and a change moves at most one
 * chunk.
 */
#ifndef BRY_MAPLET_OVERFLOW_H
#define BRY_MAPLET_OVERFLOW_H

#include "common/allocator.h"

#define BRY__CHUNK_MAX 256u

typedef struct bry__chunk {
    unsigned n; /* at least 1 */
    uint32_t value[BRY__CHUNK_MAX];
    uint64_t fingerprint[BRY__CHUNK_MAX];
} bry__chunk;

typedef struct bry__chunk_list {
    uint64_t n; /* entries */
    size_t chunks, room;
    uint64_t sweep_fingerprint; /* the next entry that bry__table_reclaim() looks at */
    uint32_t sweep_value;
    bry__chunk *chunk[];
} bry__chunk_list;

typedef struct bry__overflow {
    bry__chunk_list *list; /* NULL: no entries */
} bry__overflow;

static inline uint64_t bry__overflow_count(const bry__overflow *overflow)
{
    return overflow->list ? overflow->list->n : 0;
}

/* A place in the list: entry `at` of `chunk`; `chunk` may be one past the last. */
typedef struct bry__overflow_place {
    size_t chunk;
    unsigned at;
} bry__overflow_place;

void bry__overflow_free(bry__overflow *overflow, const bry_allocator *allocator);
uint64_t bry__overflow_bytes(const bry__overflow *overflow);
bry_status bry__overflow_clone(const bry__overflow *overflow, bry__overflow *copy,
                               const bry_allocator *allocator);

/* The first entry that is not below (fingerprint, value). */
bry__overflow_place bry__overflow_find(const bry__overflow *overflow, uint64_t fingerprint,
                                       uint32_t value);

/* Returns the entry at the place and moves the place on; false at the end of the list. */
bool bry__overflow_next(const bry__overflow *overflow, bry__overflow_place *place,
                        uint64_t *fingerprint, uint32_t *value);

/* Adds an entry; equal ones are allowed. BRY_E_NOMEM. */
bry_status bry__overflow_insert(bry__overflow *overflow, uint64_t fingerprint, uint32_t value,
                                const bry_allocator *allocator);

/* Changes the value of the entry at the place; must keep the order. */
void bry__overflow_set(bry__overflow *overflow, bry__overflow_place place, uint32_t value);

/* Removes the entry at the place. */
void bry__overflow_remove(bry__overflow *overflow, bry__overflow_place place,
                          const bry_allocator *allocator);

#endif
