/*
 * Balances slabs among servers: Algorithm 8 of "kBF: Towards Approximate and Bloom Filter based
 * Key-Value Storage for Cloud Computing Systems". A slab is anything that moves as a whole and has
 * a load (pairs, queries per second, bytes); in a cluster it is a slot.
 *
 * The imbalance is rho = standard deviation / mean of the servers' loads. A step exchanges the most
 * loaded slab of the most loaded server with the least loaded slab of the least loaded one, if that
 * lowers rho. There are at most max_steps of them (the paper's C_max, 10).
 *
 * Beyond the paper, unless `as_published` is set:
 *  - A step may also move one slab without another in return: the one that lowers rho most. It does
 *    so if this is as good as the exchange, which copies two slabs. So a new, empty server is
 *    filled.
 *  - If nothing helps the most loaded server (its load is a single slab), the next one is tried.
 */
#ifndef BLOOMERY_APPS_SLAB_BALANCE_H
#define BLOOMERY_APPS_SLAB_BALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BALANCE_NONE UINT32_MAX

typedef struct balance_slab {
    double load; /* at least 0 */
    uint32_t server; /* from 0 */
    bool rests; /* must not move now */
} balance_slab;

typedef struct balance_step {
    uint32_t from; /* The server that gives the slab. */
    uint32_t to; /* The server that takes it. */
    uint32_t slab; /* moves from `from` to `to` */
    uint32_t back; /* moves from `to` to `from`; BALANCE_NONE: no slab does */
    double rho; /* afterwards */
} balance_step;

typedef struct balance_request {
    balance_slab *slabs; /* balance_plan() changes their servers */
    size_t count;
    uint32_t servers;
    const bool *closed; /* servers that neither give nor take slabs; NULL: there are none */
    size_t max_steps;
    /* Servers whose loads differ by less than this part of the mean are left alone, so that nothing
     * is copied for little. */
    double least;
    bool as_published; /* exactly the paper's algorithm */
} balance_request;

/* Standard deviation / mean; 0 if there is no load. */
double balance_rho(const double *loads, uint32_t servers);

/* The load of each server. */
void balance_loads(const balance_slab *slabs, size_t count, double *loads, uint32_t servers);

/* Plans up to max_steps steps and returns their number. `loads` receives the loads afterwards; it
 * has room for `servers`, and `steps` for max_steps. */
size_t balance_plan(const balance_request *request, double *loads, balance_step *steps);

#endif
