/*
 * Time in a compact window: generations begin and expire, a failed change is undone, and expired
 * entries are reclaimed.
 *
 * Expired entries are ignored by look-ups, so they are reclaimed in steps, as changes come, and
 * that may be late. Each added element makes the window look at two entries per generation. At a
 * steady rate this completes a round over all tables in half a generation, and reclaims two
 * entries for each one added. Passing time adds work too, so that memory is freed when few
 * elements are added. Neither makes a single change long: beyond the work for its own elements it
 * looks at MOST entries, and a round then takes longer. Tables in which nothing is remembered are
 * put aside, and freed a few groups at a time.
 */
#include "window/compact/compact_window.h"

#define STEP 384u /* entries; less is not worth it, as whole segments are swept */
/* Work limit of one change, in addition to that for its own elements: about a millisecond. */
#define MOST 32768u /* entries looked at */
#define GROUPS 16u /* groups of segments freed, about 4 MB */
/* The same if the window exceeds its memory limit. */
#define CROWDED 131072u
#define CROWDED_GROUPS 48u

/* ---- generations ---------------------------------------------------------------------------- */

/* Makes room for one more expired value. */
static bry_status compact_window_grow_expired(bry__window_change *change,
                                              const bry_allocator *allocator)
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

static void compact_window_free_expired(bry__window_change *change, const bry_allocator *allocator)
{
    if (change->expired != change->few)
        bry__free(allocator, change->expired, change->room * sizeof *change->expired);
}

/* Kills the values of generations before `oldest`. If `noted`, lists them in `change`, to be
 * revived on failure. */
static bry_status compact_window_expire(bry__compact_window *window, uint64_t oldest, bool noted,
                                        bry__window_change *change)
{
    bry__maplet *maplet = &window->maplet;
    const bry__values *values = maplet->values;
    for (uint32_t value = values ? values->first : 0; values && value < values->room; value++) {
        uint32_t name = values->name[value - values->first];
        if (name == BRY__NO_NAME ||
            (oldest <= window->newest && bry__window_age(window, name) <= window->newest - oldest))
            continue;
        if (noted && compact_window_grow_expired(change, &maplet->allocator) != BRY_OK)
            return BRY_E_NOMEM;
        if (noted)
            change->expired[change->n++] = (bry__expired){value, name};
        bry__values_kill(maplet, value);
    }
    return BRY_OK;
}

/* Puts all tables aside if nothing is remembered. They stay if memory is short. */
static bool compact_window_put_aside(bry__compact_window *window)
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
        maplet->value_bits = window->shape.bits;
        if (bry__single_begin(maplet, false) != BRY_OK) {
            bry__maplet_free(maplet);
            return BRY_E_NOMEM;
        }
    }
    uint32_t value = bry__values_find_free(maplet, name, names);
    if (value == names) /* reclaiming is late: use a wider value meanwhile */
        value = bry__values_find_free(maplet, names, BRY__NO_NAME);
    else
        bry__values_narrow(maplet, window->shape.bits);
    bry_status status = bry__values_use(maplet, value, name);
    if (status == BRY_OK)
        window->value = value;
    return status;
}

/* Reclaims all that is dead, if that is little and a new generation would find no free value. Only
 * before a change: if that is undone, what has expired in it is alive again. */
static void compact_window_free_value(bry__compact_window *window, uint64_t newest)
{
    bry__maplet *maplet = &window->maplet;
    uint32_t names = (uint32_t)1 << window->shape.bits;
    if (maplet->values && bry__values_dead(maplet) > 0 &&
        bry__values_waiting(maplet) <= window->small &&
        bry__values_find_free(maplet, bry__window_name(window, newest), names) == names)
        (void)bry__single_reclaim_all(maplet);
}

/* ---- reclaiming ----------------------------------------------------------------------------- */

/* Entries due for the time since the last call. If that is less than one, the time is kept. */
static uint64_t compact_window_due_for_time(bry__compact_window *window, uint64_t now)
{
    uint64_t time = now - window->paid_at, length = window->shape.length;
    double share = time < length ? (double)time / (double)length : 1;
    uint64_t entries = (uint64_t)((double)bry__values_waiting(&window->maplet) * share);
    if (entries > 0)
        window->paid_at = now;
    return entries;
}

/* Does a part of the reclaiming that is due. */
static void compact_window_sweep(bry__compact_window *window, uint64_t added, uint64_t now)
{
    uint64_t for_added = 2 * ((uint64_t)window->older + 1) * added;
    if (!window->sweeping) {
        window->sweeping = 1;
        window->debt = 0;
        window->paid_at = now;
    }
    uint64_t debt = window->debt + for_added + compact_window_due_for_time(window, now);
    uint64_t most = MOST + for_added;
    if (debt >= STEP) {
        (void)bry__values_reclaim(&window->maplet, debt < most ? debt : most);
        debt = 0; /* if memory was short: later */
    }
    window->debt = (uint16_t)(debt & 0x7fff);
}

/* Above the limit: reclaims all, or as much as a change may. */
static void compact_window_reclaim_now(bry__compact_window *window)
{
    bry__aside_free_some(&window->aside, CROWDED_GROUPS);
    if (bry__values_waiting(&window->maplet) <= window->small)
        (void)bry__single_reclaim_all(&window->maplet);
    else
        (void)bry__values_reclaim(&window->maplet, CROWDED);
}

/* Does a part of the work that is due, after a change at `now` that added `added` elements. */
static void compact_window_reclaim(bry__compact_window *window, uint64_t added, uint64_t now)
{
    bry__maplet *maplet = &window->maplet;
    compact_window_put_aside(window);
    bry__aside_put_dead(&window->aside, maplet);
    bry__aside_free_some(&window->aside, GROUPS);
    if (bry__values_dead(maplet) == 0)
        window->sweeping = 0;
    else if (window->shape.max_bytes && bry__compact_window_bytes(window) > window->shape.max_bytes)
        compact_window_reclaim_now(window);
    else
        compact_window_sweep(window, added, now);
}

/* ---- changes -------------------------------------------------------------------------------- */

/* Moves time back: revives what has expired. */
static void compact_window_undo(bry__compact_window *window, const bry__window_change *change)
{
    bry__maplet *maplet = &window->maplet;
    if (change->put_aside)
        bry__aside_take_back(&window->aside, maplet);
    else if (window->value != change->value && window->value != BRY__NO_NAME)
        bry__values_kill(maplet, window->value);
    for (uint32_t i = 0; i < change->n; i++)
        bry__values_revive(maplet, change->expired[i].value, change->expired[i].name);
    bry__window_set_time(window, change->newest, change->oldest);
    window->value = change->value;
}

bry_status bry__compact_window_begin(bry__compact_window *window, uint64_t now, bool fails,
                                     bry__window_change *change)
{
    uint64_t newest = bry__window_newest(&window->shape, now);
    uint64_t oldest = bry__window_oldest(&window->shape, now);
    change->moved = newest != window->newest || oldest != bry__window_then(window);
    if (!change->moved)
        return BRY_OK;
    if (newest != window->newest)
        compact_window_free_value(window, newest);
    change->put_aside = false;
    change->newest = window->newest;
    change->oldest = bry__window_then(window);
    change->value = window->value;
    change->expired = change->few;
    change->n = 0;
    change->room = BRY__EXPIRED_FEW;
    bry_status status = compact_window_expire(window, oldest, fails, change);
    if (status != BRY_OK) {
        compact_window_undo(window, change);
        compact_window_free_expired(change, &window->maplet.allocator);
        return status;
    }
    if (newest != window->newest)
        window->value = BRY__NO_NAME;
    bry__window_set_time(window, newest, oldest);
    change->put_aside = compact_window_put_aside(window);
    return BRY_OK;
}

bry_status bry__compact_window_end(bry__compact_window *window, bry__window_change *change,
                                   bry_status status, uint64_t added, uint64_t now)
{
    if (status != BRY_OK && change->moved)
        compact_window_undo(window, change);
    if (change->moved)
        compact_window_free_expired(change, &window->maplet.allocator);
    if (window->maplet.tables == 0) { /* nothing was added */
        bry__maplet_free(&window->maplet);
        window->value = BRY__NO_NAME;
    }
    if (status == BRY_OK)
        compact_window_reclaim(window, added, now);
    return status;
}
