/*
 * Look-ups of many keys in segments, whose layout maplet/segment.c draws. A probe is a segment's
 * block and what is searched there; the work is in two passes, so that the second finds in the
 * cache what the first has prefetched.
 *
 * These are the definitions; each instruction set compiles its own copy (kernel_*.c).
 */
#ifndef BRY_KERNEL_PROBES_H
#define BRY_KERNEL_PROBES_H

#include "kernel/slots.h"

#define BRY__SAMPLED 7u /* log2 of the quotients per sample */

typedef struct bry__probe {
    const unsigned char *bytes; /* the block, which begins with the samples */
    uint32_t runs; /* the byte where the runs begin */
    uint32_t end; /* the bit where the slots end */
    uint64_t u; /* = quotient << low | remainder */
    uint32_t quotient;
    uint8_t low, bits; /* of a remainder and of a slot */
    uint32_t index, length; /* of the quotient's entries: set by the first pass */
} bry__probe;

/* A block for probes of empty segments: no quotient has entries. */
#define BRY__NO_BLOCK 64u
extern const unsigned char bry__no_block[BRY__NO_BLOCK];

/* The bit of the runs from which on the quotient is searched. */
static inline unsigned bry__probe_start(const bry__probe *probe)
{
    /* Without a branch: whether it is before the first sample cannot be predicted. */
    unsigned block = probe->quotient >> BRY__SAMPLED, sampled = block > 0;
    unsigned sample = bry__load16(probe->bytes + 2 * (size_t)(block - sampled));
    return (block << BRY__SAMPLED) + (sample & -sampled);
}

/* The bit where the slot of the quotient's first entry ends. */
static inline uint32_t bry__probe_end(const bry__probe *probe)
{
    return probe->end - probe->index * probe->bits;
}

/* Sets the quotient's entries. */
static inline void bry__probe_find_run(bry__probe *probe)
{
    unsigned length, zeros = probe->quotient & ((1u << BRY__SAMPLED) - 1);
    uint64_t at =
        bry__run_after_words(probe->bytes + probe->runs, bry__probe_start(probe), zeros, &length);
    probe->index = (uint32_t)at - probe->quotient;
    probe->length = length;
}

static inline void bry__probe_runs_words(bry__probe *probes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bry__probe_find_run(&probes[i]);
        const unsigned char *end = probes[i].bytes + (bry__probe_end(&probes[i]) >> 3);
        if (probes[i].length > 0) { /* the word that is read may begin in the line before */
            __builtin_prefetch(end);
            __builtin_prefetch(end - 8);
        }
    }
}

/* The first of the entries from number `from` on with the probe's remainder; false if there is
 * none. */
static inline bool bry__probe_pick(const bry__probe *probe, unsigned from, uint32_t *value)
{
    unsigned low = probe->low, bits = probe->bits;
    uint64_t end = bry__probe_end(probe) - (uint64_t)from * bits;
    for (unsigned i = from; i < probe->length; i++, end -= bits) {
        if (bits <= BRY__FIELD_MAX) {
            uint64_t slot = bry__slot_before(probe->bytes, end, bits);
            if ((slot ^ probe->u) << (64 - low) == 0) {
                *value = (uint32_t)(slot >> low);
                return true;
            }
        } else if (bry__field_get(probe->bytes, end - bits, low) ==
                   (probe->u & bry__low_bits(low))) {
            *value = (uint32_t)bry__field_get(probe->bytes, end - (bits - low), bits - low);
            return true;
        }
    }
    return false;
}

static inline void bry__probe_slots_words(const bry__probe *probes, size_t n, uint32_t *values,
                                          uint8_t *answers)
{
    for (size_t i = 0; i < n; i++)
        if (!answers[i])
            answers[i] = bry__probe_pick(&probes[i], 0, &values[i]);
}

#endif
