#include "common/sizing.h"

#include <float.h>
#include <math.h>

#define LN2 0.693147180559945309417

double bry__bloom_bits(double n, double p)
{
    return ceil(n * -log(p) / (LN2 * LN2));
}

unsigned bry__bloom_hashes(double m, double n)
{
    double k = round(m / n * LN2);
    return k < 1 ? 1 : (unsigned)k;
}

unsigned bry__bloom_hashes_for_error(double p)
{
    double k = round(-log2(p));
    return k < 1 ? 1 : (unsigned)k;
}

double bry__bloom_fill(double m, unsigned k, double n)
{
    return n > 0 ? -expm1(k * n * log1p(-1 / m)) : 0; /* m = 1 and n = 0 would be 0 · -∞ */
}

double bry__bloom_error(double m, unsigned k, double n)
{
    return pow(bry__bloom_fill(m, k, n), k);
}

double bry__bloom_capacity(double m, unsigned k, double p)
{
    return bry__bloom_count(m, k, pow(p, 1.0 / k));
}

double bry__bloom_count(double m, unsigned k, double fill)
{
    return log1p(-fill) / (k * log1p(-1 / m));
}

/*
 * E[x^N] where N, the number of keys in a given block, is binomial(n, 1/blocks): each of the n keys
 * contributes a factor of x with probability 1/blocks. `below` is 1 - x, which may be tiny.
 */
static long double blocked_mean_power(uint64_t blocks, long double below, double n)
{
    return expl(n * log1pl(-below / (long double)blocks));
}

/* 1 - (1 - d/512)^k: the chance that one key of a block sets at least one of d given bits. */
static long double blocked_chance_to_hit(unsigned d, unsigned k)
{
    return -expm1l(k * log1pl(-(long double)d / BRY__BLOCK_BITS));
}

double bry__blocked_fill(uint64_t blocks, unsigned k, double n)
{
    return (double)(1 - blocked_mean_power(blocks, blocked_chance_to_hit(1, k), n));
}

double bry__blocked_count(uint64_t blocks, unsigned k, double fill)
{
    return log1p(-fill) / (double)log1pl(-blocked_chance_to_hit(1, k) / (long double)blocks);
}

/*
 * The chance that k positions drawn with repetition are all set. By inclusion and exclusion over
 * which of them are *not* set: the sum over j of (-1)^j · C(k, j) · P(j given draws are all clear).
 * The j draws fall on d distinct bits with the probability that `distinct` builds up draw by draw,
 * and d bits are clear when no key of the block hits them.
 *
 * The terms reach C(21, 10)/30 and cancel down to the error, which may be 1e-9: rounding in double
 * would cost several per cent of that. So they are long double, and a bound on the remaining
 * rounding error is added: the result may be slightly too large, never too small. The bound is
 * below 2e-12 if long double has 64 bits of precision.
 */
double bry__blocked_error(uint64_t blocks, unsigned k, double n)
{
    long double clear[BRY__BLOCKED_MAX_HASHES + 1];
    for (unsigned d = 0; d <= k; d++)
        clear[d] = blocked_mean_power(blocks, blocked_chance_to_hit(d, k), n);

    long double distinct[BRY__BLOCKED_MAX_HASHES + 1] = {1};
    long double error = 0, size = 0, choose = 1;
    for (unsigned j = 0; j <= k; j++) {
        long double all_clear = 0;
        for (unsigned d = 0; d <= j; d++)
            all_clear += distinct[d] * clear[d];
        error += (j % 2 ? -1 : 1) * choose * all_clear;
        size += choose * all_clear;
        choose = choose * (k - j) / (j + 1);
        for (unsigned d = j < k ? j + 1 : k; d > 0; d--)
            distinct[d] = distinct[d] * d / BRY__BLOCK_BITS +
                          distinct[d - 1] * (BRY__BLOCK_BITS - (d - 1)) / BRY__BLOCK_BITS;
        distinct[0] = 0;
    }
    /* Each term is exact to a few units in the last place, including the error of its exponent. */
    long double rounding = size * LDBL_EPSILON * 8;
    return (double)fminl(error + rounding, 1);
}

/*
 * The fewest blocks that keep n keys at p with k bits each. `low` is too few, `high` is enough. The
 * error is nearly a power of the size, so a line through the logarithms of both ends finds the
 * result in a few steps; until both ends are known, `at` is halved or enlarged.
 */
static uint64_t blocked_blocks_needed(unsigned k, uint64_t n, double p)
{
    double standard = (double)n * k / -log1p(-pow(p, 1.0 / k)) / BRY__BLOCK_BITS;
    uint64_t low = 0, high = 0, at = standard < 1 ? 1 : (uint64_t)standard;
    double low_error = 0, high_error = 0;
    for (;;) {
        double error = bry__blocked_error(at, k, (double)n);
        if (error > p) {
            low = at;
            low_error = error;
        } else {
            high = at;
            high_error = error;
        }
        if (high && high - low == 1)
            return high;
        if (!high) {
            at = low + low / 8 + 1;
        } else if (!low) {
            at = high / 2;
        } else {
            double share = log(low_error / p) / log(low_error / high_error);
            double guess = (double)low * pow((double)high / (double)low, share);
            at = guess <= (double)low + 1    ? low + 1
                 : guess >= (double)high - 1 ? high - 1
                                             : (uint64_t)guess;
        }
    }
}

bry__blocked_shape bry__blocked_plan(uint64_t n, double p)
{
    /* The best k is at most the standard filter's: crowded blocks make extra bits costly. */
    unsigned top = bry__bloom_hashes_for_error(p) + 1;
    if (top > BRY__BLOCKED_MAX_HASHES)
        top = BRY__BLOCKED_MAX_HASHES;
    bry__blocked_shape best = {0};
    for (unsigned k = top; k >= 1; k--) {
        uint64_t blocks = blocked_blocks_needed(k, n, p);
        if (best.blocks && blocks > best.blocks)
            break; /* sizes have one minimum in k */
        best = (bry__blocked_shape){blocks, k, bry__blocked_error(blocks, k, (double)n)};
    }
    return best;
}
