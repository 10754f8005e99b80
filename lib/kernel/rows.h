/* Rows of bit-sliced filters: bit c of a row belongs to column c and is bit c % 8 of byte c / 8.
 * These are the definitions; each instruction set replaces those that it can do faster
 * (kernel_*.c). */
#ifndef BRY_KERNEL_ROWS_H
#define BRY_KERNEL_ROWS_H

#include "common/endian.h"

#include <stdbool.h>
#include <stddef.h>

#define BRY__ROW_MAX 64u /* bytes */

/* Rows of one, two, four or eight bytes. */
static inline bool bry__rows_and_word(unsigned char *mask, const unsigned char *const *rows,
                                      size_t n, size_t bytes)
{
    uint64_t left = 0;
    switch (bytes) {
    case 1:
        left = mask[0];
        for (size_t i = 0; i < n && left; i++)
            left &= rows[i][0];
        mask[0] = (unsigned char)left;
        break;
    case 2:
        left = bry__load16(mask);
        for (size_t i = 0; i < n && left; i++)
            left &= bry__load16(rows[i]);
        bry__store16(mask, (uint16_t)left);
        break;
    case 4:
        left = bry__load32(mask);
        for (size_t i = 0; i < n && left; i++)
            left &= bry__load32(rows[i]);
        bry__store32(mask, (uint32_t)left);
        break;
    default:
        left = bry__load64(mask);
        for (size_t i = 0; i < n && left; i++)
            left &= bry__load64(rows[i]);
        bry__store64(mask, left);
    }
    return left != 0;
}

/* Rows of 16, 32 or 64 bytes. */
static inline bool bry__rows_and_words(unsigned char *mask, const unsigned char *const *rows,
                                       size_t n, size_t bytes)
{
    uint64_t any = 0;
    for (size_t w = 0; w < bytes; w += 8)
        any |= bry__load64(mask + w);
    for (size_t i = 0; i < n && any; i++) {
        any = 0;
        for (size_t w = 0; w < bytes; w += 8) {
            uint64_t left = bry__load64(mask + w) & bry__load64(rows[i] + w);
            bry__store64(mask + w, left);
            any |= left;
        }
    }
    return any != 0;
}

/* Transposes 64 × 64 bits: afterwards bit j of word i is what bit i of word j was. Swaps halves,
 * then quarters within them, down to single bits. */
static inline void bry__transpose64(uint64_t square[64])
{
    uint64_t mask = UINT64_C(0x00000000ffffffff);
    for (unsigned step = 32; step; step >>= 1, mask ^= mask << step) {
        for (unsigned i = 0; i < 64; i = ((i | step) + 1) & ~step) {
            uint64_t swap = (square[i] >> step ^ square[i | step]) & mask;
            square[i] ^= swap << step;
            square[i | step] ^= swap;
        }
    }
}

#endif
