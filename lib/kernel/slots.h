/*
 * Entries of a segment that are kept, and the others left out (maplet/segment_names.c). Slots are
 * fields of `bits` bits that follow one another downwards in a byte string, with a value at the top
 * of each; the eight bytes before the last one may be read. Runs have a 1 per entry, in the same
 * order, and 0s between. A bit string `kept` has a bit for each entry, and a word more than it
 * needs.
 *
 * These are the definitions; each instruction set compiles its own copy (kernel_*.c).
 */
#ifndef BRY_KERNEL_SLOTS_H
#define BRY_KERNEL_SLOTS_H

#include "kernel/bits.h"

/* The `bits` bits that end at bit `end`: the word that ends with their last byte, shifted. */
static inline uint64_t bry__slot_before(const unsigned char *bytes, uint64_t end, unsigned bits)
{
    return bry__load64(bytes + ((end + 7) >> 3) - 8) << (-(unsigned)end & 7) >> (64 - bits);
}

/* Bits that are written downwards, towards lower places. */
typedef struct bry__downwards {
    unsigned char *end; /* bytes from here on are complete */
    uint64_t bits; /* those that are not written yet, from the highest bit on */
    unsigned used; /* number of bits in `bits`, less than 8 */
} bry__downwards;

/* At most 56 of them; 0: the field is 0. Overwrites eight bytes before the end. */
static inline void bry__put_bits(bry__downwards *to, uint64_t field, unsigned len)
{
    to->used += len;
    to->bits |= field << (-to->used & 63);
    bry__store64(to->end - 8, to->bits);
    to->end -= to->used >> 3;
    to->bits <<= to->used & ~7u;
    to->used &= 7;
}

/* Which values are kept: those whose name is not UINT32_MAX. `few` has a bit for each value below 64
 * that is kept, so that often no name has to be read. */
typedef struct bry__kept_values {
    const uint32_t *name;
    uint64_t few;
} bry__kept_values;
#define BRY__FEW_BITS 6u

/* The values below n have names; others do not occur. */
static inline bry__kept_values bry__keep_named(const uint32_t *name, uint64_t n)
{
    bry__kept_values kept = {name, 0};
    for (unsigned i = 0; i < 1u << BRY__FEW_BITS && i < n; i++)
        kept.few |= (uint64_t)(name[i] != UINT32_MAX) << i;
    return kept;
}

/* Which entries of a segment are kept: a bit for each, with a word of 0s behind the last; how many
 * there are before each word, and in all. */
#define BRY__KEPT_MOST 2048u
typedef struct bry__kept {
    uint64_t bits[BRY__KEPT_MOST / 64 + 2];
    unsigned before[BRY__KEPT_MOST / 64 + 2];
    unsigned n;
} bry__kept;

/* Counts, after the bits of n entries were set. */
static inline void bry__kept_count(bry__kept *kept, unsigned n)
{
    kept->n = 0;
    for (unsigned i = 0; i <= n / 64 + 1; i++) {
        if (64 * i >= n)
            kept->bits[i] = 0;
        kept->before[i] = kept->n;
        kept->n += (unsigned)__builtin_popcountll(kept->bits[i]);
    }
}

/* Selects, of n slots of 1 to 57 bits, those whose values are kept. The first one ends at bit `end`,
 * and the string has an even number of bytes. */
static inline void bry__slots_select_words(const unsigned char *bytes, uint64_t end, unsigned n,
                                           unsigned bits, unsigned value_bits,
                                           const bry__kept_values *values, bry__kept *kept)
{
    uint64_t few = values->few;
    unsigned shift = 63 - value_bits;
    const uint32_t *name = values->name;
    for (unsigned i = 0; i < n; i += 64, end -= 64 * (uint64_t)bits) {
        unsigned left = n - i < 64 ? n - i : 64;
        uint64_t word = 0, at = end - (uint64_t)left * bits;
        while (left-- > 0) {
            at += bits;
            uint64_t top = bry__load64(bytes + ((at + 7) >> 3) - 8) << (-(unsigned)at & 7);
            uint64_t value = top >> 1 >> shift;
            word +=
                word + (value_bits <= BRY__FEW_BITS ? few >> value & 1 : name[value] < UINT32_MAX);
        }
        kept->bits[i / 64] = word;
    }
    bry__kept_count(kept, n);
}

/* The bits of `kept` for the entries from number `index` on. */
static inline uint64_t bry__kept_from(const uint64_t *kept, unsigned index)
{
    unsigned shift = index % 64;
    return kept[index / 64] >> shift | kept[index / 64 + 1] << 1 << (63 - shift);
}

/* Copies those of n slots that are kept, of 1 to 56 bits. The first one ends at bit `end`, and its
 * copy at `to`. */
static inline void bry__slots_copy_words(const unsigned char *bytes, uint64_t end, unsigned n,
                                         unsigned bits, const uint64_t *kept, unsigned char *to)
{
    bry__downwards out = {.end = to};
#if defined(__BMI2__)
    /* A few slots at a time, without branches: which of them are kept cannot be predicted. */
    enum { ROUND = 60 }; /* of which 1, 2, 3 and 4 are divisors */
    unsigned most = 56 / bits, few = most < 4 ? most : 4;
    uint64_t masks[16] = {0}, step = (uint64_t)few * bits, those = bry__low_bits(few);
    for (unsigned which = 0; which < 1u << few; which++)
        for (unsigned i = 0; i < few; i++)
            masks[which] |= (which >> i & 1 ? bry__low_bits(bits) : 0) << (64 - (i + 1) * bits);
    for (unsigned i = 0; i < n; i += ROUND) {
        uint64_t left = bry__kept_from(kept, i);
        unsigned here = n - i < ROUND ? n - i : ROUND;
        for (unsigned j = 0; j < here; j += few, end -= step, left >>= few) {
            uint64_t mask = masks[left & those];
            uint64_t slots = bry__load64(bytes + ((end + 7) >> 3) - 8) << (-(unsigned)end & 7);
            bry__put_bits(&out, __builtin_ia32_pext_di(slots, mask),
                          (unsigned)__builtin_popcountll(mask));
        }
    }
#else
    for (unsigned i = 0; i < n; i += 64, end -= 64 * (uint64_t)bits)
        for (uint64_t left = kept[i / 64]; left; left &= left - 1) {
            uint64_t at = end - (uint64_t)(unsigned)__builtin_ctzll(left) * bits;
            bry__put_bits(&out, bry__slot_before(bytes, at, bits), bits);
        }
#endif
}

/* The 1s of the word whose bits in `kept` are 1. */
static inline uint64_t bry__ones_kept(uint64_t word, uint64_t kept)
{
#if defined(__BMI2__)
    return __builtin_ia32_pdep_di(kept, word);
#else
    uint64_t left = 0;
    for (; word; word &= word - 1, kept >>= 1)
        left |= (word & -word) & -(kept & 1);
    return left;
#endif
}

/* Takes the bits of `gone` out of the word: those above move down. */
static inline uint64_t bry__bits_without(uint64_t word, uint64_t gone)
{
#if defined(__BMI2__)
    return __builtin_ia32_pext_di(word, ~gone);
#else
    while (gone) { /* from the top, so that the others stay where they are */
        unsigned at = 63 - (unsigned)__builtin_clzll(gone);
        word = (word & bry__low_bits(at)) | (word >> 1 & ~bry__low_bits(at));
        gone ^= (uint64_t)1 << at;
    }
    return word;
#endif
}

/* The word of the runs at bit `at`, a multiple of 64; zeros from bit `end` on. */
static inline uint64_t bry__runs_word(const unsigned char *runs, uint64_t at, uint64_t end)
{
    uint64_t word = bry__load64(runs + (at >> 3));
    return end - at < 64 ? word & bry__low_bits((unsigned)(end - at)) : word;
}

/* Copies the runs up to bit `end` without the 1s of what is not kept, and up to eight bytes of
 * zeros behind. */
static inline void bry__runs_copy_words(const unsigned char *runs, uint64_t end,
                                        const uint64_t *kept, unsigned char *to)
{
    uint64_t bits = 0; /* not written yet */
    unsigned used = 0, index = 0; /* `used` bits, less than 64 */
    for (uint64_t at = 0; at < end; at += 64) {
        unsigned len = end - at < 64 ? (unsigned)(end - at) : 64;
        uint64_t word = bry__runs_word(runs, at, end);
        uint64_t gone = word ^ bry__ones_kept(word, bry__kept_from(kept, index));
        index += (unsigned)__builtin_popcountll(word);
        if (gone) {
            len -= (unsigned)__builtin_popcountll(gone);
            word = bry__bits_without(word, gone);
        }
        bits |= word << used;
        bry__store64(to, bits);
        if (used + len >= 64) {
            to += 8;
            bits = used ? word >> (64 - used) : 0;
        }
        used = (used + len) % 64;
    }
    bry__store64(to, bits);
}

/* Stores index and quotient of the next entries that are kept, at most `room`, which is at least
 * 64: how many; 0 at the end. Begins with a zeroed place. */
typedef struct bry__run_entry {
    uint32_t index, quotient;
} bry__run_entry;
typedef struct bry__runs_place {
    uint64_t bit; /* a multiple of 64 */
    unsigned index; /* of the first entry from there on */
} bry__runs_place;
static inline unsigned bry__runs_list_words(const unsigned char *runs, uint64_t end,
                                            const uint64_t *kept, bry__runs_place *place,
                                            bry__run_entry *to, unsigned room)
{
    const bry__run_entry *begin = to;
    unsigned index = place->index; /* of the first 1 of the word */
    uint64_t at = place->bit;
    for (; at < end && (size_t)(to - begin) <= room - 64; at += 64) {
        uint64_t word = bry__runs_word(runs, at, end), of = bry__kept_from(kept, index);
        for (uint64_t left = bry__ones_kept(word, of); left; left &= left - 1, of &= of - 1) {
            unsigned here = index + (unsigned)__builtin_ctzll(of);
            *to++ = (bry__run_entry){here, (uint32_t)at + (unsigned)__builtin_ctzll(left) - here};
        }
        index += (unsigned)__builtin_popcountll(word);
    }
    *place = (bry__runs_place){at, index};
    return (unsigned)(to - begin);
}

#endif
