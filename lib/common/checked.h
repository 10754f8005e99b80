/* Arithmetic on sizes that reports overflow instead of wrapping. Each returns false on overflow. */
#ifndef BRY_COMMON_CHECKED_H
#define BRY_COMMON_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool bry__mul(uint64_t a, uint64_t b, uint64_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

/* Converts a 64-bit count to size_t. */
static inline bool bry__to_size(uint64_t n, size_t *size)
{
    *size = (size_t)n;
    return *size == n;
}

#endif
