/*
 * Moves a slot from one primary to another while clients use it, with the commands that every
 * cluster tool uses:
 *
 *   1. target   CLUSTER SETSLOT slot IMPORTING source       from now on it serves ASKING
 *   2. source   CLUSTER SETSLOT slot MIGRATING target       from now on it redirects keys it lacks
 *   3. source   MIGRATE each key, one at a time             copied and deleted in one step
 *   4. both, then all primaries: CLUSTER SETSLOT slot NODE target
 *
 * If one side failed over between 2 and 4, its new primary would not know that the slot is open: keys
 * that have moved would seem to be missing, and a write would create them again. So before every
 * key, 1 and 2 are repeated: only a primary that has (or lacks) the slot accepts them. Both sides
 * must have a replica that is in sync, and after every key the move waits until these replicas have
 * received it. What a failover leaves behind nevertheless is mended by slot_finish().
 */
#ifndef BLOOMERY_CLI_SLOT_MOVE_H
#define BLOOMERY_CLI_SLOT_MOVE_H

#include "cli/cluster/cluster_view.h"

typedef struct slot_mover {
    cluster_view *view;
    void (*say)(const char *text); /* what was mended; NULL: nobody is told */
    uint64_t keys; /* moved */
    uint64_t joined; /* halves */
    char problem[512]; /* why the last call failed */
} slot_mover;

/* Moves a slot to the primary `to`. False, with `problem`, if that is not possible now; the slot may
 * be left open then. */
bool slot_move(slot_mover *mover, uint32_t slot, uint32_t to);

/*
 * Closes an open slot: goes on to move it to the primary that already has keys of it, or, if there
 * is none, leaves it where it is. Joins the halves of keys that both sides have. The view must be
 * new. False, with `problem`, on failure.
 */
bool slot_finish(slot_mover *mover, uint32_t slot);

/* Closes all slots that are open, and joins the halves that earlier runs left. `everywhere`: looks
 * also for keys on primaries that do not have their slot. Waits up to `patience` ms for the nodes
 * to allow it. *mended: how many slots were closed. False, with `problem`, on failure. */
bool slots_finish_all(slot_mover *mover, bool everywhere, uint64_t patience, size_t *mended);

/* True if the node is a primary with a replica that has received everything. Otherwise `problem`
 * says why not. */
bool side_is_ready(slot_mover *mover, uint32_t node);

#endif
