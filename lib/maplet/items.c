#include "maplet/items.h"

#include <string.h>

#define DIGIT_MOST 11u /* bits: counters of one pass fit the first cache */
#define PASSES_MOST ((64 + DIGIT_MOST - 1) / DIGIT_MOST)

/* How many items have each digit, for all passes in one walk. */
static void count_digits(const bry__item *items, size_t n, unsigned passes, unsigned digit,
                         size_t count[][(size_t)1 << DIGIT_MOST])
{
    uint64_t mask = ((uint64_t)1 << digit) - 1;
    for (unsigned p = 0; p < passes; p++)
        memset(count[p], 0, sizeof count[p]);
    for (size_t i = 0; i < n; i++)
        for (unsigned p = 0; p < passes; p++)
            count[p][items[i].key >> (p * digit) & mask]++;
}

static void sort_pass(const bry__item *from, bry__item *to, size_t n, unsigned shift,
                      unsigned digit, size_t *place)
{
    uint64_t mask = ((uint64_t)1 << digit) - 1;
    size_t sum = 0;
    for (size_t d = 0; d <= mask; d++) {
        size_t here = place[d];
        place[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < n; i++)
        to[place[from[i].key >> shift & mask]++] = from[i];
}

bry__item *bry__items_sort(bry__item *items, bry__item *spare, size_t n, unsigned bits)
{
    size_t count[PASSES_MOST][(size_t)1 << DIGIT_MOST];
    unsigned passes = (bits + DIGIT_MOST - 1) / DIGIT_MOST;
    if (passes == 0 || n < 2)
        return items;
    unsigned digit = (bits + passes - 1) / passes;
    count_digits(items, n, passes, digit, count);
    for (unsigned p = 0; p < passes; p++) {
        sort_pass(items, spare, n, p * digit, digit, count[p]);
        bry__item *swap = items;
        items = spare;
        spare = swap;
    }
    return items;
}
