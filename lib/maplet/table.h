/*
 * A table of (fingerprint, value), exact on fingerprints: segments under linear hashing and an
 * overflow list (see table.c). A fingerprint may have any number of values, even equal ones.
 */
#ifndef BRY_MAPLET_TABLE_H
#define BRY_MAPLET_TABLE_H

#include <bloomery/hash.h>

#include "maplet/items.h"
#include "maplet/overflow.h"
#include "maplet/segment.h"

#define BRY__TABLE_MIN_RANGE ((uint64_t)1 << 12)
#define BRY__TABLE_MAX_RANGE ((uint64_t)1 << 62)
/* Values per fingerprint in a segment; more go to the overflow. */
#define BRY__CROWD 8u

/* The directory allocates this many segments at once, fewer at first. */
#define BRY__GROUP_SHIFT 8u
#define BRY__GROUP_SIZE (1u << BRY__GROUP_SHIFT)

typedef struct bry__table {
    uint64_t range; /* fingerprints are below this */
    uint64_t n; /* entries, including those in the overflow */
    uint64_t dead; /* entries with dead values; counted by maplet_values.c */
    uint64_t segments; /* at least 1 */
    bry__segment **group;
    uint32_t groups, group_room;
    bry__overflow overflow;
    struct bry__arena *arena; /* with most blocks of a large table (arena/table_arena.c), or NULL */
    uint64_t block_bytes; /* of all segments' blocks, with their areas */
    uint64_t sweep; /* next segment of bry__table_reclaim() */
    uint16_t first_room; /* records of the first group; the others have BRY__GROUP_SIZE */
    uint16_t max_step; /* most entries moved by one operation */
    uint8_t level; /* floor(log2(segments)) */
    uint8_t value_bits; /* maximum; older segments may be narrower */
    bool settling; /* all is reclaimed; segments are folded one by one (bry__table_settle) */
} bry__table;

/* Number of segments that are split at this level. */
static inline uint64_t bry__table_split(const bry__table *table)
{
    return table->segments - ((uint64_t)1 << table->level);
}

/* Largest u of segments that are not split (`deeper` is 0), and of those that are (1). */
static inline uint64_t bry__table_u_of(const bry__table *table, unsigned deeper)
{
    return (table->range - 1) >> table->level >> deeper;
}

/* range is within the limits above, value_bits at most 32. BRY_E_NOMEM. */
bry_status bry__table_init(bry__table *table, uint64_t range, unsigned value_bits,
                           const bry_allocator *allocator);
void bry__table_free(bry__table *table, const bry_allocator *allocator);
/* Frees at most `groups` groups of segments of a table that is no longer used. True if nothing is
 * left. */
bool bry__table_free_some(bry__table *table, size_t groups, const bry_allocator *allocator);
bry_status bry__table_clone(const bry__table *table, bry__table *copy,
                            const bry_allocator *allocator);
uint64_t bry__table_bytes(const bry__table *table);
uint64_t bry__table_bytes_empty(void);
/* Of the directory of a table that has grown to this many segments. */
uint64_t bry__table_directory_bytes(uint64_t segments);
/* Expected bytes of n entries with uniform hashes. */
uint64_t bry__table_plan_bytes(uint64_t range, unsigned value_bits, uint64_t n);

/* The smallest value of a fingerprint; false if it has none. */
bool bry__table_get(const bry__table *table, uint64_t fingerprint, uint32_t *value);

/* True if the table has the entry (fingerprint, value). */
bool bry__table_has_entry(const bry__table *table, uint64_t fingerprint, uint32_t value);

/* Many at once, hiding memory latency: answers[i] = bry__table_get(table, fingerprints[i],
 * &values[i]) where answers[i] was 0. At most BRY__TABLE_BATCH. */
#define BRY__TABLE_BATCH BRY__SEGMENT_BATCH
void bry__table_get_n(const bry__table *table, const uint64_t *fingerprints, size_t n,
                      uint32_t *values, uint8_t *answers);

/* Prefetches the record of the fingerprint's segment. */
void bry__table_fetch_record(const bry__table *table, uint64_t fingerprint);
/* Prefetches what a look-up will read; waits only for the segment's record. */
void bry__table_prefetch(const bry__table *table, uint64_t fingerprint);

/* Prefetches what operations on these fingerprints will read. `moving`: and what adding or removing
 * entries will move; at most BRY__TABLE_ROUND fit into the cache then. */
#define BRY__TABLE_ROUND 16u
void bry__table_prefetch_n(const bry__table *table, const uint64_t *fingerprints, size_t n,
                           bool moving);

/* Stores the values of a fingerprint in ascending order, at most `room` of them. Returns the number
 * of all. */
uint64_t bry__table_get_all(const bry__table *table, uint64_t fingerprint, uint32_t *values,
                            uint64_t room);
/* The same for values from `from` on, to read them page by page; counts to room + 1 at most. */
uint64_t bry__table_get_from(const bry__table *table, uint64_t fingerprint, uint32_t from,
                             uint32_t *values, uint64_t room);

/* Where a fingerprint is in a table, or would be. Valid until the table changes. */
typedef struct bry__table_place {
    uint64_t fingerprint;
    bry__segment *segment;
    uint64_t i, u, u_most;
    bry__place first; /* of its values in the segment, or where one would go */
} bry__table_place;

/* Searches once, for bry__table_get() and a change after it: true if the fingerprint has a value,
 * the smallest of which is *value then. `moving`: prefetches all that adding or removing an entry
 * will move. */
bool bry__table_find(const bry__table *table, uint64_t fingerprint, bool moving,
                     bry__table_place *place, uint32_t *value);

/* bry__segment_swap() for a fingerprint. */
bry__swapped bry__table_swap(bry__table *table, uint64_t fingerprint, uint32_t to, uint32_t *from);

/* The functions below for a place that was found. */
bry_status bry__table_add_at(bry__table *table, const bry__table_place *at, uint32_t value,
                             const bry_allocator *allocator);
bry_status bry__table_replace_at(bry__table *table, const bry__table_place *at, uint32_t from,
                                 uint32_t to, const bry_allocator *allocator);
bool bry__table_del_at(bry__table *table, const bry__table_place *at, uint32_t value,
                       const bry_allocator *allocator);

/* True if the fingerprint has exactly one entry, and that is in the segment. */
static inline bool bry__table_is_single(const bry__table *table, const bry__table_place *place)
{
    return place->first.count == 1 &&
           (bry__overflow_count(&table->overflow) == 0 || !place->segment->spilled);
}

/* Adds an entry, even if there is an equal one. BRY_E_NOMEM. */
bry_status bry__table_add(bry__table *table, uint64_t fingerprint, uint32_t value,
                          const bry_allocator *allocator);

/* Replaces one entry (fingerprint, from), which must exist, by (fingerprint, to). BRY_E_NOMEM, but
 * not if the fingerprint has no other entry and once had the value `to`. */
bry_status bry__table_replace(bry__table *table, uint64_t fingerprint, uint32_t from, uint32_t to,
                              const bry_allocator *allocator);

/* Removes one entry (fingerprint, value); false if there is none. */
bool bry__table_del(bry__table *table, uint64_t fingerprint, uint32_t value,
                    const bry_allocator *allocator);

/* The same without bry__table_shrink(). */
bool bry__table_take(bry__table *table, uint64_t fingerprint, uint32_t value,
                     const bry_allocator *allocator);

/* Frees memory after removals, in steps: each call moves at most one segment. False if there was
 * nothing to do. */
bool bry__table_shrink(bry__table *table, const bry_allocator *allocator);

/* The same, down to as many segments as the table is saved with, since saving has to merge the
 * others. Not for single removals: additions would soon split again what was folded. */
bool bry__table_settle(bry__table *table, const bry_allocator *allocator);
/* Segments that it would fold. */
uint64_t bry__table_excess(const bry__table *table);

/* Walks all entries: start from a zeroed cursor; false at the end. The table must not change
 * meanwhile. */
typedef struct bry__table_cursor {
    uint64_t segment;
    bry__segment_cursor in_segment;
    bry__overflow_place in_overflow;
} bry__table_cursor;
bool bry__table_next(const bry__table *table, bry__table_cursor *cursor, uint64_t *fingerprint,
                     uint32_t *value);

/* Tells the value of each entry. */
void bry__table_tell_values(const bry__table *table, bry__tell_value *tell, void *context);

/*
 * Removes the entries whose values have no name, i.e. BRY__NOT_KEPT, and tells the value of each.
 * A call looks at about `budget` entries and continues where the last one stopped; the table may
 * change in between. *done: every entry that has been there since the first call was looked at.
 * BRY_E_NOMEM: nothing lost, call again.
 */
bry_status bry__table_reclaim(bry__table *table, const bry__kept_values *names,
                              bry__tell_value *gone, void *context, uint64_t budget, bool *done,
                              const bry_allocator *allocator);
/* The next call begins with the first entry. */
void bry__table_restart_reclaim(bry__table *table);

/* Replaces every value v by map(v), which must fit value_bits. map may be called several times for
 * a value and must return the same. BRY_E_NOMEM: no value has changed. */
typedef uint32_t bry__map_value(void *context, uint32_t value);
bry_status bry__table_remap(bry__table *table, bry__map_value *map, void *context,
                            const bry_allocator *allocator);

/* Checks of the owner when entries are loaded. */
typedef struct bry__entry_visit {
    /* Called for every value; returns NULL or the problem. May be NULL. */
    const char *(*value)(void *context, unsigned table, uint32_t value);
    void *context;
    bool single; /* no fingerprint may have two entries in a table */
    uint64_t table_bytes; /* that the owner will allocate for each table but the first */
} bry__entry_visit;

/* For table_walk.c and loading: segment i, the number of low bits of a fingerprint that choose
 * it, the largest u of all segments of its level (its layout depends on that), and its own
 * largest u. */
static inline bry__segment *bry__table_segment(const bry__table *table, uint64_t i)
{
    return &table->group[i >> BRY__GROUP_SHIFT][i & (BRY__GROUP_SIZE - 1)];
}
static inline unsigned bry__table_level(const bry__table *table, uint64_t i)
{
    uint64_t half = (uint64_t)1 << table->level;
    return table->level + (i < bry__table_split(table) || i >= half);
}
static inline uint64_t bry__table_u_most(const bry__table *table, uint64_t i)
{
    return bry__table_u_of(table, bry__table_level(table, i) - table->level);
}
uint64_t bry__table_u_limit(const bry__table *table, uint64_t i);
/* Where a fingerprint is: the number of its segment, its u there, and the largest u. */
typedef struct bry__spot {
    uint64_t i, u;
    uint64_t u_most;
} bry__spot;

static inline bry__spot bry__table_spot(const bry__table *table, uint64_t fingerprint)
{
    uint64_t half = (uint64_t)1 << table->level;
    unsigned deeper = (fingerprint & (half - 1)) < table->segments - half;
    unsigned level = table->level + deeper;
    return (bry__spot){fingerprint & (((uint64_t)1 << level) - 1), fingerprint >> level,
                       (table->range - 1) >> level};
}

/* The segment of a fingerprint. */
uint64_t bry__table_segment_of(const bry__table *table, uint64_t fingerprint);
/* Frees the part of the directory after the last segment. Records may move. */
void bry__table_trim(bry__table *table, const bry_allocator *allocator);
/* Records that one operation moved this many entries. */
void bry__table_count_step(bry__table *table, uint64_t moved);
/* For loading: a table of this many segments, whose records bry__table_reach() allocates later,
 * group by group. False if the range does not allow so many. */
bool bry__table_open(bry__table *table, uint64_t range, unsigned value_bits, uint64_t segments);
/* Allocates the record of segment i; those before it must exist, and may move. BRY_E_NOMEM. */
bry_status bry__table_reach(bry__table *table, uint64_t i, const bry_allocator *allocator);
/* For loading: NULL if every entry of the overflow belongs there, else the problem. */
const char *bry__table_check_overflow(const bry__table *table);

/* ---- groups (table_groups.c) ----------------------------------------------------------------- */

/*
 * The fingerprints whose last `bits` bits are a number from `first` to `end` - 1. This set does not
 * depend on the number of segments, and is in few of them.
 */
typedef struct bry__groups {
    unsigned bits;
    uint64_t first, end;
} bry__groups;

typedef struct bry__table_entry {
    uint64_t fingerprint;
    uint32_t value;
} bry__table_entry;

typedef bool bry__drop(void *context, uint64_t fingerprint, uint32_t value);

/* The first group of `bits` bits with an entry for which `drop` is false; 2^bits: none. */
uint64_t bry__table_first_group(const bry__table *table, unsigned bits, bry__drop *drop,
                                void *context);

/* Stores the entries of these groups for which `drop` is false in `to`, unless that is NULL.
 * Returns their number. */
uint64_t bry__table_gather(const bry__table *table, const bry__groups *groups, bry__drop *drop,
                           void *context, bry__table_entry *to);

/* Removes every entry of these groups, and calls `gone` for it. If segments are larger than groups,
 * because memory was short, removes only the n given entries. Never fails. */
typedef void bry__gone(void *context, uint64_t fingerprint, uint32_t value);
void bry__table_clear_groups(bry__table *table, const bry__groups *groups,
                             const bry__table_entry *entries, uint64_t n, bry__gone *gone,
                             void *context, const bry_allocator *allocator);
/* Number of segments of a table after n single additions. */
uint64_t bry__table_segments_for(uint64_t range, uint64_t n);

/* ---- whole tables (table_build.c, table_unite.c) --------------------------------------------- */

/* What to do with a fingerprint that both tables have. */
typedef enum bry__merge_mode {
    BRY__MERGE_ALL, /* keep all values of both */
    BRY__MERGE_KEEP, /* keep those of the first */
    BRY__MERGE_REPLACE, /* keep those of the second */
    BRY__MERGE_PICK, /* ask `pick`; for tables with one value per fingerprint */
} bry__merge_mode;

/* May change the values of entries; where it sets keep[i], which is true, to false, the entry is left
 * out. At most BRY__TABLE_BATCH entries at a time, so that look-ups can be batched. */
typedef void bry__adapt(void *context, const uint64_t *fingerprints, uint32_t *values, bool *keep,
                        size_t n);
/* True: b's value is kept instead of a's. Both are adapted before. */
typedef bool bry__pick(void *context, uint32_t a, uint32_t b);

/* Calls of bry__table_unite(); each may be NULL. */
typedef struct bry__unite_calls {
    const uint32_t *value[2]; /* new value for each value of a, and of b; BRY__NOT_KEPT: the entry
                                 is left out */
    bry__adapt *adapt[2]; /* called for all entries, after `value` */
    bry__pick *pick;
    void *context;
} bry__unite_calls;

/* Makes a table of the entries of two tables with the same range, with the value_bits of a. The two
 * do not change. BRY_E_NOMEM. */
bry_status bry__table_unite(bry__table *made, const bry__table *a, const bry__table *b,
                            bry__merge_mode mode, const bry__unite_calls *calls,
                            const bry_allocator *allocator);

/* A batch of keys that get one value each, in order. */
typedef struct bry__upserts {
    const bry_hash *hashes;
    const uint32_t *values; /* NULL: all 0 */
    size_t n, absent; /* absent: how many have BRY_ABSENT in `was` */
    uint32_t *old; /* may be NULL */
    uint8_t *was;
} bry__upserts;

/*
 * Makes a table of the entries of `table`, which has no overflow, and of the keys for which was[i]
 * is BRY_ABSENT; the others are left out. If the fingerprint of a key has a value in the table, or
 * from an earlier key, was[i] becomes BRY_PRESENT and old[i] that value. BRY_E_NOMEM: `was` may
 * have changed.
 */
bry_status bry__table_upsert_sorted(bry__table *made, const bry__table *table,
                                    const bry__upserts *upserts, const bry_allocator *allocator);

/* Makes a table of the entries of `table`, which has no overflow, and of n items whose keys are
 * fingerprints; each is one more entry. Items with the same fingerprint ascend by value. `spare`
 * has room for n; both arrays are overwritten. BRY_E_NOMEM. */
bry_status bry__table_add_sorted(bry__table *made, const bry__table *table, bry__item *items,
                                 bry__item *spare, size_t n, const bry_allocator *allocator);

#endif
