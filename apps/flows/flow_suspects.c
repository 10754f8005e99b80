#include "apps/flows/flow_suspects.h"

#include <bloomery/hash.h>

#include <math.h>
#include <string.h>

enum { WAYS = 8 };

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
    size_t size = sets * WAYS * sizeof *suspects->places;
    suspects->places = allocator->alloc(allocator->opaque, size);
    if (!suspects->places)
        return BRY_E_NOMEM;
    memset(suspects->places, 0, size);
    return BRY_OK;
}

uint64_t flow_suspects_bytes(const flow_suspects *suspects)
{
    return suspects->sets * WAYS * sizeof *suspects->places;
}

void flow_suspects_free(flow_suspects *suspects)
{
    if (suspects->places)
        suspects->allocator.free(suspects->allocator.opaque, suspects->places,
                                 (size_t)flow_suspects_bytes(suspects));
    suspects->places = NULL;
}

int64_t flow_suspect_weight(const flow_suspect *suspect)
{
    int64_t weight = 0;
    for (unsigned i = 0; i < FLOW_ATTACKS; i++)
        if (suspect->tallies[i].total > 0)
            weight += suspect->tallies[i].total;
    return weight;
}

flow_suspect *flow_suspects_find(flow_suspects *suspects, const uint8_t *address, bool is_ipv6,
                                 bool add)
{
    size_t len = is_ipv6 ? 16 : 4;
    bry_hash hash = bry_hash_key(suspects->seed, address, len);
    flow_suspect *set = &suspects->places[(hash.lo & (suspects->sets - 1)) * WAYS];
    flow_suspect *least = NULL;
    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].used && set[i].is_ipv6 == is_ipv6 && memcmp(set[i].address, address, len) == 0)
            return &set[i];
        if (!set[i].used)
            least = least && !least->used ? least : &set[i];
        else if (!least ||
                 (least->used && flow_suspect_weight(&set[i]) < flow_suspect_weight(least)))
            least = &set[i];
    }
    if (!add)
        return NULL;
    suspects->dropped += least->used;
    *least = (flow_suspect){.used = true, .is_ipv6 = is_ipv6};
    memcpy(least->address, address, len);
    return least;
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
        if (!suspect->used || flow_suspect_weight(suspect) < least)
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
