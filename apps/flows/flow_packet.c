#include "apps/flows/flow_packet.h"

#include <string.h>

/* The rest of a packet. `wire` counts the bytes that were sent, `here` those that were captured. */
typedef struct packet_rest {
    const uint8_t *at;
    size_t here, wire;
} packet_rest;

enum {
    ETHERTYPE_IPV4 = 0x0800,
    ETHERTYPE_VLAN = 0x8100,
    ETHERTYPE_IPV6 = 0x86dd,
    ETHERTYPE_VLAN_OUTER = 0x88a8,
    ETHERTYPE_VLAN_OLD = 0x9100,
    PROTOCOL_TCP = 6,
    FRAGMENT_OFFSET = 0x1fff, /* IPv4, in units of 8 bytes */
    IPV4_HEADER = 20,
    IPV6_HEADER = 40,
    TCP_HEADER = 20,
};

static uint16_t packet_load16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static void skip_header(packet_rest *rest, size_t bytes)
{
    rest->at += bytes;
    rest->here -= bytes;
    rest->wire -= bytes;
}

/* Too short: was it cut by the capture, or sent like that? */
static flow_packet_kind shorter_than(const packet_rest *rest, size_t bytes)
{
    return rest->wire < bytes ? FLOW_MALFORMED : FLOW_TRUNCATED;
}

/* Bytes after the end of the IP packet, such as Ethernet padding, are not part of it. */
static void limit_rest(packet_rest *rest, size_t bytes)
{
    if (bytes >= rest->wire)
        return;
    rest->wire = bytes;
    if (rest->here > bytes)
        rest->here = bytes;
}

static flow_packet_kind parse_tcp_header(packet_rest *rest, flow_packet *packet)
{
    if (rest->here < TCP_HEADER)
        return shorter_than(rest, TCP_HEADER);
    size_t header = (size_t)(rest->at[12] >> 4) * 4;
    if (header < TCP_HEADER || header > rest->wire)
        return FLOW_MALFORMED;
    packet->source_port = packet_load16(rest->at);
    packet->target_port = packet_load16(rest->at + 2);
    packet->flags = rest->at[13] & (FLOW_FLAGS - 1);
    packet->has_data = rest->wire > header;
    return FLOW_TCP;
}

static flow_packet_kind parse_ipv4(packet_rest *rest, flow_packet *packet)
{
    if (rest->here < IPV4_HEADER)
        return shorter_than(rest, IPV4_HEADER);
    size_t header = (size_t)(rest->at[0] & 15) * 4, total = packet_load16(rest->at + 2);
    if (rest->at[0] >> 4 != 4 || header < IPV4_HEADER)
        return FLOW_MALFORMED;
    /* Segments that the network card was to split are captured with a length of 0. */
    if (total == 0)
        total = rest->wire;
    if (total < header || total > rest->wire)
        return FLOW_MALFORMED;
    limit_rest(rest, total);
    if (rest->at[9] != PROTOCOL_TCP)
        return FLOW_NOT_TCP;
    if (packet_load16(rest->at + 6) & FRAGMENT_OFFSET)
        return FLOW_FRAGMENT;
    if (rest->here < header)
        return FLOW_TRUNCATED;
    packet->is_ipv6 = false;
    memcpy(packet->source, rest->at + 12, 4);
    memcpy(packet->target, rest->at + 16, 4);
    skip_header(rest, header);
    return parse_tcp_header(rest, packet);
}

/*
 * Skips one extension header; *next is its type, and becomes that of the following one. FLOW_TCP:
 * go on.
 */
static flow_packet_kind skip_extension(packet_rest *rest, uint8_t *next)
{
    enum { HOP_BY_HOP = 0, ROUTING = 43, FRAGMENT = 44, AUTHENTICATION = 51, OPTIONS = 60 };
    enum { MOBILITY = 135, HIP = 139, SHIM6 = 140 };
    size_t length;
    switch (*next) {
    case HOP_BY_HOP:
    case ROUTING:
    case OPTIONS:
    case MOBILITY:
    case HIP:
    case SHIM6:
    case FRAGMENT:
    case AUTHENTICATION:
        break;
    default:
        return FLOW_NOT_TCP;
    }
    if (rest->here < 8)
        return shorter_than(rest, 8);
    if (*next == FRAGMENT) {
        if (packet_load16(rest->at + 2) >> 3)
            return FLOW_FRAGMENT;
        length = 8;
    } else if (*next == AUTHENTICATION) {
        length = ((size_t)rest->at[1] + 2) * 4;
    } else {
        length = ((size_t)rest->at[1] + 1) * 8;
    }
    if (rest->here < length)
        return shorter_than(rest, length);
    *next = rest->at[0];
    skip_header(rest, length);
    return FLOW_TCP;
}

static flow_packet_kind parse_ipv6(packet_rest *rest, flow_packet *packet)
{
    if (rest->here < IPV6_HEADER)
        return shorter_than(rest, IPV6_HEADER);
    if (rest->at[0] >> 4 != 6)
        return FLOW_MALFORMED;
    size_t payload = packet_load16(rest->at + 4);
    uint8_t next = rest->at[6];
    packet->is_ipv6 = true;
    memcpy(packet->source, rest->at + 8, 16);
    memcpy(packet->target, rest->at + 24, 16);
    skip_header(rest, IPV6_HEADER);
    /* 0: a jumbogram, or a segment that the network card was to split. */
    if (payload > rest->wire)
        return FLOW_MALFORMED;
    if (payload > 0)
        limit_rest(rest, payload);
    while (next != PROTOCOL_TCP) {
        flow_packet_kind skipped = skip_extension(rest, &next);
        if (skipped != FLOW_TCP)
            return skipped;
    }
    return parse_tcp_header(rest, packet);
}

static flow_packet_kind parse_any_ip(packet_rest *rest, flow_packet *packet)
{
    if (rest->here < 1)
        return shorter_than(rest, 1);
    switch (rest->at[0] >> 4) {
    case 4:
        return parse_ipv4(rest, packet);
    case 6:
        return parse_ipv6(rest, packet);
    default:
        return FLOW_MALFORMED;
    }
}

/* What follows an Ethernet type, and VLAN tags if there are any. */
static flow_packet_kind parse_ethertype(packet_rest *rest, uint16_t type, flow_packet *packet)
{
    while (type == ETHERTYPE_VLAN || type == ETHERTYPE_VLAN_OUTER || type == ETHERTYPE_VLAN_OLD) {
        if (rest->here < 4)
            return shorter_than(rest, 4);
        type = packet_load16(rest->at + 2);
        skip_header(rest, 4);
    }
    if (type == ETHERTYPE_IPV4)
        return parse_ipv4(rest, packet);
    return type == ETHERTYPE_IPV6 ? parse_ipv6(rest, packet) : FLOW_NOT_IP;
}

/* A link header of `header` bytes with an Ethernet type at offset `type`. */
static flow_packet_kind parse_typed_link(packet_rest *rest, size_t header, size_t type,
                                         flow_packet *packet)
{
    if (rest->here < header)
        return shorter_than(rest, header);
    uint16_t found = packet_load16(rest->at + type);
    skip_header(rest, header);
    return parse_ethertype(rest, found, packet);
}

/* Address families of IP differ between systems; the IP header has the version anyway. */
static flow_packet_kind parse_loopback(packet_rest *rest, flow_packet *packet)
{
    enum { INET = 2, INET6_LINUX = 10, INET6_NETBSD = 24, INET6_FREEBSD = 28, INET6_MACOS = 30 };
    if (rest->here < 4)
        return shorter_than(rest, 4);
    const uint8_t *at = rest->at;
    uint8_t family = at[0] ? at[0] : at[3];
    bool plain = at[1] == 0 && at[2] == 0 && (at[0] == 0 || at[3] == 0);
    if (!plain || (family != INET && family != INET6_LINUX && family != INET6_NETBSD &&
                   family != INET6_FREEBSD && family != INET6_MACOS))
        return FLOW_NOT_IP;
    skip_header(rest, 4);
    return parse_any_ip(rest, packet);
}

bool flow_link_known(int link)
{
    flow_packet unused;
    return flow_packet_parse(link, NULL, 0, 0, &unused) != FLOW_OTHER_LINK;
}

flow_packet_kind flow_packet_parse(int link, const uint8_t *bytes, size_t captured, size_t length,
                                   flow_packet *packet)
{
    packet_rest rest = {bytes, captured, length < captured ? captured : length};
    switch (link) {
    case FLOW_LINK_ETHERNET:
        return parse_typed_link(&rest, 14, 12, packet);
    case FLOW_LINK_COOKED:
        return parse_typed_link(&rest, 16, 14, packet);
    case FLOW_LINK_COOKED2:
        return parse_typed_link(&rest, 20, 0, packet);
    case FLOW_LINK_RAW:
    case FLOW_LINK_RAW_OPENBSD:
    case FLOW_LINK_RAW_FILE:
        return parse_any_ip(&rest, packet);
    case FLOW_LINK_IPV4:
        return parse_ipv4(&rest, packet);
    case FLOW_LINK_IPV6:
        return parse_ipv6(&rest, packet);
    case FLOW_LINK_NULL:
    case FLOW_LINK_LOOP:
        return parse_loopback(&rest, packet);
    default:
        return FLOW_OTHER_LINK;
    }
}
