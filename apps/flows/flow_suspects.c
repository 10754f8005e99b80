#include "apps/flows/flow_suspects.h"

#include <math.h>
#include <string.h>

enum { WAYS = FLOW_SUSPECT_WAYS };

const char *const flow_attack_names[FLOW_ATTACKS] = {"syn_flood", "reflection", "reset_storm",
                                                     "port_scan"};
const char *const flow_attack_titles[FLOW_ATTACKS] = {"SYN flood", "reflection", "reset storm",
                                                      "port scan"};

bry_status flow_suspects_init(flow_suspects *suspects, uint64_t addresses, uint64_t seed,
                              const bry_allocator *allocator)
{
    size_t sets = 1;
    while (sets * WAYS < addresses && sets < SIZE_MAX / WAYS / 2 / sizeof(flow_suspect))
        sets *= 2;
    *suspects = (flow_suspects){.allocator = *allocator, .sets = sets, .seed = seed};
    suspects->heads = allocator->alloc(allocator->opaque, sets * sizeof *suspects->heads);
    suspects->places = allocator->alloc(allocator->opaque, sets * WAYS * sizeof *suspects->places);
    if (!suspects->heads || !suspects->places) {
        flow_suspects_free(suspects);
        return BRY_E_NOMEM;
    }
    memset(suspects->heads, 0, sets * sizeof *suspects->heads);
    return BRY_OK;
}

uint64_t flow_suspects_bytes(const flow_suspects *suspects)
{
    return suspects->sets * (sizeof *suspects->heads + WAYS * sizeof *suspects->places);
}

void flow_suspects_free(flow_suspects *suspects)
{
    const bry_allocator *allocator = &suspects->allocator;
    if (suspects->heads)
        allocator->free(allocator->opaque, suspects->heads,
                        suspects->sets * sizeof *suspects->heads);
    if (suspects->places)
        allocator->free(allocator->opaque, suspects->places,
                        suspects->sets * WAYS * sizeof *suspects->places);
    suspects->heads = NULL;
    suspects->places = NULL;
}

/* What it is ranked by: the sum of its totals. */
static int64_t flow_suspect_weight(const flow_suspect *suspect)
{
    int64_t weight = 0;
    for (unsigned i = 0; i < FLOW_ATTACKS; i++)
        if (suspect->tallies[i].total > 0)
            weight += suspect->tallies[i].total;
    return weight;
}

void flow_suspects_weigh(flow_suspects *suspects, const flow_suspect *suspect)
{
    size_t place = (size_t)(suspect - suspects->places);
    int64_t weight = flow_suspect_weight(suspect);
    suspects->heads[place / WAYS].weights[place % WAYS] =
        weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX;
}

/* Puts the address in the place of the least suspicious one, or in an empty place. */
static flow_suspect *add_suspect(flow_suspects *suspects, size_t set, uint32_t tag)
{
    flow_suspect_set *head = &suspects->heads[set];
    size_t least = 0;
    for (size_t i = 0; i < WAYS && head->tags[least]; i++)
        if (!head->tags[i] || head->weights[i] < head->weights[least])
            least = i;
    suspects->dropped += head->tags[least] != 0;
    head->tags[least] = tag;
    head->weights[least] = 0;
    return &suspects->places[set * WAYS + least];
}

/* Fast rather than perfect: whoever finds addresses of one set competes for 8 of its places. */
static uint64_t mix_address(uint64_t seed, const uint8_t *address, bool is_ipv6)
{
    uint64_t parts[2] = {0, 0};
    if (is_ipv6)
        memcpy(parts, address, 16);
    else
        memcpy(parts, address, 4);
    return flow_suspects_mix(flow_suspects_mix(parts[0] ^ seed) ^ parts[1]);
}

flow_suspect *flow_suspects_find(flow_suspects *suspects, const uint8_t *address, bool is_ipv6,
                                 bool add)
{
    size_t len = is_ipv6 ? 16 : 4;
    uint64_t hash = mix_address(suspects->seed, address, is_ipv6);
    size_t set = hash & (suspects->sets - 1);
    uint32_t tag = (uint32_t)(hash >> 32) | 1;
    const flow_suspect_set *head = &suspects->heads[set];
    for (size_t i = 0; i < WAYS; i++) {
        flow_suspect *place = &suspects->places[set * WAYS + i];
        if (head->tags[i] == tag && place->is_ipv6 == is_ipv6 &&
            memcmp(place->address, address, len) == 0)
            return place;
    }
    if (!add)
        return NULL;
    flow_suspect *place = add_suspect(suspects, set, tag);
    *place = (flow_suspect){.is_ipv6 = is_ipv6};
    memcpy(place->address, address, len);
    return place;
}

/* By weight, then by address, so that equal runs print the same. */
static bool ranks_before(const flow_suspect *a, const flow_suspect *b)
{
    int64_t x = flow_suspect_weight(a), y = flow_suspect_weight(b);
    return x != y ? x > y : memcmp(a->address, b->address, sizeof a->address) < 0;
}

size_t flow_suspects_top(const flow_suspects *suspects, int64_t least, const flow_suspect **top,
                         size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < suspects->sets * WAYS; i++) {
        const flow_suspect *suspect = &suspects->places[i];
        if (!suspects->heads[i / WAYS].tags[i % WAYS] || flow_suspect_weight(suspect) < least)
            continue;
        size_t place = count;
        while (place > 0 && ranks_before(suspect, top[place - 1]))
            place--;
        if (place == room)
            continue;
        count += count < room;
        memmove(top + place + 1, top + place, (count - place - 1) * sizeof(const flow_suspect *));
        top[place] = suspect;
    }
    return count;
}

void flow_suspect_add_port(flow_suspect *suspect, uint64_t hash)
{
    unsigned bit = hash % FLOW_PORT_BITS;
    suspect->ports[bit / 64] |= UINT64_C(1) << bit % 64;
}

double flow_suspect_ports(const flow_suspect *suspect)
{
    unsigned set = 0;
    for (unsigned i = 0; i < FLOW_PORT_BITS / 64; i++)
        set += (unsigned)__builtin_popcountll(suspect->ports[i]);
    double clear = set < FLOW_PORT_BITS ? FLOW_PORT_BITS - set : 1;
    return FLOW_PORT_BITS * log(FLOW_PORT_BITS / clear);
}
