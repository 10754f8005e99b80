/* Making a table anew, segment by segment, for table_build.c and table_unite.c. */
#ifndef BRY_MAPLET_TABLE_BUILD_H
#define BRY_MAPLET_TABLE_BUILD_H

#include "maplet/table.h"

/* A table in the making, and the entries of the segment that is next. */
typedef struct bry__build {
    bry__table *made;
    const bry_allocator *allocator;
    bry__entry *entry;
    size_t n, room;
    bry__entry *read; /* BRY__BUILD_READ entries: for what is read of the sources */
} bry__build;

#define BRY__BUILD_READ (4 * ((size_t)BRY__SEGMENT_MAX + 1))

/* An empty table for n entries, but of at least so many segments, with the numbers of `like`.
 * BRY_E_NOMEM, after which there is nothing to end. */
bry_status bry__build_begin(bry__build *to, const bry__table *like, uint64_t n, uint64_t least);
/* Makes room for n entries of the next segment, of which there are none yet. BRY_E_NOMEM. */
bry_status bry__build_reserve(bry__build *to, size_t n);
/* Segment i, from those entries; all records before it must be there. BRY_E_NOMEM. */
bry_status bry__build_segment(bry__build *to, uint64_t i);
/* Frees everything but the table; that, too, unless the status is BRY_OK. Returns the status. */
bry_status bry__build_end(bry__build *to, bry_status status);

/* Copies the entries whose last bits of u are these, without the bits; how many. `to` may be
 * `from`. */
size_t bry__pick_bits(const bry__entry *from, size_t n, unsigned shift, uint64_t bits,
                      bry__entry *to);

/* Merges two sorted lists that have no u in common. The entries before and after each of them are
 * overwritten. */
void bry__merge_entries(bry__entry *a, size_t n_a, bry__entry *b, size_t n_b, bry__entry *to);

/* Whether a comes before b, or is equal. */
static inline bool bry__entry_before(bry__entry a, bry__entry b)
{
    return a.u < b.u || (a.u == b.u && a.value <= b.value);
}

#endif
