/*
 * Reclaiming the entries of a compact window that have expired. They answer nothing any more and
 * are in nobody's way, so it is done in steps, as changes come, and may be late: but not so late
 * that their generation's number comes round again (compact_window.c sees to that).
 *
 * A round goes through all levels. An element that is added pays for looking at twice as many
 * entries as there are of each generation: at a steady rate that ends a round in half a generation,
 * and gives back two entries for each one added. Time pays too, so that memory comes down when few
 * elements come.
 */
#include "window/compact_levels.h"

#define STEP 384u /* entries: the table sweeps whole segments */

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
        if (bry__levels_all(window) == bry__levels_live(window)) {
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
    uint64_t entries = (uint64_t)((double)bry__levels_all(window) * share);
    if (entries > 0)
        window->paid_at = now;
    return entries;
}

void bry__levels_reclaim(bry__compact_window *window, uint64_t added, uint64_t now)
{
    /* A level without anything live goes at once. */
    while (window->levels > 0 && window->level[window->levels - 1]->live == 0)
        bry__level_close(window);
    if (bry__levels_all(window) == bry__levels_live(window)) {
        window->sweeping = false;
        window->least = window->oldest;
        return;
    }
    if (window->shape.max_bytes && bry__levels_bytes(window) > window->shape.max_bytes) {
        (void)bry__levels_reclaim_all(window);
        return;
    }
    if (!window->sweeping) {
        begin_round(window);
        window->debt = 0;
        window->paid_at = now;
    }
    window->debt += 2 * (window->newest - window->oldest + 1) * added + due_for_time(window, now);
    if (window->debt >= STEP) {
        (void)go_on(window, window->debt); /* without memory: later */
        window->debt = 0;
    }
}
