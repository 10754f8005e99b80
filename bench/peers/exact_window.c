#include "bench/peers/exact_window.h"

enum { FIRST_ROOM = 64 };

static uint64_t exact_slots_of(const bry__exact_window *exact)
{
    return 2 * exact->room;
}

static bry__exact_entry *exact_entry_at(const bry__exact_window *exact, uint64_t index)
{
    return &exact->queue[index & (exact->room - 1)];
}

static uint64_t exact_home_of(const bry__exact_window *exact, bry_hash hash)
{
    return hash.lo & (exact_slots_of(exact) - 1);
}

static uint64_t exact_next_slot(const bry__exact_window *exact, uint64_t slot)
{
    return (slot + 1) & (exact_slots_of(exact) - 1);
}

/* The slot of the element, or the empty slot where it belongs. */
static uint64_t exact_find(const bry__exact_window *exact, bry_hash hash)
{
    uint64_t slot = exact_home_of(exact, hash);
    while (exact->slot[slot]) {
        const bry__exact_entry *entry = exact_entry_at(exact, exact->slot[slot] - 1);
        if (entry->hash.lo == hash.lo && entry->hash.hi == hash.hi)
            break;
        slot = exact_next_slot(exact, slot);
    }
    return slot;
}

static bry_status exact_allocate(bry__exact_window *exact, uint64_t room,
                                 const bry_allocator *allocator)
{
    exact->queue = bry__alloc(allocator, room * sizeof *exact->queue);
    exact->slot = bry__alloc(allocator, 2 * room * sizeof *exact->slot);
    if (exact->queue && exact->slot) {
        exact->room = room;
        return BRY_OK;
    }
    bry__free(allocator, exact->queue, room * sizeof *exact->queue);
    bry__free(allocator, exact->slot, 2 * room * sizeof *exact->slot);
    return BRY_E_NOMEM;
}

bry_status bry__exact_window_init(bry__exact_window *exact, uint64_t window,
                                  const bry_allocator *allocator)
{
    bry__exact_window made = {.window = window};
    bry_status status = exact_allocate(&made, FIRST_ROOM, allocator);
    if (status == BRY_OK)
        *exact = made;
    return status;
}

void bry__exact_window_free(bry__exact_window *exact, const bry_allocator *allocator)
{
    bry__free(allocator, exact->queue, exact->room * sizeof *exact->queue);
    bry__free(allocator, exact->slot, exact_slots_of(exact) * sizeof *exact->slot);
}

/* Empties a slot; later entries that it displaced move up. */
static void exact_take_out(bry__exact_window *exact, uint64_t hole)
{
    uint64_t mask = exact_slots_of(exact) - 1;
    for (uint64_t at = exact_next_slot(exact, hole); exact->slot[at];
         at = exact_next_slot(exact, at)) {
        uint64_t home = exact_home_of(exact, exact_entry_at(exact, exact->slot[at] - 1)->hash);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            exact->slot[hole] = exact->slot[at];
            hole = at;
        }
    }
    exact->slot[hole] = 0;
}

void bry__exact_window_advance(bry__exact_window *exact, uint64_t now)
{
    while (exact->items > 0) {
        const bry__exact_entry *oldest = exact_entry_at(exact, exact->first);
        if (now < exact->window || oldest->time >= now - exact->window)
            break;
        exact_take_out(exact, exact_find(exact, oldest->hash));
        exact->first++;
        exact->items--;
    }
}

bool bry__exact_window_has(const bry__exact_window *exact, bry_hash hash)
{
    return exact->slot[exact_find(exact, hash)] != 0;
}

static bry_status exact_grow(bry__exact_window *exact, const bry_allocator *allocator)
{
    bry__exact_window larger = {.window = exact->window, .items = exact->items};
    bry_status status = exact_allocate(&larger, 2 * exact->room, allocator);
    if (status != BRY_OK)
        return status;
    for (uint64_t i = 0; i < exact->items; i++) {
        larger.queue[i] = *exact_entry_at(exact, exact->first + i);
        larger.slot[exact_find(&larger, larger.queue[i].hash)] = i + 1;
    }
    bry__exact_window_free(exact, allocator);
    *exact = larger;
    return BRY_OK;
}

bry_status bry__exact_window_add(bry__exact_window *exact, bry_hash hash, uint64_t now,
                                 bry_answer *was, const bry_allocator *allocator)
{
    bry__exact_window_advance(exact, now);
    if (bry__exact_window_has(exact, hash)) {
        *was = BRY_PRESENT;
        return BRY_OK;
    }
    if (exact->items == exact->room) {
        bry_status status = exact_grow(exact, allocator);
        if (status != BRY_OK)
            return status;
    }
    uint64_t slot = exact_find(exact, hash), index = exact->first + exact->items;
    *exact_entry_at(exact, index) = (bry__exact_entry){hash, now};
    exact->slot[slot] = index + 1;
    exact->items++;
    *was = BRY_ABSENT;
    return BRY_OK;
}

uint64_t bry__exact_window_bytes(const bry__exact_window *exact)
{
    return exact->room * sizeof *exact->queue + exact_slots_of(exact) * sizeof *exact->slot;
}
