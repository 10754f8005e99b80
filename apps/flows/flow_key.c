#include "apps/flows/flow_key.h"

#include <string.h>

/* Both directions give the same key: the smaller end comes first. */
static bool ends_are_swapped(const flow_packet *packet, size_t address)
{
    int order = memcmp(packet->source, packet->target, address);
    return order > 0 || (order == 0 && packet->source_port > packet->target_port);
}

void flow_key_of(flow_key_kind kind, const flow_packet *packet, flow_key *key)
{
    size_t address = packet->is_ipv6 ? 16 : 4;
    bool swapped = kind == FLOW_KEY_CONVERSATION && ends_are_swapped(packet, address);
    const uint8_t *first = swapped ? packet->target : packet->source;
    const uint8_t *second = swapped ? packet->source : packet->target;
    key->swapped = swapped;
    if (address == 4) { /* a constant length is copied much faster */
        memcpy(key->bytes, first, 4);
        memcpy(key->bytes + 4, second, 4);
    } else {
        memcpy(key->bytes, first, 16);
        memcpy(key->bytes + 16, second, 16);
    }
    key->len = (uint8_t)(2 * address);
    if (kind == FLOW_KEY_PAIR)
        return;
    uint16_t ports[2] = {swapped ? packet->target_port : packet->source_port,
                         swapped ? packet->source_port : packet->target_port};
    memcpy(key->bytes + key->len, ports, sizeof ports);
    key->len += (uint8_t)sizeof ports;
}
