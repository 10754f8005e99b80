/*
 * Filters of one shape side by side, bit by bit.
 *
 * A group has `width` columns, each of which may hold one unit's filter. Row i holds bit i of all
 * columns, stored together, so that one load asks them all:
 *
 *              column 0 1 2 3 4 5 6 7
 *       row 0         0 1 1 0 0 1 0 1   ← width / 8 bytes (width 1: one bit)
 *       row 1         1 1 0 0 1 0 0 0
 *         …
 *       row m - 1     0 1 0 1 1 0 1 0
 *
 * Widths are powers of two, so rows never straddle pages (dba_table.h).
 */
#ifndef BRY_INDEX_DBA_GROUP_H
#define BRY_INDEX_DBA_GROUP_H

#include "hash/derive.h"
#include "index/dba/dba_shape.h"
#include "index/dba/dba_table.h"

#define BRY__DBA_MAX_WIDTH 512u
#define BRY__DBA_MASK (BRY__DBA_MAX_WIDTH / 8)

/* Instead of a slot: the state of a column without a unit. */
#define BRY__DBA_FREE UINT32_MAX /* all clear */
#define BRY__DBA_DIRTY (UINT32_MAX - 1) /* must be cleared */
#define BRY__DBA_BUILDING (UINT32_MAX - 2) /* a unit is being rebuilt here */

/* What additions did to added segments: elements that changed something, and bits set. */
typedef struct bry__dba_grown {
    uint64_t elements, bits;
} bry__dba_grown;

typedef struct bry__dba_group {
    bry__dba_shape shape; /* used by look-ups */
    uint32_t level; /* of error control; it has this shape */
    uint32_t width;
    unsigned shift; /* log2(width) */
    /* One, or one per segment. While segments are being added there are more than the shape has
     * hashes: additions write to them, look-ups do not read them. */
    uint32_t tables, table_room;
    bry__dba_table *table;
    bry__dba_grown *grown; /* per column, while segments are being added; else NULL */
    uint32_t units, free, dirty; /* columns of each kind */
    uint32_t *slot; /* of each column, or its state */
    unsigned char live[BRY__DBA_MASK]; /* the columns that have a unit */
    /* While this group is being merged into a wider one: that group, and its columns there. */
    struct bry__dba_group *into;
    uint32_t into_column;
    /* In the wider one: how far it has been copied. */
    uint32_t copied_table;
    uint64_t copied_row;
} bry__dba_group;

bool bry__dba_width_valid(uint32_t width);

/* Bytes of a group. */
uint64_t bry__dba_group_cost(const bry__dba_shape *shape, uint32_t width);

/* An empty group. NULL: out of memory. */
bry__dba_group *bry__dba_group_make(const bry__dba_shape *shape, uint32_t width,
                                    const bry_allocator *allocator);
void bry__dba_group_free(bry__dba_group *group, const bry_allocator *allocator);

/* A copy with the same units and columns; a merge in progress and added segments are left out, and
 * columns under construction are dirty in it. NULL: out of memory. */
bry__dba_group *bry__dba_group_clone(const bry__dba_group *group, const bry_allocator *allocator);

/* Adds empty segments (NOMEM); makes them part of the shape; or removes them again. */
bry_status bry__dba_group_extend(bry__dba_group *group, uint32_t tables,
                                 const bry_allocator *allocator);
void bry__dba_group_extended(bry__dba_group *group, const bry__dba_shape *shape,
                             const bry_allocator *allocator);
void bry__dba_group_cut(bry__dba_group *group, const bry_allocator *allocator);

/* ---- columns ------------------------------------------------------------------------------- */

/* A free column; there must be one. */
uint32_t bry__dba_column_find(const bry__dba_group *group);
/* Sets a column's slot, or its state: BRY__DBA_FREE and so on. */
void bry__dba_column_become(bry__dba_group *group, uint32_t column, uint32_t slot);

/* The positions of an element for one range, computed on demand. */
typedef struct bry__dba_probe {
    bry_hash hash;
    uint64_t range;
    unsigned known;
    uint64_t row[BRY__DBA_MAX_HASHES];
} bry__dba_probe;

static inline void bry__dba_probe_begin(bry__dba_probe *probe, bry_hash hash)
{
    probe->hash = hash;
    probe->range = 0;
    probe->known = 0;
}

static inline void bry__dba_probe_know(bry__dba_probe *probe, uint64_t range, unsigned n)
{
    if (probe->range != range) {
        probe->range = range;
        probe->known = 0;
    }
    for (; probe->known < n; probe->known++)
        probe->row[probe->known] = bry__position(probe->hash, probe->known, range);
}

/* For reading. */
static inline const unsigned char *bry__dba_byte(const bry__dba_group *group, unsigned table,
                                                 uint64_t bit)
{
    return bry__dba_table_read(&group->table[table], bit >> 3);
}

/* The row at position i of an element. */
static inline const unsigned char *bry__dba_row(const bry__dba_group *group, unsigned i,
                                                uint64_t row)
{
    return bry__dba_byte(group, group->shape.segmented ? i : 0, row << group->shift);
}

/* Whether a column may hold the element. */
bool bry__dba_column_has(const bry__dba_group *group, uint32_t column, bry__dba_probe *probe);

/* Sets the positions from number `from` to before `to`, also in the wider group if this one is
 * being merged. Returns how many of them were clear. */
unsigned bry__dba_column_set(bry__dba_group *group, uint32_t column, bry__dba_probe *probe,
                             unsigned from, unsigned to);

/* The number of positions that an addition sets. */
static inline unsigned bry__dba_positions(const bry__dba_group *group)
{
    return group->shape.segmented ? group->tables : group->shape.hashes;
}

/* ORs column `from` of another group of that shape into column `into`. Returns how many bits were
 * clear there. */
uint64_t bry__dba_column_or(bry__dba_group *group, uint32_t into, const bry__dba_group *other,
                            uint32_t from);
uint64_t bry__dba_column_or_rows(bry__dba_group *group, uint32_t into, const bry__dba_group *other,
                                 uint32_t from, uint32_t table, uint64_t row, uint64_t rows);
/* To be called after whole rows of a column were written. If the group is being merged into another
 * one, repeats there what the merge has already copied. */
void bry__dba_column_written(const bry__dba_group *group, uint32_t column);

/* ---- rows ---------------------------------------------------------------------------------- */

/* Clears the columns that are not in `keep` in up to `rows` rows from *row on, and advances *table
 * and *row; at the end *table is the number of tables. */
void bry__dba_rows_clear(bry__dba_group *group, const unsigned char keep[BRY__DBA_MASK],
                         uint32_t *table, uint64_t *row, uint64_t rows);

/*
 * Copies up to `rows` rows of `n` groups of equal shape and width, in order, next to each other
 * into a group of n times the width; continues where the last call stopped.
 */
void bry__dba_rows_merge(bry__dba_group *into, bry__dba_group *const *from, unsigned n,
                         uint64_t rows);

#endif
