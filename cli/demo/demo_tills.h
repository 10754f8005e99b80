/*
 * Tills that count their orders on a cluster: half of them with INCR, half in a table of counters
 * that counts each order once. Both repeat what is not answered.
 */
#ifndef BLOOMERY_CLI_DEMO_TILLS_H
#define BLOOMERY_CLI_DEMO_TILLS_H

#include <bloomery_cluster_counters.h>
#include <stdbool.h>
#include <stdint.h>

#define TILLS 8 /* of each kind */
#define TILLS_TABLE "shop" /* the table of counters */
#define TILLS_PLAIN "{shop:0}:orders" /* the plain counter, in the slot of the table's only part */

typedef struct tills tills;

/* What the tills know, and what the counters say. */
typedef struct tills_counts {
    int64_t plain_orders; /* Orders acknowledged to the tills that use INCR. */
    int64_t plain; /* What the counter of INCR says. */
    int64_t orders; /* Orders acknowledged to the tills that use a table of counters. */
    int64_t counted; /* What that table says. */
} tills_counts;

/* Creates the table, and lets the tills count. `url`: of a node. CLI_GO_ON, or an exit code after a
 * message. */
int tills_start(const char *url, tills **started);

/* False if the cluster does not answer now. While the tills count, up to TILLS orders are in a
 * counter and not acknowledged yet. */
bool tills_read(tills *self, tills_counts *counts);

/* The number of the node that has both counters, for the client. */
uint32_t tills_owner(tills *self);
bryc_client *tills_client(tills *self);

/* Lets the tills finish their last orders. CLI_GO_ON, or an exit code after a message if a till
 * failed or does not know whether an order was counted. */
int tills_stop(tills *self);

void tills_free(tills *self);

#endif
