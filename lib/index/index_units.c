/* The tables of units: records by slot, slots by number, and candidates in order of opening. */
#include "index/index_object.h"

#include <string.h>

/* ---- numbers ------------------------------------------------------------------------------- */

static uint32_t *index_units_place_of(const bry__numbers *numbers, uint32_t number)
{
    uint32_t i = number >> BRY__NUMBERS_SHIFT;
    if (i >= numbers->room || !numbers->page[i])
        return NULL;
    return &numbers->page[i]->slot[number & (BRY__NUMBERS_PAGE - 1)];
}

uint32_t bry__index_slot_of(const bry_index *index, uint32_t number)
{
    const uint32_t *place = index_units_place_of(&index->numbers, number);
    return place ? *place : BRY__INDEX_NO_SLOT;
}

/* The size of a directory that has page i. */
static uint32_t pages_room(const bry__numbers *numbers, uint32_t i)
{
    uint32_t room = numbers->room ? numbers->room : 1;
    while (room <= i)
        room *= 2;
    return i < numbers->room ? numbers->room : room;
}

static bry_status reach_page(bry__numbers *numbers, uint32_t i, const bry_allocator *allocator)
{
    if (i >= numbers->room) {
        uint32_t room = pages_room(numbers, i);
        bry__numbers_page **page = bry__alloc(allocator, room * sizeof *page);
        if (!page)
            return BRY_E_NOMEM;
        if (numbers->room)
            memcpy(page, numbers->page, numbers->room * sizeof *page);
        bry__free(allocator, numbers->page, numbers->room * sizeof *page);
        numbers->page = page;
        numbers->room = room;
    }
    if (!numbers->page[i]) {
        bry__numbers_page *page = bry__alloc(allocator, sizeof *page);
        if (!page)
            return BRY_E_NOMEM;
        memset(page->slot, 0xff, sizeof page->slot); /* all BRY__INDEX_NO_SLOT */
        numbers->page[i] = page;
        numbers->pages++;
    }
    return BRY_OK;
}

static bool page_is_empty(const bry__numbers_page *page)
{
    unsigned i = 0;
    while (i < BRY__NUMBERS_PAGE && page->slot[i] == BRY__INDEX_NO_SLOT)
        i++;
    return i == BRY__NUMBERS_PAGE;
}

/* Frees a page without numbers, and the directory after the last page. */
static void index_units_trim(bry__numbers *numbers, uint32_t i, const bry_allocator *allocator)
{
    if (i >= numbers->room || !numbers->page[i] || !page_is_empty(numbers->page[i]))
        return;
    bry__free(allocator, numbers->page[i], sizeof *numbers->page[i]);
    numbers->page[i] = NULL;
    if (--numbers->pages == 0) {
        bry__free(allocator, numbers->page, numbers->room * sizeof(bry__numbers_page *));
        *numbers = (bry__numbers){0};
    }
}

/* ---- records ------------------------------------------------------------------------------- */

/* The number of records when that slot is among them. */
static uint32_t slots_room(const bry__index_slots *slots, uint32_t slot)
{
    uint32_t room = bry__slots_room(slots);
    return slot < room ? room : bry__records_room(slot + 1);
}

static uint64_t slots_bytes(uint32_t room)
{
    return bry__records_bytes(room, sizeof(bry__index_slot));
}

uint64_t bry__index_growth(const bry_index *index, uint32_t slot, uint32_t number)
{
    uint32_t page = number >> BRY__NUMBERS_SHIFT, pages = pages_room(&index->numbers, page);
    uint64_t bytes =
        slots_bytes(slots_room(&index->slots, slot)) - slots_bytes(bry__slots_room(&index->slots));
    bytes += (pages - index->numbers.room) * (uint64_t)sizeof(bry__numbers_page *);
    if (page >= index->numbers.room || !index->numbers.page[page])
        bytes += sizeof(bry__numbers_page);
    return bytes;
}

static bry_status reach_slot(bry_index *index, uint32_t slot)
{
    return bry__records_reach(&index->slots.records, slot + 1, sizeof(bry__index_slot),
                              &index->allocator);
}

static bry_status index_units_put(bry_index *index, uint32_t slot, const bry__index_slot *record)
{
    uint32_t page = record->number >> BRY__NUMBERS_SHIFT;
    bry_status status = reach_page(&index->numbers, page, &index->allocator);
    if (status == BRY_OK)
        status = reach_slot(index, slot);
    if (status != BRY_OK) {
        index_units_trim(&index->numbers, page, &index->allocator);
        return status;
    }
    *index_units_place_of(&index->numbers, record->number) = slot;
    *bry__slot(&index->slots, slot) = *record;
    index->slots.units++;
    index->slots.elements += record->elements;
    index->slots.stale += record->stale;
    index->slots.capacity += record->capacity;
    return BRY_OK;
}

uint32_t bry__index_units_left(const bry_index *index)
{
    uint32_t most = index->options.fixed ? index->options.units : BRY_INDEX_UNITS_MAX;
    uint32_t left = most > index->slots.units ? most - index->slots.units : 0;
    uint64_t orders = BRY__INDEX_MAX_ORDER - index->last_order;
    return left < orders ? left : (uint32_t)orders;
}

uint32_t bry__index_free_number(const bry_index *index)
{
    uint32_t number = index->next_number;
    while (bry__index_slot_of(index, number) != BRY__INDEX_NO_SLOT)
        number = (number + 1) % BRY_INDEX_UNITS_MAX;
    return number;
}

bry_status bry__index_reserve(bry_index *index)
{
    uint32_t number = bry__index_free_number(index), page = number >> BRY__NUMBERS_SHIFT;
    uint32_t slot = index->engine->next_slot(index->elements, number);
    bry_status status = reach_page(&index->numbers, page, &index->allocator);
    if (status == BRY_OK && slot < BRY__INDEX_SLOTS)
        status = reach_slot(index, slot);
    if (status != BRY_OK)
        index_units_trim(&index->numbers, page, &index->allocator);
    return status;
}

void bry__index_unreserve(bry_index *index)
{
    index_units_trim(&index->numbers, bry__index_free_number(index) >> BRY__NUMBERS_SHIFT,
                     &index->allocator);
}

bry_status bry__index_enter(bry_index *index, uint32_t slot, const bry__index_slot *record)
{
    if (index->slots.units == BRY_INDEX_UNITS_MAX || index->last_order >= BRY__INDEX_MAX_ORDER)
        return BRY_E_FULL;
    bry__index_slot made = *record;
    made.order = index->last_order + 1;
    made.number = bry__index_free_number(index);
    bry_status status = index_units_put(index, slot, &made);
    if (status != BRY_OK)
        return status;
    index->last_order = made.order;
    index->next_number = (made.number + 1) % BRY_INDEX_UNITS_MAX;
    if (!made.sealed) {
        index->newest = slot;
        index->newest_known = true;
    }
    return BRY_OK;
}

bry_status bry__index_restore(bry_index *index, uint32_t slot, const bry__index_slot *record)
{
    if (slot >= BRY__INDEX_SLOTS || record->number >= BRY_INDEX_UNITS_MAX || record->order == 0 ||
        record->order > index->last_order || record->stale > record->elements ||
        bry__index_slot_of(index, record->number) != BRY__INDEX_NO_SLOT ||
        (slot < bry__slots_room(&index->slots) && bry__slot(&index->slots, slot)->order != 0))
        return BRY_E_RANGE;
    return index_units_put(index, slot, record);
}

void bry__index_count(bry_index *index, uint32_t slot, uint64_t more)
{
    bry__index_slot *record = bry__slot(&index->slots, slot);
    record->elements += more;
    index->slots.elements += more;
    if (more && index->engine->counted)
        index->engine->counted(index->elements, slot, record->elements);
}

void bry__index_leave(bry_index *index, uint32_t slot)
{
    bry__index_slots *slots = &index->slots;
    bry__index_slot *record = bry__slot(slots, slot);
    uint32_t page = record->number >> BRY__NUMBERS_SHIFT;
    *index_units_place_of(&index->numbers, record->number) = BRY__INDEX_NO_SLOT;
    index_units_trim(&index->numbers, page, &index->allocator);
    slots->units--;
    slots->elements -= record->elements;
    slots->stale -= record->stale;
    slots->capacity -= record->capacity;
    *record = (bry__index_slot){0};
    if (index->newest == slot)
        index->newest_known = false;
}

uint32_t bry__index_newest(bry_index *index)
{
    const bry__index_slots *slots = &index->slots;
    if (!index->newest_known) {
        uint64_t order = 0;
        index->newest = BRY__INDEX_NO_SLOT;
        for (uint32_t i = 0; i < bry__slots_room(slots); i++)
            if (bry__slot(slots, i)->order > order && !bry__slot(slots, i)->sealed) {
                order = bry__slot(slots, i)->order;
                index->newest = i;
            }
        index->newest_known = true;
    }
    return index->newest;
}

void bry__index_forget_units(bry_index *index)
{
    for (uint32_t i = 0; i < index->numbers.room; i++)
        bry__free(&index->allocator, index->numbers.page[i], sizeof(bry__numbers_page));
    bry__free(&index->allocator, index->numbers.page,
              index->numbers.room * sizeof(bry__numbers_page *));
    bry__records_free(&index->slots.records, sizeof(bry__index_slot), &index->allocator);
    index->numbers = (bry__numbers){0};
    index->slots = (bry__index_slots){0};
    index->last_order = 0;
    index->next_number = 0;
    index->newest_known = false;
}

bry_status bry__index_clone_units(const bry_index *index, bry_index *copy)
{
    copy->slots = (bry__index_slots){0};
    copy->numbers = (bry__numbers){0};
    bry_status status = BRY_OK;
    for (uint32_t i = 0; i < bry__slots_room(&index->slots) && status == BRY_OK; i++)
        if (bry__slot(&index->slots, i)->order != 0)
            status = index_units_put(copy, i, bry__slot(&index->slots, i));
    if (status != BRY_OK)
        bry__index_forget_units(copy);
    return status;
}

uint64_t bry__index_unit_bytes(const bry_index *index)
{
    return slots_bytes(bry__slots_room(&index->slots)) +
           (uint64_t)index->numbers.room * sizeof(bry__numbers_page *) +
           (uint64_t)index->numbers.pages * sizeof(bry__numbers_page);
}

/* ---- candidates ---------------------------------------------------------------------------- */

/*
 * The `room` newest of any number of candidates, without further memory. While there is room they
 * are just listed, and engines list most of them in order, rising or falling. When it runs out the
 * caller's array becomes a heap with the oldest on top, which a newer one replaces. Moving the top
 * of the heap to the end of the array repeatedly leaves the newest in front.
 */
static uint64_t index_units_order_of(const bry__index_found *found, size_t i)
{
    return bry__slot(found->slots, found->units[i])->order;
}

static void index_units_swap(bry__index_found *found, size_t i, size_t j)
{
    uint32_t kept = found->units[i];
    found->units[i] = found->units[j];
    found->units[j] = kept;
}

static void index_units_sift_down(bry__index_found *found, size_t i, size_t n)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= n)
            return;
        if (child + 1 < n &&
            index_units_order_of(found, child + 1) < index_units_order_of(found, child))
            child++;
        if (index_units_order_of(found, i) <= index_units_order_of(found, child))
            return;
        index_units_swap(found, i, child);
        i = child;
    }
}

static void index_units_make_heap(bry__index_found *found, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        index_units_sift_down(found, i, n);
}

void bry__index_found_more(bry__index_found *found, uint32_t slot)
{
    size_t i = found->total++;
    if (i < found->room) {
        found->units[i] = slot;
        return;
    }
    if (i == found->room)
        index_units_make_heap(found, found->room);
    if (found->room > 0 && bry__slot(found->slots, slot)->order > index_units_order_of(found, 0)) {
        found->units[0] = slot;
        index_units_sift_down(found, 0, found->room);
    }
}

/* Whether the first n are sorted newest first; reverses them if they are sorted oldest first. */
static bool is_in_order(bry__index_found *found, size_t n)
{
    size_t falls = 1, rises = 1;
    while (falls < n && index_units_order_of(found, falls - 1) > index_units_order_of(found, falls))
        falls++;
    while (rises < n && index_units_order_of(found, rises - 1) < index_units_order_of(found, rises))
        rises++;
    if (falls < n && rises < n)
        return false;
    for (size_t i = 0; falls < n && i < n / 2; i++)
        index_units_swap(found, i, n - 1 - i);
    return true;
}

size_t bry__index_found_end(bry__index_found *found)
{
    size_t n = found->total < found->room ? found->total : found->room;
    if (!is_in_order(found, n)) {
        index_units_make_heap(found, n);
        for (size_t left = n; left > 1; left--) {
            index_units_swap(found, 0, left - 1);
            index_units_sift_down(found, 0, left - 1);
        }
    }
    for (size_t i = 0; i < n; i++)
        found->units[i] = bry__slot(found->slots, found->units[i])->number;
    return found->total;
}
