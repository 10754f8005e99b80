/*
 * Keys for measurements: 16 pseudo-random bytes each, distinct, the same in every run. Look-ups use
 * another order than insertions; absent keys are a separate set.
 */
#ifndef BLOOMERY_BENCH_KEYS_H
#define BLOOMERY_BENCH_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#define BENCH_KEY_BYTES 16u

typedef struct bench_keys {
    uint64_t count; /* of each kind */
    unsigned char *added, *hits, *misses;
} bench_keys;

/* False if memory runs out; then there is nothing to free. */
bool bench_keys_make(bench_keys *keys, uint64_t count);
void bench_keys_free(bench_keys *keys);

/* Number i of a pseudo-random sequence without repetition. */
uint64_t bench_random(uint64_t i);

#endif
