/*
 * Keys become 128-bit hashes here, and nothing below this ever sees a key.
 *
 * Scheme 1: XXH3-128 with a 64-bit seed. The scheme's number stands in every file, and a vector
 * file in the tests pins it, so that it cannot change unnoticed.
 *
 * Objects have a random seed unless told otherwise, so that nobody can prepare keys which collide.
 * XXH3 is fast and well mixed but not a cryptographic hash: who learns the seed can construct
 * collisions. Where keys come from an adversary who may see the seed, hash them with a
 * cryptographic function and use bry_hash_digest().
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

/* The hash of len bytes; len may be 0, and bytes may then be NULL. Any bytes, zeros included. */
BRY_API bry_hash bry_hash_key(uint64_t seed, const void *bytes, size_t len);

/* out[i] = bry_hash_key(seed, keys[i], lens[i]) for i below n. */
BRY_API void bry_hash_key_n(uint64_t seed, const void *const *keys, const size_t *lens, size_t n,
                            bry_hash *out);

/*
 * The first 16 of a digest's bytes as a hash, for keys that are uniform already (SHA-1, SHA-256).
 * The same on every machine: lo is bytes 0–7, hi bytes 8–15, both little-endian. No seed enters.
 */
BRY_API bry_hash bry_hash_digest(const unsigned char digest[16]);

#ifdef __cplusplus
}
#endif

#endif
