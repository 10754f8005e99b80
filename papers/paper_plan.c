/*
 * Levels 1 to 3 trust the first cells that decode, so an absent key gets an answer whenever all its
 * cells are in use, as in a Bloom filter: FP = (1 - f_0)^k. With a = 1 - q_1 - q_2, d = a - q_3, and
 * s the share of contents that look like a pair:
 *
 *   level 1  FN = (1 - q_1)^k
 *   level 2  FN = a^k + k·a^(k-1)·q_2                       fewer than two cells of two
 *   level 3  FN = a^k + k·q_2·(d^(k-1) + s·(a^(k-1) - d^(k-1)))
 *                                one cell of two, and none of three; or the first one of three may
 *                                hold both candidates
 *   sets     FN = k·q_2·(d + s·q_3)^(k-1) + Σ_c C(k, c)·q_3^c·d^(k-c)·(1 - (1 - s^c)^(N-1))
 *                                one cell of two, and no cell of three excludes the other candidate;
 *                                or c cells of three alone, which another of N codes passes
 *            FP = (1 - f_0)^k - (1 - f_0 - f_1)^k
 *                                a cell of one is trusted; without one, cells hardly ever agree
 *
 * (The papers count cells without the asked key in them, doc/errata.md.) Consistent decoding of
 * codes that are not masked is that of masked ones in a field that has no more elements than there
 * are codes.
 */
#include "papers/paper_plan.h"

#include <math.h>

/* Keys whose cells hold three others at least: no set of codes is left with one. */
static double only_threes(double q3, double d, unsigned k, double s, double codes)
{
    double sum = 0, ways = 1;
    for (unsigned c = 0; c <= k; c++) {
        double another = -expm1(fmax(0, codes - 1) * log1p(-pow(s, c)));
        sum += ways * pow(q3, c) * pow(d, k - c) * (c > 0 ? another : 1);
        ways *= (double)(k - c) / (c + 1);
    }
    return sum;
}

static double paper_false_negatives(const bry__paper_setting *setting, const double *q, unsigned k)
{
    double a = fmax(0, 1 - q[1] - q[2]), d = fmax(0, a - q[3]), s = setting->pairs;
    double none = pow(d, k - 1), some = pow(a, k - 1);
    switch (setting->level) {
    case BRY__PAPER_ONES:
        return pow(1 - q[1], k);
    case BRY__PAPER_PAIRS:
        return pow(a, k) + k * some * q[2];
    case BRY__PAPER_TRIPLES:
        return pow(a, k) + k * q[2] * (none + s * (some - none));
    default:
        return k * q[2] * pow(d + s * q[3], k - 1) + only_threes(q[3], d, k, s, setting->codes);
    }
}

bry_map_errors bry__paper_errors_at(const bry__paper_setting *setting, const bry__kbf_shape *shape,
                                    double n)
{
    uint32_t order = setting->order, codes = setting->codes;
    if (setting->level == BRY__PAPER_CONSISTENT) {
        bry__kbf_setting consistent = {.order = setting->masked || codes > order ? order : codes,
                                       .codes = codes};
        return bry__kbf_errors_at(&consistent, shape, n).by_kind;
    }
    bry__kbf_odds odds = bry__kbf_odds_at(shape, n);
    const double *f = odds.absent, k = shape->hashes;
    bool sets = setting->level == BRY__PAPER_SETS;
    return (bry_map_errors){
        .false_positive = pow(1 - f[0], k) - (sets ? pow(1 - f[0] - f[1], k) : 0),
        .false_negative = fmin(1, paper_false_negatives(setting, odds.present, shape->hashes)),
    };
}

double bry__published_full_cells(double rho)
{
    double lambda = rho * M_LN2;
    return exp2(-rho - 1) * (exp2(rho + 1) - lambda * lambda - rho * log(4) - 2);
}

double bry__published_undecodable(unsigned k, double rho)
{
    double lambda = rho * M_LN2, full = bry__published_full_cells(rho);
    double two = lambda * lambda / 2 * exp2(-rho);
    return pow(full, k) + k * pow(full, k - 1) * two;
}
