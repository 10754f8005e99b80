#include "cli/cluster/slot_move.h"

#include "cli/cluster/slot_halves.h"
#include "cli/core/steady_clock.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LAG 5 /* seconds since a replica in sync last confirmed */
#define SYNC_PATIENCE 10000 /* ms until a replica has received a key */
#define READY_PATIENCE 2000 /* ms until one has received everything before a slot moves */
#define FRESH 500 /* ms for which a check of roles is valid */
#define MIGRATE_TIMEOUT 30000 /* ms */

__attribute__((format(printf, 2, 3))) static bool move_fails(slot_mover *mover, const char *format,
                                                             ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(mover->problem, sizeof mover->problem, format, list);
    va_end(list);
    return false;
}

static const char *node_name(const slot_mover *mover, uint32_t node)
{
    return mover->view->nodes[node].name;
}

static bool node_fails(slot_mover *mover, uint32_t node)
{
    return move_fails(mover, "%s: %s", node_name(mover, node), bryc_error(mover->view->client));
}

/* ---- replicas ------------------------------------------------------------------------------ */

/* What a node says about its replication. */
typedef struct side {
    bool is_primary, has_replica, linked;
    uint64_t offset; /* of what it has written, or received */
} side;

static uint64_t field_number(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* slave0:ip=…,port=…,state=online,offset=…,lag=… */
static bool has_replica_in_sync(const char *text)
{
    for (const char *at = strstr(text, ",state="); at; at = strstr(at + 1, ",state=")) {
        const char *lag = strstr(at, ",lag=");
        long seconds = lag ? strtol(lag + 5, NULL, 10) : -1;
        if (strncmp(at, ",state=online", 13) == 0 && seconds >= 0 && seconds <= MOST_LAG)
            return true;
    }
    return false;
}

static bry_status side_read(cluster_view *view, uint32_t node, side *read)
{
    redisReply *reply;
    *read = (side){0};
    bry_status status = view_probe(view, node, &reply, "INFO replication");
    if (status != BRY_OK)
        return status;
    if (reply->str) {
        read->is_primary = strstr(reply->str, "role:master") != NULL;
        read->has_replica = has_replica_in_sync(reply->str);
        read->linked = strstr(reply->str, "master_link_status:up") != NULL;
        read->offset = field_number(reply->str, read->is_primary ? "master_repl_offset:"
                                                                 : "slave_repl_offset:");
    }
    freeReplyObject(reply);
    return BRY_OK;
}

static bool side_is_safe(slot_mover *mover, uint32_t node)
{
    side now;
    if (side_read(mover->view, node, &now) != BRY_OK)
        return move_fails(mover, "%s", bryc_error(mover->view->prober));
    if (!now.is_primary)
        return move_fails(mover, "%s is not a primary any more", node_name(mover, node));
    if (!now.has_replica)
        return move_fails(mover,
                          "%s has no replica in sync; slots move only between primaries "
                          "that have one",
                          node_name(mover, node));
    return true;
}

/* Waits until a replica has received what the primary has written so far. */
static bool side_wait_synced(slot_mover *mover, uint32_t node, uint64_t patience)
{
    cluster_view *view = mover->view;
    side primary, replica;
    uint64_t end = cli_clock_ms() + patience;
    if (side_read(view, node, &primary) != BRY_OK)
        return move_fails(mover, "%s", bryc_error(view->prober));
    do {
        for (uint32_t i = 0; i < view->count; i++)
            if (strcmp(view->nodes[i].primary, view->nodes[node].id) == 0 &&
                side_read(view, i, &replica) == BRY_OK && replica.linked &&
                replica.offset >= primary.offset)
                return true;
        cli_sleep_ms(2);
    } while (cli_clock_ms() < end);
    return move_fails(mover, "no replica of %s has received what was written %d seconds ago",
                      node_name(mover, node), (int)(patience / 1000));
}

bool side_is_ready(slot_mover *mover, uint32_t node)
{
    return side_is_safe(mover, node) && side_wait_synced(mover, node, READY_PATIENCE);
}

/* ---- one slot ------------------------------------------------------------------------------ */

typedef struct slot_route {
    uint32_t slot, source, target;
} slot_route;

/* Opens the slot on both sides, or checks that it is still open there. */
static bool move_open(slot_mover *mover, const slot_route *move)
{
    cluster_view *view = mover->view;
    if (!side_is_safe(mover, move->target) || !side_is_safe(mover, move->source))
        return false;
    if (view_tell(view, move->target, 0, "CLUSTER SETSLOT %u IMPORTING %s", move->slot,
                  view->nodes[move->source].id) != BRY_OK)
        return node_fails(mover, move->target);
    if (view_tell(view, move->source, 0, "CLUSTER SETSLOT %u MIGRATING %s", move->slot,
                  view->nodes[move->target].id) != BRY_OK)
        return node_fails(mover, move->source);
    return true;
}

static bry_status migrate_key(slot_mover *mover, const slot_route *move, const redisReply *key,
                              bool replace)
{
    cluster_view *view = mover->view;
    const view_node *to = &view->nodes[move->target];
    const char *user, *password, *words[12];
    size_t lens[12];
    char port[16], timeout[16];
    uint32_t n = 0;
    snprintf(port, sizeof port, "%u", to->port);
    snprintf(timeout, sizeof timeout, "%d", MIGRATE_TIMEOUT);
    words[n++] = "MIGRATE";
    words[n++] = to->host;
    words[n++] = port;
    words[n++] = key->str;
    words[n++] = "0";
    words[n++] = timeout;
    if (replace)
        words[n++] = "REPLACE";
    bryc_credentials(view->client, &user, &password);
    if (password) {
        words[n++] = user ? "AUTH2" : "AUTH";
        if (user)
            words[n++] = user;
        words[n++] = password;
    }
    for (uint32_t i = 0; i < n; i++)
        lens[i] = i == 3 ? key->len : strlen(words[i]);
    bryc_command command = {.argc = n,
                            .argv = words,
                            .lens = lens,
                            .flags = BRYC_FIXED | BRYC_ONCE,
                            .node = view->nodes[move->source].link};
    bry_status status = bryc_send(view->client, &command, 1);
    freeReplyObject(command.reply);
    return status;
}

static bry_status target_has(slot_mover *mover, const slot_route *move, const redisReply *key,
                             bool *has)
{
    redisReply *reply;
    bry_status status =
        view_ask(mover->view, move->target, BRYC_ASKING, &reply, "EXISTS %b", key->str, key->len);
    *has = status == BRY_OK && reply->integer > 0;
    freeReplyObject(reply);
    return status;
}

static bool move_key(slot_mover *mover, const slot_route *move, const redisReply *key)
{
    bool has, named = true;
    if (!move_open(mover, move))
        return false;
    if (target_has(mover, move, key, &has) != BRY_OK)
        return node_fails(mover, move->target);
    if (has) {
        bry_status status =
            half_set_aside(mover->view, move->source, move->target, key->str, key->len, &named);
        if (status == BRY_OK && !named)
            return move_fails(mover,
                              "slot %u: %s and %s both have the key %.100s, and no name in "
                              "this slot can be made from it; rename one of them",
                              move->slot, node_name(mover, move->source),
                              node_name(mover, move->target), key->str);
        if (status != BRY_OK)
            return node_fails(mover, move->target);
    }
    bry_status status = migrate_key(mover, move, key, false);
    /* After a timeout the target may have a copy. It is ours: the source has not deleted its
     * key. */
    if (status != BRY_OK && strstr(bryc_error(mover->view->client), "IOERR") &&
        move_open(mover, move))
        status = migrate_key(mover, move, key, true);
    if (status != BRY_OK)
        return node_fails(mover, move->source);
    mover->keys++;
    return side_wait_synced(mover, move->target, SYNC_PATIENCE) &&
           side_wait_synced(mover, move->source, SYNC_PATIENCE);
}

/* Moves all keys, until the source has none. */
static bool move_keys(slot_mover *mover, const slot_route *move)
{
    for (;;) {
        redisReply *keys;
        bool moved = true;
        if (view_ask(mover->view, move->source, 0, &keys, "CLUSTER GETKEYSINSLOT %u 16",
                     move->slot) != BRY_OK)
            return node_fails(mover, move->source);
        size_t count = keys->elements;
        for (size_t i = 0; i < count && moved; i++)
            moved = move_key(mover, move, keys->element[i]);
        freeReplyObject(keys);
        if (!moved || count == 0)
            return moved;
    }
}

static bool config_epoch(slot_mover *mover, uint32_t node, uint64_t *epoch)
{
    redisReply *reply;
    if (view_probe(mover->view, node, &reply, "CLUSTER INFO") != BRY_OK)
        return move_fails(mover, "%s", bryc_error(mover->view->prober));
    *epoch = reply->str ? field_number(reply->str, "cluster_my_epoch:") : 0;
    freeReplyObject(reply);
    return true;
}

/*
 * Of two nodes that claim a slot, the others believe the one with the higher configuration epoch,
 * and the loser deletes its keys. When the target gets the slot, it raises its epoch above all that
 * it knows; but it may not have heard yet that the source has raised its own, by taking another
 * slot a moment ago. So its epoch is raised first, until it is above the source's.
 */
static bool raise_epoch(slot_mover *mover, const slot_route *move)
{
    uint64_t source = 0, target = 0, end = cli_clock_ms() + SYNC_PATIENCE;
    for (;;) {
        if (!config_epoch(mover, move->source, &source) ||
            !config_epoch(mover, move->target, &target))
            return false;
        if (target > source)
            return true;
        if (cli_clock_ms() > end)
            return move_fails(mover, "%s does not get a higher epoch than %s",
                              node_name(mover, move->target), node_name(mover, move->source));
        if (view_tell(mover->view, move->target, 0, "CLUSTER BUMPEPOCH") != BRY_OK)
            return node_fails(mover, move->target);
        cli_sleep_ms(10);
    }
}

/* Checks that the slot is still open on both sides, and empty at the source. */
static bool move_is_complete(slot_mover *mover, const slot_route *move)
{
    cluster_view *view = mover->view;
    redisReply *reply;
    if (!move_open(mover, move))
        return false;
    if (view_ask(view, move->source, 0, &reply, "CLUSTER COUNTKEYSINSLOT %u", move->slot) != BRY_OK)
        return node_fails(mover, move->source);
    bool empty = reply->integer == 0;
    freeReplyObject(reply);
    return empty || move_fails(mover, "slot %u has new keys at %s", move->slot,
                               node_name(mover, move->source));
}

/* If the source failed over between the check and the end, the target would get a slot in which
 * the new source has keys already, and these would be deleted. A failover takes longer than FRESH;
 * if this process was suspended in between, it checks again. */
static bool move_close(slot_mover *mover, const slot_route *move)
{
    cluster_view *view = mover->view;
    const char *id = view->nodes[move->target].id;
    uint64_t checked_at;
    do {
        checked_at = cli_clock_ms();
        if (!raise_epoch(mover, move) || !move_is_complete(mover, move))
            return false;
    } while (cli_clock_ms() - checked_at > FRESH);
    if (view_tell(view, move->target, 0, "CLUSTER SETSLOT %u NODE %s", move->slot, id) != BRY_OK)
        return node_fails(mover, move->target);
    /* The others learn it anyway, a little later. */
    view_tell(view, move->source, 0, "CLUSTER SETSLOT %u NODE %s", move->slot, id);
    for (uint32_t i = 0; i < view->count; i++)
        if (i != move->source && i != move->target && view_is_primary(&view->nodes[i]))
            view_tell(view, i, 0, "CLUSTER SETSLOT %u NODE %s", move->slot, id);
    raise_epoch(mover, move); /* if the source has raised its own meanwhile */
    view->owners[move->slot] = move->target;
    view->nodes[move->source].slots--;
    view->nodes[move->target].slots++;
    return true;
}

/* A node that is importing a slot does not listen to who owns it. If the owner has failed over, the
 * slot has none for that node, which then refuses even commands after ASKING. */
static bool tell_owner(slot_mover *mover, const slot_route *move)
{
    cluster_view *view = mover->view;
    return view_tell(view, move->target, 0, "CLUSTER SETSLOT %u NODE %s", move->slot,
                     view->nodes[move->source].id) == BRY_OK ||
           node_fails(mover, move->target);
}

static bool move_slot(slot_mover *mover, const slot_route *move)
{
    return side_is_ready(mover, move->target) && side_is_ready(mover, move->source) &&
           tell_owner(mover, move) && move_open(mover, move) && move_keys(mover, move) &&
           move_close(mover, move);
}

bool slot_move(slot_mover *mover, uint32_t slot, uint32_t to)
{
    slot_route move = {slot, mover->view->owners[slot], to};
    if (move.source == VIEW_NONE)
        return move_fails(mover, "slot %u has no owner", slot);
    return move.source == to || move_slot(mover, &move);
}

/* ---- slots left open ----------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void move_says(const slot_mover *mover,
                                                            const char *format, ...)
{
    char text[512];
    va_list list;
    if (!mover->say)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    mover->say(text);
}

/* A primary other than the owner that has keys of the slot; VIEW_NONE if there is none. */
static bool find_key_holder(slot_mover *mover, uint32_t slot, uint32_t *holder)
{
    cluster_view *view = mover->view;
    *holder = VIEW_NONE;
    for (uint32_t i = 0; i < view->count; i++) {
        redisReply *reply;
        if (i == view->owners[slot] || !view_is_primary(&view->nodes[i]))
            continue;
        if (view_ask(view, i, 0, &reply, "CLUSTER COUNTKEYSINSLOT %u", slot) != BRY_OK)
            return node_fails(mover, i);
        if (reply->integer > 0)
            *holder = i;
        freeReplyObject(reply);
    }
    return true;
}

static bool close_where_it_is(slot_mover *mover, uint32_t slot)
{
    cluster_view *view = mover->view;
    for (size_t i = 0; i < view->open_count; i++)
        if (view->open[i].slot == slot &&
            view_tell(view, view->open[i].node, 0, "CLUSTER SETSLOT %u STABLE", slot) != BRY_OK)
            return node_fails(mover, view->open[i].node);
    move_says(mover, "slot %u: closed; no key of it had moved", slot);
    return true;
}

/* Joins the halves in a slot. A half that cannot be joined stays; that is said, but no failure. */
static bool join_halves(slot_mover *mover, uint32_t slot)
{
    cluster_view *view = mover->view;
    uint32_t owner = view->owners[slot];
    redisReply *keys;
    if (view_ask(view, owner, 0, &keys, "CLUSTER GETKEYSINSLOT %u 1000000", slot) != BRY_OK)
        return node_fails(mover, owner);
    for (size_t i = 0; i < keys->elements; i++) {
        const redisReply *key = keys->element[i];
        bool joined;
        if (!half_is_name(key->str, key->len))
            continue;
        if (half_join(view, owner, key->str, key->len, &joined) != BRY_OK)
            move_says(mover, "slot %u: %.200s stays, it cannot be joined: %s", slot, key->str,
                      bryc_error(view->client));
        else if (joined)
            move_says(mover, "slot %u: %.200s joined", slot, key->str);
        mover->joined += joined;
    }
    freeReplyObject(keys);
    return true;
}

bool slot_finish(slot_mover *mover, uint32_t slot)
{
    cluster_view *view = mover->view;
    uint32_t holder;
    uint64_t before = mover->keys;
    if (view->owners[slot] == VIEW_NONE)
        return move_fails(mover, "slot %u has no owner", slot);
    if (!find_key_holder(mover, slot, &holder))
        return false;
    if (holder == VIEW_NONE)
        return close_where_it_is(mover, slot) && join_halves(mover, slot);
    while (holder != VIEW_NONE) {
        slot_route move = {slot, view->owners[slot], holder};
        if (!move_slot(mover, &move) || !find_key_holder(mover, slot, &holder))
            return false;
    }
    move_says(mover, "slot %u: moved to %s (%" PRIu64 " keys were left)", slot,
              node_name(mover, view->owners[slot]), mover->keys - before);
    return join_halves(mover, slot);
}
