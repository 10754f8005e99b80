#include "common/endian.h"
#include "kernel/bits.h"
#include "kernel/block.h"
#include "kernel/kernel.h"
#include "kernel/popcount.h"
#include "kernel/rows.h"

static void scalar_or_into(unsigned char *into, const unsigned char *from, size_t len)
{
    for (size_t i = 0; i < len; i += 8)
        bry__store64(into + i, bry__load64(into + i) | bry__load64(from + i));
}

static bool scalar_rows_and(unsigned char *mask, const unsigned char *const *rows, size_t n,
                            size_t bytes)
{
    return bytes <= 8 ? bry__rows_and_word(mask, rows, n, bytes)
                      : bry__rows_and_words(mask, rows, n, bytes);
}

const bry__kernel bry__kernel_scalar = {
    .isa = BRY__ISA_SCALAR,
    .block_has = bry__block_test,
    .block_add = bry__block_add,
    .block_test = bry__block_test_n,
    .popcount = bry__popcount_words,
    .popcount_or = bry__popcount_or_words,
    .or_into = scalar_or_into,
    .bits_down = bry__bits_down_words,
    .bits_up = bry__bits_up_words,
    .run_after = bry__run_after_words,
    .probe_runs = bry__probe_runs_words,
    .probe_slots = bry__probe_slots_words,
    .slots_select = bry__slots_select_words,
    .slots_copy = bry__slots_copy_words,
    .runs_copy = bry__runs_copy_words,
    .runs_list = bry__runs_list_words,
    .rows_and = scalar_rows_and,
};
