/*
 * Addresses that take part in something suspicious: a table of fixed size. Each address belongs to
 * one set of 8 places; when all are taken, the address with the smallest weight makes room, and is
 * counted as dropped. So whoever does a lot stays, and a flood of spoofed sources cannot take more
 * memory.
 */
#ifndef BLOOMERY_APPS_FLOW_SUSPECTS_H
#define BLOOMERY_APPS_FLOW_SUSPECTS_H

#include <bloomery/base.h>

typedef enum flow_attack {
    FLOW_SYN_FLOOD, /* on a target */
    FLOW_REFLECTION,
    FLOW_RESET_STORM,
    FLOW_PORT_SCAN, /* by a source */
    FLOW_ATTACKS
} flow_attack;

/* For JSON ("syn_flood") and for people ("SYN flood"). */
extern const char *const flow_attack_names[FLOW_ATTACKS];
extern const char *const flow_attack_titles[FLOW_ATTACKS];

enum { FLOW_PORT_BITS = 512 };

/* Events of one kind: SYNs without a handshake, unasked SYN-ACKs, RSTs, probes. */
typedef struct flow_tally {
    int64_t total; /* less what turned out to be harmless: a handshake that was completed */
    int64_t here; /* of the current interval */
    int64_t peak; /* of the interval with the most */
    uint64_t alerts;
    uint64_t alerted_at; /* microseconds */
} flow_tally;

typedef struct flow_suspect {
    uint8_t address[16];
    bool is_ipv6;
    uint16_t port; /* of the last event: where a target was attacked */
    uint64_t interval; /* the tallies' number of the current interval */
    flow_tally tallies[FLOW_ATTACKS];
    uint64_t ports[FLOW_PORT_BITS / 64]; /* a bit for each address and port probed: see below */
    double most_ports; /* of the interval with the most */
} flow_suspect;

enum { FLOW_SUSPECT_WAYS = 8 };

/* What is read to find an address: a cache line. */
typedef struct flow_suspect_set {
    uint32_t tags[FLOW_SUSPECT_WAYS]; /* of the hash of the address; 0: empty */
    uint32_t weights[FLOW_SUSPECT_WAYS]; /* as of the last event */
} flow_suspect_set;

typedef struct flow_suspects {
    bry_allocator allocator;
    flow_suspect_set *heads;
    flow_suspect *places;
    size_t sets; /* a power of two */
    uint64_t seed;
    uint64_t dropped; /* addresses that had to make room */
} flow_suspects;

/* The finalizer of MurmurHash3. */
static inline uint64_t flow_suspects_mix(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* Room for at least this many addresses. BRY_E_NOMEM. */
bry_status flow_suspects_init(flow_suspects *suspects, uint64_t addresses, uint64_t seed,
                              const bry_allocator *allocator);
void flow_suspects_free(flow_suspects *suspects);
uint64_t flow_suspects_bytes(const flow_suspects *suspects);

/* The address, or NULL; with `add` it is added, possibly in the place of another. */
flow_suspect *flow_suspects_find(flow_suspects *suspects, const uint8_t *address, bool is_ipv6,
                                 bool add);

/* To be called after each change of its tallies. */
void flow_suspects_weigh(flow_suspects *suspects, const flow_suspect *suspect);

/* The addresses with the largest weights, of at least `least`, largest first; returns how many. */
size_t flow_suspects_top(const flow_suspects *suspects, int64_t least, const flow_suspect **top,
                         size_t room);

/*
 * The number of distinct ports that were probed, from the bits that are not set (linear counting):
 * within 5 % up to 500, and 3,200 at most.
 */
double flow_suspect_ports(const flow_suspect *suspect);
void flow_suspect_add_port(flow_suspect *suspect, uint64_t hash);

#endif
