/*
 * Hash: a key becomes 128 bits. All structures work on hashes and never see a key.
 *
 * Scheme 1: XXH3-128 with a 64-bit seed. Every file contains the number of the scheme, and test
 * vectors ensure that the scheme does not change.
 *
 * By default every object has a random seed, so that nobody can prepare keys that collide. XXH3 is
 * fast and mixes well but is not a cryptographic hash: whoever knows the seed can construct
 * collisions. If keys come from an adversary who may know the seed, hash them with a cryptographic
 * function and use bry_hash_digest().
 */
#ifndef BLOOMERY_HASH_H
#define BLOOMERY_HASH_H

#include <bloomery/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bry_hash {
    uint64_t lo, hi; /* the halves of its 128 bits */
} bry_hash;

/* The hash of len bytes of any value, zeros included. If len is 0, bytes may be NULL. */
BRY_API bry_hash bry_hash_key(uint64_t seed, const void *bytes, size_t len);

/* out[i] = bry_hash_key(seed, keys[i], lens[i]) for each i below n. */
BRY_API void bry_hash_key_n(uint64_t seed, const void *const *keys, const size_t *lens, size_t n,
                            bry_hash *out);

/*
 * The first 16 bytes of a digest (SHA-1, SHA-256) as a hash, for keys that are uniform already.
 * The same on every machine: lo is bytes 0 to 7, hi bytes 8 to 15, both little-endian. There is no
 * seed.
 */
BRY_API bry_hash bry_hash_digest(const unsigned char digest[16]);

#ifdef __cplusplus
}
#endif

#endif
