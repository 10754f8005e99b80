/*
 * Maps the number of a unit to the unit of the library.
 *
 * Users of an index give its units their own numbers, such as that of a file or a machine; the
 * library numbers units from 0 in the order in which they are opened. The user's number is the tag
 * of the unit and is saved with it. This table is the reverse direction and is rebuilt when an
 * index is loaded.
 *
 * It uses open addressing and is at most three quarters full. Positions come from a hash with the
 * index's seed, so that nobody can choose numbers that collide. When the table is full, its entries
 * move to one of twice the size, a few with each insertion: moving all of half a million at once
 * took 20 ms. Until then both tables are searched.
 */
#ifndef BLOOMERY_MODULE_INDEX_UNIT_NUMBERS_H
#define BLOOMERY_MODULE_INDEX_UNIT_NUMBERS_H

#include <bloomery/base.h>

#define INDEX_NO_UNIT UINT32_MAX

typedef struct index_number {
    uint64_t number;
    uint32_t unit; /* of the library; INDEX_NO_UNIT: the slot is free */
} index_number;

typedef struct index_places {
    index_number *place;
    size_t room; /* a power of two, or 0 */
} index_places;

typedef struct index_numbers {
    bry_allocator allocator;
    uint64_t seed;
    index_places now, old;
    size_t moved; /* slots of the old table that were moved */
    size_t used; /* number of entries */
} index_numbers;

void index_numbers_free(index_numbers *self);

/* Copies the entries into an empty table, with that table's allocator. BRY_E_NOMEM. */
bry_status index_numbers_clone(const index_numbers *self, index_numbers *copy);

/* INDEX_NO_UNIT: there is no unit with that number. */
uint32_t index_numbers_find(const index_numbers *self, uint64_t number);

/* Makes room for one more entry. BRY_E_NOMEM. */
bry_status index_numbers_reserve(index_numbers *self);

/* Inserts a number that is not in the table, after index_numbers_reserve(). */
void index_numbers_put(index_numbers *self, uint64_t number, uint32_t unit);

/* Removes a number that is in the table. */
void index_numbers_del(index_numbers *self, uint64_t number);

#endif
