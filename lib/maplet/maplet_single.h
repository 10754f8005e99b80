/*
 * A maplet with at most one entry per fingerprint in each table, and values that can die
 * (maplet_values.h). The owner chooses the table of an entry. An entry with a dead value is
 * overwritten when its fingerprint is added again.
 */
#ifndef BRY_MAPLET_MAPLET_SINGLE_H
#define BRY_MAPLET_MAPLET_SINGLE_H

#include "hash/derive.h"
#include "maplet/maplet_values.h"

/* bry__values_begin() of a maplet without tables, with values and names of value_bits. `whole`: with
 * room for all of them; if they are many, there is anyway. After BRY_E_NOMEM the maplet must be
 * freed. */
bry_status bry__single_begin(bry__maplet *maplet, bool whole);

#define BRY__SINGLE_BATCH BRY__TABLE_BATCH

/* The value of the key in table i, dead or not; false if there is none. */
static inline bool bry__single_get(const bry__maplet *maplet, unsigned i, bry_hash hash,
                                   uint32_t *value)
{
    const bry__table *table = &maplet->table[i];
    return bry__table_get(table, bry__fingerprint(hash, table->range), value);
}

/* The same for up to BRY__SINGLE_BATCH keys; values[j] is set if found[j] is 1. */
void bry__single_get_n(const bry__maplet *maplet, unsigned i, const bry_hash *hashes, size_t n,
                       uint32_t *values, uint8_t *found);

/* What a put did, to undo it. */
typedef struct bry__single_step {
    enum { BRY__PUT_NOTHING, BRY__PUT_NEW, BRY__PUT_OVER_DEAD, BRY__PUT_OVER_LIVE } did;
    unsigned table;
    uint32_t before; /* the value that was replaced */
} bry__single_step;

/* Gives the key a live value in table i, which is opened if necessary. `maybe` is false if the
 * caller knows that the table has no entry for the key. BRY_E_NOMEM: nothing has changed. */
bry_status bry__single_put(bry__maplet *maplet, unsigned i, bry_hash hash, uint32_t value,
                           bool maybe, bry__single_step *step);
/* The same for table i, which is open, if that has no live value for the key; *live: it has one. */
bry_status bry__single_put_new(bry__maplet *maplet, unsigned i, bry_hash hash, uint32_t value,
                               bool *live, bry__single_step *step);
/* Undoes a put; later ones must have been undone before. Needs no memory; tables stay open. */
void bry__single_take_back(bry__maplet *maplet, bry_hash hash, uint32_t value,
                           const bry__single_step *step);

/* Removes the key's live entries from all tables; false if there was none. Needs no memory. */
bool bry__single_del(bry__maplet *maplet, bry_hash hash);

/* Reclaims all dead entries. BRY_E_NOMEM: not all, nothing lost. */
bry_status bry__single_reclaim_all(bry__maplet *maplet);

/* ---- whole maplets --------------------------------------------------------------------------- */

/* A maplet, and the new value for each of its values, which is also the new name; BRY__NOT_KEPT:
 * its entries are left out. Dead values are not kept. */
typedef struct bry__single_source {
    const bry__maplet *maplet;
    const uint32_t *value; /* one for each of maplet->values->room */
} bry__single_source;

/*
 * Makes a maplet of the entries of two with the same options, with the allocator of the first, and
 * value_bits for values and names. Entries stay in their table; if both have a fingerprint in the
 * same table, pick decides which entry is kept. The result may have more entries than its plan
 * allows: check bry__maplet_keeps(). BRY_E_NOMEM.
 */
bry_status bry__single_unite(bry__maplet *made, const bry__single_source *a,
                             const bry__single_source *b, unsigned value_bits, bry__pick *pick,
                             void *context);

/* ---- setting aside --------------------------------------------------------------------------- */

/* Tables that are no longer used, to be freed in steps. */
typedef struct bry__aside {
    struct bry__aside *next;
    bry__maplet maplet;
} bry__aside;

/* Puts all tables of a maplet aside. BRY_E_NOMEM: nothing has changed. */
bry_status bry__aside_put(bry__aside **list, bry__maplet *maplet);
/* Frees the maplet's tables and gives back those that were put aside last. */
void bry__aside_take_back(bry__aside **list, bry__maplet *maplet);
/* Puts tables aside, newest first, until one has a live entry. They stay if memory is short. */
void bry__aside_put_dead(bry__aside **list, bry__maplet *maplet);
/* Frees up to `groups` groups of segments. */
void bry__aside_free_some(bry__aside **list, size_t groups);
uint64_t bry__aside_bytes(const bry__aside *list);

#endif
