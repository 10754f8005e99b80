#include "bench/harness/flow_states.h"

#include "bench/harness/keys.h"

/* What flows go through, and the share of them, in percent. */
typedef struct flow_path {
    unsigned share;
    uint8_t states[FLOW_STEPS];
} flow_path;

static const flow_path paths[] = {
    {25, {1, 1, 1, 1}}, /* half-open: a SYN flood */
    {5, {1, 2, 2, 2}},  {10, {1, 2, 3, 3}}, {40, {1, 3, 5, 6}},
    {10, {4, 4, 5, 6}}, {8, {1, 2, 3, 7}},  {2, {1, 7, 7, 7}},
};

uint8_t flow_state_at(uint64_t flow, unsigned step)
{
    unsigned share = bench_random(~flow) % 100;
    const flow_path *path = paths;
    while (share >= path->share)
        share -= path++->share;
    return path->states[step];
}

bry_hash flow_hash(uint64_t flow)
{
    return (bry_hash){bench_random(2 * flow), bench_random(2 * flow + 1)};
}
