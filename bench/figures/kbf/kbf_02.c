/* kBF, figure 2: how many bits a number of encodings takes. */
#include "bench/figures/figure.h"

#include "bench/harness/bench_fail.h"
#include "papers/greedy.h"

#include <math.h>

#define BLOOM_BITS 8 /* per number or pair: in the end, one in fifty tests errs */

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

static bool search_encodings(bry__greedy *greedy, uint32_t count, double bits_an_entry)
{
    const bry_allocator allocator = bry__allocator_or_default(NULL);
    bry_status status = bry__greedy_search(greedy, count, bits_an_entry, &allocator);
    return status == BRY_OK ||
           bench_fail("search for %u encodings: %s", count, bry_status_text(status));
}

/* As published, with a Bloom filter of what is taken, which is as large as all pairs need. */
static bool search_with_bloom(const figure_run *run, uint32_t most)
{
    for (uint32_t n = 15; n <= most; n += n + 1) {
        bry__greedy greedy;
        if (!search_encodings(&greedy, n, BLOOM_BITS))
            return false;
        figure_point(run, "", "greedy search with a Bloom filter", n, greedy.bits);
        bry__greedy_free(&greedy);
    }
    return true;
}

static bool measure_encoding_bits(const figure_run *run)
{
    const uint32_t most = FIGURE_SIZE(run, 511, 2047, 4095);
    bry__greedy greedy;
    if (!search_encodings(&greedy, most, 0))
        return false;
    for (uint32_t n = 15; n <= most; n += n + 1) { /* as many as a field has */
        figure_point(run, "", "lower bound", n, least_bits(n));
        figure_point(run, "", "greedy search", n, floor(log2(greedy.code[n - 1])) + 1);
        figure_point(run, "", "algebraic (ours)", n, algebraic_bits(n));
    }
    bry__greedy_free(&greedy);
    return search_with_bloom(run, FIGURE_SIZE(run, 255, 511, 511));
}

FIGURE(kbf_02, "kbf-02", "Bits of an encoding", {1, 1, 1}, measure_encoding_bits);
