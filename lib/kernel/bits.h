/*
 * Bit fields and bit moves in byte strings: bit i is bit i % 8 of byte i / 8, on every machine.
 *
 * These are the definitions. Each instruction set compiles its own copy and replaces the inner
 * loops that it can do faster (kernel_*.c).
 */
#ifndef BRY_KERNEL_BITS_H
#define BRY_KERNEL_BITS_H

#include "common/endian.h"

#include <stdbool.h>
#include <stddef.h>

#define BRY__FIELD_MAX 57u /* bits of a field that one unaligned word always covers */

/* The word that ends with the last byte of field [at, at + len), and the field's shift in it. It is
 * anchored at its end, except at the string's beginning, so that a field is read without touching
 * anything outside a string of at least eight bytes. */
static inline size_t bry__field_word(uint64_t at, unsigned len, unsigned *shift)
{
    size_t end = (size_t)((at + len + 7) >> 3), word = end > 8 ? end - 8 : 0;
    *shift = (unsigned)(at - 8 * (uint64_t)word) & 63;
    return word;
}

static inline uint64_t bry__low_bits(unsigned len)
{
    return ((uint64_t)1 << len) - 1; /* len < 64 */
}

static inline uint64_t bry__field_get(const unsigned char *bytes, uint64_t at, unsigned len)
{
    unsigned shift;
    size_t word = bry__field_word(at, len, &shift);
    return bry__load64(bytes + word) >> shift & bry__low_bits(len);
}

static inline void bry__field_put(unsigned char *bytes, uint64_t at, unsigned len, uint64_t value)
{
    unsigned shift;
    size_t word = bry__field_word(at, len, &shift);
    uint64_t mask = bry__low_bits(len) << shift;
    bry__store64(bytes + word, (bry__load64(bytes + word) & ~mask) | (value << shift & mask));
}

/* Moves by bits of whole target bytes: bytes [first, end) become the bits that are `by` further up
 * (down) or further down (up), as if all were read before one is written. `down` reads up to byte
 * end + by / 8, `up` nothing at or above `end`. */
static inline uint64_t bry__bits_below(const unsigned char *from, unsigned shift)
{
    return bry__load64(from) >> shift | bry__load64(from + 1) << (8 - shift);
}

static inline void bry__bits_down_words(unsigned char *bytes, size_t first, size_t end, unsigned by)
{
    const unsigned char *from = bytes + (by >> 3);
    unsigned shift = by & 7;
    for (; end - first >= 8; first += 8)
        bry__store64(bytes + first, bry__bits_below(from + first, shift));
    for (; first < end; first++)
        bytes[first] = (unsigned char)(from[first] >> shift | from[first + 1] << (8 - shift));
}

static inline void bry__bits_up_words(unsigned char *bytes, size_t first, size_t end, unsigned by)
{
    const unsigned char *from = bytes - ((by + 7) >> 3);
    unsigned shift = -by & 7;
    for (; end - first >= 8; end -= 8)
        bry__store64(bytes + end - 8, bry__bits_below(from + end - 8, shift));
    for (; end > first; end--)
        bytes[end - 1] = (unsigned char)(from[end - 1] >> shift | from[end] << (8 - shift));
}

/* The position of set bit number i (from 0); the word has more than i bits set. */
static inline unsigned bry__select64(uint64_t word, unsigned i)
{
#if defined(__BMI2__)
    return (unsigned)__builtin_ctzll(__builtin_ia32_pdep_di((uint64_t)1 << i, word));
#else
    /* Bytes first: the running sums of their bit counts, all in one word. */
    uint64_t sums = word - (word >> 1 & UINT64_C(0x5555555555555555));
    sums = (sums & UINT64_C(0x3333333333333333)) + (sums >> 2 & UINT64_C(0x3333333333333333));
    sums = ((sums + (sums >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f)) * UINT64_C(0x0101010101010101);
    unsigned at = 0, before = 0;
    while ((sums >> at & 0xff) <= i) {
        before = (unsigned)(sums >> at & 0xff);
        at += 8;
    }
    uint64_t byte = word >> at;
    for (i -= before; i > 0; i--)
        byte &= byte - 1;
    return at + (unsigned)__builtin_ctzll(byte);
#endif
}

/* In a string of runs (one 1 per member, then a 0): the position after `zeros` 0s from `at`, where
 * a run begins; *ones is its length. Reads up to eight bytes past the run's 0. */
static inline uint64_t bry__run_after_words(const unsigned char *bytes, uint64_t at, unsigned zeros,
                                            unsigned *ones)
{
    uint64_t base = at & ~(uint64_t)7;
    uint64_t clear = ~bry__load64(bytes + (base >> 3)) & ~(uint64_t)0 << (at & 7);
    unsigned here = (unsigned)__builtin_popcountll(clear);
    while (zeros >= here) { /* the run's own 0, number `zeros`, is in a later word */
        zeros -= here;
        base += 64;
        clear = ~bry__load64(bytes + (base >> 3));
        here = (unsigned)__builtin_popcountll(clear);
    }
    unsigned end = bry__select64(clear, zeros);
    uint64_t before = clear & bry__low_bits(end);
    if (before) {
        unsigned begin = 64 - (unsigned)__builtin_clzll(before);
        *ones = end - begin;
        return base + begin;
    }
    /* It began in an earlier word: back to the last 0 there, or to `at`. */
    uint64_t begin = base > at ? base : at;
    while (begin > at && bytes[(begin - 1) >> 3] >> ((begin - 1) & 7) & 1)
        begin--;
    *ones = (unsigned)(base + end - begin);
    return begin;
}

#endif
