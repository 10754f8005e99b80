/* Tables that are no longer used. They are freed a few groups of segments at a time, so that no
 * call takes long, however large they are. */
#include "maplet/maplet_single.h"

static bry_status aside_put(bry__aside **list, const bry__maplet *maplet)
{
    bry__aside *made = bry__alloc(&maplet->allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    made->maplet = *maplet;
    made->next = *list;
    *list = made;
    return BRY_OK;
}

bry_status bry__aside_put(bry__aside **list, bry__maplet *maplet)
{
    bry_status status = aside_put(list, maplet);
    if (status != BRY_OK)
        return status;
    maplet->tables = maplet->room = 0;
    maplet->table = NULL;
    maplet->values = NULL;
    return BRY_OK;
}

void bry__aside_take_back(bry__aside **list, bry__maplet *maplet)
{
    bry__aside *last = *list;
    bry__maplet_free(maplet);
    *maplet = last->maplet;
    *list = last->next;
    bry__free(&maplet->allocator, last, sizeof *last);
}

void bry__aside_put_dead(bry__aside **list, bry__maplet *maplet)
{
    while (maplet->tables > 1 && bry__maplet_live(maplet, maplet->tables - 1) == 0) {
        const bry_allocator *allocator = &maplet->allocator;
        bry__maplet alone = {.allocator = *allocator, .tables = 1, .room = 1};
        alone.table = bry__alloc(allocator, sizeof *alone.table);
        if (!alone.table || aside_put(list, &alone) != BRY_OK) {
            bry__free(allocator, alone.table, sizeof *alone.table);
            return;
        }
        bry__table *last = &maplet->table[maplet->tables - 1];
        *alone.table = *last;
        *last = (bry__table){0};
        bry__maplet_close_table(maplet);
    }
}

void bry__aside_free_some(bry__aside **list, size_t groups)
{
    while (*list && groups > 0) {
        bry__aside *first = *list;
        bry__maplet *maplet = &first->maplet;
        bry_allocator allocator = maplet->allocator;
        while (maplet->tables > 0 && groups > 0) {
            bry__table *table = &maplet->table[maplet->tables - 1];
            size_t before = table->groups;
            if (!bry__table_free_some(table, groups, &allocator))
                return;
            groups -= before < groups ? before : groups;
            bry__maplet_close_table(maplet);
        }
        if (maplet->tables > 0)
            return;
        *list = first->next;
        bry__maplet_free(maplet);
        bry__free(&allocator, first, sizeof *first);
    }
}

uint64_t bry__aside_bytes(const bry__aside *list)
{
    uint64_t bytes = 0;
    for (; list; list = list->next)
        bytes += sizeof *list + bry__maplet_bytes(&list->maplet);
    return bytes;
}
