/*
 * Opens and closes the place of one entry in the block of a segment, which segment.c draws. Whole
 * bytes are moved by the kernel; the words at the ends of the moved range are read before and
 * written after, because a load that overlaps a recent store is slow.
 *
 * These rely on the layout: at least nine bytes before the slots, zeros in the gap between runs and
 * slots and in the rest of their bytes, and room for the entry that is inserted.
 */
#ifndef BRY_MAPLET_SEGMENT_SHIFT_H
#define BRY_MAPLET_SEGMENT_SHIFT_H

#include "kernel/bits.h"
#include "kernel/kernel.h"

/* The lowest 0 to 64 bits. */
static inline uint64_t bry__first_bits(uint64_t len)
{
    return len > 0 ? ~(uint64_t)0 >> (64 - len) : 0;
}

static inline uint64_t bry__above(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Moves the slots [lowest, at) down by `bits`, at most 57, and puts one above them. */
static inline void bry__slot_open(const bry__kernel *kernel, unsigned char *bytes, uint64_t lowest,
                                  uint64_t at, unsigned bits, uint64_t slot)
{
    size_t first = (size_t)((lowest - bits) >> 3), end = (size_t)((at + 7) >> 3);
    unsigned char *top = bytes + end - 8; /* this word has the whole slot */
    uint64_t word = bry__load64(top), used = at - 8 * (uint64_t)(end - 8), below = used - bits;
    uint64_t changed = slot << below | (word >> bits & bry__first_bits(below));
    uint64_t mask = bry__first_bits(used) & ~bry__first_bits(8 * bry__above(first + 8, end));
    if (first + 8 < end)
        kernel->bits_down(bytes, first, end - 8, bits);
    bry__store64(top, (changed & mask) | (word & ~mask));
}

/* Removes the slot [at - bits, at): those from `lowest` on move up, and zeros follow. */
static inline void bry__slot_close(const bry__kernel *kernel, unsigned char *bytes, uint64_t lowest,
                                   uint64_t at, unsigned bits)
{
    size_t first = (size_t)(lowest >> 3), end = (size_t)((at + 7) >> 3);
    unsigned char *top = bytes + end - 8, *bottom = bytes + first;
    uint64_t base = 8 * (uint64_t)(end - 8), word = bry__load64(top);
    const unsigned char *from = bytes - ((bits + 7) >> 3);
    unsigned shift = -bits & 7;
    uint64_t changed = bry__bits_below(from + end - 8, shift);
    uint64_t mask = bry__first_bits(at - base) & ~bry__first_bits(bry__above(lowest, base));
    changed &= ~bry__first_bits(bry__above(lowest + bits, base));
    if (first + 8 < end) {
        uint64_t low = bry__bits_below(from + first, shift) &
                       ~bry__first_bits(lowest + bits - 8 * (uint64_t)first);
        if (first + 16 < end)
            kernel->bits_up(bytes, first + 8, end - 8, bits);
        bry__store64(bottom, low);
    }
    bry__store64(top, (changed & mask) | (word & ~mask));
}

/* Inserts a 1 at bit `at` of the runs, which end before bit `end`. */
static inline void bry__run_open(const bry__kernel *kernel, unsigned char *runs, uint64_t at,
                                 uint64_t end)
{
    size_t first = (size_t)(at >> 3), behind = (size_t)(end >> 3) + 1;
    uint64_t word = bry__load64(runs + first), low = bry__low_bits(at & 7);
    uint64_t changed = (word & low) | (low + 1) | (word & ~low) << 1;
    if (first + 8 < behind) {
        kernel->bits_up(runs, first + 8, behind, 1);
    } else {
        uint64_t mask = bry__first_bits(8 * (uint64_t)(behind - first));
        changed = (changed & mask) | (word & ~mask);
    }
    bry__store64(runs + first, changed);
}

/* Removes the 1 at bit `at` of the runs, whose last bit is `end`; that becomes 0. */
static inline void bry__run_close(const bry__kernel *kernel, unsigned char *runs, uint64_t at,
                                  uint64_t end)
{
    size_t first = (size_t)(at >> 3), last = (size_t)(end >> 3);
    uint64_t word = bry__load64(runs + first), low = bry__low_bits(at & 7);
    uint64_t changed = (word & low) | (word >> 1 & ~low);
    if (first + 8 <= last) {
        unsigned char last_byte = runs[last] >> 1;
        changed |= (uint64_t)runs[first + 8] << 63;
        kernel->bits_down(runs, first + 8, last, 1);
        runs[last] = last_byte;
    } else {
        uint64_t mask = bry__first_bits(8 * (uint64_t)(last + 1 - first));
        changed = (changed & mask >> 1) | (word & ~mask);
    }
    bry__store64(runs + first, changed);
}

#endif
