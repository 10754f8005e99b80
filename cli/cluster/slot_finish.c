/* Finds and closes all slots that were left open. */
#include "cli/cluster/command_list.h"
#include "cli/cluster/slot_halves.h"
#include "cli/cluster/slot_loads.h"
#include "cli/cluster/slot_move.h"
#include "cli/core/steady_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_AGAIN 300 /* ms */

/* Marks slots whose keys a primary has that does not own them. */
static bool mark_strays(slot_mover *mover, uint32_t node, bool *marked)
{
    cluster_view *view = mover->view;
    command_list counts = {0};
    for (uint32_t slot = 0; slot < BRYC_SLOTS; slot++)
        if (view->owners[slot] != node)
            list_add(&counts, view, node, LIST_WORDS("CLUSTER", "COUNTKEYSINSLOT"), list_slot(slot),
                     strlen(list_slot(slot)));
    bry_status status = list_send(view, &counts);
    for (size_t i = 0; i < counts.count && status == BRY_OK; i++)
        if (counts.commands[i].reply->integer > 0)
            marked[strtoul(counts.words[i][2], NULL, 10)] = true;
    list_free(&counts);
    if (status != BRY_OK)
        snprintf(mover->problem, sizeof mover->problem, "%s", bryc_error(view->client));
    return status == BRY_OK;
}

static bool mark_slots(slot_mover *mover, bool everywhere, bool *marked)
{
    cluster_view *view = mover->view;
    memset(marked, 0, BRYC_SLOTS * sizeof *marked);
    if (view_refresh(view) != BRY_OK) {
        snprintf(mover->problem, sizeof mover->problem, "%s", bryc_error(view->prober));
        return false;
    }
    if (view->disputed) {
        snprintf(mover->problem, sizeof mover->problem, "two primaries claim the same slot");
        return false;
    }
    for (size_t i = 0; i < view->open_count; i++)
        marked[view->open[i].slot] = true;
    for (uint32_t i = 0; everywhere && i < view->count; i++)
        if (view_is_primary(&view->nodes[i]) && !mark_strays(mover, i, marked))
            return false;
    return true;
}

/* One pass over all open slots. *left: how many could not be closed. */
static bool finish_pass(slot_mover *mover, bool everywhere, size_t *mended, size_t *left)
{
    bool *marked = malloc(BRYC_SLOTS * sizeof *marked);
    *left = 0;
    if (!marked) {
        snprintf(mover->problem, sizeof mover->problem, "out of memory");
        return false;
    }
    bool looked = mark_slots(mover, everywhere, marked);
    for (uint32_t slot = 0; slot < BRYC_SLOTS && looked; slot++) {
        if (!marked[slot])
            continue;
        if (slot_finish(mover, slot))
            ++*mended;
        else
            ++*left;
    }
    free(marked);
    return looked;
}

/* Joins halves in slots that are closed. */
static bool join_leftovers(slot_mover *mover)
{
    slot_loads loads;
    bool joined, done = slot_loads_read(mover->view, "", false, &loads) == BRY_OK;
    if (!done)
        snprintf(mover->problem, sizeof mover->problem, "%s", bryc_error(mover->view->client));
    for (size_t i = 0; i < loads.half_count; i++) {
        const found_half *half = &loads.halves[i];
        if (half_join(mover->view, half->node, half->key, half->len, &joined) == BRY_OK)
            mover->joined += joined;
    }
    slot_loads_free(&loads);
    return done;
}

bool slots_finish_all(slot_mover *mover, bool everywhere, uint64_t patience, size_t *mended)
{
    uint64_t end = cli_clock_ms() + patience;
    *mended = 0;
    for (;;) {
        size_t left;
        bool looked = finish_pass(mover, everywhere, mended, &left);
        if (looked && left == 0)
            return join_leftovers(mover);
        if (cli_clock_ms() >= end)
            return false;
        cli_sleep_ms(LOOK_AGAIN);
    }
}
