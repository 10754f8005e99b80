/*
 * What the maplet is compared with: an ordinary hash table that never errs. Open addressing with
 * linear probing, the full 64-bit key and a 32-bit value in a slot of 12 bytes, at most 7 of 10
 * slots in use. Plain on purpose, but not slow: no tombstones, and batches are prefetched.
 */
#ifndef BLOOMERY_BENCH_EXACT_TABLE_H
#define BLOOMERY_BENCH_EXACT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct exact_slot {
    uint32_t key[2]; /* two halves, so that a slot needs no padding; both 0: empty */
    uint32_t value;
} exact_slot;

typedef struct exact_table {
    exact_slot *slots;
    uint64_t count, size; /* keys in slots; slots */
    bool has_zero; /* the key 0, which no slot can hold */
    uint32_t zero_value;
} exact_table;

/* Room for that many keys at once; it doubles when more come. False when memory does not suffice,
 * as everywhere here; then nothing has changed. */
bool exact_table_init(exact_table *table, uint64_t keys);
void exact_table_free(exact_table *table);
uint64_t exact_table_bytes(const exact_table *table);

/* Keys are taken as hashes: they must look random. *was says whether the key was there. */
bool exact_table_put(exact_table *table, uint64_t key, uint32_t value, bool *was);
bool exact_table_get(const exact_table *table, uint64_t key, uint32_t *value);
/* Whether it was there. */
bool exact_table_remove(exact_table *table, uint64_t key);

/* Fetches the slot that a look-up of the key begins with. */
void exact_table_prefetch(const exact_table *table, uint64_t key);

#endif
