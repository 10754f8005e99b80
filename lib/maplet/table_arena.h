/*
 * Where the blocks of a table's segments lie: in areas, or, in a small table, each by itself.
 * arena/table_arena.c explains it.
 */
#ifndef BRY_MAPLET_TABLE_ARENA_H
#define BRY_MAPLET_TABLE_ARENA_H

#include "maplet/table.h"

/* Of all areas of a table. */
typedef struct bry__arena {
    struct bry__area *first, *last; /* new blocks go to the last */
    struct bry__area *next; /* the area that bry__arena_compact() fills next */
    uint64_t bytes; /* of all areas */
    uint64_t free; /* of these, in no block */
    uint32_t most; /* bytes of an area */
    uint32_t least; /* segments from which on the table has areas */
} bry__arena;

/* With what malloc adds it fits into 160 KB. */
#define BRY__AREA_EXTRA 64u
#define BRY__AREA_MOST (160u * 1024 - BRY__AREA_EXTRA)
#define BRY__AREA_LEAST 256u
#define BRY__AREA_SEGMENTS 64u

/* Makes a table without blocks use areas of at most `most` bytes (BRY__AREA_LEAST or more) from
 * `least` segments on. Tables that are made from this one do the same. For tests. BRY_E_NOMEM. */
bry_status bry__arena_begin(bry__table *table, uint32_t most, uint32_t least,
                            const bry_allocator *allocator);
/* Does the same for a table that is made from `like`, if tests have set it there. */
bry_status bry__arena_begin_like(bry__table *table, const bry__table *like,
                                 const bry_allocator *allocator);

/* Frees at most n areas. True if none is left; then the arena is freed, too. */
bool bry__arena_free_some(bry__table *table, size_t n, const bry_allocator *allocator);

/* Returns memory that deletions have left unused, in small steps. False: nothing to do. */
bool bry__arena_compact(bry__table *table, const bry_allocator *allocator);

/* The bytes of areas that a block of this many steps would have to allocate, or of the block itself
 * if it would not lie in an area. */
uint64_t bry__arena_cost(const bry__table *table, unsigned steps);

/* Expected bytes of the areas, or of the blocks alone, of this many blocks that need this many bytes
 * altogether. */
uint64_t bry__arena_plan(double bytes, uint64_t blocks);

/* For tests: NULL if areas and records agree, else the problem. */
const char *bry__arena_check(const bry__table *table);

#endif
