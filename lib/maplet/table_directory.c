/*
 * The directory of a table: the records of its segments, sixteen bytes each, in groups of 256. The
 * first group begins with one record and grows by factors of four, so that a small table has a
 * small directory; the others never move.
 */
#include "maplet/table_arena.h"

#include <string.h>

/* Records of the first group of a table with this many segments. */
static unsigned table_first_room(uint64_t segments)
{
    unsigned room = 1;
    while (room < segments && room < BRY__GROUP_SIZE)
        room *= 4;
    return room;
}

static size_t table_group_bytes(const bry__table *table, size_t index)
{
    return (index == 0 ? table->first_room : BRY__GROUP_SIZE) * sizeof(bry__segment);
}

/* Changes the size of the first group. BRY_E_NOMEM: nothing has changed. */
static bry_status table_resize_first(bry__table *table, unsigned room,
                                     const bry_allocator *allocator)
{
    bry__segment *first = bry__alloc(allocator, room * sizeof *first);
    if (!first)
        return BRY_E_NOMEM;
    unsigned common = room < table->first_room ? room : table->first_room;
    memcpy(first, table->group[0], common * sizeof *first);
    bry__free(allocator, table->group[0], table_group_bytes(table, 0));
    table->group[0] = first;
    table->first_room = room;
    return BRY_OK;
}

bry_status bry__table_reach(bry__table *table, uint64_t i, const bry_allocator *allocator)
{
    size_t index = (size_t)(i >> BRY__GROUP_SHIFT);
    unsigned first_room = table_first_room(i < table->segments ? table->segments : i + 1);
    if (index == 0 && table->groups > 0 && i >= table->first_room)
        return table_resize_first(table, first_room, allocator);
    if (index < table->groups)
        return BRY_OK;
    if (index >= table->group_room) {
        size_t room = table->group_room ? table->group_room * 2 : 1;
        bry__segment **group = bry__alloc(allocator, room * sizeof *group);
        if (!group)
            return BRY_E_NOMEM;
        if (table->groups)
            memcpy(group, table->group, table->groups * sizeof *group);
        bry__free(allocator, table->group, table->group_room * sizeof *group);
        table->group = group;
        table->group_room = room;
    }
    if (index == 0)
        table->first_room = first_room;
    table->group[index] = bry__alloc(allocator, table_group_bytes(table, index));
    if (!table->group[index])
        return BRY_E_NOMEM;
    table->groups++;
    return BRY_OK;
}

void bry__table_trim(bry__table *table, const bry_allocator *allocator)
{
    size_t needed = (size_t)((table->segments - 1) >> BRY__GROUP_SHIFT) + 1;
    while (table->groups > needed)
        bry__free(allocator, table->group[--table->groups], BRY__GROUP_SIZE * sizeof(bry__segment));
    unsigned first_room = table_first_room(table->segments);
    if (first_room < table->first_room && table->segments * 2 <= table->first_room)
        (void)table_resize_first(table, first_room, allocator);
    bry__segment **small =
        needed == 1 && table->group_room > 1 ? bry__alloc(allocator, sizeof *small) : NULL;
    if (small) { /* else it stays larger than necessary */
        *small = table->group[0];
        bry__free(allocator, table->group, table->group_room * sizeof *small);
        table->group = small;
        table->group_room = 1;
    }
}

/* ---- bytes ------------------------------------------------------------------------------------ */

uint64_t bry__table_directory_bytes(uint64_t segments)
{
    uint64_t groups = (segments + BRY__GROUP_SIZE - 1) / BRY__GROUP_SIZE, room = 1;
    while (room < groups)
        room *= 2;
    uint64_t records = groups > 1 ? groups * BRY__GROUP_SIZE : table_first_room(segments);
    return records * sizeof(bry__segment) + room * sizeof(bry__segment *);
}

uint64_t bry__table_bytes(const bry__table *table)
{
    uint64_t bytes = table->groups > 0 ? table_group_bytes(table, 0) : 0;
    if (table->groups > 1)
        bytes += (table->groups - 1) * table_group_bytes(table, 1);
    return bytes + table->block_bytes + table->group_room * sizeof *table->group +
           bry__overflow_bytes(&table->overflow);
}

uint64_t bry__table_bytes_empty(void)
{
    return bry__table_directory_bytes(1);
}

/* ---- freeing ---------------------------------------------------------------------------------- */

bool bry__table_free_some(bry__table *table, size_t groups, const bry_allocator *allocator)
{
    enum { AREAS = 8 }; /* for each group: as much memory as a group may need, or more */
    bool areas_left = !bry__arena_free_some(
        table, groups < SIZE_MAX / AREAS ? groups * AREAS : SIZE_MAX, allocator);
    for (; table->groups > 0 && groups > 0; groups--) {
        size_t bytes = table_group_bytes(table, --table->groups);
        bry__segment *group = table->group[table->groups];
        for (unsigned j = 0; j < bytes / sizeof *group; j++)
            if (!group[j].in_area)
                bry__block_free(&(bry__home){allocator, table, 0}, &group[j]);
        bry__free(allocator, group, bytes);
    }
    if (table->groups > 0 || areas_left)
        return false;
    bry__table_free(table, allocator);
    return true;
}

void bry__table_free(bry__table *table, const bry_allocator *allocator)
{
    if (table->groups > 0 || table->arena) {
        bry__table_free_some(table, SIZE_MAX, allocator);
        return;
    }
    bry__free(allocator, table->group, table->group_room * sizeof *table->group);
    bry__overflow_free(&table->overflow, allocator);
    *table = (bry__table){0};
}
