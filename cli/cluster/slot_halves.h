/*
 * A key that both sides of an open slot have, and how it becomes one key again.
 *
 * A key moves atomically, so this happens in two ways only:
 *  - The source failed over after the key had moved. Its new primary has forgotten that the slot is
 *    open, and the next write creates the key again there: the target has the older half, the
 *    source the newer one.
 *  - The source failed over, or its connection broke, before it could pass on that the key is gone:
 *    the target has a copy of what the source still has, and the source goes on changing it.
 * In both cases the source has what was written last. Rule: where both halves have a field, the
 * value at the source wins. A field that was deleted at the source while the target had it comes
 * back.
 *
 * If both are equal, the target's is deleted. Otherwise the target's half gets another name in the
 * same slot (KEY:bloomery-half), which is a durable note that it has to be joined; the source's
 * half moves as any key; then MAP.MERGE merges them, and the result gets the name of the key. All
 * this can be interrupted anywhere and done again.
 *
 * Maps of engine kbf cannot be joined if they have fields in common. There, a half at the source
 * with at least half as many fields as the target's is taken for the whole map, and the target's is
 * deleted. Keys that are not maps cannot be joined at all: the source's key wins, and the target's
 * keeps its new name. Only of records, which never change, and of lists of values that are not
 * shorter at the target, the target's wins, and the source's is deleted.
 */
#ifndef BLOOMERY_CLI_SLOT_HALVES_H
#define BLOOMERY_CLI_SLOT_HALVES_H

#include "cli/cluster/cluster_view.h"

/* True for KEY:bloomery-half. */
bool half_is_name(const char *key, size_t len);

/* Makes room at the target for the source's key, which both have. *named: false if there is no name
 * for the half in this slot; then nothing was changed. */
bry_status half_set_aside(cluster_view *view, uint32_t source, uint32_t target, const char *key,
                          size_t len, bool *named);

/* Joins a half with its key on the node that has the slot. On failure both stay as they are; the
 * message is in bryc_error(). *joined: false if the half is not a map, and stays. */
bry_status half_join(cluster_view *view, uint32_t node, const char *half, size_t len, bool *joined);

#endif
