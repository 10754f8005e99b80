/*
 * An ordinary, exact hash table to compare the maplet with. Open addressing with linear probing, a
 * full 64-bit key and a 32-bit value in a slot of 12 bytes, at most 7 of 10 slots in use. Simple,
 * but not slow: no tombstones, and batches are prefetched.
 */
#ifndef BLOOMERY_BENCH_EXACT_TABLE_H
#define BLOOMERY_BENCH_EXACT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct exact_slot {
    uint32_t key[2]; /* two halves, so that a slot needs no padding; both 0: empty */
    uint32_t value;
} exact_slot;

typedef struct exact_table {
    exact_slot *slots;
    uint64_t count, size; /* keys in slots; slots */
    bool has_zero; /* the key 0, which cannot be in a slot */
    uint32_t zero_value;
} exact_table;

/* Makes room for this many keys; the table doubles when more are added. All functions return false
 * if memory runs out; then nothing has changed. */
bool exact_table_init(exact_table *table, uint64_t keys);
void exact_table_free(exact_table *table);
/* The same in memory of its own; NULL if there is none. */
exact_table *exact_table_new(uint64_t keys);
void exact_table_delete(void *table);
uint64_t exact_table_bytes(const exact_table *table);

/* Keys are used as hashes, so they must be random. *was: the key was present. */
bool exact_table_put(exact_table *table, uint64_t key, uint32_t value, bool *was);
bool exact_table_get(const exact_table *table, uint64_t key, uint32_t *value);
/* Whether it was present. */
bool exact_table_remove(exact_table *table, uint64_t key);

/* Prefetches the first slot of a look-up. */
void exact_table_prefetch(const exact_table *table, uint64_t key);

#endif
