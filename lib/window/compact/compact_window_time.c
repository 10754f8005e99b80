/*
 * Time in a compact window: generations that expire and begin, how a change that fails is taken
 * back, and reclaiming.
 *
 * What has expired answers nothing any more and is in nobody's way, so it is reclaimed in steps, as
 * changes come, and may be late. An element that is added pays for looking at twice as many entries
 * as there are of each generation: at a steady rate that ends a round over all tables in half a
 * generation, and gives back two entries for each one added. Time pays too, so that memory comes
 * down when few elements come. Neither makes a single change long: beyond what its own elements pay
 * for it looks at MOST entries, and a round then takes longer. Tables in which nothing is
 * remembered are put aside, and freed some groups at a time.
 */
#include "window/compact/compact_window.h"

#define STEP 384u /* entries: whole segments are swept */
/* What one change does at most, besides what its own elements pay for: about a millisecond. */
#define MOST 32768u /* entries looked at, */
#define GROUPS 16u /* and groups of segments freed, of 4 MB or so */
/* The same above the ceiling. */
#define CROWDED 131072u
#define CROWDED_GROUPS 48u

/* ---- generations --------------------------------------------------------------------------- */

/* Room for one more. */
static bry_status grow_list(bry__changing *change, const bry_allocator *allocator)
{
    if (change->n < change->room)
        return BRY_OK;
    uint32_t room = 8 * change->room;
    bry__expired *larger = bry__alloc_buffer(allocator, room * sizeof *larger);
    if (!larger)
        return BRY_E_NOMEM;
    for (uint32_t i = 0; i < change->n; i++)
        larger[i] = change->expired[i];
    if (change->expired != change->few)
        bry__free(allocator, change->expired, change->room * sizeof *larger);
    change->expired = larger;
    change->room = room;
    return BRY_OK;
}

static void free_list(bry__changing *change, const bry_allocator *allocator)
{
    if (change->expired != change->few)
        bry__free(allocator, change->expired, change->room * sizeof *change->expired);
}

/* The values of generations before `oldest` die; where `noted`, so that they can be revived. */
static bry_status expire(bry__compact_window *window, uint64_t oldest, bool noted,
                         bry__changing *change)
{
    bry__maplet *maplet = &window->maplet;
    const bry__values *values = maplet->values;
    for (uint32_t value = 0; values && value < values->room; value++) {
        uint32_t name = values->name[value];
        if (name == BRY__NO_NAME ||
            (oldest <= window->newest && bry__window_age(window, name) <= window->newest - oldest))
            continue;
        if (noted && grow_list(change, &maplet->allocator) != BRY_OK)
            return BRY_E_NOMEM;
        if (noted)
            change->expired[change->n++] = (bry__expired){value, name};
        bry__values_kill(maplet, value);
    }
    return BRY_OK;
}

/* All tables, in which nothing is remembered; they stay where memory is short. */
static bool put_aside(bry__compact_window *window)
{
    bry__maplet *maplet = &window->maplet;
    if (maplet->tables == 0 || bry__maplet_count(maplet) > 0 ||
        bry__aside_put(&window->aside, maplet) != BRY_OK)
        return false;
    window->value = BRY__NO_NAME;
    return true;
}

bry_status bry__window_reach_value(bry__compact_window *window)
{
    bry__maplet *maplet = &window->maplet;
    uint32_t names = (uint32_t)1 << window->shape.bits;
    uint32_t name = bry__window_name(window, window->newest);
    if (window->value != BRY__NO_NAME)
        return BRY_OK;
    if (!maplet->values) {
        maplet->options.value_bits = window->shape.bits;
        if (bry__single_begin(maplet) != BRY_OK) {
            bry__maplet_free(maplet);
            return BRY_E_NOMEM;
        }
    }
    uint32_t value = bry__values_find_free(maplet, name, names);
    if (value == names && bry__values_waiting(maplet) <= window->small) {
        (void)bry__single_reclaim_all(maplet);
        value = bry__values_find_free(maplet, name, names);
    }
    if (value == names) /* reclaiming is late: wider values do it meanwhile */
        value = bry__values_find_free(maplet, names, BRY__NO_NAME);
    else
        bry__values_narrow(maplet, window->shape.bits);
    bry_status status = bry__values_use(maplet, value, name);
    if (status == BRY_OK)
        window->value = value;
    return status;
}

/* ---- reclaiming ---------------------------------------------------------------------------- */

/* What is due for the time since it was last reckoned; a part of an entry stays due. */
static uint64_t due_for_time(bry__compact_window *window, uint64_t now)
{
    uint64_t time = now - window->paid_at, length = window->shape.length;
    double share = time < length ? (double)time / (double)length : 1;
    uint64_t entries = (uint64_t)((double)bry__values_waiting(&window->maplet) * share);
    if (entries > 0)
        window->paid_at = now;
    return entries;
}

/* A part of what is due. */
static void sweep(bry__compact_window *window, uint64_t added, uint64_t now)
{
    uint64_t for_added = 2 * (window->newest - window->oldest + 1) * added;
    if (!window->sweeping) {
        window->sweeping = true;
        window->debt = 0;
        window->paid_at = now;
    }
    window->debt += for_added + due_for_time(window, now);
    if (window->debt < STEP)
        return;
    uint64_t most = MOST + for_added;
    (void)bry__values_reclaim(&window->maplet, window->debt < most ? window->debt : most);
    window->debt = 0; /* without memory: later */
}

/* Above the ceiling: all, or as much as a change may take. */
static void reclaim_now(bry__compact_window *window)
{
    bry__aside_free_some(&window->aside, CROWDED_GROUPS);
    if (bry__values_waiting(&window->maplet) <= window->small)
        (void)bry__single_reclaim_all(&window->maplet);
    else
        (void)bry__values_reclaim(&window->maplet, CROWDED);
}

/* After a change at `now` that added so many elements: a part of the work that is due. */
static void reclaim(bry__compact_window *window, uint64_t added, uint64_t now)
{
    bry__maplet *maplet = &window->maplet;
    put_aside(window);
    bry__aside_put_dead(&window->aside, maplet);
    bry__aside_free_some(&window->aside, GROUPS);
    if (bry__values_dead(maplet) == 0)
        window->sweeping = false;
    else if (window->shape.max_bytes && bry__compact_bytes(window) > window->shape.max_bytes)
        reclaim_now(window);
    else
        sweep(window, added, now);
}

/* ---- changes ------------------------------------------------------------------------------- */

/* Takes back what has expired and begun. */
static void undo(bry__compact_window *window, const bry__changing *change)
{
    bry__maplet *maplet = &window->maplet;
    if (change->put_aside)
        bry__aside_take_back(&window->aside, maplet);
    else if (window->value != change->value && window->value != BRY__NO_NAME)
        bry__values_kill(maplet, window->value);
    for (uint32_t i = 0; i < change->n; i++)
        bry__values_revive(maplet, change->expired[i].value, change->expired[i].name);
    window->newest = change->newest;
    window->oldest = change->oldest;
    window->value = change->value;
}

bry_status bry__change_begin(bry__compact_window *window, uint64_t now, bool fails,
                             bry__changing *change)
{
    uint64_t newest = bry__window_newest(&window->shape, now);
    uint64_t oldest = bry__window_oldest(&window->shape, now);
    change->moved = newest != window->newest || oldest != window->oldest;
    if (!change->moved)
        return BRY_OK;
    change->put_aside = false;
    change->newest = window->newest;
    change->oldest = window->oldest;
    change->value = window->value;
    change->expired = change->few;
    change->n = 0;
    change->room = BRY__EXPIRED_FEW;
    bry_status status = expire(window, oldest, fails, change);
    if (status != BRY_OK) {
        undo(window, change);
        free_list(change, &window->maplet.allocator);
        return status;
    }
    if (newest != window->newest)
        window->value = BRY__NO_NAME;
    window->newest = newest;
    window->oldest = oldest;
    change->put_aside = put_aside(window);
    return BRY_OK;
}

bry_status bry__change_end(bry__compact_window *window, bry__changing *change, bry_status status,
                           uint64_t added, uint64_t now)
{
    if (status != BRY_OK && change->moved)
        undo(window, change);
    if (change->moved)
        free_list(change, &window->maplet.allocator);
    if (window->maplet.tables == 0) { /* nothing was added after all */
        bry__maplet_free(&window->maplet);
        window->value = BRY__NO_NAME;
    }
    if (status == BRY_OK)
        reclaim(window, added, now);
    return status;
}
