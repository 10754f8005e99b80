/*
 * A table of (fingerprint, value), exact on fingerprints: segments under linear hashing, and an
 * overflow list. table.c explains. One fingerprint may have any number of values, equal ones too.
 */
#ifndef BRY_MAPLET_TABLE_H
#define BRY_MAPLET_TABLE_H

#include <bloomery/hash.h>

#include "maplet/items.h"
#include "maplet/overflow.h"
#include "maplet/segment.h"

#define BRY__TABLE_MIN_RANGE ((uint64_t)1 << 12)
#define BRY__TABLE_MAX_RANGE ((uint64_t)1 << 62)
/* Values of one fingerprint that a segment holds; more go to the overflow. */
#define BRY__CROWD 8u

/* Segments that the directory allocates at once. */
#define BRY__GROUP_SHIFT 8u
#define BRY__GROUP_SIZE (1u << BRY__GROUP_SHIFT)

typedef struct bry__table {
    uint64_t range; /* fingerprints are below it */
    uint64_t n; /* entries, the overflow's included */
    uint64_t dead; /* those of them whose values are dead; maplet_values.c counts them */
    uint64_t segments; /* at least 1 */
    unsigned level; /* floor(log2(segments)) */
    unsigned value_bits; /* that values may have; older segments may still be narrower */
    uint64_t split; /* segments - 2^level: how many of that level have been split */
    uint64_t u_most[2]; /* the largest u of segments at that level, and of those already split */
    bry__segment **group;
    size_t groups, group_room;
    bry__overflow overflow;
    uint64_t block_bytes; /* of all segments' blocks */
    uint64_t moved; /* entries that structural changes have moved so far */
    uint32_t max_step; /* the most that one operation has moved */
    bool sweeping; /* a sweep is under way, and goes on with … */
    uint64_t sweep; /* … this segment, or when that is past the last, in the overflow with … */
    uint64_t sweep_fingerprint; /* … this entry */
    uint32_t sweep_value;
    bool settling; /* a sweep has ended, and segments are folded one by one (bry__table_settle) */
} bry__table;

/* range between the limits above, value_bits at most 32. BRY_E_NOMEM. */
bry_status bry__table_init(bry__table *table, uint64_t range, unsigned value_bits,
                           const bry_allocator *allocator);
void bry__table_free(bry__table *table, const bry_allocator *allocator);
/* The same in steps, of a table that is not used any more: so many groups of segments in a call.
 * True when nothing is left. */
bool bry__table_free_some(bry__table *table, size_t groups, const bry_allocator *allocator);
bry_status bry__table_clone(const bry__table *table, bry__table *copy,
                            const bry_allocator *allocator);
uint64_t bry__table_bytes(const bry__table *table);
uint64_t bry__table_bytes_empty(void);
/* What n entries are expected to take, with uniform hashes. */
uint64_t bry__table_plan_bytes(uint64_t range, unsigned value_bits, uint64_t n);

/* The smallest value of a fingerprint; false when it has none. */
bool bry__table_get(const bry__table *table, uint64_t fingerprint, uint32_t *value);

/* Whether (fingerprint, value) is there. */
bool bry__table_has_entry(const bry__table *table, uint64_t fingerprint, uint32_t value);

/* Many at once: answers[i] = bry__table_get(table, fingerprints[i], &values[i]), where answers[i]
 * was 0 before; memory latency is hidden. At most BRY__TABLE_BATCH. */
#define BRY__TABLE_BATCH BRY__SEGMENT_BATCH
void bry__table_get_n(const bry__table *table, const uint64_t *fingerprints, size_t n,
                      uint32_t *values, uint8_t *answers);

/* Fetches what asking for a fingerprint, or adding it, is going to touch, and waits for nothing but
 * the segment's record. */
void bry__table_prefetch(const bry__table *table, uint64_t fingerprint, bool adding);

/* Fetches what operations on these fingerprints are going to read. */
void bry__table_prefetch_n(const bry__table *table, const uint64_t *fingerprints, size_t n);

/* All its values, smallest first; at most `room` are stored, how many there are is returned. */
uint64_t bry__table_get_all(const bry__table *table, uint64_t fingerprint, uint32_t *values,
                            uint64_t room);
/* The same for its values that are not below `from`, counted to room + 1 and not beyond: any number
 * of them, page by page. */
uint64_t bry__table_get_from(const bry__table *table, uint64_t fingerprint, uint32_t from,
                             uint32_t *values, uint64_t room);

/* Adds an entry, whatever is there. BRY_E_NOMEM. */
bry_status bry__table_add(bry__table *table, uint64_t fingerprint, uint32_t value,
                          const bry_allocator *allocator);

/* Makes one entry (fingerprint, from), which must be there, into (fingerprint, to). BRY_E_NOMEM,
 * but not where the fingerprint has that entry alone and once had the value `to`. */
bry_status bry__table_replace(bry__table *table, uint64_t fingerprint, uint32_t from, uint32_t to,
                              const bry_allocator *allocator);

/* Removes one entry (fingerprint, value); false when there is none. */
bool bry__table_del(bry__table *table, uint64_t fingerprint, uint32_t value,
                    const bry_allocator *allocator);

/* The same, but leaves giving memory back to the caller. */
bool bry__table_take(bry__table *table, uint64_t fingerprint, uint32_t value,
                     const bry_allocator *allocator);

/* Gives memory back after removals, in steps: every call moves at most one segment. Returns whether
 * there was anything to do. */
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
typedef void bry__tell_value(void *context, uint32_t value);
void bry__table_tell_values(const bry__table *table, bry__tell_value *tell, void *context);

/*
 * Removes what `drop` says, about `budget` entries looked at in a call, going on where the last
 * call stopped; the table may change in between. *done when every entry that was there when the
 * sweep began, and still is, has been looked at. BRY_E_NOMEM: nothing lost, call again.
 */
typedef bool bry__drop(void *context, uint64_t fingerprint, uint32_t value);
bry_status bry__table_sweep(bry__table *table, bry__drop *drop, void *context, uint64_t budget,
                            bool *done, const bry_allocator *allocator);
/* The same, and `gone` hears of every entry that was removed. */
typedef void bry__gone(void *context, uint64_t fingerprint, uint32_t value);
bry_status bry__table_reclaim(bry__table *table, bry__drop *drop, bry__gone *gone, void *context,
                              uint64_t budget, bool *done, const bry_allocator *allocator);

/* Every value v becomes map(v), which must fit value_bits. map is called more than once for a value
 * and must always answer the same. BRY_E_NOMEM leaves all values as they were. */
typedef uint32_t bry__map_value(void *context, uint32_t value);
bry_status bry__table_remap(bry__table *table, bry__map_value *map, void *context,
                            const bry_allocator *allocator);

/* What is written for a value when a table is saved; BRY__NOT_KEPT: the entry is not. Always the
 * same for the same value, and different for different ones. */
typedef uint32_t bry__keep_value(const void *context, uint32_t value);

/* What the owner of entries knows about them when they are loaded. */
typedef struct bry__entry_visit {
    /* Sees every value; NULL, or what is wrong with it. May be NULL itself. */
    const char *(*value)(void *context, unsigned table, uint32_t value);
    void *context;
    bool single; /* no fingerprint may have two entries in a table */
    uint64_t table_bytes; /* that the owner will allocate for each table but the first */
} bry__entry_visit;

/* For table_walk.c and loading: segment number i, how many low bits of a fingerprint chose it, the
 * largest u of all segments like it, which its layout depends on, and of this very one. */
bry__segment *bry__table_segment(const bry__table *table, uint64_t i);
unsigned bry__table_level(const bry__table *table, uint64_t i);
uint64_t bry__table_u_most(const bry__table *table, uint64_t i);
uint64_t bry__table_u_limit(const bry__table *table, uint64_t i);
/* Where a fingerprint is: its segment's number, its name u there, and the largest u there is. */
typedef struct bry__spot {
    uint64_t i, u;
    uint64_t u_most;
} bry__spot;

static inline bry__spot bry__table_spot(const bry__table *table, uint64_t fingerprint)
{
    uint64_t half = (uint64_t)1 << table->level, i = fingerprint & (half - 1);
    unsigned deeper = i < table->split;
    uint64_t up = fingerprint >> table->level;
    return (bry__spot){i + ((up & deeper) << table->level), up >> deeper, table->u_most[deeper]};
}

/* The segment of a fingerprint, and how many segments n more entries will split at most. */
uint64_t bry__table_segment_of(const bry__table *table, uint64_t fingerprint);
uint64_t bry__table_most_splits(const bry__table *table, uint64_t n);
/* Frees the groups behind the last segment. */
void bry__table_trim(bry__table *table, const bry_allocator *allocator);
/* Records that one operation has moved that many entries. */
void bry__table_count_step(bry__table *table, uint64_t moved);
/* For loading: a table of that many segments whose records bry__table_reach() still has to make,
 * one group after the other. False when there cannot be so many. */
bool bry__table_open(bry__table *table, uint64_t range, unsigned value_bits, uint64_t segments);
/* Makes the record of segment i, all before it being there. BRY_E_NOMEM. */
bry_status bry__table_reach(bry__table *table, uint64_t i, const bry_allocator *allocator);
/* For loading: whether every entry of the overflow may be there. */
const char *bry__table_check_overflow(const bry__table *table);

/* ---- groups (table_groups.c) ------------------------------------------------------------------
 */

/*
 * The fingerprints whose last `bits` bits, as a number, are from `first` to before `end`. Such a
 * set does not depend on how many segments there are, and lies in few of them.
 */
typedef struct bry__groups {
    unsigned bits;
    uint64_t first, end;
} bry__groups;

typedef struct bry__table_entry {
    uint64_t fingerprint;
    uint32_t value;
} bry__table_entry;

/* The first group of so many bits with an entry that `drop` does not say; 2^bits: there is none. */
uint64_t bry__table_first_group(const bry__table *table, unsigned bits, bry__drop *drop,
                                void *context);

/* The entries in these groups that `drop` does not say, to `to` unless that is NULL; how many. */
uint64_t bry__table_gather(const bry__table *table, const bry__groups *groups, bry__drop *drop,
                           void *context, bry__table_entry *to);

/* Removes every entry in these groups, and tells `gone` of it; where the segments are larger than
 * groups, which they are when memory was short, the n entries given alone. Never fails. */
void bry__table_clear_groups(bry__table *table, const bry__groups *groups,
                             const bry__table_entry *entries, uint64_t n, bry__gone *gone,
                             void *context, const bry_allocator *allocator);
/* Segments that a table has after n entries were added one by one. */
uint64_t bry__table_segments_for(uint64_t range, uint64_t n);

/* Removes all entries. Needs no memory. */
void bry__table_clear(bry__table *table, const bry_allocator *allocator);

/* ---- whole tables (table_build.c, table_unite.c) ------------------------------------------- */

/* What becomes of a fingerprint that both tables have. */
typedef enum bry__merge_mode {
    BRY__MERGE_ALL, /* all values of both */
    BRY__MERGE_KEEP, /* those of the first */
    BRY__MERGE_REPLACE, /* those of the second */
    BRY__MERGE_PICK, /* the one that `pick` says; for tables with one value to a fingerprint */
} bry__merge_mode;

/* May change the value of an entry that is taken over; false: it is left out. */
typedef bool bry__adapt(void *context, uint64_t fingerprint, uint32_t *value);
/* Whether b's value stays instead of a's; both are as they were adapted. */
typedef bool bry__pick(void *context, uint32_t a, uint32_t b);

/* What bry__table_unite() asks; each may be NULL, where nothing is to be asked. */
typedef struct bry__unite_calls {
    const uint32_t *value[2]; /* of the entries of a, and of b: what each value becomes;
                                 BRY__NOT_KEPT: the entry is left out */
    bry__adapt *adapt[2]; /* asked for each entry, after `value` */
    bry__pick *pick;
    void *context;
} bry__unite_calls;

/* Makes a table of the entries of two with the same range, which stay as they are; value_bits are
 * a's. BRY_E_NOMEM. */
bry_status bry__table_unite(bry__table *made, const bry__table *a, const bry__table *b,
                            bry__merge_mode mode, const bry__unite_calls *calls,
                            const bry_allocator *allocator);

/* Keys that get one value each, in turn. */
typedef struct bry__upserts {
    const bry_hash *hashes;
    const uint32_t *values; /* NULL: all 0 */
    size_t n, absent; /* absent: of how many `was` says so */
    uint32_t *old; /* NULL: nobody asks */
    uint8_t *was;
} bry__upserts;

/*
 * Makes a table of the entries of `table`, which has no overflow, and of those keys of which was[i]
 * is BRY_ABSENT; the others are left out. Where a key's fingerprint has a value in the table, or
 * from a key before it, was[i] becomes BRY_PRESENT and old[i] that value. BRY_E_NOMEM; was may have
 * changed then.
 */
bry_status bry__table_upsert_sorted(bry__table *made, const bry__table *table,
                                    const bry__upserts *many, const bry_allocator *allocator);

/* Makes a table of the entries of `table`, which has no overflow, and n items, whose keys are
 * fingerprints: each is a further entry; those of one fingerprint rise by value. `spare` has room
 * for n; both arrays are overwritten. BRY_E_NOMEM. */
bry_status bry__table_add_sorted(bry__table *made, const bry__table *table, bry__item *items,
                                 bry__item *spare, size_t n, const bry_allocator *allocator);

#endif
