#include "kernel/bits.h"
#include "kernel/block.h"
#include "kernel/kernel.h"

#include <arm_neon.h>

/* NEON has no gather: the scalar loop, which stops at the first clear bit, is the better one. */
static void block_test(const unsigned char *const *blocks, const uint64_t *halves, size_t n,
                       unsigned k, uint8_t *answers)
{
    for (size_t i = 0; i < n; i++)
        answers[i] = bry__block_test(blocks[i], halves[i], k);
}

static uint64_t popcount(const unsigned char *bytes, size_t len)
{
    uint64_t count = 0;
    for (size_t i = 0; i < len; i += 16)
        count += vaddvq_u8(vcntq_u8(vld1q_u8(bytes + i)));
    return count;
}

static uint64_t popcount_or(const unsigned char *a, const unsigned char *b, size_t len)
{
    uint64_t count = 0;
    for (size_t i = 0; i < len; i += 16)
        count += vaddvq_u8(vcntq_u8(vorrq_u8(vld1q_u8(a + i), vld1q_u8(b + i))));
    return count;
}

static void or_into(unsigned char *into, const unsigned char *from, size_t len)
{
    for (size_t i = 0; i < len; i += 16)
        vst1q_u8(into + i, vorrq_u8(vld1q_u8(into + i), vld1q_u8(from + i)));
}

const bry__kernel bry__kernel_neon = {
    .isa = BRY__ISA_NEON,
    .block_test = block_test,
    .popcount = popcount,
    .popcount_or = popcount_or,
    .or_into = or_into,
    .bits_down = bry__bits_down_words,
    .bits_up = bry__bits_up_words,
    .run_after = bry__run_after_words,
};
