/*
 * A chain of tables. Table 0 takes `capacity` entries; when it is full, table 1 takes 64 times as
 * many, and each one after it 16 times as many as the one before. A look-up asks all tables, so
 * their errors add up, and each gets a share:
 *
 *      table i > 0:   capacity · 2^(4i + 2) entries,   range · 2^(4i + 2 + e_i) fingerprints
 *                     share of a full one = (capacity / range) / 2^e_i
 *
 * With range = capacity / (0.75 · error) the shares are 0.75 of the error for table 0, 0.094 for
 * table 3, 0.047 for tables 1, 2 and 4 and little for the others; the sum is less than the error.
 * Large steps keep both costs of growth low. A grown chain has few tables to ask. Most entries are
 * in the last two of them, with 3 or 4 bits more than in a table of the right size, and some more
 * if the last one is nearly empty. After growing from 1,000 to 8 million keys with 16-bit values
 * at 10^-3, a key takes 33.2 bits in 4 tables (29.0 in one table of the right size); steps of 2
 * took 40.6 in 13.
 *
 * Every range is range 0 times a power of two, and the fingerprint of a hash is monotone in it. So
 * the fingerprint of table i without its last bits is that of any earlier table: entries can be
 * folded back and merged without the keys.
 *
 * Fingerprints have at most 62 bits. A table that would need more is the last one: it gets 62 bits,
 * and as many entries as the rest of the error (up to 0.999 of it) allows. Growth ends there, or at
 * 2^40 entries.
 *
 * Merging. Two chains of the same plan are merged table by table, since no entry can get a longer
 * fingerprint. The result is accepted when the sum of the errors is within the promise. A table may
 * then hold more than its capacity, and less of the error remains for the others. Let
 *
 *      E(i) = sum over j < i of n_j / range_j  +  sum over j >= i of max(n_j, capacity_j) / range_j
 *
 * which is the error once all tables from i on are full. New entries go to the first table i with
 * room for which E(i) is at most the error; placing one there does not change E(i), so the error
 * is kept to the end. If no table is above its capacity, this is the first table with room. If
 * there is no such i, the last table takes single entries as long as the sum allows. All this
 * depends on the numbers of entries alone.
 */
#include "maplet/maplet_plan.h"

#include "maplet/table.h"

#include <math.h>

#define FIRST_SHARE 0.75
#define LAST_SHARE 0.999 /* of all tables together, if the last one has too few bits */

/* log2 of (capacity of table i / capacity of table 0), and the same plus e_i */
static const uint8_t growth[BRY__MAPLET_TABLES] = {0, 6, 10, 14, 18, 22, 26, 30, 34, 38, 42};
const uint8_t bry__chain_shifts[BRY__MAPLET_TABLES] = {0, 10, 14, 17, 22, 31, 35, 39, 43, 47, 51};

static uint64_t chain_planned(const bry__chain *chain, unsigned i)
{
    uint64_t most = BRY__CHAIN_MOST >> growth[i];
    return chain->first_capacity < most ? chain->first_capacity << growth[i] : BRY__CHAIN_MOST;
}

uint64_t bry__chain_capacity(const bry__chain *chain, unsigned i)
{
    if (i == 0)
        return chain->fixed == BRY__ANY_LOAD ? chain->range : chain->first_capacity;
    if (i >= chain->tables)
        return 0;
    return i + 1 == chain->tables ? chain->last_capacity : chain_planned(chain, i);
}

/* The error with all tables full. */
static double chain_full_error(const bry__chain *chain)
{
    double error = 0;
    for (unsigned i = 0; i < chain->tables; i++)
        error += (double)bry__chain_capacity(chain, i) / (double)bry__chain_range(chain, i);
    return error;
}

/* Plans the next table. False: it is the last one. */
static bool chain_add_table(bry__chain *chain)
{
    unsigned i = chain->tables, shift = bry__chain_shifts[i];
    double left = LAST_SHARE * chain->error - chain_full_error(chain);
    uint64_t capacity = chain_planned(chain, i);
    bool whole = true;
    for (; chain->range > BRY__TABLE_MAX_RANGE >> shift; shift--)
        whole = false;
    if (!whole) {
        double wanted = floor(left * (double)(chain->range << shift));
        if (wanted < 1)
            return false;
        capacity = wanted < (double)BRY__CHAIN_MOST ? (uint64_t)wanted : BRY__CHAIN_MOST;
    }
    chain->last_shift = (uint8_t)shift;
    chain->last_capacity = capacity;
    chain->tables++;
    return whole;
}

bool bry__chain_plan(bry__chain *chain, uint64_t capacity, double error, unsigned fixed)
{
    double range = ceil((double)capacity / (fixed ? error : FIRST_SHARE * error));
    if (range > (double)BRY__TABLE_MAX_RANGE)
        return false;
    uint64_t first = range < (double)BRY__TABLE_MIN_RANGE ? BRY__TABLE_MIN_RANGE : (uint64_t)range;
    *chain = (bry__chain){.error = error,
                          .tables = 1,
                          .first_capacity = capacity,
                          .range = first,
                          .fixed = (uint8_t)fixed};
    bool more = !fixed;
    for (chain->most = capacity; more && chain->most < BRY__CHAIN_MOST;) {
        unsigned before = chain->tables;
        more = chain_add_table(chain) && chain->tables < BRY__MAPLET_TABLES;
        if (chain->tables > before)
            chain->most += chain->last_capacity;
    }
    if (chain->most > BRY__CHAIN_MOST && capacity <= BRY__CHAIN_MOST)
        chain->most = BRY__CHAIN_MOST;
    if (fixed == BRY__ANY_LOAD)
        chain->most = chain->range;
    return true;
}

double bry__chain_error(const bry__chain *chain, const uint64_t *n)
{
    double error = 0;
    for (unsigned i = 0; i < chain->tables; i++)
        error += (double)n[i] / (double)bry__chain_range(chain, i);
    return error;
}

/* True if the error is kept when all tables from `from` on are full: E(from) <= error. */
static bool chain_holds_from(const bry__chain *chain, const uint64_t *n, unsigned from)
{
    double error = 0;
    if (chain->fixed == BRY__ANY_LOAD)
        return true;
    for (unsigned i = 0; i < chain->tables; i++) {
        uint64_t full =
            i < from || n[i] > bry__chain_capacity(chain, i) ? n[i] : bry__chain_capacity(chain, i);
        error += (double)full / (double)bry__chain_range(chain, i);
    }
    return error <= chain->error * (1 + 1e-9); /* ranges are rounded */
}

static bool chain_is_as_planned(const bry__chain *chain, const uint64_t *n)
{
    for (unsigned i = 0; i < chain->tables; i++)
        if (n[i] > bry__chain_capacity(chain, i))
            return false;
    return true;
}

static uint64_t chain_sum(const bry__chain *chain, const uint64_t *n)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < chain->tables; i++)
        sum += n[i];
    return sum;
}

unsigned bry__chain_place(const bry__chain *chain, const uint64_t *n)
{
    unsigned i = 0;
    if (chain_sum(chain, n) >= chain->most)
        return chain->tables;
    if (!chain_is_as_planned(chain, n))
        while (i < chain->tables && !chain_holds_from(chain, n, i))
            i++;
    while (i < chain->tables && n[i] >= bry__chain_capacity(chain, i))
        i++;
    unsigned last = chain->tables - 1;
    if (i > last && n[last] < bry__chain_capacity(chain, last) &&
        bry__chain_error(chain, n) + 1 / (double)bry__chain_range(chain, last) <= chain->error)
        i = last;
    return i;
}

uint64_t bry__chain_room(const bry__chain *chain, const uint64_t *n)
{
    unsigned i = bry__chain_place(chain, n);
    if (i == chain->tables)
        return 0;
    uint64_t room = bry__chain_capacity(chain, i) - n[i], left = chain->most - chain_sum(chain, n);
    if (!chain_is_as_planned(chain, n) && !chain_holds_from(chain, n, i))
        return 1; /* the last table, entry by entry */
    return room < left ? room : left;
}

bool bry__chain_keeps(const bry__chain *chain, const uint64_t *n)
{
    if (chain_sum(chain, n) > chain->most)
        return false;
    for (unsigned i = chain->tables; i < BRY__MAPLET_TABLES; i++)
        if (n[i] > 0)
            return false;
    return chain_holds_from(chain, n, chain->tables);
}
