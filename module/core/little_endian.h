/* Little-endian 64-bit numbers in the module's own formats. */
#ifndef BLOOMERY_MODULE_LITTLE_ENDIAN_H
#define BLOOMERY_MODULE_LITTLE_ENDIAN_H

#include <stdint.h>

static inline void store64(void *to, uint64_t number)
{
    unsigned char *bytes = to;
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(number >> (8 * i));
}

static inline uint64_t load64(const void *from)
{
    const unsigned char *bytes = from;
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number |= (uint64_t)bytes[i] << (8 * i);
    return number;
}

#endif
