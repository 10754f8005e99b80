#include "kernel/bits.h"
#include "kernel/block.h"
#include "kernel/kernel.h"
#include "kernel/rows.h"

#include <arm_neon.h>

static uint64_t neon_popcount(const unsigned char *bytes, size_t len)
{
    uint64_t count = 0;
    for (size_t i = 0; i < len; i += 16)
        count += vaddvq_u8(vcntq_u8(vld1q_u8(bytes + i)));
    return count;
}

static uint64_t neon_popcount_or(const unsigned char *a, const unsigned char *b, size_t len)
{
    uint64_t count = 0;
    for (size_t i = 0; i < len; i += 16)
        count += vaddvq_u8(vcntq_u8(vorrq_u8(vld1q_u8(a + i), vld1q_u8(b + i))));
    return count;
}

static void neon_or_into(unsigned char *into, const unsigned char *from, size_t len)
{
    for (size_t i = 0; i < len; i += 16)
        vst1q_u8(into + i, vorrq_u8(vld1q_u8(into + i), vld1q_u8(from + i)));
}

static bool neon_rows_and(unsigned char *mask, const unsigned char *const *rows, size_t n,
                          size_t bytes)
{
    if (bytes <= 8)
        return bry__rows_and_word(mask, rows, n, bytes);
    size_t quarters = bytes / 16;
    uint8x16_t left[4];
    uint8x16_t any = vdupq_n_u8(0);
    for (size_t q = 0; q < quarters; q++) {
        left[q] = vld1q_u8(mask + 16 * q);
        any = vorrq_u8(any, left[q]);
    }
    bool some = vmaxvq_u8(any) != 0;
    for (size_t i = 0; i < n && some; i++) {
        any = vdupq_n_u8(0);
        for (size_t q = 0; q < quarters; q++) {
            left[q] = vandq_u8(left[q], vld1q_u8(rows[i] + 16 * q));
            any = vorrq_u8(any, left[q]);
        }
        some = vmaxvq_u8(any) != 0;
    }
    for (size_t q = 0; q < quarters; q++)
        vst1q_u8(mask + 16 * q, left[q]);
    return some;
}

const bry__kernel bry__kernel_neon = {
    .isa = BRY__ISA_NEON,
    .block_has = bry__block_test, /* NEON has no gather, so the scalar loops are faster */
    .block_add = bry__block_add,
    .block_test = bry__block_test_n,
    .popcount = neon_popcount,
    .popcount_or = neon_popcount_or,
    .or_into = neon_or_into,
    .bits_down = bry__bits_down_words,
    .bits_up = bry__bits_up_words,
    .run_after = bry__run_after_words,
    .probe_runs = bry__probe_runs_words,
    .probe_slots = bry__probe_slots_words,
    .slots_select = bry__slots_select_words,
    .slots_copy = bry__slots_copy_words,
    .runs_copy = bry__runs_copy_words,
    .runs_list = bry__runs_list_words,
    .rows_and = neon_rows_and,
};
