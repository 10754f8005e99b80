/* Little-endian access at any address, on machines of either byte order. */
#ifndef BRY_COMMON_ENDIAN_H
#define BRY_COMMON_ENDIAN_H

#include <stdint.h>
#include <string.h>

static inline uint16_t bry__swap16(uint16_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap16(v);
#else
    return v;
#endif
}

static inline uint32_t bry__swap32(uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap32(v);
#else
    return v;
#endif
}

static inline uint64_t bry__swap64(uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(v);
#else
    return v;
#endif
}

#define BRY__ENDIAN_ACCESS(bits)                                                                   \
    static inline uint##bits##_t bry__load##bits(const void *from)                                 \
    {                                                                                              \
        uint##bits##_t v;                                                                          \
        memcpy(&v, from, sizeof v);                                                                \
        return bry__swap##bits(v);                                                                 \
    }                                                                                              \
    static inline void bry__store##bits(void *to, uint##bits##_t v)                                \
    {                                                                                              \
        v = bry__swap##bits(v);                                                                    \
        memcpy(to, &v, sizeof v);                                                                  \
    }
BRY__ENDIAN_ACCESS(16)
BRY__ENDIAN_ACCESS(32)
BRY__ENDIAN_ACCESS(64)
#undef BRY__ENDIAN_ACCESS

/* Doubles are stored as the 64 bits of IEEE 754. */
static inline double bry__load_double(const void *from)
{
    uint64_t bits = bry__load64(from);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline void bry__store_double(void *to, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    bry__store64(to, bits);
}

#endif
