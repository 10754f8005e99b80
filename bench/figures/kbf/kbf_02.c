/* kBF, figure 2: how many bits a number of encodings takes. */
#include "bench/figures/figure_list.h"

#include "cli/core/output/output.h"
#include "papers/greedy.h"

#include <math.h>

/* Bits of n encodings at least: all of them and their pairs differ, and none is 0. */
static double least_bits(double n)
{
    return ceil(log2(n * (n - 1) / 2 + n + 1));
}

/* (x, x³) over GF(2^t), without x = 0. */
static double algebraic_bits(double n)
{
    return 2 * ceil(log2(n + 1));
}

static bool measure_encoding_bits(const figure_run *run)
{
    const uint32_t most = FIGURE_SIZE(run, 512, 2048, 8192);
    const bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__greedy greedy;
    bry_status status = bry__greedy_search(&greedy, most, 0, &allocator);
    if (status != BRY_OK)
        return cli_fail(status, "search for %u encodings", most) == CLI_YES;
    for (uint32_t n = 16; n <= most; n *= 2) {
        figure_point(run, "", "lower bound", n, least_bits(n));
        figure_point(run, "", "greedy search", n, floor(log2(greedy.code[n - 1])) + 1);
        figure_point(run, "", "algebraic (ours)", n, algebraic_bits(n));
    }
    bry__greedy_free(&greedy);
    return true;
}

const figure kbf_02_figure = {"kbf-02", "Bits of an encoding", {1, 1, 1}, measure_encoding_bits};
