/*
 * A captured packet, reduced to what a TCP flow needs. The parser knows Ethernet with stacked VLAN
 * tags, Linux cooked captures, raw IP and loopback; IPv4, and IPv6 with its extension headers. It
 * reads captured bytes only, and believes no length that the packet states about itself.
 */
#ifndef BLOOMERY_APPS_FLOW_PACKET_H
#define BLOOMERY_APPS_FLOW_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Link types, by their number in libpcap (pcap-linktype(7)). */
typedef enum flow_link {
    FLOW_LINK_NULL = 0, /* loopback: an address family in the byte order of the capturing machine */
    FLOW_LINK_ETHERNET = 1,
    FLOW_LINK_RAW = 12, /* IPv4 or IPv6 */
    FLOW_LINK_RAW_OPENBSD = 14,
    FLOW_LINK_RAW_FILE = 101, /* the same in a file; libpcap maps it to FLOW_LINK_RAW */
    FLOW_LINK_LOOP = 108, /* OpenBSD's loopback: big-endian */
    FLOW_LINK_COOKED = 113, /* Linux "any" interface */
    FLOW_LINK_IPV4 = 228,
    FLOW_LINK_IPV6 = 229,
    FLOW_LINK_COOKED2 = 276,
} flow_link;

bool flow_link_known(int link);

/* What became of a packet. Only FLOW_TCP is tracked; the others are counted. */
typedef enum flow_packet_kind {
    FLOW_TCP,
    FLOW_OTHER_LINK, /* a link type that is not in the list above */
    FLOW_NOT_IP,
    FLOW_NOT_TCP,
    FLOW_FRAGMENT, /* not the first fragment: it has no TCP header */
    FLOW_TRUNCATED, /* the capture holds less than the headers */
    FLOW_MALFORMED, /* a header contradicts itself or the length of the packet */
    FLOW_PARSED_KINDS
} flow_packet_kind;

/* What something is called in JSON ("syn_ack_seen"), and by people ("SYN-ACK seen"). */
typedef struct flow_label {
    const char *name, *title;
} flow_label;

/* Flags of the TCP header. */
enum {
    FLOW_FIN = 0x01,
    FLOW_SYN = 0x02,
    FLOW_RST = 0x04,
    FLOW_PSH = 0x08,
    FLOW_ACK = 0x10,
    FLOW_URG = 0x20,
    FLOW_FLAGS = 0x40, /* combinations */
};

typedef struct flow_packet {
    uint64_t time; /* microseconds since 1970; set by the caller */
    uint8_t source[16]; /* The sender; IPv4 uses the first 4 bytes. */
    uint8_t target[16]; /* The receiver; IPv4 uses the first 4 bytes. */
    uint16_t source_port; /* The port of the sender. */
    uint16_t target_port; /* The port of the receiver. */
    uint8_t flags;
    bool is_ipv6;
    bool has_data; /* bytes after the TCP header */
} flow_packet;

/*
 * Reads a packet of `length` bytes, of which the first `captured` are at `bytes`. Fills *packet
 * except `time` if it returns FLOW_TCP; otherwise *packet is undefined.
 */
flow_packet_kind flow_packet_parse(int link, const uint8_t *bytes, size_t captured, size_t length,
                                   flow_packet *packet);

#endif
