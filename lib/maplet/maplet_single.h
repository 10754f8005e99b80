/*
 * A maplet with at most one entry per fingerprint in each table, and values that can die
 * (maplet_values.h). The owner says which table an entry goes to. An entry whose value is dead is
 * overwritten when its fingerprint comes again. A maplet may be a shell here.
 */
#ifndef BRY_MAPLET_MAPLET_SINGLE_H
#define BRY_MAPLET_MAPLET_SINGLE_H

#include "hash/derive.h"
#include "maplet/maplet_values.h"

/* bry__values_begin() of a shell, with room for all values of its value_bits, which names have too.
 * BRY_E_NOMEM leaves something to be freed. */
bry_status bry__single_begin(bry__maplet *maplet);

#define BRY__SINGLE_BATCH BRY__TABLE_BATCH

/* The value that table i has for the key, dead or not; false when it has none. */
static inline bool bry__single_get(const bry__maplet *maplet, unsigned i, bry_hash hash,
                                   uint32_t *value)
{
    const bry__table *table = maplet->table[i];
    return bry__table_get(table, bry__fingerprint(hash, table->range), value);
}

/* The same for up to BRY__SINGLE_BATCH keys; values[j] is set where found[j] is 1. */
void bry__single_get_n(const bry__maplet *maplet, unsigned i, const bry_hash *hashes, size_t n,
                       uint32_t *values, uint8_t *found);

/* Fetches what asking for the key is going to read, and what adding it to table `adding` is going
 * to touch. */
void bry__single_prefetch(const bry__maplet *maplet, bry_hash hash, unsigned adding);

/* What a put did, to take it back. */
typedef struct bry__single_step {
    enum { BRY__PUT_NOTHING, BRY__PUT_NEW, BRY__PUT_OVER_DEAD, BRY__PUT_OVER_LIVE } did;
    unsigned table;
    uint32_t before; /* the value that was replaced */
} bry__single_step;

/* Gives the key a live value in table i, which is opened when it is not there. `maybe` is false
 * where the caller knows that the table has no entry for the key. BRY_E_NOMEM: nothing has changed.
 */
bry_status bry__single_put(bry__maplet *maplet, unsigned i, bry_hash hash, uint32_t value,
                           bool maybe, bry__single_step *step);
/* Takes it back, after everything that came later. Needs no memory; tables stay open. */
void bry__single_take_back(bry__maplet *maplet, bry_hash hash, uint32_t value,
                           const bry__single_step *step);

/* Removes the key's live entries from all tables; false when there was none. Needs no memory. */
bool bry__single_del(bry__maplet *maplet, bry_hash hash);

/* Reclaims all dead entries. BRY_E_NOMEM: not all, nothing lost. */
bry_status bry__single_reclaim_all(bry__maplet *maplet);

/* ---- whole maplets ------------------------------------------------------------------------- */

/* A maplet, and what becomes of its values: BRY__NOT_KEPT, or the value, and the name as well, in
 * the new maplet. Dead ones are not kept. */
typedef struct bry__single_source {
    const bry__maplet *maplet;
    const uint32_t *value; /* one for each of maplet->values->room */
} bry__single_source;

/*
 * Makes a maplet of the entries of two with the same options, with the allocator of the first, and
 * value_bits for both values and names. Entries keep their table; where both have a fingerprint in
 * one table, pick says which entry stays. It may have more entries than its plan allows:
 * bry__maplet_keeps() tells. BRY_E_NOMEM.
 */
bry_status bry__single_unite(bry__maplet *made, const bry__single_source *a,
                             const bry__single_source *b, unsigned value_bits, bry__pick *pick,
                             void *context);

/* ---- setting aside ------------------------------------------------------------------------- */

/* Tables that nobody asks any more, to be freed in steps. */
typedef struct bry__aside {
    struct bry__aside *next;
    bry__maplet maplet;
} bry__aside;

/* Puts all tables of a maplet aside, which is a shell then. BRY_E_NOMEM: nothing has changed. */
bry_status bry__aside_put(bry__aside **list, bry__maplet *maplet);
/* Gives the tables that were put aside last back to the maplet, whose own tables are freed. */
void bry__aside_take_back(bry__aside **list, bry__maplet *maplet);
/* Puts tables aside, the newest first, up to one that has a live entry. Without memory they stay
 * where they are. */
void bry__aside_put_dead(bry__aside **list, bry__maplet *maplet);
/* Frees up to so many groups of segments. */
void bry__aside_free_some(bry__aside **list, size_t groups);
uint64_t bry__aside_bytes(const bry__aside *list);

#endif
