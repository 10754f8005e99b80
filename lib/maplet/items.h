/* Entries on their way into a table, and how they are sorted: by digits, from the lowest up. */
#ifndef BRY_MAPLET_ITEMS_H
#define BRY_MAPLET_ITEMS_H

#include <stddef.h>
#include <stdint.h>

typedef struct bry__item {
    uint64_t key;
    uint32_t value;
    uint32_t order; /* the caller's; equal keys keep their order */
} bry__item;

/* Sorts by key, of which `bits` are used; stable. `spare` has room for n. The result is in one of
 * the two arrays, which is returned. */
bry__item *bry__items_sort(bry__item *items, bry__item *spare, size_t n, unsigned bits);

#endif
