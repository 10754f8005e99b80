/*
 * The few inner loops that vector instructions make faster, as a table of functions per instruction
 * set. The scalar one defines the result; the others give the same bits, and the tests run all
 * that the machine supports. Each has its own translation unit, so that nothing else is compiled
 * for more than the base machine.
 */
#ifndef BRY_KERNEL_KERNEL_H
#define BRY_KERNEL_KERNEL_H

#include "common/attributes.h"
#include "common/cpu.h"
#include "kernel/probes.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bry__kernel {
    bry__isa isa;

    /* The k positions that a hash half picks in a 64-byte block (kernel/block.h), which is aligned
     * to 64. block_has: whether all of them are set. block_add: sets them and returns whether one
     * was clear. block_test: answers[i] is what block_has gives for blocks[i] and halves[i]. */
    bool (*block_has)(const unsigned char *block, uint64_t half, unsigned k);
    bool (*block_add)(unsigned char *block, uint64_t half, unsigned k);
    void (*block_test)(const unsigned char *const *blocks, const uint64_t *halves, size_t n,
                       unsigned k, uint8_t *answers);

    /* The rest work on whole cache lines: len is a multiple of 64. */
    uint64_t (*popcount)(const unsigned char *bytes, size_t len);
    uint64_t (*popcount_or)(const unsigned char *a, const unsigned char *b, size_t len);
    void (*or_into)(unsigned char *into, const unsigned char *from, size_t len);

    /* Bit strings, as kernel/bits.h defines them: moves, by 1 to 57 bits, and runs. */
    void (*bits_down)(unsigned char *bytes, size_t first, size_t end, unsigned by);
    void (*bits_up)(unsigned char *bytes, size_t first, size_t end, unsigned by);
    uint64_t (*run_after)(const unsigned char *bytes, uint64_t at, unsigned zeros, unsigned *ones);

    /* Look-ups in segments (kernel/probes.h). probe_runs: finds the entries of each quotient, and
     * prefetches them. probe_slots: where answers[i] is 0, it becomes whether one of them has the
     * remainder, and values[i] the value of the first one. */
    void (*probe_runs)(bry__probe *probes, size_t n);
    void (*probe_slots)(const bry__probe *probes, size_t n, uint32_t *values, uint8_t *answers);

    /* Entries of a segment that are kept (kernel/slots.h). */
    void (*slots_select)(const unsigned char *bytes, uint64_t end, unsigned n, unsigned bits,
                         unsigned value_bits, const bry__kept_values *values, bry__kept *kept);
    void (*slots_copy)(const unsigned char *bytes, uint64_t end, unsigned n, unsigned bits,
                       const uint64_t *kept, unsigned char *to);
    void (*runs_copy)(const unsigned char *runs, uint64_t end, const uint64_t *kept,
                      unsigned char *to);
    unsigned (*runs_list)(const unsigned char *runs, uint64_t end, const uint64_t *kept,
                          bry__runs_place *place, bry__run_entry *to, unsigned room);

    /* Rows of bit-sliced filters (kernel/rows.h), of 1, 2, 4, 8, 16, 32 or 64 bytes: ANDs n of them
     * into mask, stops early if mask becomes zero, and returns whether it is not. */
    bool (*rows_and)(unsigned char *mask, const unsigned char *const *rows, size_t n, size_t bytes);
} bry__kernel;

/* Called at the first use. Two threads may both do so; they pick the same kernels. */
BRY__COLD const bry__kernel *bry__kernel_pick(void);
extern _Atomic(const bry__kernel *) bry__kernel_picked;

/* The kernels in use: the best that the machine supports, or those that BLOOMERY_ISA names. */
static inline const bry__kernel *bry__kernels(void)
{
    const bry__kernel *kernel = atomic_load_explicit(&bry__kernel_picked, memory_order_acquire);
    return kernel ? kernel : bry__kernel_pick();
}

/* For tests: NULL if this build or machine does not support it. */
const bry__kernel *bry__kernel_of(bry__isa isa);

/* For tests: makes bry__kernels() return these from now on; false if not supported. */
bool bry__kernel_force(bry__isa isa);

extern const bry__kernel bry__kernel_scalar;
#if defined(__x86_64__)
extern const bry__kernel bry__kernel_avx2;
extern const bry__kernel bry__kernel_avx512;
#elif defined(__aarch64__)
extern const bry__kernel bry__kernel_neon;
#endif

#endif
