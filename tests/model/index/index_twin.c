#include "model/index/index_twin.h"

#include "support/generator.h"

#include <string.h>

unsigned index_twin_class(const index_twin *twin, unsigned element)
{
    return element / twin->share;
}

/* A fingerprint is hi scaled to a range of 2^12 or more: classes are 2^54 apart, and the lower half
 * of what is between them is as random as a hash's, so that scaled they are at least two apart. */
bry_hash index_twin_element(const index_twin *twin, unsigned element)
{
    uint64_t class = index_twin_class(twin, element);
    generator low = {element + 1000}, high = {class};
    return (bry_hash){generator_next(&low), class << 54 | generator_next(&high) >> 11};
}

int index_twin_find(const index_twin *twin, uint32_t number)
{
    for (int i = 0; i < twin->count; i++)
        if (twin->unit[i].number == number)
            return i;
    return TWIN_NO_UNIT;
}

int index_twin_newest(const index_twin *twin)
{
    for (int i = twin->count; i-- > 0;)
        if (!twin->unit[i].sealed)
            return i;
    return TWIN_NO_UNIT;
}

int index_twin_open(index_twin *twin, uint64_t tag, uint64_t capacity)
{
    twin->unit[twin->count] =
        (index_twin_unit){.number = twin->next_number++, .tag = tag, .capacity = capacity};
    return twin->count++;
}

void index_twin_drop(index_twin *twin, int place)
{
    memmove(&twin->unit[place], &twin->unit[place + 1],
            (size_t)(twin->count - place - 1) * sizeof twin->unit[0]);
    twin->count--;
}

static void index_twin_list(index_twin_unit *unit, unsigned class)
{
    if (!unit->listed[class])
        unit->list[unit->list_count++] = (uint8_t) class;
    unit->listed[class] = 1;
}

void index_twin_hold(index_twin_unit *unit, unsigned class)
{
    index_twin_list(unit, class);
    if (unit->held[class] == 0)
        unit->held[class] = 1;
}

size_t index_twin_supply(const index_twin *twin, int place, uint64_t from, bry_hash *hashes,
                         size_t room)
{
    const index_twin_unit *unit = &twin->unit[place];
    unsigned other = 0;
    while (other < TWIN_ELEMENTS - 1 && !unit->held[other])
        other++;
    size_t got = 0;
    for (; from + got < unit->list_count && got < room; got++) {
        unsigned class = unit->list[from + got];
        hashes[got] = index_twin_element(
            twin, (unit->held[other] && !unit->held[class] ? other : class) * twin->share);
    }
    return got;
}

void index_twin_merge_units(index_twin *twin, int into, int from)
{
    index_twin_unit *to = &twin->unit[into];
    const index_twin_unit *gone = &twin->unit[from];
    for (unsigned i = 0; i < gone->list_count; i++)
        index_twin_list(to, gone->list[i]);
    for (int i = 0; i < TWIN_ELEMENTS; i++) {
        to->held[i] = (uint8_t)(to->held[i] + gone->held[i]);
        to->maybe[i] |= gone->maybe[i];
    }
    to->elements += gone->elements;
    to->stale += gone->stale;
    index_twin_drop(twin, from);
}

uint64_t index_twin_elements(const index_twin *twin)
{
    uint64_t sum = 0;
    for (int i = 0; i < twin->count; i++)
        sum += twin->unit[i].elements;
    return sum;
}
