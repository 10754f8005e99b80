#include "apps/flows/flow_key.h"

#include <string.h>

/* Both directions give the same key: the smaller end comes first. No branches: half of the packets
 * of a conversation are swapped, in no order that a processor could predict. */
static void put_ipv4_key(const flow_packet *packet, bool either, bool ports, flow_key *key)
{
    uint32_t source, target;
    memcpy(&source, packet->source, 4);
    memcpy(&target, packet->target, 4);
    uint64_t from = (uint64_t)source << 16 | packet->source_port;
    uint64_t to = (uint64_t)target << 16 | packet->target_port;
    bool swapped = either & (from > to);
    uint64_t first = swapped ? to : from, second = swapped ? from : to;
    key->swapped = swapped;
    uint32_t parts[3] = {(uint32_t)(first >> 16), (uint32_t)(second >> 16),
                         (uint32_t)(first & 0xffff) << 16 | (uint32_t)(second & 0xffff)};
    memcpy(key->bytes, parts, sizeof parts);
    key->len = ports ? 12 : 8;
}

static void put_ipv6_key(const flow_packet *packet, bool either, bool ports, flow_key *key)
{
    int order = either ? memcmp(packet->source, packet->target, 16) : 0;
    key->swapped =
        either && (order > 0 || (order == 0 && packet->source_port > packet->target_port));
    memcpy(key->bytes, key->swapped ? packet->target : packet->source, 16);
    memcpy(key->bytes + 16, key->swapped ? packet->source : packet->target, 16);
    uint16_t both[2] = {key->swapped ? packet->target_port : packet->source_port,
                        key->swapped ? packet->source_port : packet->target_port};
    memcpy(key->bytes + 32, both, sizeof both);
    key->len = ports ? 36 : 32;
}

void flow_key_of(flow_key_kind kind, const flow_packet *packet, flow_key *key)
{
    bool either = kind == FLOW_KEY_CONVERSATION, ports = kind != FLOW_KEY_PAIR;
    if (packet->is_ipv6)
        put_ipv6_key(packet, either, ports, key);
    else
        put_ipv4_key(packet, either, ports, key);
}
