/*
 * Values that can die. An owner whose values stand for something that comes and goes, a unit or a
 * generation, has the maplet count its entries by table and value. Then all entries of a value can
 * be declared dead at once:
 *
 *             use                 kill              the last entry is reclaimed
 *      free ───────► live, named ──────► dead ──────────────────────────────────► free
 *                                          ╰── at once, where it has no entries ──╯
 *
 * Dead entries still take memory, and that is all: no function of this file finds them, no count,
 * error or placement of the maplet includes them, and they are not written. They are reclaimed in
 * steps. How far that has come decides which values are free, so owners do not show values to
 * anybody. What they show, and what is written instead of a value, is its name: a number that the
 * owner picks when it begins to use the value.
 */
#ifndef BRY_MAPLET_MAPLET_VALUES_H
#define BRY_MAPLET_MAPLET_VALUES_H

#include "maplet/maplet.h"

#define BRY__NO_NAME UINT32_MAX

typedef struct bry__values {
    uint32_t room; /* values from here on are free */
    uint32_t lowest; /* none below this one is free */
    uint32_t changes; /* since entries were last reclaimed along with one */
    uint32_t turn; /* the table that is reclaimed next */
    uint32_t name_bits; /* that are written for a name; 0: as many as the names in use need */
    uint32_t *name; /* of each value; BRY__NO_NAME: it is dead or free */
    uint64_t *count[BRY__MAPLET_TABLES]; /* entries of each value in each table that there is */
} bry__values;

/* ---- one value ----------------------------------------------------------------------------- */

/* Counts by value from now on; the maplet has no entries. Freed with the maplet. BRY_E_NOMEM. */
bry_status bry__values_begin(bry__maplet *maplet);

/* `wanted` where it is free, else the lowest value that is; most: there is none below. */
uint32_t bry__values_find_free(const bry__maplet *maplet, uint32_t wanted, uint32_t most);

/* Begins to use a free value. BRY_E_NOMEM; BRY_E_RANGE: it has more than 32 bits. */
bry_status bry__values_use(bry__maplet *maplet, uint32_t value, uint32_t name);
/* Bytes that it would allocate for that. */
uint64_t bry__values_use_bytes(const bry__maplet *maplet, uint32_t value);

/* Makes room for values below n. BRY_E_NOMEM. */
bry_status bry__values_reserve(bry__maplet *maplet, uint32_t n);
/* Bytes of that, with so many tables, beside what the tables take. */
uint64_t bry__values_plan_bytes(uint32_t n, unsigned tables);

/* A live value dies. */
void bry__values_kill(bry__maplet *maplet, uint32_t value);
/* Takes that back; the value has not been used otherwise since. */
void bry__values_revive(bry__maplet *maplet, uint32_t value, uint32_t name);
/* Back to so many bits for values, if none with more is live or has entries. */
void bry__values_narrow(bry__maplet *maplet, unsigned value_bits);

/* Gives the entries of live value `from` to live value `into`; `from` is free then. BRY_E_NOMEM:
 * nothing has changed. */
bry_status bry__values_merge(bry__maplet *maplet, uint32_t into, uint32_t from);

static inline bool bry__values_is_live(const bry__maplet *maplet, uint32_t value)
{
    return value < maplet->values->room && maplet->values->name[value] != BRY__NO_NAME;
}

/* The live value of that name, BRY__NO_NAME: there is none. Takes maplets that do not count. */
uint32_t bry__values_find_named(const bry__maplet *maplet, uint32_t name);

/* Entries of a value, dead or not, in all tables. */
uint64_t bry__values_entries(const bry__maplet *maplet, uint32_t value);

/* ---- keys ---------------------------------------------------------------------------------- */

/* Whether the key has that value, which is live. */
bool bry__values_has(const bry__maplet *maplet, bry_hash hash, uint32_t value);

/* The names of the key's live values, each once, to `found`, until that returns false. Returns
 * whether it did. */
typedef bool bry__found_name(void *context, uint32_t name);
bool bry__values_each(const bry__maplet *maplet, bry_hash hash, bry__found_name *found,
                      void *context);

/* Fingerprints of a table, for all BRY__MAPLET_TABLES; those of tables that the chain cannot have
 * are none. */
typedef struct bry__fingerprints {
    const uint64_t *fingerprint;
    uint64_t n;
} bry__fingerprints;

/* Adds them all with that value, which is live, or none. BRY_E_NOMEM. */
bry_status bry__values_add_all(bry__maplet *maplet, const bry__fingerprints *lists, uint32_t value);

/* ---- reclaiming ---------------------------------------------------------------------------- */

/* Entries of dead values, in all tables. */
uint64_t bry__values_dead(const bry__maplet *maplet);

/* Entries that a round over all tables with dead ones looks at; 0: there are none. */
uint64_t bry__values_waiting(const bry__maplet *maplet);

/* Entries that are moved after that, about, until the maplet is saved as fast as one that never had
 * dead entries. */
uint64_t bry__values_unsettled(const bry__maplet *maplet);

/* Looks at about `budget` entries for dead ones. BRY_E_NOMEM: nothing lost, call again. */
bry_status bry__values_reclaim(bry__maplet *maplet, uint64_t budget);

/* The same by the way, with each entry that is added. Where memory is short it is done later. */
void bry__values_reclaim_along(bry__maplet *maplet);

/* ---- for the maplet ------------------------------------------------------------------------ */

static inline void bry__values_note(const bry__maplet *maplet, unsigned table, uint32_t value,
                                    bool more)
{
    if (maplet->values)
        maplet->values->count[table][value] += more ? UINT64_C(1) : UINT64_MAX;
}

/* An entry of any value has gone. */
void bry__values_note_gone(bry__maplet *maplet, unsigned table, uint32_t value);

/* Entries of table i that count. */
static inline uint64_t bry__maplet_live(const bry__maplet *maplet, unsigned i)
{
    return maplet->table[i]->n - maplet->table[i]->dead;
}

/* Tables that are written: up to the last one with entries that count, at least one. */
unsigned bry__maplet_live_tables(const bry__maplet *maplet);

/* Bits that are written for a name. */
unsigned bry__values_name_bits(const bry__maplet *maplet);

/* Table i has been opened without entries, or is about to be closed without live ones. BRY_E_NOMEM.
 */
bry_status bry__values_open_table(bry__maplet *maplet, unsigned i);
void bry__values_close_table(bry__maplet *maplet, unsigned i);

/* A copy for a maplet that is a copy; and the end. */
bry_status bry__values_clone(const bry__maplet *maplet, bry__maplet *copy);
/* Forgets all values; the same, and that they are counted. */
void bry__values_clear(bry__maplet *maplet);
void bry__values_free(bry__maplet *maplet);

uint64_t bry__values_bytes(const bry__maplet *maplet);

/*
 * For loading: `maplet` has no tables yet, but the values that will be in use, by their names, and
 * bry__values_open_table() has been called for the first one. Every entry that is read is counted;
 * false: its value is not in use. Then it takes over the tables that were read. BRY_E_NOMEM: it can
 * be freed, and no more.
 */
bool bry__values_count_loaded(bry__maplet *maplet, uint32_t value);
/* Bytes that it allocates then for each table but the first. */
uint64_t bry__values_table_bytes(const bry__maplet *maplet);
bry_status bry__values_adopt(bry__maplet *maplet, const bry__maplet *read);

#endif
