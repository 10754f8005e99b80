/*
 * Sorts items, the entries to be added to a table, by their keys. Many items are first put into
 * buckets of a few hundred by the highest bits of their keys, with one cache miss per item. Then
 * each bucket is sorted inside the L1 cache. The sort is stable.
 *
 *      sort = bry__items_begin(n, bits, allocator);
 *      for all keys:   bry__items_count(sort, key);
 *      bry__items_places(sort)                         items of the largest bucket
 *      for all items:  bry__items_put(sort, items, item);
 *      bry__items_sort(sort, items, spare);            spare: room for a bucket
 *      bry__items_end(sort, allocator);
 */
#ifndef BRY_MAPLET_ITEMS_H
#define BRY_MAPLET_ITEMS_H

#include "common/allocator.h"

#include <stddef.h>
#include <stdint.h>

typedef struct bry__item {
    uint64_t key;
    uint32_t value;
    uint32_t order; /* free for the caller */
} bry__item;

#define BRY__ITEM_DIGIT 8u /* bits by which a bucket is sorted at once */

typedef struct bry__item_sort {
    unsigned low; /* bits of a key below those that choose the bucket */
    size_t buckets;
    size_t digit[64 / BRY__ITEM_DIGIT][1u << BRY__ITEM_DIGIT]; /* of the bucket that is sorted */
    size_t place[]; /* first the number of items, then the next place, at last the end */
} bry__item_sort;

/* Prepares for about n keys of `bits` bits. NULL: out of memory. */
bry__item_sort *bry__items_begin(size_t n, unsigned bits, const bry_allocator *allocator);
void bry__items_end(bry__item_sort *sort, const bry_allocator *allocator);

static inline void bry__items_count(bry__item_sort *sort, uint64_t key)
{
    sort->place[key >> sort->low]++;
}

size_t bry__items_places(bry__item_sort *sort);

static inline void bry__items_put(bry__item_sort *sort, bry__item *items, bry__item item)
{
    items[sort->place[item.key >> sort->low]++] = item;
}

void bry__items_sort(bry__item_sort *sort, bry__item *items, bry__item *spare);

/* All of this for an array: `to` gets the n items sorted; `items` is overwritten. BRY_E_NOMEM. */
bry_status bry__items_arrange(bry__item *items, bry__item *to, size_t n, unsigned bits,
                              const bry_allocator *allocator);

#endif
