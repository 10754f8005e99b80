#include "bench/cases/bench_cases.h"
#include "bench/harness/bench_fail.h"
#include "bench/harness/keys.h"
#include "bench/harness/measure.h"

#include <stdlib.h>
#include <string.h>

#define KEYS 512u /* at 256 bytes each they fit in the second-level cache */
#define REPEATS 2000u

enum { HASH_LENGTHS = 5 };
static const unsigned lengths[HASH_LENGTHS] = {8, 16, 32, 64, 256};

typedef struct hash_state {
    const void *at[KEYS];
    size_t lens[KEYS];
    bry_hash out[KEYS];
    unsigned char bytes[KEYS * 256];
} hash_state;

static void *make_hash_state(const void *work)
{
    (void)work;
    hash_state *state = malloc(sizeof *state);
    if (!state)
        return NULL;
    for (size_t i = 0; i < sizeof state->bytes / sizeof(uint64_t); i++) {
        uint64_t word = bench_random(i);
        memcpy(state->bytes + i * sizeof word, &word, sizeof word);
    }
    return state;
}

/* A checksum over the hashes of a phase, in order; single and batch hashing must agree. */
static uint64_t fold_hashes(const bry_hash *hashes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < KEYS; i++)
        sum = (sum ^ hashes[i].lo) * UINT64_C(0x9e3779b97f4a7c15) + hashes[i].hi;
    return sum;
}

static void arrange_hash_keys(hash_state *state, unsigned length)
{
    for (size_t i = 0; i < KEYS; i++) {
        state->at[i] = state->bytes + i * length;
        state->lens[i] = length;
    }
}

static inline bool run_hash(hash_state *state, unsigned phase, bool batch, bench_watch *watch,
                            uint64_t *found)
{
    arrange_hash_keys(state, lengths[phase]);
    bench_start(watch);
    for (unsigned repeat = 0; repeat < REPEATS; repeat++) {
        if (batch)
            bry_hash_key_n(repeat, state->at, state->lens, KEYS, state->out);
        for (size_t i = 0; i < KEYS && !batch; i++)
            state->out[i] = bry_hash_key(repeat, state->at[i], state->lens[i]);
    }
    bench_stop(watch);
    *found = fold_hashes(state->out);
    return true;
}

static bool run_one(const void *work, void *state, unsigned phase, bench_watch *watch,
                    uint64_t *found)
{
    (void)work;
    return run_hash(state, phase, false, watch, found);
}

static bool run_batch(const void *work, void *state, unsigned phase, bench_watch *watch,
                      uint64_t *found)
{
    (void)work;
    return run_hash(state, phase, true, watch, found);
}

bool bench_hash(const bench_settings *settings, cli_json *json)
{
    static const bench_candidate candidates[] = {
        {"hash", make_hash_state, free, run_one, 0},
        {"hash, batch", make_hash_state, free, run_batch, 0},
    };
    const bench_plan plan = {
        .candidates = candidates,
        .count = 2,
        .phases = HASH_LENGTHS,
        .operations = (uint64_t)KEYS * REPEATS,
        .rounds = settings->rounds,
    };
    bench_result results[2] = {0};
    if (!bench_measure(&plan, NULL, results))
        return false;
    cli_json_count(json, "rounds", settings->rounds);
    cli_json_open(json, "keys", '[');
    for (unsigned i = 0; i < HASH_LENGTHS; i++) {
        if (results[0].found[i] != results[1].found[i])
            return bench_fail("%u-byte keys are hashed differently in a batch", lengths[i]);
        cli_json_open(json, NULL, '{');
        cli_json_count(json, "bytes", lengths[i]);
        cli_json_number(json, "ns", results[0].time[i].median);
        cli_json_number(json, "ns_min", results[0].time[i].min);
        cli_json_number(json, "ns_batch", results[1].time[i].median);
        cli_json_number(json, "ns_batch_min", results[1].time[i].min);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
    return true;
}
