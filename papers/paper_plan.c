/*
 * Levels 1 to 3 trust the first cells that decode, so an absent key gets an answer whenever all its
 * cells are in use, as in a Bloom filter: FP = (1 - f_0)^k. With a = 1 - q_1 - q_2 and d = a - q_3:
 *
 *   level 1  FN = (1 - q_1)^k
 *   level 2  FN = a^k + k·a^(k-1)·q_2                       fewer than two cells of two
 *   level 3  FN = a^k + k·q_2·(d^(k-1) + (a^(k-1) - d^(k-1))/2)
 *                                a cell of three distinguishes the candidates half of the time
 *
 * (The papers count cells without the asked key in them, doc/errata.md.) Consistent decoding of
 * codes that are not masked is that of masked ones in a field that has no more elements than there
 * are codes.
 */
#include "papers/paper_plan.h"

#include <math.h>

bry_map_errors bry__paper_errors_at(bry__paper_level level, bool masked, uint32_t order,
                                    uint32_t codes, const bry__kbf_shape *shape, double n)
{
    if (level == BRY__PAPER_CONSISTENT) {
        bry__kbf_setting setting = {.order = masked || codes > order ? order : codes,
                                    .codes = codes};
        return bry__kbf_errors_at(&setting, shape, n).by_kind;
    }
    bry__kbf_odds odds = bry__kbf_odds_at(shape, n);
    const double *q = odds.present, k = shape->hashes;
    double a = fmax(0, 1 - q[1] - q[2]), none = pow(fmax(0, a - q[3]), k - 1), some = pow(a, k - 1);
    double fn = level == BRY__PAPER_ONES    ? pow(1 - q[1], k)
                : level == BRY__PAPER_PAIRS ? pow(a, k) + k * some * q[2]
                                            : pow(a, k) + k * q[2] * (none + (some - none) / 2);
    return (bry_map_errors){
        .false_positive = pow(1 - odds.absent[0], k),
        .false_negative = fmin(1, fn),
    };
}
