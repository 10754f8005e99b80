/*
 * What an index should hold: units in order of opening, and which elements each has. Elements are
 * known by number; `share` of them in a row have the same fingerprint, and are one to engine
 * compact, so the twin knows them by their class, number / share.
 */
#ifndef BRY_TESTS_INDEX_TWIN_H
#define BRY_TESTS_INDEX_TWIN_H

#include <bloomery/index.h>

enum { TWIN_ELEMENTS = 160, TWIN_UNITS = 20, TWIN_NO_UNIT = -1 };

typedef struct index_twin_unit {
    uint32_t number;
    uint64_t tag, capacity, elements, stale;
    bool sealed;
    uint8_t held[TWIN_ELEMENTS]; /* how often; more than once after units were merged */
    uint8_t maybe[TWIN_ELEMENTS]; /* deleted from a unit that cannot delete */
    /* Every class that the unit ever held, in the order in which they came: the order in which they
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

/* The hash of an element: none of another class has its fingerprint, whatever the range. */
bry_hash index_twin_element(const index_twin *twin, unsigned element);
unsigned index_twin_class(const index_twin *twin, unsigned element);

/* The place of a unit, or TWIN_NO_UNIT; of the newest that is not sealed. */
int index_twin_find(const index_twin *twin, uint32_t number);
int index_twin_newest(const index_twin *twin);

/* There is room: twin->count < TWIN_UNITS. Returns its place. */
int index_twin_open(index_twin *twin, uint64_t tag, uint64_t capacity);
void index_twin_drop(index_twin *twin, int place);
void index_twin_merge_units(index_twin *twin, int into, int from);

/* The unit holds the class from now on. */
void index_twin_hold(index_twin_unit *unit, unsigned class);

/* What a supplier gives: number `from` and on of the list. In place of a class that is gone stands
 * another that is not. */
size_t index_twin_supply(const index_twin *twin, int place, uint64_t from, bry_hash *hashes,
                         size_t room);

uint64_t index_twin_elements(const index_twin *twin);

#endif
