/*
 * The plan of a chain of tables: the capacity of each one, the length of its fingerprints, and
 * where the next entry goes. maplet_plan.c explains the shares. Nothing here allocates.
 */
#ifndef BRY_MAPLET_MAPLET_PLAN_H
#define BRY_MAPLET_MAPLET_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define BRY__MAPLET_TABLES 11u /* enough: the last takes 2^42 times as many entries as the first */
#define BRY__CHAIN_MOST ((uint64_t)1 << 40) /* entries in all tables */

/* What happens beyond the capacity. */
enum {
    BRY__GROWING = 0, /* more tables are opened */
    BRY__FIXED = 1, /* BRY_E_FULL */
    BRY__ANY_LOAD = 2, /* the one table takes more entries, and the error grows */
};

/* The last table may have fewer entries and bits than those before it lead to expect. */
typedef struct bry__chain {
    double error; /* promised for all tables together */
    uint64_t most; /* entries in all tables; BRY__FIXED: the capacity, BRY__ANY_LOAD: the range */
    uint64_t range; /* fingerprints of table 0 are below this */
    uint64_t first_capacity, last_capacity; /* of table 0, and of the last one if that is another */
    uint8_t fixed; /* BRY__GROWING, BRY__FIXED or BRY__ANY_LOAD */
    uint8_t last_shift;
    uint8_t tables; /* most tables that there can be; 1 unless BRY__GROWING */
} bry__chain;

/* False: a table of that capacity and error would need fingerprints of more than 62 bits. */
bool bry__chain_plan(bry__chain *chain, uint64_t capacity, double error, unsigned fixed);

/* Entries that table i is planned for; 0 if it cannot be. */
uint64_t bry__chain_capacity(const bry__chain *chain, unsigned i);

/* Bits of its fingerprints beyond those of table 0. */
extern const uint8_t bry__chain_shifts[BRY__MAPLET_TABLES];
static inline unsigned bry__chain_shift(const bry__chain *chain, unsigned i)
{
    return i + 1 == chain->tables ? chain->last_shift : bry__chain_shifts[i];
}

/* Fingerprints of table i are below this. */
static inline uint64_t bry__chain_range(const bry__chain *chain, unsigned i)
{
    return chain->range << bry__chain_shift(chain, i);
}

/* Converts a fingerprint of table `from` to one of table `to` <= `from`. */
static inline uint64_t bry__chain_shorten(const bry__chain *chain, uint64_t fingerprint,
                                          unsigned from, unsigned to)
{
    return fingerprint >> (bry__chain_shift(chain, from) - bry__chain_shift(chain, to));
}

/*
 * For the functions below, n[i] is the number of entries in table i, for all BRY__MAPLET_TABLES.
 */

/* The error for an absent key with these entries. */
double bry__chain_error(const bry__chain *chain, const uint64_t *n);

/* The table for a new entry; it may not be open yet, nor those before it. chain->tables: the chain
 * is full. */
unsigned bry__chain_place(const bry__chain *chain, const uint64_t *n);

/* Number of entries that go to this table before another one is next; 0 if the chain is full. */
uint64_t bry__chain_room(const bry__chain *chain, const uint64_t *n);

/* True if these entries keep the promised error: the condition for merging and loading. Entries
 * placed afterwards by bry__chain_place() keep it too. */
bool bry__chain_keeps(const bry__chain *chain, const uint64_t *n);

#endif
