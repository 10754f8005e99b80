/*
 * Which unit of the library a number stands for.
 *
 * Who uses an index over the wire gives its units numbers of their own, such as that of a file or
 * of a machine, and the library counts units from 0 in the order in which they are opened. The
 * number of the user is the unit's tag, and is saved with it; this table is the way back, made anew
 * when an index is loaded. Open addressing, at most three quarters full. Places are found by a hash
 * with the index's seed, so that nobody chooses numbers that fall on one place. When the table is
 * full its numbers move to one of twice the size, a few with each that is put in: with half a
 * million units, moving all of them at once took 20 ms. Until then both are asked.
 */
#ifndef BLOOMERY_MODULE_INDEX_NUMBERS_H
#define BLOOMERY_MODULE_INDEX_NUMBERS_H

#include <bloomery/base.h>

#define INDEX_NO_UNIT UINT32_MAX

typedef struct index_number {
    uint64_t number;
    uint32_t unit; /* of the library; INDEX_NO_UNIT: the place is free */
} index_number;

typedef struct index_places {
    index_number *place;
    size_t room; /* a power of two, or 0 */
} index_places;

typedef struct index_numbers {
    bry_allocator allocator;
    uint64_t seed;
    index_places now, old;
    size_t moved; /* places of the old table that have been looked at */
    size_t used; /* numbers */
} index_numbers;

void index_numbers_init(index_numbers *self, uint64_t seed, const bry_allocator *allocator);
void index_numbers_free(index_numbers *self);

/* Puts the same numbers into a table without any, from its own allocator. BRY_E_NOMEM. */
bry_status index_numbers_clone(const index_numbers *self, index_numbers *copy);

/* INDEX_NO_UNIT: there is none of that number. */
uint32_t index_numbers_find(const index_numbers *self, uint64_t number);

/* Sees to it that one more can be put in. BRY_E_NOMEM. */
bry_status index_numbers_reserve(index_numbers *self);

/* After index_numbers_reserve(), a number that is not there. */
void index_numbers_put(index_numbers *self, uint64_t number, uint32_t unit);

/* A number that is there. */
void index_numbers_del(index_numbers *self, uint64_t number);

#endif
