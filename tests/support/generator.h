/* Pseudo-random numbers, the same in every run. */
#ifndef BRY_TESTS_GENERATOR_H
#define BRY_TESTS_GENERATOR_H

#include <bloomery/hash.h>

/* Any seed is good; consecutive seeds give unrelated sequences. */
typedef struct generator {
    uint64_t state;
} generator;

/* SplitMix64: a counter, mixed. The constants are not those of hash/derive.h, on purpose. */
static inline uint64_t generator_next(generator *from)
{
    uint64_t x = from->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A number below range, which is much smaller than 2^64, so that the bias of the remainder is
 * negligible. */
static inline uint64_t generator_below(generator *from, uint64_t range)
{
    return generator_next(from) % range;
}

static inline bry_hash generator_hash(generator *from)
{
    uint64_t lo = generator_next(from);
    return (bry_hash){lo, generator_next(from)};
}

static inline void generator_fill(generator *from, void *bytes, size_t len)
{
    unsigned char *at = bytes;
    for (size_t i = 0; i < len; i++)
        at[i] = (unsigned char)generator_next(from);
}

#endif
