/*
 * A segment: up to a few thousand entries (u, value), sorted, in as few bits as they need.
 * segment.c draws the layout.
 *
 * What segments of a table share is not stored in them but handed in: the largest u there can be.
 */
#ifndef BRY_MAPLET_SEGMENT_H
#define BRY_MAPLET_SEGMENT_H

#include "common/allocator.h"

#define BRY__SEGMENT_MAX 2048u /* entries */
/* Blocks have a multiple of this many bytes, and eight more: what malloc hands out without loss. */
#define BRY__SEGMENT_STEP 16u

typedef struct bry__entry {
    uint64_t u;
    uint32_t value;
} bry__entry;

/* Sixteen bytes in the table's directory, so that a look-up knows where in the block to look before
 * it has touched the block. All zero is the empty segment. */
typedef struct bry__segment {
    unsigned char *bytes;
    uint16_t n; /* entries */
    uint16_t steps; /* allocated, in BRY__SEGMENT_STEP */
    uint8_t remainder_bits; /* of u; the rest is the quotient */
    uint8_t value_bits;
    uint8_t spilled; /* entries that belong here may be in the table's overflow */
    uint8_t unused;
} bry__segment;

static inline size_t bry__segment_block(unsigned steps)
{
    return (size_t)steps * BRY__SEGMENT_STEP + 8;
}

/* A place in a segment: the entry of that index, or where it would be put. */
typedef struct bry__place {
    unsigned index; /* of the first entry that is not below (u, value) */
    unsigned run; /* entries from there on that share the quotient */
    uint64_t bit; /* in the runs, of that entry's 1, or where it would go */
    bool found; /* the entry there is (u, any value) */
} bry__place;

/* Where (u, value) is or would go. */
bry__place bry__segment_find(const bry__segment *segment, uint64_t u_most, uint64_t u,
                             uint32_t value);

/* The smallest value of u; false when it has none. The same as find and value, only faster. */
bool bry__segment_get(const bry__segment *segment, uint64_t u_most, uint64_t u, uint32_t *value);

/*
 * Many at once, in passes: fetch what tells where the entries are; find out, and fetch those;
 * compare. What one pass asks for, the next one finds in the cache. answers[i] and values[i] are
 * set as by bry__segment_get() where answers[i] was 0. At most BRY__SEGMENT_BATCH; the segments'
 * records, not their blocks, should be in the cache.
 */
#define BRY__SEGMENT_BATCH 64u
typedef struct bry__query {
    const bry__segment *segment;
    uint64_t u_most, u;
} bry__query;
void bry__segment_get_n(const bry__query *queries, size_t n, uint32_t *values, uint8_t *answers);

/* Fetches what asking for u is likely to read; it does not wait for anything. */
void bry__segment_prefetch(const bry__segment *segment, uint64_t u_most, uint64_t u);

/* Fetches all that adding or removing u is going to move. */
void bry__segment_prefetch_change(const bry__segment *segment, uint64_t u_most, uint64_t u);

/* Fetches what operations on these are going to read first. */
void bry__segment_prefetch_n(const bry__query *queries, size_t n);

/* The value of an entry; entries are numbered in order from 0. */
uint32_t bry__segment_value(const bry__segment *segment, unsigned index);

/* Overwrites the value of an entry; it must fit the segment's value_bits and keep the order. */
void bry__segment_set_value(bry__segment *segment, unsigned index, uint32_t value);

/* How many entries from the place on have the same u (0 when none). */
unsigned bry__segment_count(const bry__segment *segment, uint64_t u, bry__place place);

/*
 * Puts an entry at its place. value_bits is what the segment should have from now on if it has to
 * be written anew; it must hold the value. The segment has fewer than BRY__SEGMENT_MAX entries.
 * BRY_E_NOMEM leaves it as it was.
 */
bry_status bry__segment_insert(bry__segment *segment, uint64_t u_most, bry__place place,
                               bry__entry entry, unsigned value_bits,
                               const bry_allocator *allocator);

/* The same entries with wider values. BRY_E_NOMEM. */
bry_status bry__segment_widen(bry__segment *segment, uint64_t u_most, unsigned value_bits,
                              const bry_allocator *allocator);

/* Whether a value fits the segment as it is. */
static inline bool bry__segment_fits(const bry__segment *segment, uint32_t value)
{
    return (uint64_t)value >> segment->value_bits == 0;
}

/* Removes the entry at the place. Never fails: when a smaller block cannot be had, it keeps the one
 * it has. */
void bry__segment_remove(bry__segment *segment, uint64_t u_most, bry__place place, uint64_t u,
                         const bry_allocator *allocator);

void bry__segment_free(bry__segment *segment, const bry_allocator *allocator);
size_t bry__segment_bytes(const bry__segment *segment);

/* What a segment of about n entries takes on average. */
double bry__segment_plan_bytes(double n, uint64_t u_most, unsigned value_bits);

/* Walks the entries in order: start from a zeroed cursor; false at the end. */
typedef struct bry__segment_cursor {
    unsigned index;
    uint64_t bit;
} bry__segment_cursor;
bool bry__segment_next(const bry__segment *segment, uint64_t u_most, bry__segment_cursor *cursor,
                       bry__entry *entry);

/* The same, all at once, and several times as fast: `to` has room for segment->n. */
void bry__segment_read(const bry__segment *segment, uint64_t u_most, bry__entry *to);

/* The values alone, which is faster still. */
void bry__segment_values(const bry__segment *segment, uint32_t *to);

/* Builds a segment from entries given in order: begin says how many there will be, each append puts
 * the next one, and fill puts all of them at once. BRY_E_NOMEM from begin; the others cannot fail.
 */
typedef struct bry__segment_builder {
    bry__segment segment;
    uint64_t u_most;
    unsigned done;
    unsigned sampled; /* samples that are final */
} bry__segment_builder;
bry_status bry__segment_begin(bry__segment_builder *builder, unsigned n, uint64_t u_most,
                              unsigned value_bits, const bry_allocator *allocator);
void bry__segment_append(bry__segment_builder *builder, bry__entry entry);
void bry__segment_fill(bry__segment_builder *builder, const bry__entry *entries, unsigned n);
bry__segment bry__segment_end(bry__segment_builder *builder);

/* How a segment of n entries is laid out when it is built; all zero without entries. */
typedef struct bry__segment_layout {
    unsigned remainder_bits, steps;
    size_t front, slots; /* bytes at the block's beginning (samples and runs) and at its end */
} bry__segment_layout;
bry__segment_layout bry__segment_layout_of(unsigned n, uint64_t u_most, unsigned value_bits);

/*
 * What a segment of these entries, in order, holds at the beginning and the end of its block, or as
 * a record: n is at least 1, the layout is that of n, and `front` and `slots` have the bytes that
 * it says. The eight bytes before `slots` are overwritten too, unless they are the front's. A third
 * of what begin, append and end take.
 */
void bry__segment_encode(const bry__entry *entries, unsigned n, uint64_t u_most,
                         unsigned value_bits, const bry__segment_layout *layout,
                         unsigned char *front, unsigned char *slots);

/*
 * The same from a segment, with the name of each value instead of it; without the entries whose
 * name is BRY__NOT_KEPT. rising: the names rise with the values. *n is how many are left, and
 * *layout theirs: the slots are right behind the front, which has room for BRY__SEGMENT_RECORD_MOST
 * bytes. A third of what reading and encoding take, but not always possible: false.
 */
#define BRY__NOT_KEPT UINT32_MAX
#define BRY__SEGMENT_RECORD_MOST ((size_t)BRY__SEGMENT_MAX * 16)
bool bry__segment_encode_named(const bry__segment *segment, uint64_t u_most, const uint32_t *name,
                               bool rising, unsigned value_bits, unsigned char *front, unsigned *n,
                               bry__segment_layout *layout);

/* The same in another block. BRY_E_NOMEM. */
bry_status bry__segment_clone(const bry__segment *segment, bry__segment *copy,
                              const bry_allocator *allocator);

/* Checks everything that a look-up relies on: layout, order, counts, clear gap; for data from
 * outside. u_limit is the largest u of this one segment. NULL when right, else what is wrong. */
const char *bry__segment_check(const bry__segment *segment, uint64_t u_most, uint64_t u_limit);
/* The same but for the entries, which bry__segment_next() may walk afterwards. */
const char *bry__segment_check_layout(const bry__segment *segment, uint64_t u_most);

#endif
