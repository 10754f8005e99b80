/*
 * What engines derive from a 128-bit hash. It is part of every file format: a change here needs a
 * new number for the hash scheme.
 */
#ifndef BRY_HASH_DERIVE_H
#define BRY_HASH_DERIVE_H

#include <bloomery/hash.h>

/* The scheme's number in files. */
#define BRY__HASH_SCHEME 1

__extension__ typedef unsigned __int128 bry__u128;

/* The upper half of a 64 × 64 bit product: x · range / 2^64, a number below range. */
static inline uint64_t bry__scale(uint64_t x, uint64_t range)
{
    return (uint64_t)(((bry__u128)x * range) >> 64);
}

/* A bijection of 64-bit numbers whose every output bit depends on every input bit. */
static inline uint64_t bry__mix64(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    return x;
}

/* Word number i of an endless pseudo-random sequence seeded by a hash half; word 0 is the half
 * itself. */
static inline uint64_t bry__word(uint64_t half, unsigned i)
{
    return i == 0 ? half : bry__mix64(half + i * UINT64_C(0x9e3779b97f4a7c15));
}

/* A fingerprint below range, uniform, growing with the hash: ranges that differ by a factor of 2^j
 * give fingerprints that differ by their j low bits. */
static inline uint64_t bry__fingerprint(bry_hash hash, uint64_t range)
{
    return bry__scale(hash.hi, range);
}

/* Position i of a standard Bloom filter of `range` cells; distinct i are independent. */
static inline uint64_t bry__position(bry_hash hash, unsigned i, uint64_t range)
{
    return bry__scale(bry__mix64(hash.lo + i * hash.hi), range);
}

#endif
