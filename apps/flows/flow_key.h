/*
 * The key of a flow, and which end of it sent a packet. The bytes are the addresses and ports of
 * both ends: 8 or 12 for IPv4, 32 or 36 for IPv6, so that the families cannot be confused.
 */
#ifndef BLOOMERY_APPS_FLOW_KEY_H
#define BLOOMERY_APPS_FLOW_KEY_H

#include "apps/flows/flow_packet.h"

typedef enum flow_key_kind {
    FLOW_KEY_CONVERSATION, /* addresses and ports, both directions as one */
    FLOW_KEY_PAIR, /* source and destination address, as in the papers */
    FLOW_KEY_5TUPLE, /* addresses and ports of one direction */
} flow_key_kind;

enum { FLOW_KEY_MAX = 36 };

typedef struct flow_key {
    uint8_t bytes[FLOW_KEY_MAX];
    uint8_t len;
    bool swapped; /* the sender is the second end in `bytes` */
} flow_key;

static inline bool flow_key_directed(flow_key_kind kind)
{
    return kind != FLOW_KEY_CONVERSATION;
}

void flow_key_of(flow_key_kind kind, const flow_packet *packet, flow_key *key);

#endif
