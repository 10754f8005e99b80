/* How a key picks its bits inside a 512-bit block of a blocked Bloom filter. Half of the hash is
 * read as seven 9-bit numbers; if k is above seven, further words are derived from it by mixing.
 * Bit p of a block is bit p % 8 of byte p / 8, on every machine. */
#ifndef BRY_KERNEL_BLOCK_H
#define BRY_KERNEL_BLOCK_H

#include "hash/derive.h"

#define BRY__PER_WORD 7u

static inline unsigned bry__block_position(uint64_t word, unsigned i)
{
    return (unsigned)(word >> (9 * i)) & 511u;
}

/*
 * Returns whether all k positions are set. Bits are tested seven at a time without a branch:
 * if about half of all bits are set, the processor mispredicts every other branch, which
 * costs more than an early exit saves.
 */
static inline bool bry__block_test(const unsigned char *block, uint64_t half, unsigned k)
{
    for (unsigned i = 0; i < k; i += BRY__PER_WORD) {
        uint64_t word = bry__word(half, i / BRY__PER_WORD);
        unsigned here = k - i < BRY__PER_WORD ? k - i : BRY__PER_WORD, all = 1;
        for (unsigned j = 0; j < here; j++) {
            unsigned p = bry__block_position(word, j);
            all &= (unsigned)block[p / 8] >> p % 8;
        }
        if (!(all & 1))
            return false;
    }
    return true;
}

/* The same for n blocks. */
static inline void bry__block_test_n(const unsigned char *const *blocks, const uint64_t *halves,
                                     size_t n, unsigned k, uint8_t *answers)
{
    for (size_t i = 0; i < n; i++)
        answers[i] = bry__block_test(blocks[i], halves[i], k);
}

static inline void bry__block_set(unsigned char *block, uint64_t half, unsigned k)
{
    for (unsigned i = 0; i < k; i += BRY__PER_WORD) {
        uint64_t word = bry__word(half, i / BRY__PER_WORD);
        for (unsigned j = 0; j < BRY__PER_WORD && i + j < k; j++) {
            unsigned p = bry__block_position(word, j);
            block[p / 8] |= (unsigned char)(1u << p % 8);
        }
    }
}

/* Sets all k positions and returns whether one of them was clear. */
static inline bool bry__block_add(unsigned char *block, uint64_t half, unsigned k)
{
    bool is_new = !bry__block_test(block, half, k);
    if (is_new)
        bry__block_set(block, half, k);
    return is_new;
}

#endif
