/*
 * The error of a kbf table, and the size needed for a given error.
 *
 * n keys, k segments of s cells. A cell that an absent key looks at holds c keys with a probability
 * f_c: binomial, of n trials at 1/s; Poisson with mean λ = n/s in tables of any size. A cell of a
 * *present* key holds the key and c - 1 of the n - 1 others: q_c = f_(c-1) but for that one.
 * (Counting the latter as random cells too makes the papers' decodability too good by orders of
 * magnitude.) For a table as it is, f and q come from its counters: q_c is c·f_c scaled to sum 1,
 * since a cell of c keys is met c times, and what is missing are the keys in stuck cells.
 *
 * With a = 1 - q_1 - q_2 the share of cells that are of no direct use to a present key:
 *
 *   FN = a^k + g·k·q_2·z^(k-1)                     no clue; or two candidates remain
 *   z  = 2·q_2/N + q_3/2 + (a - q_3) + 1/s         a cell that the wrong one passes
 *   FP = g·k·(f_1 + 2·f_2)·y^(k-1)                 one candidate and it passes everywhere
 *   y  = f_1/N + 3·f_2/N + f_3/2 + f_4 + … + f_7 + 1/s
 *
 * where N is the number of encodings and g the share of them that unmask to an assigned code. A
 * wrong candidate passes a cell of three half of the time (half of all contents are pairs); one of
 * two in 2/N, when the neighbour has that encoding or four of them coincide, and in 3/N where both
 * are strangers; and any cell that the candidate's key is in too (1/s, which counts in small tables
 * alone). These are sums over the ways to go wrong, and so above rather than below the truth;
 * measured on 10^6 keys they agree within the noise. Two equal encodings in a cell give no clue
 * either: q_2/N of the cells of two.
 *
 * A present key is never answered with a wrong value: its own code passes every test, so the answer
 * is that code or unsure. (Keys that share cells with one that was deleted by mistake may be.)
 */
#include "map/kbf/kbf_plan.h"

#include "common/sizing.h"

#include <math.h>

/* Segments are a multiple of a power of two, so that they can be folded; that power is at most this
 * share of them, which bounds the cost of rounding. */
#define TUNED_ROUNDING 512u
#define PAPER_ROUNDING 1024u
/* The further tables of a growing map have the k of the first, and each must have half the error of
 * the one before. At k = 1, which is best for a few keys and few codes, the error is proportional
 * to the load, and a table of twice the cells would hold no more keys than the last; from k = 3 on
 * it holds at least 1.7 times as many. */
#define GROWING_HASHES 3u
#define MOST_CELLS_A_KEY 256u /* enough for every permitted error */

static double at_most_one(double p)
{
    return p < 1 ? p : 1;
}

static bry__kbf_errors kbf_plan_errors_of(const bry__kbf_setting *setting, unsigned k,
                                          const bry__kbf_odds *odds)
{
    const double *f = odds->absent, *q = odds->present;
    double codes = setting->codes > 0 ? setting->codes : 1;
    double n = setting->order, g = fmin(1, codes / n);
    double a = fmax(0, 1 - q[1] - q[2]), d = fmax(0, a - q[3]);
    double z = 2 * q[2] / n + q[3] / 2 + d + odds->one_in_segment;
    double fn = pow(a + q[2] / n, k) + g * k * q[2] * pow(at_most_one(z), k - 1);
    double unread = fmax(0, 1 - f[0] - f[1] - f[2] - f[3]);
    double y = f[1] / n + 3 * f[2] / n + f[3] / 2 + unread + odds->one_in_segment;
    double pass = g * k * pow(at_most_one(y), k - 1);
    double fp = fmin(pow(1 - f[0], k), pass * (f[1] + 2 * f[2]));
    double unsure = pow(f[3] + unread + f[2] / n, k) + pass * f[2];
    return (bry__kbf_errors){
        .by_kind = {.false_positive = at_most_one(fp), .false_negative = at_most_one(fn)},
        .unsure = at_most_one(unsure),
    };
}

double bry__kbf_error(const bry__kbf_errors *errors)
{
    const bry_map_errors *kinds = &errors->by_kind;
    return kinds->false_negative + kinds->false_positive + kinds->incorrect;
}

/* by[c] = P(c of n keys in one of `segment` cells) for c up to 6, and the rest in by[7]. */
static void kbf_plan_binomial(double n, double segment, double by[8])
{
    double odds_for = 1 / (segment - 1), sum = 0;
    double p = segment > 1 ? exp(n * log1p(-1 / segment)) : n < 1;
    for (int c = 0; c < 7; c++) {
        by[c] = p;
        sum += p;
        p = segment > 1 ? p * fmax(0, n - c) / (c + 1) * odds_for : n == c + 1;
    }
    by[7] = fmax(0, 1 - sum);
}

bry__kbf_odds bry__kbf_odds_at(const bry__kbf_shape *shape, double n)
{
    bry__kbf_odds odds = {.one_in_segment = 1 / (double)shape->segment};
    double others[8];
    kbf_plan_binomial(n, (double)shape->segment, odds.absent);
    kbf_plan_binomial(fmax(0, n - 1), (double)shape->segment, others);
    for (int c = 1; c < 8; c++)
        odds.present[c] = others[c - 1];
    odds.present[7] += others[7];
    return odds;
}

bry__kbf_errors bry__kbf_errors_at(const bry__kbf_setting *setting, const bry__kbf_shape *shape,
                                   double n)
{
    bry__kbf_odds odds = bry__kbf_odds_at(shape, n);
    return kbf_plan_errors_of(setting, shape->hashes, &odds);
}

bry__kbf_errors bry__kbf_errors_now(const bry__kbf_setting *setting, const bry__kbf *kbf)
{
    double cells = (double)kbf->hashes * (double)kbf->segment;
    double places = (double)kbf->hashes * (double)kbf->items, read = 0;
    bry__kbf_odds odds_now = {.one_in_segment = 1 / (double)kbf->segment};
    for (int c = 0; c < 8; c++) {
        odds_now.absent[c] = (double)kbf->counts[c] / cells;
        if (c < 7 && kbf->items > 0) {
            odds_now.present[c] = fmin(1, c * (double)kbf->counts[c] / places);
            read += odds_now.present[c];
        }
    }
    odds_now.present[7] = fmax(0, 1 - read);
    if (kbf->items == 0) /* the next key finds the cells as an absent one does */
        for (int c = 1; c < 8; c++)
            odds_now.present[c] = odds_now.absent[c - 1] + (c == 7 ? odds_now.absent[7] : 0);
    return kbf_plan_errors_of(setting, kbf->hashes, &odds_now);
}

static double kbf_plan_error_at(const bry__kbf_setting *setting, unsigned hashes, uint64_t segment,
                                double n)
{
    bry__kbf_shape shape = {.hashes = hashes, .segment = segment};
    bry__kbf_errors errors = bry__kbf_errors_at(setting, &shape, n);
    return bry__kbf_error(&errors);
}

/* The next multiple of the largest power of two that is at most 1/share of it. */
static uint64_t round_segment(uint64_t segment, uint64_t share)
{
    uint64_t unit = 1;
    while (2 * unit * share <= segment)
        unit *= 2;
    return (segment + unit - 1) / unit * unit;
}

/* The smallest segment below `end` that keeps n keys at p; `end` when there is none. */
static uint64_t smallest_segment(const bry__kbf_setting *setting, unsigned hashes, uint64_t n,
                                 double p, uint64_t end)
{
    uint64_t too_small = 0, enough = end;
    /* Most k are worse than the best one so far: one look tells. */
    if (end < 2 || !(kbf_plan_error_at(setting, hashes, end - 1, (double)n) <= p))
        return end;
    while (enough - too_small > 1) {
        uint64_t middle = too_small + (enough - too_small) / 2;
        if (kbf_plan_error_at(setting, hashes, middle, (double)n) <= p)
            enough = middle;
        else
            too_small = middle;
    }
    return enough;
}

bool bry__kbf_plan(const bry__kbf_setting *setting, bry_map_layout layout, bool grows, uint64_t n,
                   double p, bry__kbf_shape *shape)
{
    if (layout == BRY_MAP_PAPER) {
        unsigned k = bry__bloom_hashes_for_error(p);
        uint64_t cells = (uint64_t)ceil(bry__bloom_bits((double)n, p));
        *shape = (bry__kbf_shape){k, round_segment((cells + k - 1) / k, PAPER_ROUNDING)};
        return k <= BRY__KBF_MAX_HASHES;
    }
    /* Each k has its smallest table; a larger k is tried only below the best one so far. */
    uint64_t best = n * MOST_CELLS_A_KEY + MOST_CELLS_A_KEY;
    bool found = false;
    for (unsigned k = 1; k <= BRY__KBF_MAX_HASHES; k++) {
        if (grows && k < GROWING_HASHES)
            continue;
        uint64_t end = (best + k - 1) / k;
        uint64_t segment = smallest_segment(setting, k, n, p, end);
        if (segment == end)
            continue;
        *shape = (bry__kbf_shape){k, segment};
        best = k * segment;
        found = true;
    }
    if (found)
        shape->segment = round_segment(shape->segment, TUNED_ROUNDING);
    return found;
}

uint64_t bry__kbf_capacity(const bry__kbf_setting *setting, const bry__kbf_shape *shape, double p,
                           uint64_t most)
{
    uint64_t fits = 0, end = most + 1;
    while (end - fits > 1) {
        uint64_t middle = fits + (end - fits) / 2;
        if (kbf_plan_error_at(setting, shape->hashes, shape->segment, (double)middle) <= p)
            fits = middle;
        else
            end = middle;
    }
    return fits;
}
