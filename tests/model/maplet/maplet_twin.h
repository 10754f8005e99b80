/*
 * A simple maplet: for each table of the chain a sorted list of (fingerprint, value). Written from
 * the description in maplet/maplet.h, without sharing code; the maplet is exact for fingerprints,
 * so the two must agree in everything.
 *
 * Where the maplet may choose which entries a step of folding takes, the twin gets what is left
 * and checks it.
 */
#ifndef BRY_TESTS_MAPLET_TWIN_H
#define BRY_TESTS_MAPLET_TWIN_H

#include "maplet/maplet.h"

typedef struct twin_entry {
    uint64_t fingerprint;
    uint32_t value;
} twin_entry;

typedef struct twin_list {
    twin_entry *entry;
    size_t n, room;
} twin_list;

#define TWIN_LISTS 256u

typedef struct twin_table {
    uint64_t range, n;
    twin_list list[TWIN_LISTS]; /* by the position of the fingerprint in the range, each sorted */
} twin_table;

typedef struct maplet_twin {
    bry__maplet_options options;
    unsigned tables;
    twin_table *table[BRY__MAPLET_TABLES];
} maplet_twin;

/* By fingerprint, then value. For qsort. */
int twin_order(const void *a, const void *b);

void maplet_twin_make(maplet_twin *twin, const bry__maplet_options *options, uint64_t range);
void maplet_twin_free(maplet_twin *twin);
void maplet_twin_clear(maplet_twin *twin);
uint64_t maplet_twin_count(const maplet_twin *twin);
double maplet_twin_error(const maplet_twin *twin);
uint64_t maplet_twin_fingerprint(const maplet_twin *twin, unsigned table, bry_hash hash);

/* The number of bits by which fingerprints of table i are longer than the first table's. */
unsigned maplet_twin_shift(const maplet_twin *twin, unsigned i);
/* Adds tables until there are this many. */
void maplet_twin_open(maplet_twin *twin, unsigned tables);

/* Like the maplet's, but never BRY_E_NOMEM. */
uint64_t maplet_twin_get_all(const maplet_twin *twin, bry_hash hash, uint32_t *values,
                             uint64_t room);
bry_status maplet_twin_upsert(maplet_twin *twin, bry_hash hash, uint32_t value, bry_answer *was,
                              uint32_t *old);
bry_status maplet_twin_add(maplet_twin *twin, bry_hash hash, uint32_t value);
uint64_t maplet_twin_del(maplet_twin *twin, bry_hash hash);
bry_answer maplet_twin_del_value(maplet_twin *twin, bry_hash hash, uint32_t value);
bry_status maplet_twin_replace(maplet_twin *twin, bry_hash hash, uint32_t from, uint32_t to,
                               bry_answer *was);
bry_status maplet_twin_remap(maplet_twin *twin, bry__map_value *map, void *context);

/* The merge of two, which the caller frees; BRY_E_RANGE, BRY_E_FULL: not possible. */
bry_status maplet_twin_merge(const maplet_twin *into, const maplet_twin *from, bry__merge_mode mode,
                             maplet_twin *merged);

/* All entries of table i, sorted, in *entries, which the caller frees. */
size_t maplet_twin_list(const maplet_twin *twin, unsigned table, twin_entry **entries);

/* Replaces table i by `left`, sorted. What it has lost is in *lost, which the caller frees. False:
 * `left` has entries that the table did not have; then nothing is done. */
bool maplet_twin_keep(maplet_twin *twin, unsigned table, const twin_entry *left, size_t n,
                      twin_entry **lost, size_t *lost_n);

/* The first table with room for all entries of the last one, or the last one itself; moves an entry
 * there, as folding does. An empty last table is removed. */
unsigned maplet_twin_fold_to(const maplet_twin *twin);
void maplet_twin_fold_entry(maplet_twin *twin, unsigned from, unsigned to, twin_entry entry);
/* Removes tables from the end while they are empty. */
void maplet_twin_trim(maplet_twin *twin);
void maplet_twin_close(maplet_twin *twin);

#endif
