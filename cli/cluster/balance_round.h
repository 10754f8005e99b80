/* One round of balancing: loads, plan, moves. */
#ifndef BLOOMERY_CLI_BALANCE_ROUND_H
#define BLOOMERY_CLI_BALANCE_ROUND_H

#include "apps/balance/slab_balance.h"
#include "cli/cluster/slot_loads.h"
#include "cli/cluster/slot_move.h"

typedef struct balance_options {
    const char *map; /* NULL: all maps and keys */
    load_kind by;
    uint64_t max_moves;
    uint64_t watch; /* ms between rounds; 0: one round */
    uint64_t sample; /* ms between two readings of queries in a single round */
    bool dry_run; /* Only plan. */
    bool json; /* Print JSON. */
    bool repair; /* Only close slots that were left open, and join halves. */
} balance_options;

/* A primary. */
typedef struct balance_server {
    char name[280];
    uint32_t node; /* of the view */
    uint32_t slots; /* Slots that it has. */
    uint32_t maps; /* Maps, or slabs of maps, that it has. */
    double load; /* Its load before the moves. */
    double after; /* Its load after the planned moves. */
    bool closed; /* It neither gives nor takes slots. */
    char why[512]; /* Why it is closed. */
} balance_server;

typedef struct balance_round {
    const balance_options *asked;
    slot_mover mover;
    balance_server *servers;
    uint32_t server_count;
    balance_slab *slabs;
    uint32_t *slots; /* of each slab */
    size_t count;
    balance_step *steps;
    size_t planned; /* Steps that were planned. */
    size_t done; /* Steps that were carried out. */
    double rho; /* The imbalance before (slab_balance.h). */
    double rho_planned; /* The imbalance after the planned steps. */
    double rho_after; /* The imbalance after the steps that were carried out. */
    bool measured; /* rho_after was measured after the moves. */
    size_t mended; /* Interrupted moves that were finished. */
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

#endif
