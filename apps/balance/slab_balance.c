/*
 * If server A has D more load than server B, and a step shifts d from A to B, the sum of the
 * squared loads falls by 2·d·(D - d); the mean stays. So rho falls exactly if 0 < d < D, and most
 * if d = D/2. d·(D - d) is called the gain of a step.
 */
#include "apps/balance/slab_balance.h"

#include <math.h>

double balance_rho(const double *loads, uint32_t servers)
{
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < servers; i++)
        mean += loads[i] / servers;
    if (!(mean > 0))
        return 0;
    for (uint32_t i = 0; i < servers; i++)
        squares += (loads[i] - mean) * (loads[i] - mean);
    return sqrt(squares / servers) / mean;
}

void balance_loads(const balance_slab *slabs, size_t count, double *loads, uint32_t servers)
{
    for (uint32_t i = 0; i < servers; i++)
        loads[i] = 0;
    for (size_t i = 0; i < count; i++)
        loads[slabs[i].server] += slabs[i].load;
}

typedef struct candidate {
    uint32_t slab, back;
    double shifts, gain;
} candidate;

/* The most loaded slab of server `from`, for the least loaded one of server `to`. */
static candidate best_exchange(const balance_request *request, uint32_t from, uint32_t to,
                               double difference)
{
    candidate found = {BALANCE_NONE, BALANCE_NONE, 0, 0};
    for (size_t i = 0; i < request->count; i++) {
        const balance_slab *slab = &request->slabs[i];
        if (slab->rests)
            continue;
        if (slab->server == from &&
            (found.slab == BALANCE_NONE || slab->load > request->slabs[found.slab].load))
            found.slab = (uint32_t)i;
        if (slab->server == to &&
            (found.back == BALANCE_NONE || slab->load < request->slabs[found.back].load))
            found.back = (uint32_t)i;
    }
    if (found.slab != BALANCE_NONE && found.back != BALANCE_NONE) {
        found.shifts = request->slabs[found.slab].load - request->slabs[found.back].load;
        found.gain = found.shifts * (difference - found.shifts);
    }
    return found;
}

/* The slab of server `from` that lowers rho most when it moves. */
static candidate best_single(const balance_request *request, uint32_t from, double difference)
{
    candidate found = {BALANCE_NONE, BALANCE_NONE, 0, 0};
    for (size_t i = 0; i < request->count; i++) {
        const balance_slab *slab = &request->slabs[i];
        double gain = slab->load * (difference - slab->load);
        if (slab->server == from && !slab->rests && gain > found.gain)
            found = (candidate){(uint32_t)i, BALANCE_NONE, slab->load, gain};
    }
    return found;
}

/* The best step between two servers. False: they are equal enough, or no step lowers rho. */
static bool best_step(const balance_request *request, const double *loads, uint32_t from,
                      uint32_t to, double least, candidate *best)
{
    double difference = loads[from] - loads[to];
    if (difference < least)
        return false;
    *best = best_exchange(request, from, to, difference);
    if (!request->as_published) {
        candidate single = best_single(request, from, difference);
        if (single.gain > 0 && single.gain >= best->gain)
            *best = single;
    }
    return best->gain > 0 && best->shifts > 0;
}

/* The least loaded server (or, with sign -1, the most loaded one) that is open, other than those
 * above (or below) the limit, which is (load, number) of the one found before. */
static uint32_t next_server(const balance_request *request, const double *loads, double sign,
                            uint32_t after)
{
    uint32_t found = BALANCE_NONE;
    for (uint32_t i = 0; i < request->servers; i++) {
        if ((request->closed && request->closed[i]) || i == after)
            continue;
        double load = sign * loads[i];
        if (after != BALANCE_NONE &&
            (load < sign * loads[after] || (load <= sign * loads[after] && i < after)))
            continue; /* it came before */
        if (found == BALANCE_NONE || load < sign * loads[found])
            found = i;
    }
    return found;
}

static bool find_step(const balance_request *request, const double *loads, double least,
                      balance_step *step, candidate *best)
{
    step->to = next_server(request, loads, 1, BALANCE_NONE);
    step->from = next_server(request, loads, -1, BALANCE_NONE);
    while (step->from != BALANCE_NONE && loads[step->from] > loads[step->to]) {
        if (best_step(request, loads, step->from, step->to, least, best))
            return true;
        if (request->as_published)
            return false;
        step->from = next_server(request, loads, -1, step->from);
    }
    return false;
}

size_t balance_plan(const balance_request *request, double *loads, balance_step *steps)
{
    double sum = 0;
    size_t taken = 0;
    candidate best;
    balance_loads(request->slabs, request->count, loads, request->servers);
    for (uint32_t i = 0; i < request->servers; i++)
        sum += loads[i];
    double least = request->servers ? request->least * sum / request->servers : 0;
    while (taken < request->max_steps && find_step(request, loads, least, &steps[taken], &best)) {
        balance_step *step = &steps[taken++];
        step->slab = best.slab;
        step->back = best.back;
        request->slabs[best.slab].server = step->to;
        if (best.back != BALANCE_NONE)
            request->slabs[best.back].server = step->from;
        loads[step->from] -= best.shifts;
        loads[step->to] += best.shifts;
        step->rho = balance_rho(loads, request->servers);
    }
    return taken;
}
