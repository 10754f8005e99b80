/*
 * The distribution of values: 0 to count - 1, drawn uniformly or by Zipf's law (value i with weight
 * 1/(i + 1)^skew); optionally value 0 has a given share, and the law applies to the others.
 */
#ifndef BLOOMERY_BENCH_VALUE_MIX_H
#define BLOOMERY_BENCH_VALUE_MIX_H

#include <stdbool.h>
#include <stdint.h>

typedef struct value_mix {
    uint32_t count;
    double same; /* the probability that two keys have the same value */
    uint64_t *below; /* value i is drawn by random numbers from below[i - 1] to below[i] - 1 */
} value_mix;

/* top 0: no share is given. False if memory runs out; then there is nothing to free. */
bool value_mix_make(value_mix *mix, uint32_t count, double skew, double top);
void value_mix_free(value_mix *mix);

/* `random` is uniform over 64 bits. */
uint32_t value_mix_draw(const value_mix *mix, uint64_t random);

#endif
