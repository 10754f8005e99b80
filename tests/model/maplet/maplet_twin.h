/*
 * A maplet the slow way: for each table of the chain a sorted list of (fingerprint, value). Written
 * from the description in maplet/maplet.h, sharing none of its code; on fingerprints the maplet is
 * exact, so the two must agree in everything.
 *
 * Where the maplet is free to choose, which entries a step of a sweep or of folding takes, the
 * twin is told what is left and says whether that is right.
 */
#ifndef BRY_TESTS_MAPLET_TWIN_H
#define BRY_TESTS_MAPLET_TWIN_H

#include "maplet/maplet.h"

typedef struct twin_entry {
    uint64_t fingerprint;
    uint32_t value;
    bool old; /* was there when the sweep began */
} twin_entry;

typedef struct twin_list {
    twin_entry *entry;
    size_t n, room;
} twin_list;

#define TWIN_LISTS 256u

typedef struct twin_table {
    uint64_t range, n;
    twin_list list[TWIN_LISTS]; /* by the fingerprint's height in the range, each sorted */
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

/* Bits that fingerprints of table i have more than the first table's. */
unsigned maplet_twin_shift(const maplet_twin *twin, unsigned i);
/* Makes them that many tables, where there are fewer. */
void maplet_twin_open(maplet_twin *twin, unsigned tables);

/* As the maplet's; BRY_E_NOMEM excepted. */
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

/* What a merge makes of two, to be freed; BRY_E_RANGE, BRY_E_FULL: there is none. */
bry_status maplet_twin_merge(const maplet_twin *into, const maplet_twin *from, bry__merge_mode mode,
                             maplet_twin *merged);

/* All entries of table i, sorted, behind *entries, which is the caller's to free. */
size_t maplet_twin_list(const maplet_twin *twin, unsigned table, twin_entry **entries);

/* Table i has become `left`, sorted. What it has lost is behind *lost, the caller's to free. False:
 * `left` has something that was not there; then nothing is done. */
bool maplet_twin_keep(maplet_twin *twin, unsigned table, const twin_entry *left, size_t n,
                      twin_entry **lost, size_t *lost_n);

/* The first table that has room for all entries of the last, or that one itself; an entry comes
 * there, as folding does. The emptied table closes. */
unsigned maplet_twin_fold_to(const maplet_twin *twin);
void maplet_twin_fold_entry(maplet_twin *twin, unsigned from, unsigned to, twin_entry entry);
/* Closes the last tables as long as they have no entries. */
void maplet_twin_trim(maplet_twin *twin);
void maplet_twin_close(maplet_twin *twin);

/* Every entry is old, or none is. */
void maplet_twin_mark(maplet_twin *twin, bool old);

#endif
