/* Loops that the compiler optimizes well by itself when it may use the popcount instruction: each
 * translation unit compiles them for its own instruction set. */
#ifndef BRY_KERNEL_POPCOUNT_H
#define BRY_KERNEL_POPCOUNT_H

#include "common/endian.h"

#include <stddef.h>

static inline uint64_t bry__popcount_words(const unsigned char *bytes, size_t len)
{
    uint64_t count = 0;
    for (size_t i = 0; i < len; i += 8)
        count += (unsigned)__builtin_popcountll(bry__load64(bytes + i));
    return count;
}

static inline uint64_t bry__popcount_or_words(const unsigned char *a, const unsigned char *b,
                                              size_t len)
{
    uint64_t count = 0;
    for (size_t i = 0; i < len; i += 8)
        count += (unsigned)__builtin_popcountll(bry__load64(a + i) | bry__load64(b + i));
    return count;
}

#endif
