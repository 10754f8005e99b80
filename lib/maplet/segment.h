/*
 * A segment: up to a few thousand entries (u, value), sorted, in as few bits as they need.
 * segment.c draws the layout.
 *
 * u_most, the largest possible u, is the same for many segments of a table. It is not stored in
 * them but passed to each function.
 */
#ifndef BRY_MAPLET_SEGMENT_H
#define BRY_MAPLET_SEGMENT_H

#include "common/allocator.h"
#include "kernel/slots.h"

#define BRY__SEGMENT_MAX 2048u /* entries */
/* Blocks have a multiple of this many bytes, plus 8. */
#define BRY__SEGMENT_STEP 2u

typedef struct bry__entry {
    uint64_t u;
    uint32_t value;
} bry__entry;

/* Whether a comes before b, or is equal. */
static inline bool bry__entry_before(bry__entry a, bry__entry b)
{
    return a.u < b.u || (a.u == b.u && a.value <= b.value);
}

/* The same order, for qsort(). */
static inline int bry__entry_compare(const void *a, const void *b)
{
    const bry__entry *x = a, *y = b;
    if (x->u != y->u)
        return x->u < y->u ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* Sixteen bytes in the table's directory. They tell a look-up where in the block to look before it
 * touches the block. The empty segment is all zeros. */
typedef struct bry__segment {
    unsigned char *bytes;
    uint16_t n; /* entries */
    uint16_t steps; /* allocated, in units of BRY__SEGMENT_STEP */
    uint8_t remainder_bits; /* of u; the rest is the quotient */
    uint8_t value_bits;
    uint8_t spilled; /* entries of this segment may be in the table's overflow */
    uint8_t in_area; /* the block lies in an area of the table (arena/table_arena.c) */
} bry__segment;

/* Whose block a segment has: that of segment `number` of a table, which allocates it with others,
 * or, without a table, its own. */
struct bry__table;
typedef struct bry__home {
    const bry_allocator *allocator;
    struct bry__table *table; /* may be NULL */
    uint64_t number;
} bry__home;

static inline size_t bry__segment_block(unsigned steps)
{
    return (size_t)steps * BRY__SEGMENT_STEP + 8;
}

static inline size_t bry__segment_bytes(const bry__segment *segment)
{
    return segment->bytes ? bry__segment_block(segment->steps) : 0;
}

/* The two ends of a block that are in use, and the steps that they need. */
typedef struct bry__block_ends {
    size_t front, slots; /* bytes */
    unsigned steps;
} bry__block_ends;
bry__block_ends bry__segment_ends(const bry__segment *segment, uint64_t u_most);

/*
 * Gives the segment a block of at least this many steps, or returns what is more than that. The
 * first `front` and the last `slots` bytes are kept, and what is between them is 0. BRY_E_NOMEM:
 * nothing has changed; not if the block gets smaller. Blocks of other segments may move.
 * (arena/table_arena.c)
 */
bry_status bry__block_resize(const bry__home *home, bry__segment *segment, unsigned steps,
                             size_t front, size_t slots);
/* Divides the block of the segment: `other`, which has none and whose home this is, gets the end of
 * it. The contents of both are 0 then. */
void bry__block_divide(const bry__home *home, bry__segment *segment, unsigned steps,
                       bry__segment *other, unsigned other_steps);
/* Whether that is possible. */
bool bry__block_divides(const bry__segment *segment, unsigned steps, const bry__segment *other,
                        unsigned other_steps);
/* bytes and steps of the segment are 0 then. */
void bry__block_free(const bry__home *home, bry__segment *segment);

/* A place in a segment: where an entry is or would be inserted. */
typedef struct bry__place {
    unsigned index; /* of the first entry that is not below (u, value) */
    unsigned count; /* entries from here on with this u */
    unsigned bit; /* position of the entry's 1 in the runs, or where it would go */
    uint32_t value; /* of the entry at index, if count is not 0 */
} bry__place;

/* Where the smallest value of u is or would go. `moving`: prefetches all that adding or removing an
 * entry there will move. */
bry__place bry__segment_seek(const bry__segment *segment, uint64_t u_most, uint64_t u, bool moving);

/* Where (u, value) is or would go. */
bry__place bry__segment_find(const bry__segment *segment, uint64_t u_most, uint64_t u,
                             uint32_t value);

/* The smallest value of u; false if there is none. Same as find and value, but faster. */
bool bry__segment_get(const bry__segment *segment, uint64_t u_most, uint64_t u, uint32_t *value);

/* If u has exactly one value, and `to` fits, replaces it by that; *from is what it was. As fast as
 * bry__segment_get(). */
typedef enum bry__swapped {
    BRY__SWAP_ABSENT, /* u has no value */
    BRY__SWAP_DONE,
    BRY__SWAP_HARD, /* nothing has changed: find the place, and replace the value there */
} bry__swapped;
bry__swapped bry__segment_swap(bry__segment *segment, uint64_t u_most, uint64_t u, uint32_t to,
                               uint32_t *from);

/*
 * Many at once, in three passes: prefetch the runs; read them and prefetch the slots; compare.
 * Each pass finds in the cache what the one before has prefetched. Where answers[i] is 0,
 * answers[i] and values[i] are set as by bry__segment_get(). At most BRY__SEGMENT_BATCH. The
 * segments' records, but not their blocks, should be in the cache.
 */
#define BRY__SEGMENT_BATCH 64u
typedef struct bry__query {
    const bry__segment *segment;
    uint64_t u_most, u;
} bry__query;
void bry__segment_get_n(const bry__query *queries, size_t n, uint32_t *values, uint8_t *answers);

/* Prefetches what a look-up of u is likely to read, without waiting. */
void bry__segment_prefetch(const bry__segment *segment, uint64_t u_most, uint64_t u);

/* Prefetches all that adding or removing u will read or move. */
void bry__segment_prefetch_change(const bry__segment *segment, uint64_t u_most, uint64_t u);

/* Prefetches what operations on these will read first. */
void bry__segment_prefetch_n(const bry__query *queries, size_t n);

/* The value of an entry; entries are numbered in order from 0. */
uint32_t bry__segment_value(const bry__segment *segment, unsigned index);

/* Overwrites the value of an entry; it must fit the segment's value_bits and keep the order. */
void bry__segment_set_value(bry__segment *segment, unsigned index, uint32_t value);

/*
 * Inserts an entry at its place. value_bits is the new width of values if the segment has to be
 * rewritten; the value must fit. The segment has fewer than BRY__SEGMENT_MAX entries. BRY_E_NOMEM:
 * nothing has changed.
 */
bry_status bry__segment_insert(bry__segment *segment, uint64_t u_most, bry__place place,
                               bry__entry entry, unsigned value_bits, const bry__home *home);

/* Gives the entries, and `more` unless it is NULL, the layout of a new segment. BRY_E_NOMEM: no
 * entry has changed. */
bry_status bry__segment_rewrite(bry__segment *segment, uint64_t u_most, const bry__entry *more,
                                unsigned value_bits, const bry__home *home);

/* Moves the entries with an odd u to a segment that is empty. In both, u has lost its last bit
 * then. BRY_E_NOMEM: no entry has changed. */
bry_status bry__segment_split(bry__segment *segment, uint64_t u_most, bry__segment *odd,
                              unsigned value_bits, const bry__home home[2]);
/* The reverse: copies the entries of `odd` to `even`. u_most is that of all, and there are at most
 * BRY__SEGMENT_MAX entries. BRY_E_NOMEM: no entry has changed. */
bry_status bry__segment_join(bry__segment *even, const bry__segment *odd, uint64_t u_most,
                             unsigned value_bits, const bry__home *home);

/* Replaces the contents of a segment by n sorted entries, which may be 0. BRY_E_NOMEM: nothing has
 * changed. */
bry_status bry__segment_write(bry__segment *segment, uint64_t u_most, const bry__entry *entries,
                              unsigned n, unsigned value_bits, const bry__home *home);

/* True if the value fits the segment's value_bits. */
static inline bool bry__segment_fits(const bry__segment *segment, uint32_t value)
{
    return (uint64_t)value >> segment->value_bits == 0;
}

/* Removes the entry at the place. Never fails: if a smaller block cannot be allocated, the segment
 * keeps its block. */
void bry__segment_remove(bry__segment *segment, uint64_t u_most, bry__place place, uint64_t u,
                         const bry__home *home);

void bry__segment_free(bry__segment *segment, const bry__home *home);

/* Average bytes of the block of a segment of about n entries, without the rest of its last step. */
double bry__segment_plan_bytes(double n, uint64_t u_most, unsigned value_bits);

/* Walks the entries in order: start from a zeroed cursor; false at the end. */
typedef struct bry__segment_cursor {
    unsigned index;
    uint64_t bit;
} bry__segment_cursor;
bool bry__segment_next(const bry__segment *segment, uint64_t u_most, bry__segment_cursor *cursor,
                       bry__entry *entry);

/* All entries at once, several times as fast: `to` has room for segment->n. */
void bry__segment_read(const bry__segment *segment, uint64_t u_most, bry__entry *to);
/* The same for the next ones, at most `room`, which is at least 64: how many; 0 at the end. The
 * cursor cannot be used for bry__segment_next(). */
unsigned bry__segment_read_some(const bry__segment *segment, uint64_t u_most,
                                bry__segment_cursor *cursor, bry__entry *to, unsigned room);

/* Only the values, which is faster still. */
void bry__segment_values(const bry__segment *segment, uint32_t *to);

/* Layout of a new segment of n entries; all zeros if n is 0. */
typedef struct bry__segment_layout {
    unsigned remainder_bits, steps;
    size_t front, slots; /* bytes at the beginning of the block (samples and runs) and at its end */
} bry__segment_layout;
bry__segment_layout bry__segment_layout_of(unsigned n, uint64_t u_most, unsigned value_bits);

/*
 * Encodes sorted entries as the two ends of a block, or as a record. n is at least 1, the layout
 * is that of n, and `front` and `slots` have as many bytes as it says. The eight bytes before
 * `slots` are overwritten too, unless they belong to the front.
 */
void bry__segment_encode(const bry__entry *entries, unsigned n, uint64_t u_most,
                         unsigned value_bits, const bry__segment_layout *layout,
                         unsigned char *front, unsigned char *slots);

/* The same for entries that come in portions. */
typedef struct bry__segment_encoder {
    bry__downwards to; /* the next slot */
    unsigned char *front, *slots;
    size_t front_size, samples;
    size_t sampled, at; /* the next sample, and the next bytes of the runs: */
    uint64_t word, from; /* bits not written yet, and the number of the first */
    unsigned n, low, value_bits;
} bry__segment_encoder;
void bry__segment_encode_begin(bry__segment_encoder *encoder, uint64_t u_most, unsigned value_bits,
                               const bry__segment_layout *layout, unsigned char *front,
                               unsigned char *slots);
void bry__segment_encode_some(bry__segment_encoder *encoder, const bry__entry *entries, unsigned n);
void bry__segment_encode_end(bry__segment_encoder *encoder);

/* Names that are written instead of values. */
#define BRY__NOT_KEPT UINT32_MAX
typedef struct bry__names {
    bry__kept_values of; /* entries of values whose name is BRY__NOT_KEPT are left out */
    bool rising; /* those of kept values ascend with the values */
    bool same; /* those of kept values equal the values */
} bry__names;

/*
 * Encodes the entries of a segment with the name of each value instead of the value. *n is the
 * number of entries written, and *layout their layout: the slots follow the front, which has room
 * for BRY__SEGMENT_RECORD_MOST bytes. Takes a tenth of the time of reading and encoding. False: not
 * possible for this segment.
 */
#define BRY__SEGMENT_RECORD_MOST ((size_t)BRY__SEGMENT_MAX * 16)
bool bry__segment_encode_named(const bry__segment *segment, uint64_t u_most,
                               const bry__names *names, unsigned value_bits, unsigned char *front,
                               unsigned *n, bry__segment_layout *layout);

/* As bry__segment_read() for the entries that are kept, with names instead of values. Returns their
 * number; `to` has room for segment->n. */
unsigned bry__segment_read_named(const bry__segment *segment, uint64_t u_most,
                                 const bry__kept_values *names, bry__entry *to);

/* Tells a value. */
typedef void bry__tell_value(void *context, uint32_t value);

/* Removes the entries whose values are not kept, and tells the value of each. value_bits is the
 * new width of values if there are any. BRY_E_NOMEM: nothing has changed. */
bry_status bry__segment_drop_nameless(bry__segment *segment, uint64_t u_most,
                                      const bry__kept_values *names, unsigned value_bits,
                                      bry__tell_value *gone, void *context, const bry__home *home);

/* Makes the segment `copy`, which has no block, a copy. BRY_E_NOMEM. */
bry_status bry__segment_clone(const bry__segment *segment, uint64_t u_most, bry__segment *copy,
                              const bry__home *home);

/* Checks a loaded segment for everything that look-ups rely on: layout, order, counts, empty gap.
 * u_limit is the largest u of this segment. NULL if it is valid, else the problem. */
const char *bry__segment_check(const bry__segment *segment, uint64_t u_most, uint64_t u_limit);
/* The same without the entries; bry__segment_next() may walk them afterwards. */
const char *bry__segment_check_layout(const bry__segment *segment, uint64_t u_most);

#endif
