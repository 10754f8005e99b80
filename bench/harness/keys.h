/*
 * Keys to measure with: 16 bytes each that look random, all distinct, the same in every run. Those
 * to look up are in another order than those that were added, and absent ones are apart.
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

/* False when memory does not suffice; then there is nothing to free. */
bool bench_keys_make(bench_keys *keys, uint64_t count);
void bench_keys_free(bench_keys *keys);

/* Number i of a sequence that looks random and never repeats a number. */
uint64_t bench_random(uint64_t i);

#endif
