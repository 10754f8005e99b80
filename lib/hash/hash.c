#include <bloomery/hash.h>

/* Only the one-shot function is used, from the shared library. */
#include <xxhash.h>

#include "common/endian.h"

bry_hash bry_hash_key(uint64_t seed, const void *bytes, size_t len)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(len ? bytes : "", len, seed);
    return (bry_hash){h.low64, h.high64};
}

void bry_hash_key_n(uint64_t seed, const void *const *keys, const size_t *lens, size_t n,
                    bry_hash *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = bry_hash_key(seed, keys[i], lens[i]);
}

bry_hash bry_hash_digest(const unsigned char digest[16])
{
    return (bry_hash){bry__load64(digest), bry__load64(digest + 8)};
}
