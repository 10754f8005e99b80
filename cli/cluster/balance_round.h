/* One round of balancing: loads, plan, moves. */
#ifndef BLOOMERY_CLI_BALANCE_ROUND_H
#define BLOOMERY_CLI_BALANCE_ROUND_H

#include "apps/balance/slab_balance.h"
#include "cli/cluster/slot_loads.h"
#include "cli/cluster/slot_move.h"

typedef struct balance_asked {
    const char *map; /* NULL: all maps and keys */
    load_kind by;
    uint64_t max_moves;
    uint64_t watch; /* ms between rounds; 0: one round */
    uint64_t sample; /* ms between two readings of queries in a single round */
    bool dry_run, json, repair;
} balance_asked;

/* A primary. */
typedef struct balance_server {
    char name[280];
    uint32_t node; /* of the view */
    uint32_t slots, maps;
    double load, after;
    bool closed; /* it neither gives nor takes slots, because … */
    char why[512];
} balance_server;

typedef struct balance_round {
    const balance_asked *asked;
    slot_mover mover;
    balance_server *servers;
    uint32_t server_count;
    balance_slab *slabs;
    uint32_t *slots; /* of each slab */
    size_t count;
    balance_step *steps;
    size_t planned, done; /* steps */
    double rho, rho_planned, rho_after;
    bool measured; /* rho_after was measured after the moves */
    size_t mended;
} balance_round;

/* Plans from a reading and, for queries, the one before. `rests`: for each slot, whether it must
 * not move now. BRY_E_NOMEM. Free it in any case. */
bry_status round_plan(balance_round *round, const slot_loads *before, const slot_loads *now,
                      const bool *rests);
void round_free(balance_round *round);

/* Carries out one step. False, with mover.problem, on failure. `moved`: set for slots that moved. */
bool round_step(balance_round *round, size_t number, bool *moved);

/* Reads the loads again, and rho_after from them. */
bry_status round_measure(balance_round *round);

/* ---- output (balance_report.c) --------------------------------------------------------------- */

void report_before(const balance_round *round);
void report_step(const balance_round *round, size_t number);
void report_after(const balance_round *round);
void report_json(const balance_round *round);

/* A bar of up to `width` characters for a part of a whole. */
void report_bar(char *out, size_t width, double part, double whole);

/* 12345678 as 12,345,678. */
typedef struct report_number {
    char text[40];
} report_number;
report_number report_count(double number);

#endif
