/* Which node has which slot: CRC-16 of keys, CLUSTER SLOTS, and redirections. */
#include "clients/c/cluster_client.h"
#include "clients/c/struct_version.h"

#include <stdlib.h>
#include <string.h>

#define DOWN_MS 500u

/* ---- the slot of a key --------------------------------------------------------------------- */

/* CRC-16/XMODEM (polynomial 0x1021), four bits at a time. */
static uint32_t crc16(const unsigned char *bytes, size_t len)
{
    static const uint16_t table[16] = {0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5,
                                       0x60c6, 0x70e7, 0x8108, 0x9129, 0xa14a, 0xb16b,
                                       0xc18c, 0xd1ad, 0xe1ce, 0xf1ef};
    uint32_t crc = 0;
    for (size_t i = 0; i < len; i++) {
        crc = (crc << 4 & 0xffff) ^ table[(crc >> 12 ^ bytes[i] >> 4) & 15];
        crc = (crc << 4 & 0xffff) ^ table[(crc >> 12 ^ bytes[i]) & 15];
    }
    return crc;
}

uint32_t bryc_slot(const void *key, size_t len)
{
    const char *start = len ? memchr(key, '{', len) : NULL;
    if (start) {
        const char *tag = start + 1;
        const char *end = memchr(tag, '}', len - (size_t)(tag - (const char *)key));
        if (end && end > tag)
            return crc16((const unsigned char *)tag, (size_t)(end - tag)) % BRYC_SLOTS;
    }
    return crc16(key, len) % BRYC_SLOTS;
}

/* ---- nodes --------------------------------------------------------------------------------- */

uint32_t bryc_nodes(const bryc_client *client)
{
    return client->count;
}

uint32_t bryc__primaries(const bryc_client *client)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < client->count; i++)
        count += client->nodes[i]->slots > 0;
    return count;
}

bry_status bryc_node_at_sized(const bryc_client *client, uint32_t number, bryc_node *node,
                              size_t size)
{
    if (number >= client->count)
        return BRY_E_RANGE;
    const bryc__node *found = client->nodes[number];
    bryc_node known = {.host = found->host,
                       .port = found->port,
                       .slots = found->slots,
                       .replicas = found->slots ? found->replicas : 0};
    return bryc__struct_write(node, size, &known, sizeof known);
}

bry_status bryc_node_find(bryc_client *client, const char *host, uint32_t port, uint32_t *number)
{
    for (*number = 0; *number < client->count; (*number)++)
        if (client->nodes[*number]->port == port && strcmp(client->nodes[*number]->host, host) == 0)
            return BRY_OK;
    if (client->count == client->capacity) {
        uint32_t capacity = client->capacity ? 2 * client->capacity : 8;
        bryc__node **nodes = realloc(client->nodes, capacity * sizeof *nodes);
        if (!nodes)
            return bryc__fail(client, BRY_E_NOMEM, "out of memory");
        client->nodes = nodes;
        client->capacity = capacity;
    }
    bryc__node *node = calloc(1, sizeof *node);
    if (!node || !(node->host = strdup(host))) {
        free(node);
        return bryc__fail(client, BRY_E_NOMEM, "out of memory");
    }
    node->port = port;
    client->nodes[client->count++] = node;
    return BRY_OK;
}

uint32_t bryc_node_of_slot(const bryc_client *client, uint32_t slot)
{
    return slot < BRYC_SLOTS ? client->owners[slot] : BRYC__NONE;
}

/* ---- learning ------------------------------------------------------------------------------ */

static void give_all_slots(bryc_client *client, uint32_t node)
{
    for (uint32_t slot = 0; slot < BRYC_SLOTS; slot++)
        client->owners[slot] = node;
    for (uint32_t i = 0; i < client->count; i++)
        client->nodes[i]->slots = i == node ? BRYC_SLOTS : 0;
}

/* One row of CLUSTER SLOTS: from, to, [host, port, …] of the primary, then of its replicas. `asked`
 * is where rows without a host are. */
static bry_status learn_row(bryc_client *client, const redisReply *row, const char *asked,
                            uint32_t *owners)
{
    if (row->type != REDIS_REPLY_ARRAY || row->elements < 3 ||
        row->element[0]->type != REDIS_REPLY_INTEGER ||
        row->element[1]->type != REDIS_REPLY_INTEGER || row->element[0]->integer < 0 ||
        row->element[1]->integer >= BRYC_SLOTS)
        return bryc__fail(client, BRY_E_BADDATA, "CLUSTER SLOTS: unexpected reply type");
    for (size_t i = 2; i < row->elements; i++) {
        const redisReply *node = row->element[i];
        uint32_t number;
        if (node->type != REDIS_REPLY_ARRAY || node->elements < 2 ||
            node->element[1]->type != REDIS_REPLY_INTEGER)
            return bryc__fail(client, BRY_E_BADDATA, "CLUSTER SLOTS: unexpected reply type");
        const redisReply *host = node->element[0];
        bool named = host->type == REDIS_REPLY_STRING && host->len > 0 && host->str[0] != '?';
        bry_status status = bryc_node_find(client, named ? host->str : asked,
                                           (uint32_t)node->element[1]->integer, &number);
        if (status != BRY_OK)
            return status;
        if (i == 2)
            client->nodes[number]->replicas = (uint32_t)row->elements - 3;
        for (long long slot = row->element[0]->integer; i == 2 && slot <= row->element[1]->integer;
             slot++)
            owners[slot] = number;
    }
    return BRY_OK;
}

static bry_status learn_from_reply(bryc_client *client, const redisReply *reply, uint32_t asked)
{
    if (reply->type == REDIS_REPLY_ERROR && strstr(reply->str, "cluster support disabled")) {
        client->is_cluster = false;
        give_all_slots(client, asked);
        return BRY_OK;
    }
    if (reply->type == REDIS_REPLY_ERROR)
        return bryc__fail(client, BRY_E_IO, "%s:%u: CLUSTER SLOTS: %s", client->nodes[asked]->host,
                          client->nodes[asked]->port, reply->str);
    if (reply->type != REDIS_REPLY_ARRAY)
        return bryc__fail(client, BRY_E_BADDATA, "CLUSTER SLOTS: unexpected reply type");
    uint32_t *owners = malloc(sizeof client->owners);
    if (!owners)
        return bryc__fail(client, BRY_E_NOMEM, "out of memory");
    bry_status status = BRY_OK;
    for (uint32_t slot = 0; slot < BRYC_SLOTS; slot++)
        owners[slot] = BRYC__NONE;
    for (size_t i = 0; i < reply->elements && status == BRY_OK; i++)
        status = learn_row(client, reply->element[i], client->nodes[asked]->host, owners);
    if (status == BRY_OK) {
        client->is_cluster = true;
        memcpy(client->owners, owners, sizeof client->owners);
        for (uint32_t i = 0; i < client->count; i++)
            client->nodes[i]->slots = 0;
        for (uint32_t slot = 0; slot < BRYC_SLOTS; slot++)
            if (owners[slot] != BRYC__NONE)
                client->nodes[owners[slot]]->slots++;
    }
    free(owners);
    return status;
}

/* On a connection of its own, because those of the nodes may wait for replies. */
static bry_status learn_from_node(bryc_client *client, uint32_t number)
{
    static const char question[] = "*2\r\n$7\r\nCLUSTER\r\n$5\r\nSLOTS\r\n";
    bry_status status;
    redisContext *link =
        bryc__link_open(client, client->nodes[number]->host, client->nodes[number]->port, &status);
    if (!link)
        return status;
    redisReply *reply = bryc__link_call(client, link, question, sizeof question - 1);
    status = reply ? learn_from_reply(client, reply, number) : BRY_E_IO;
    freeReplyObject(reply);
    redisFree(link);
    return status;
}

/* Asks the nodes in turn; those that could not be reached a moment ago come last. */
bry_status bryc__learn_slots(bryc_client *client)
{
    bry_status status = BRY_E_IO;
    uint64_t now = bryc__now();
    uint32_t count = client->count; /* those found meanwhile are not asked in this round */
    for (uint32_t i = 0; count > 0 && i < 2 * count; i++) {
        uint32_t number = (client->first_asked + i) % count;
        if ((client->nodes[number]->down_until > now) != (i >= count))
            continue;
        status = learn_from_node(client, number);
        if (status == BRY_OK) {
            /* Another one the next time: this one may be cut off from the others. */
            client->first_asked = (number + 1) % client->count;
            client->stale = false;
            client->refreshed_at = bryc__now();
            return BRY_OK;
        }
        if (status != BRY_E_IO)
            return status;
        client->nodes[number]->down_until = bryc__now() + DOWN_MS;
    }
    return status;
}

bry_status bryc_refresh(bryc_client *client)
{
    bryc__check_process(client);
    bry_status status = bryc__learn_slots(client);
    return status == BRY_E_UNSUPPORTED ? BRY_E_IO : status;
}

bool bryc__redirection(bryc_client *client, uint32_t from, const char *text, size_t len,
                       uint32_t *slot, uint32_t *node)
{
    char copy[320], *end;
    if (len >= sizeof copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    char *space = strchr(copy, ' '), *colon = strrchr(copy, ':');
    if (!space || !colon)
        return false;
    unsigned long number = strtoul(space + 1, &end, 10);
    if (end == space + 1 || *end != ' ' || end > colon || number >= BRYC_SLOTS)
        return false;
    *slot = (uint32_t)number;
    *colon = '\0';
    unsigned long port = strtoul(colon + 1, NULL, 10);
    /* Without a host it is the one that answered. */
    bool named = end[1] != '\0' && end[1] != '?';
    const char *host = named ? end + 1 : client->nodes[from]->host;
    return port > 0 && port <= 65535 &&
           bryc_node_find(client, host, (uint32_t)port, node) == BRY_OK;
}
