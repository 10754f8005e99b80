/*
 * Which value a key has: values 0 to count - 1, drawn uniformly, by Zipf's law (value i as often as
 * 1/(i + 1)^skew), or with one of them, value 0, holding a given share and the law for the others.
 */
#ifndef BLOOMERY_BENCH_VALUE_MIX_H
#define BLOOMERY_BENCH_VALUE_MIX_H

#include <stdbool.h>
#include <stdint.h>

typedef struct value_mix {
    uint32_t count;
    double same; /* the probability that two keys have the same value */
    uint64_t *below; /* value i is drawn by numbers under below[i], and not under below[i - 1] */
} value_mix;

/* top 0: nobody's share is given. False when memory does not suffice; then nothing is to free. */
bool value_mix_make(value_mix *mix, uint32_t count, double skew, double top);
void value_mix_free(value_mix *mix);

/* `random` is uniform over 64 bits. */
uint32_t value_mix_draw(const value_mix *mix, uint64_t random);

#endif
