#include "index_numbers.h"

#include <bloomery/hash.h>

#define FIRST_ROOM 16u

void index_numbers_init(index_numbers *self, uint64_t seed, const bry_allocator *allocator)
{
    *self = (index_numbers){.allocator = *allocator, .seed = seed};
}

void index_numbers_free(index_numbers *self)
{
    if (self->places)
        self->allocator.free(self->allocator.opaque, self->places,
                             self->room * sizeof *self->places);
    self->places = NULL;
    self->room = self->used = 0;
}

static size_t home_of(const index_numbers *self, uint64_t number)
{
    return (size_t)bry_hash_key(self->seed, &number, sizeof number).lo & (self->room - 1);
}

/* Where the number stands, or the free place where it would. */
static size_t place_of(const index_numbers *self, uint64_t number)
{
    size_t at = home_of(self, number);
    while (self->places[at].unit != INDEX_NO_UNIT && self->places[at].number != number)
        at = (at + 1) & (self->room - 1);
    return at;
}

uint32_t index_numbers_find(const index_numbers *self, uint64_t number)
{
    return self->room ? self->places[place_of(self, number)].unit : INDEX_NO_UNIT;
}

bry_status index_numbers_reserve(index_numbers *self)
{
    if (self->used + 1 <= self->room / 4 * 3)
        return BRY_OK;
    index_numbers wider = *self;
    wider.room = self->room ? 2 * self->room : FIRST_ROOM;
    wider.places = wider.allocator.alloc(wider.allocator.opaque, wider.room * sizeof *wider.places);
    if (!wider.places)
        return BRY_E_NOMEM;
    for (size_t i = 0; i < wider.room; i++)
        wider.places[i].unit = INDEX_NO_UNIT;
    wider.used = 0;
    for (size_t i = 0; i < self->room; i++)
        if (self->places[i].unit != INDEX_NO_UNIT)
            index_numbers_put(&wider, self->places[i].number, self->places[i].unit);
    index_numbers_free(self);
    *self = wider;
    return BRY_OK;
}

void index_numbers_put(index_numbers *self, uint64_t number, uint32_t unit)
{
    self->places[place_of(self, number)] = (index_number){number, unit};
    self->used++;
}

/* Those behind it move up, where that brings them nearer to their homes. */
void index_numbers_remove(index_numbers *self, uint64_t number)
{
    size_t mask = self->room - 1, hole = place_of(self, number);
    for (size_t at = (hole + 1) & mask; self->places[at].unit != INDEX_NO_UNIT;
         at = (at + 1) & mask) {
        size_t home = home_of(self, self->places[at].number);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        self->places[hole] = self->places[at];
        hole = at;
    }
    self->places[hole].unit = INDEX_NO_UNIT;
    self->used--;
}
