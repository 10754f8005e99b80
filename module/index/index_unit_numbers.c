#include "module/index/index_unit_numbers.h"

#include <bloomery/hash.h>

#include <string.h>

#define FIRST_ROOM 2u
#define MOVED_AT_ONCE 64u /* more than enough to finish before the new table is full */
#define GONE (INDEX_NO_UNIT - 1) /* deleted from the old table; a search continues past it */

static void free_places(const index_numbers *self, index_places *places)
{
    if (places->place)
        self->allocator.free(self->allocator.opaque, places->place,
                             places->room * sizeof *places->place);
    *places = (index_places){0};
}

void index_numbers_free(index_numbers *self)
{
    free_places(self, &self->now);
    free_places(self, &self->old);
    self->used = self->moved = 0;
}

static bry_status clone_places(const index_places *from, const bry_allocator *allocator,
                               index_places *to)
{
    if (from->room == 0)
        return BRY_OK;
    size_t size = from->room * sizeof *from->place;
    to->place = allocator->alloc(allocator->opaque, size);
    if (!to->place)
        return BRY_E_NOMEM;
    to->room = from->room;
    memcpy(to->place, from->place, size);
    return BRY_OK;
}

bry_status index_numbers_clone(const index_numbers *self, index_numbers *copy)
{
    if (clone_places(&self->now, &copy->allocator, &copy->now) != BRY_OK ||
        clone_places(&self->old, &copy->allocator, &copy->old) != BRY_OK) {
        index_numbers_free(copy);
        return BRY_E_NOMEM;
    }
    copy->moved = self->moved;
    copy->used = self->used;
    return BRY_OK;
}

static size_t home_of(const index_numbers *self, const index_places *in, uint64_t number)
{
    return (size_t)bry_hash_key(self->seed, &number, sizeof number).lo & (in->room - 1);
}

/* The slot of the number, or the free slot where it belongs. */
static index_number *place_of(const index_numbers *self, const index_places *in, uint64_t number)
{
    size_t at = home_of(self, in, number);
    while (in->place[at].unit != INDEX_NO_UNIT && in->place[at].number != number)
        at = (at + 1) & (in->room - 1);
    return &in->place[at];
}

uint32_t index_numbers_find(const index_numbers *self, uint64_t number)
{
    uint32_t unit = INDEX_NO_UNIT;
    if (self->now.room)
        unit = place_of(self, &self->now, number)->unit;
    if (unit == INDEX_NO_UNIT && self->old.room)
        unit = place_of(self, &self->old, number)->unit;
    return unit == GONE ? INDEX_NO_UNIT : unit;
}

/* Moves up to `most` slots of the old table. */
static void move_some(index_numbers *self, size_t most)
{
    for (size_t end = self->moved + most; self->moved < self->old.room && self->moved < end;
         self->moved++) {
        const index_number *place = &self->old.place[self->moved];
        if (place->unit != INDEX_NO_UNIT && place->unit != GONE)
            *place_of(self, &self->now, place->number) = *place;
    }
    if (self->moved == self->old.room)
        free_places(self, &self->old);
}

bry_status index_numbers_reserve(index_numbers *self)
{
    if (self->used + 1 <= self->now.room * 3 / 4)
        return BRY_OK;
    index_places wider = {.room = self->now.room ? 2 * self->now.room : FIRST_ROOM};
    wider.place = self->allocator.alloc(self->allocator.opaque, wider.room * sizeof *wider.place);
    if (!wider.place)
        return BRY_E_NOMEM;
    for (size_t i = 0; i < wider.room; i++)
        wider.place[i].unit = INDEX_NO_UNIT;
    move_some(self, self->old.room); /* all have moved already */
    self->old = self->now;
    self->now = wider;
    self->moved = 0;
    return BRY_OK;
}

void index_numbers_put(index_numbers *self, uint64_t number, uint32_t unit)
{
    *place_of(self, &self->now, number) = (index_number){number, unit};
    self->used++;
    move_some(self, MOVED_AT_ONCE);
}

/* Moves up the entries that follow, if that brings them closer to their home slots. */
static void close_hole(index_numbers *self, size_t hole)
{
    index_number *place = self->now.place;
    size_t mask = self->now.room - 1;
    for (size_t at = (hole + 1) & mask; place[at].unit != INDEX_NO_UNIT; at = (at + 1) & mask) {
        size_t home = home_of(self, &self->now, place[at].number);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        place[hole] = place[at];
        hole = at;
    }
    place[hole].unit = INDEX_NO_UNIT;
}

void index_numbers_del(index_numbers *self, uint64_t number)
{
    index_number *there = place_of(self, &self->now, number);
    if (there->unit != INDEX_NO_UNIT)
        close_hole(self, (size_t)(there - self->now.place));
    if (self->old.room) {
        there = place_of(self, &self->old, number);
        if (there->unit != INDEX_NO_UNIT)
            there->unit = GONE;
    }
    self->used--;
}
