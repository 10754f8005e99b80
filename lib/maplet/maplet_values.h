/*
 * Values that can die. If values stand for something that comes and goes, such as a unit or a
 * generation, the maplet counts its entries by table and value. Then all entries of a value can be
 * declared dead at once:
 *
 *             use                 kill              the last entry is reclaimed
 *      free ───────► live, named ──────► dead ──────────────────────────────────► free
 *                                          ╰── at once, if it has no entries ─────╯
 *
 * Dead entries only take memory: no function of this file finds them, no count, error or placement
 * of the maplet includes them, and they are not saved. They are reclaimed in steps. Which values
 * are free depends on the state of reclaiming, so owners never expose values. What they expose,
 * and what is saved instead of a value, is its name: a number that the owner chooses when it
 * begins to use the value.
 */
#ifndef BRY_MAPLET_MAPLET_VALUES_H
#define BRY_MAPLET_MAPLET_VALUES_H

#include "maplet/maplet.h"

#define BRY__NO_NAME UINT32_MAX

typedef struct bry__values {
    uint32_t first,
        room; /* the arrays are for values from `first` to `room` - 1; others are free */
    uint32_t lowest; /* none below this one is free */
    uint8_t changes; /* additions since bry__values_reclaim_along() last reclaimed */
    uint8_t turn; /* the table to be reclaimed next */
    uint8_t name_bits; /* width of a saved name; 0: as many bits as the names in use need */
    uint8_t tables; /* size of `count` */
    uint32_t *name; /* of value `first`, and so on; BRY__NO_NAME: dead or free */
    uint64_t *count[]; /* entries of each value, for each open table */
} bry__values;

#define BRY__VALUES_ROOM 4u /* at first; it grows by half */

/*
 * With names of at most BRY__FEW_BITS, values are usually equal to them and do not begin with 0, but
 * with the number of some generation. So that an object which has seen few of them remains small,
 * `first` is the first of these; it is 0 if there are values above BRY__VALUES_FEW.
 */
#define BRY__VALUES_FEW (1u << BRY__FEW_BITS)
#define BRY__VALUES_FEW_ROOM 2u /* at first; it doubles */

/* ---- one value ------------------------------------------------------------------------------- */

/* Begins to count by value, in a maplet without entries. Freed with the maplet. BRY_E_NOMEM. */
bry_status bry__values_begin(bry__maplet *maplet);

/* `wanted` if it is free, else the lowest free value; `most` if none below it is free. */
uint32_t bry__values_find_free(const bry__maplet *maplet, uint32_t wanted, uint32_t most);

/* Begins to use a free value. BRY_E_NOMEM; BRY_E_RANGE: it has more than 32 bits. */
bry_status bry__values_use(bry__maplet *maplet, uint32_t value, uint32_t name);
/* Bytes that this would allocate. */
uint64_t bry__values_use_bytes(const bry__maplet *maplet, uint32_t value);

/* Makes room for all values below n. BRY_E_NOMEM. */
bry_status bry__values_reserve(bry__maplet *maplet, uint32_t n);
/* Bytes of that with this many tables; the tables themselves are not counted. */
uint64_t bry__values_plan_bytes(uint32_t n, unsigned tables);

/* Makes a live value dead. */
void bry__values_kill(bry__maplet *maplet, uint32_t value);
/* Undoes that, if the value has not been used for anything else since. */
void bry__values_revive(bry__maplet *maplet, uint32_t value, uint32_t name);
/* Narrows values to value_bits again, unless a wider one is live or has entries. */
void bry__values_narrow(bry__maplet *maplet, unsigned value_bits);

/* Gives the entries of the live value `from` to the live value `into`, and frees `from`.
 * BRY_E_NOMEM: nothing has changed. */
bry_status bry__values_merge(bry__maplet *maplet, uint32_t into, uint32_t from);

static inline bool bry__values_is_live(const bry__maplet *maplet, uint32_t value)
{
    const bry__values *values = maplet->values;
    return value >= values->first && value < values->room &&
           values->name[value - values->first] != BRY__NO_NAME;
}

/* The live value with this name, or BRY__NO_NAME. Accepts maplets that do not count. */
uint32_t bry__values_find_named(const bry__maplet *maplet, uint32_t name);

/* Number of entries of a value, dead or not, in all tables. */
uint64_t bry__values_entries(const bry__maplet *maplet, uint32_t value);

/* ---- keys ------------------------------------------------------------------------------------ */

/* True if the key has this live value. */
bool bry__values_has(const bry__maplet *maplet, bry_hash hash, uint32_t value);

/* Calls `found` with the name of each live value of the key, once per name, until it returns false.
 * True if it did. */
typedef bool bry__found_name(void *context, uint32_t name);
bool bry__values_each(const bry__maplet *maplet, bry_hash hash, bry__found_name *found,
                      void *context);

/* Fingerprints for one table. There is one list for each of the BRY__MAPLET_TABLES; n is 0 for
 * tables that the chain cannot have. */
typedef struct bry__fingerprints {
    const uint64_t *fingerprint;
    uint64_t n;
} bry__fingerprints;

/* Adds all of them with this live value, or none. BRY_E_NOMEM. */
bry_status bry__values_add_all(bry__maplet *maplet, const bry__fingerprints *lists, uint32_t value);

/* ---- reclaiming ------------------------------------------------------------------------------ */

/* Number of dead entries in all tables. */
uint64_t bry__values_dead(const bry__maplet *maplet);

/* Number of entries in tables with dead ones: a round of reclaiming looks at these. */
uint64_t bry__values_waiting(const bry__maplet *maplet);

/* Entries that are moved after that, about, until the maplet is saved as fast as one that never had
 * dead entries. */
uint64_t bry__values_unsettled(const bry__maplet *maplet);

/* Looks at about `budget` entries for dead ones. BRY_E_NOMEM: nothing lost, call again. */
bry_status bry__values_reclaim(bry__maplet *maplet, uint64_t budget);

/* Reclaims a little; called with each entry that is added. Does it later if memory is short. */
void bry__values_reclaim_along(bry__maplet *maplet);

/* ---- for the maplet -------------------------------------------------------------------------- */

static inline void bry__values_note(const bry__maplet *maplet, unsigned table, uint32_t value,
                                    bool more)
{
    const bry__values *values = maplet->values;
    if (values)
        values->count[table][value - values->first] += more ? UINT64_C(1) : UINT64_MAX;
}

/* Counts an entry as removed; its value may be dead. */
void bry__values_note_gone(bry__maplet *maplet, unsigned table, uint32_t value);

/* Number of live entries in table i. */
static inline uint64_t bry__maplet_live(const bry__maplet *maplet, unsigned i)
{
    return maplet->table[i].n - maplet->table[i].dead;
}

/* The names of all values below `room`; `few` is where they are put together if necessary. */
const uint32_t *bry__values_names(const bry__values *values, uint32_t few[BRY__VALUES_FEW]);

/* Width of a saved name. */
unsigned bry__values_name_bits(const bry__maplet *maplet);

/* To be called when table i is opened, and when it is closed without live entries. BRY_E_NOMEM. */
bry_status bry__values_open_table(bry__maplet *maplet, unsigned i);
void bry__values_close_table(bry__maplet *maplet, unsigned i);

/* Clones the counts for the clone of a maplet. BRY_E_NOMEM. */
bry_status bry__values_clone(const bry__maplet *maplet, bry__maplet *copy);
/* Removes all values; frees the counts. */
void bry__values_clear(bry__maplet *maplet);
void bry__values_free(bry__maplet *maplet);

uint64_t bry__values_bytes(const bry__maplet *maplet);

/*
 * For loading: `maplet` has no tables yet, but its values are in use, each with itself as the
 * name, and bry__values_open_table() was called for the first table. The first function counts an
 * entry that was read; false: its value is not in use. The second takes ownership of the tables
 * that were read. After BRY_E_NOMEM the maplet can only be freed.
 */
bool bry__values_count_loaded(bry__maplet *maplet, uint32_t value);
/* Bytes that it allocates then for each table but the first. */
uint64_t bry__values_table_bytes(const bry__maplet *maplet);
bry_status bry__values_adopt(bry__maplet *maplet, const bry__maplet *read);

#endif
