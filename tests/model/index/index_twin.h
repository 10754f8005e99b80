/*
 * The exact contents of an index: units in the order of opening, and their elements. Elements have
 * numbers; `share` consecutive ones have the same fingerprint and are one for engine compact, so
 * the twin stores their class, number / share.
 */
#ifndef BRY_TESTS_INDEX_TWIN_H
#define BRY_TESTS_INDEX_TWIN_H

#include <bloomery/index.h>

enum { TWIN_ELEMENTS = 160, TWIN_UNITS = 20, TWIN_NO_UNIT = -1 };

typedef struct index_twin_unit {
    uint32_t number;
    uint64_t tag, capacity, elements, stale;
    bool sealed;
    uint8_t held[TWIN_ELEMENTS]; /* count; more than 1 after units were merged */
    uint8_t maybe[TWIN_ELEMENTS]; /* deleted from a unit that cannot delete */
    /* Every class that the unit ever had, in the order of arrival. This is the order in which they
     * are supplied, so it must not change. */
    uint8_t listed[TWIN_ELEMENTS], list[TWIN_ELEMENTS];
    unsigned list_count;
} index_twin_unit;

typedef struct index_twin {
    index_twin_unit unit[TWIN_UNITS]; /* the oldest first */
    int count;
    uint32_t next_number;
    unsigned share;
} index_twin;

/* The hash of an element: other classes have other fingerprints, for any range. */
bry_hash index_twin_element(const index_twin *twin, unsigned element);
unsigned index_twin_class(const index_twin *twin, unsigned element);

/* The position of a unit, or TWIN_NO_UNIT; that of the newest unit that is not sealed. */
int index_twin_find(const index_twin *twin, uint32_t number);
int index_twin_newest(const index_twin *twin);

/* Requires twin->count < TWIN_UNITS. Returns its position. */
int index_twin_open(index_twin *twin, uint64_t tag, uint64_t capacity);
void index_twin_drop(index_twin *twin, int place);
void index_twin_merge_units(index_twin *twin, int into, int from);

/* Adds the class to the unit. */
void index_twin_hold(index_twin_unit *unit, unsigned class);

/* What a supplier returns: the list from number `from` on. A deleted class is replaced by an
 * existing one. */
size_t index_twin_supply(const index_twin *twin, int place, uint64_t from, bry_hash *hashes,
                         size_t room);

uint64_t index_twin_elements(const index_twin *twin);

#endif
