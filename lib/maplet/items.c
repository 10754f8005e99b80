#include "maplet/items.h"

#include <string.h>

#define DIGIT BRY__ITEM_DIGIT
#define BUCKETS ((size_t)1 << 12) /* at most: the lines being written fit the L2 cache */
#define BUCKET_BITS 8u /* log2 of the items per bucket, about */

static size_t items_bytes(size_t buckets)
{
    return sizeof(bry__item_sort) + buckets * sizeof(size_t);
}

bry__item_sort *bry__items_begin(size_t n, unsigned bits, const bry_allocator *allocator)
{
    unsigned high = 0;
    while ((size_t)1 << high < BUCKETS && high < bits && n >> (high + BUCKET_BITS) > 0)
        high++;
    bry__item_sort *sort = bry__alloc_buffer(allocator, items_bytes((size_t)1 << high));
    if (!sort)
        return NULL;
    sort->low = bits - high;
    sort->buckets = (size_t)1 << high;
    memset(sort->place, 0, sort->buckets * sizeof sort->place[0]);
    return sort;
}

void bry__items_end(bry__item_sort *sort, const bry_allocator *allocator)
{
    bry__free(allocator, sort, items_bytes(sort->buckets));
}

/* Replaces the counts by the places where each begins; returns the largest count. */
static size_t items_sum_up(size_t *place, size_t n)
{
    size_t sum = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t here = place[i];
        place[i] = sum;
        sum += here;
        most = here > most ? here : most;
    }
    return most;
}

size_t bry__items_places(bry__item_sort *sort)
{
    return items_sum_up(sort->place, sort->buckets);
}

/* Radix sort by the lowest passes · digit bits, from the lowest digit up. */
static void items_sort_bucket(bry__item_sort *sort, bry__item *items, bry__item *spare, size_t n,
                              unsigned passes, unsigned digit)
{
    size_t(*place)[1u << DIGIT] = sort->digit, mask = ((size_t)1 << digit) - 1;
    for (unsigned p = 0; p < passes; p++)
        memset(place[p], 0, (mask + 1) * sizeof place[p][0]);
    for (size_t i = 0; i < n; i++)
        for (unsigned p = 0; p < passes; p++)
            place[p][items[i].key >> (p * digit) & mask]++;
    bry__item *from = items, *to = spare;
    for (unsigned p = 0; p < passes; p++) {
        items_sum_up(place[p], mask + 1);
        for (size_t i = 0; i < n; i++)
            to[place[p][from[i].key >> (p * digit) & mask]++] = from[i];
        bry__item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, n * sizeof *items);
}

void bry__items_sort(bry__item_sort *sort, bry__item *items, bry__item *spare)
{
    unsigned passes = (sort->low + DIGIT - 1) / DIGIT;
    unsigned digit = passes ? (sort->low + passes - 1) / passes : 0;
    for (size_t b = 0, from = 0; b < sort->buckets; from = sort->place[b++])
        if (sort->place[b] - from > 1)
            items_sort_bucket(sort, items + from, spare, sort->place[b] - from, passes, digit);
}

bry_status bry__items_arrange(bry__item *items, bry__item *to, size_t n, unsigned bits,
                              const bry_allocator *allocator)
{
    bry__item_sort *sort = bry__items_begin(n, bits, allocator);
    if (!sort)
        return BRY_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        bry__items_count(sort, items[i].key);
    bry__items_places(sort);
    for (size_t i = 0; i < n; i++)
        bry__items_put(sort, to, items[i]);
    bry__items_sort(sort, to, items);
    bry__items_end(sort, allocator);
    return BRY_OK;
}
