/*
 * Reclaiming the entries of a compact window that have expired. They answer nothing any more and
 * are in nobody's way, so it is done in steps, as changes come, and may be late: but not so late
 * that their generation's number comes round again (compact_window.c sees to that).
 *
 * A round goes through all levels. An element that is added pays for looking at twice as many
 * entries as there are of each generation: at a steady rate that ends a round in half a generation,
 * and gives back two entries for each one added. Time pays too, so that memory comes down when few
 * elements come. Neither makes a single change long: beyond what its own elements pay for it looks
 * at MOST entries, and a round then takes longer. Tables in which nothing is remembered are freed
 * some groups at a time.
 */
#include "window/compact_levels.h"

#define STEP 384u /* entries: the table sweeps whole segments */
/* What one change does at most, besides what its own elements pay for: about a millisecond. */
#define MOST 32768u /* entries looked at, */
#define GROUPS 16u /* and groups of segments freed, of 4 MB or so */
/* The same above the ceiling. */
#define CROWDED 131072u
#define CROWDED_GROUPS 48u

static bool is_expired(void *context, uint64_t fingerprint, uint32_t number)
{
    (void)fingerprint;
    return !bry__window_is_live(context, number);
}

static void begin_round(bry__compact_window *window)
{
    window->sweeping = true;
    window->sweep_level = 0;
    window->sweep_oldest = window->oldest;
    for (unsigned i = 0; i < window->levels; i++)
        window->level[i]->table.sweeping = false;
}

/* Looks at about so many entries. */
static bry_status go_on(bry__compact_window *window, uint64_t budget)
{
    while (window->sweep_level < window->levels) {
        bry__table *table = &window->level[window->sweep_level]->table;
        bool done = false;
        bry_status status =
            bry__table_sweep(table, is_expired, window, budget, &done, &window->allocator);
        if (status != BRY_OK || !done)
            return status;
        /* What is left of a table that was much larger. */
        for (uint64_t moved = 0; moved < budget && bry__table_shrink(table, &window->allocator);)
            moved += STEP;
        window->sweep_level++;
        budget = budget > STEP ? budget - STEP : 1;
    }
    window->sweeping = false;
    window->least = window->sweep_oldest;
    return BRY_OK;
}

bry_status bry__levels_reclaim_all(bry__compact_window *window)
{
    bry_status status = BRY_OK;
    while (status == BRY_OK && window->levels > 0 && window->least < window->oldest) {
        if (bry__levels_own(window) == bry__levels_own_live(window)) {
            window->least = window->oldest;
            window->sweeping = false;
            break;
        }
        if (!window->sweeping || window->sweep_oldest < window->oldest)
            begin_round(window);
        status = go_on(window, UINT64_MAX);
    }
    return status;
}

/* What is due for the time since it was last reckoned; a part of an entry stays due. */
static uint64_t due_for_time(bry__compact_window *window, uint64_t now)
{
    uint64_t time = now - window->paid_at, length = window->shape.length;
    double share = time < length ? (double)time / (double)length : 1;
    uint64_t entries = (uint64_t)((double)bry__levels_own(window) * share);
    if (entries > 0)
        window->paid_at = now;
    return entries;
}

/* A part of what is due in `set`: the window itself or its past. */
static void sweep(bry__compact_window *set, uint64_t added, uint64_t now, uint64_t most)
{
    uint64_t for_added = 2 * (set->newest - set->oldest + 1) * added;
    if (!set->sweeping) {
        begin_round(set);
        set->debt = 0;
        set->paid_at = now;
    }
    set->debt += for_added + due_for_time(set, now);
    if (set->debt < STEP)
        return;
    (void)go_on(set, set->debt < most + for_added ? set->debt : most + for_added);
    set->debt = 0; /* without memory: later */
}

static bool is_clean(const bry__compact_window *set)
{
    return bry__levels_own(set) == bry__levels_own_live(set);
}

/* Above the ceiling: all, or as much as a change may take. */
static void reclaim_now(bry__compact_window *window)
{
    bry__levels_free_some(window, CROWDED_GROUPS);
    bry__compact_window *set = window->past && !is_clean(window->past) ? window->past : window;
    if (set == window && bry__levels_own(window) <= window->small) {
        (void)bry__levels_reclaim_all(window);
    } else if (!is_clean(set)) {
        if (!set->sweeping)
            begin_round(set);
        (void)go_on(set, CROWDED);
    }
}

void bry__levels_reclaim(bry__compact_window *window, uint64_t added, uint64_t now)
{
    /* A level without anything live goes at once. */
    while (window->levels > 0 && window->level[window->levels - 1]->live == 0) {
        bry__level_discard(window, window->level[window->levels - 1]);
        window->levels--;
    }
    if (window->levels == 0)
        window->sweeping = false;
    if (window->past && bry__levels_own_live(window->past) == 0) {
        bry__past_discard(window, window->past);
        window->past = NULL;
    }
    bry__levels_free_some(window, GROUPS);
    if (is_clean(window)) {
        window->sweeping = false;
        window->least =
            window->levels > 0 && window->least > window->oldest ? window->least : window->oldest;
        if (!window->past || is_clean(window->past))
            return;
    }
    if (window->shape.max_bytes && bry__levels_bytes(window) > window->shape.max_bytes) {
        reclaim_now(window);
        return;
    }
    bool past_first = window->past && !is_clean(window->past);
    sweep(past_first ? window->past : window, added, now, MOST);
}
