#include "cli/cluster/balance_round.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nodes that differ by less than 1 % of the mean load are left alone. */
#define LEAST_DIFFERENCE 0.01

void round_free(balance_round *round)
{
    free(round->servers);
    free(round->slabs);
    free(round->slots);
    free(round->steps);
    round->servers = NULL;
    round->slabs = NULL;
    round->slots = NULL;
    round->steps = NULL;
}

/* ---- planning ------------------------------------------------------------------------------ */

static bry_status list_servers(balance_round *round)
{
    const cluster_view *view = round->mover.view;
    round->servers = calloc(view->count + 1, sizeof *round->servers);
    if (!round->servers)
        return BRY_E_NOMEM;
    for (uint32_t i = 0; i < view->count; i++) {
        if (!view_is_primary(&view->nodes[i]))
            continue;
        balance_server *server = &round->servers[round->server_count++];
        snprintf(server->name, sizeof server->name, "%s", view->nodes[i].name);
        server->node = i;
        server->slots = view->nodes[i].slots;
        server->closed = !side_is_ready(&round->mover, i);
        if (server->closed)
            snprintf(server->why, sizeof server->why, "%s", round->mover.problem);
    }
    return BRY_OK;
}

static uint32_t server_of(const balance_round *round, uint32_t node)
{
    for (uint32_t i = 0; i < round->server_count; i++)
        if (round->servers[i].node == node)
            return i;
    return BALANCE_NONE;
}

/* The slots that have keys, as slabs. */
static bry_status list_slabs(balance_round *round, const slot_loads *before, const slot_loads *now,
                             const bool *rests)
{
    round->slabs = calloc(BRYC_SLOTS, sizeof *round->slabs);
    round->slots = calloc(BRYC_SLOTS, sizeof *round->slots);
    if (!round->slabs || !round->slots)
        return BRY_E_NOMEM;
    for (uint32_t slot = 0; slot < BRYC_SLOTS; slot++) {
        const slot_load *load = &now->slots[slot];
        uint32_t server = load->owner == VIEW_NONE ? BALANCE_NONE : server_of(round, load->owner);
        if (server == BALANCE_NONE || load->maps + load->others == 0)
            continue;
        round->servers[server].maps += load->maps;
        round->slots[round->count] = slot;
        round->slabs[round->count++] =
            (balance_slab){.load = slot_load_of(before, now, slot, round->asked->by),
                           .server = server,
                           .rests = rests && rests[slot]};
    }
    return BRY_OK;
}

bry_status round_plan(balance_round *round, const slot_loads *before, const slot_loads *now,
                      const bool *rests)
{
    bry_status status = list_servers(round);
    if (status == BRY_OK)
        status = list_slabs(round, before, now, rests);
    size_t most = round->asked->max_moves;
    double *loads = calloc(round->server_count + 1, sizeof *loads);
    bool *closed = calloc(round->server_count + 1, sizeof *closed);
    round->steps = calloc(most + 1, sizeof *round->steps);
    if (!loads || !closed || !round->steps)
        status = BRY_E_NOMEM;
    if (status == BRY_OK) {
        balance_loads(round->slabs, round->count, loads, round->server_count);
        round->rho = balance_rho(loads, round->server_count);
        for (uint32_t i = 0; i < round->server_count; i++) {
            round->servers[i].load = loads[i];
            closed[i] = round->servers[i].closed;
        }
        balance_request request = {.slabs = round->slabs,
                                   .count = round->count,
                                   .servers = round->server_count,
                                   .closed = closed,
                                   .max_steps = most,
                                   .least = LEAST_DIFFERENCE};
        round->planned = balance_plan(&request, loads, round->steps);
        round->rho_planned = balance_rho(loads, round->server_count);
        round->rho_after = round->rho;
        for (uint32_t i = 0; i < round->server_count; i++)
            round->servers[i].after = loads[i];
    }
    free(loads);
    free(closed);
    return status;
}

/* ---- moving -------------------------------------------------------------------------------- */

bool round_step(balance_round *round, size_t number, bool *moved)
{
    const balance_step *step = &round->steps[number];
    uint32_t slot = round->slots[step->slab];
    if (!slot_move(&round->mover, slot, round->servers[step->to].node))
        return false;
    moved[slot] = true;
    if (step->back != BALANCE_NONE) {
        slot = round->slots[step->back];
        if (!slot_move(&round->mover, slot, round->servers[step->from].node))
            return false;
        moved[slot] = true;
    }
    round->done = number + 1;
    round->rho_after = step->rho;
    return true;
}

bry_status round_measure(balance_round *round)
{
    slot_loads now;
    cluster_view *view = round->mover.view;
    double *loads = calloc(round->server_count + 1, sizeof *loads);
    bry_status status = loads ? view_refresh(view) : BRY_E_NOMEM;
    if (status != BRY_OK) {
        free(loads);
        return status;
    }
    status = slot_loads_read(view, round->asked->map, round->asked->by == LOAD_BYTES, &now);
    for (uint32_t i = 0; i < round->server_count; i++) {
        balance_server *server = &round->servers[i];
        server->node = VIEW_NONE; /* it may have changed its number, or be gone */
        server->slots = server->maps = 0;
        for (uint32_t node = 0; node < view->count; node++)
            if (strcmp(view->nodes[node].name, server->name) == 0) {
                server->node = node;
                server->slots = view->nodes[node].slots;
            }
    }
    for (uint32_t slot = 0; slot < BRYC_SLOTS && status == BRY_OK; slot++) {
        uint32_t owner = now.slots[slot].owner;
        uint32_t server = owner == VIEW_NONE ? BALANCE_NONE : server_of(round, owner);
        if (server == BALANCE_NONE)
            continue;
        round->servers[server].maps += now.slots[slot].maps;
        loads[server] += slot_load_of(NULL, &now, slot, round->asked->by);
    }
    if (status == BRY_OK) {
        for (uint32_t i = 0; i < round->server_count; i++)
            round->servers[i].after = loads[i];
        round->rho_after = balance_rho(loads, round->server_count);
        round->measured = true;
    }
    slot_loads_free(&now);
    free(loads);
    return status;
}
