/* Builds a new table segment by segment, for table_build.c and table_unite.c. */
#ifndef BRY_MAPLET_TABLE_BUILD_H
#define BRY_MAPLET_TABLE_BUILD_H

#include "maplet/table.h"

/* A table under construction, and the entries of its next segment. */
typedef struct bry__build {
    bry__table *made;
    const bry_allocator *allocator;
    bry__entry *entries; /* of the next segment */
    size_t n, room;
    bry__entry *source; /* room for BRY__BUILD_READ entries, read from the source tables */
} bry__build;

#define BRY__BUILD_READ (4 * ((size_t)BRY__SEGMENT_MAX + 1))

/* Begins with an empty table for n entries, with at least this many segments and the numbers of
 * `like`. BRY_E_NOMEM; then bry__build_end() must not be called. */
bry_status bry__build_begin(bry__build *build, const bry__table *like, uint64_t n,
                            uint64_t least_segments);
/* Makes room for n entries of the next segment, before the first is added. BRY_E_NOMEM. */
bry_status bry__build_reserve(bry__build *build, size_t n);
/* Makes segment i from these entries; the directory must reach up to it. BRY_E_NOMEM. */
bry_status bry__build_segment(bry__build *build, uint64_t i);
/* Frees everything except the table, and the table, too, unless the status is BRY_OK. Returns the
 * status. */
bry_status bry__build_end(bry__build *build, bry_status status);

/* Copies the entries whose u ends with these `shift` bits, without the bits; returns their number.
 * `to` may be `from`. */
size_t bry__pick_bits(const bry__entry *from, size_t n, unsigned shift, uint64_t bits,
                      bry__entry *to);

/* Merges two sorted lists that have no u in common. The entries before and after each of them are
 * overwritten. */
void bry__merge_entries(bry__entry *a, size_t n_a, bry__entry *b, size_t n_b, bry__entry *to);

#endif
