/*
 * The plan of a chain of tables: how many entries each one takes, how long its fingerprints are,
 * and where the next entry goes. maplet_plan.c explains the shares. Nothing here allocates.
 */
#ifndef BRY_MAPLET_MAPLET_PLAN_H
#define BRY_MAPLET_MAPLET_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define BRY__MAPLET_TABLES 11u /* the last takes 2^42 times what the first does: enough */
#define BRY__CHAIN_MOST ((uint64_t)1 << 40) /* entries in all tables */

typedef struct bry__chain {
    double error; /* promised for all tables together */
    uint64_t most; /* entries, in all tables; fixed: the capacity */
    unsigned tables; /* that there can be; fixed: 1 */
    uint64_t capacity[BRY__MAPLET_TABLES]; /* entries that each one is planned for */
    uint64_t range; /* fingerprints of table 0 are below this */
    uint8_t shift[BRY__MAPLET_TABLES]; /* bits that its fingerprints have more than table 0's */
} bry__chain;

/* False: a table of that capacity and error would need fingerprints of more than 62 bits. */
bool bry__chain_plan(bry__chain *chain, uint64_t capacity, double error, bool fixed);

/* Fingerprints of table i are below this. */
static inline uint64_t bry__chain_range(const bry__chain *chain, unsigned i)
{
    return chain->range << chain->shift[i];
}

/* The fingerprint in table `to` of what is `fingerprint` in table `from`, which is not before it.
 */
static inline uint64_t bry__chain_shorten(const bry__chain *chain, uint64_t fingerprint,
                                          unsigned from, unsigned to)
{
    return fingerprint >> (chain->shift[from] - chain->shift[to]);
}

/*
 * For the functions below, n[i] is the number of entries in table i, for all BRY__MAPLET_TABLES.
 */

/* The error that so many entries give to an absent key. */
double bry__chain_error(const bry__chain *chain, const uint64_t *n);

/* The table that a new entry goes to, which may not be open yet, nor those before it;
 * chain->tables when there is none: the chain is full. */
unsigned bry__chain_place(const bry__chain *chain, const uint64_t *n);

/* How many entries go to that table before another one's turn comes; 0 when the chain is full. */
uint64_t bry__chain_room(const bry__chain *chain, const uint64_t *n);

/* Whether so many entries keep the promise: the condition for merging and loading. What is placed
 * afterwards by bry__chain_place() keeps it as well. */
bool bry__chain_keeps(const bry__chain *chain, const uint64_t *n);

#endif
