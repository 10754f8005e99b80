/*
 * How large the filters of a row are.
 *
 * A filter of error p is asked together with a neighbour, independent of it, so a pair errs with
 * p·p'. A row of R filters has R - 1 pairs. Give the filter that becomes number i of the row,
 * counted from the oldest, the square s_i = p² = error · a_i, where
 *
 *   a_i = 5/6 / F                          i ≤ F = generations + 2, what time alone needs
 *   a_i = 1/6 · F / ((i - 1)·i)            beyond: periods that ended early
 *
 * which sum to 1 over all i: the tail is 1/6 · F · (1/F - 1/(F+1) + 1/(F+1) - …). The oldest is
 * dropped first, so a filter only moves to lower places: at any time the one at place i was given
 * some a_j with j ≥ i, hence at most a_i. And a pair errs with √(s·s') ≤ (s + s')/2, so
 *
 *   sum of all pairs ≤ sum of all s ≤ error · sum of a_i ≤ error
 *
 * whatever the load was. Beyond F a filter costs log2 of its place in bits per element,
 * so a hundred extra periods cost half as much again, not a hundred times.
 *
 * A filter is planned for the two limits of its periods; those end when they reach them.
 *
 * Ordinary limits are capacity / generations and 1/32 more, so that arrivals may vary without
 * ending periods. At 10⁻³ and 8 generations: F = 10, p = 0.0091, 9.78 bits per element and filter,
 * two filters per element, 10/8 of a window kept: 24.5 bits per element, 25.2 with the margin.
 */
#include "common/sizing.h"
#include "window/fbf/fbf.h"

#include <math.h>

#define REGULAR (5.0 / 6)
#define MARGIN (1.0 / 32)
/* Limit on the bits per element of the capacity, if the options give the size of a filter. */
#define MOST_BITS_EACH 4096u

uint64_t bry__fbf_cost(uint64_t bits)
{
    uint64_t lines = bits / BRY__FBF_LINE_BITS + (bits % BRY__FBF_LINE_BITS != 0);
    return sizeof(bry__fbf_filter) +
           bry__pieces_bytes_full_of(lines * BRY__LINE, BRY__BLOOM_PIECE_SHIFT);
}

uint64_t bry__fbf_bytes_first(const bry__fbf_setting *setting)
{
    uint64_t cost = bry__fbf_cost(setting->bits);
    uint64_t reached =
        sizeof(bry__fbf_filter) +
        bry__pieces_bytes_empty_of(setting->bits / 8 + BRY__LINE, BRY__BLOOM_PIECE_SHIFT) +
        setting->hashes * (uint64_t)bry__lines_cost(BRY__BLOOM_PIECE_BYTES);
    return sizeof(bry__fbf) + 2 * (reached < cost ? reached : cost);
}

/* ---- errors of a look-up ------------------------------------------------------------------- */

bry__fbf_sum bry__fbf_sum_begin(void)
{
    return (bry__fbf_sum){.none = 1};
}

void bry__fbf_sum_take(bry__fbf_sum *sum, double error)
{
    sum->none *= 1 - error * sum->newer;
    sum->newer = error;
}

double bry__fbf_sum_end(const bry__fbf_sum *sum)
{
    return 1 - sum->none;
}

/* The error of the whole row at its worst moment, with `n` elements in each period. */
static double fbf_plan_row_error(const bry__fbf_setting *setting, double n)
{
    double bits = (double)setting->bits, full = bry__bloom_error(bits, setting->hashes, 2 * n);
    bry__fbf_sum sum = bry__fbf_sum_begin();
    bry__fbf_sum_take(&sum, bry__bloom_error(bits, setting->hashes, n));
    for (uint32_t i = 1; i < setting->filters; i++)
        bry__fbf_sum_take(&sum, full);
    return bry__fbf_sum_end(&sum);
}

/* ---- sizes --------------------------------------------------------------------------------- */

static double fbf_plan_share(const bry__fbf_setting *setting, uint64_t place)
{
    double regular = setting->filters, i = (double)place;
    double a =
        place <= setting->filters ? REGULAR / regular : (1 - REGULAR) * regular / ((i - 1) * i);
    return sqrt(setting->error * a);
}

/* Bits for n elements at p, in whole lines, and the number of hashes that needs the fewest bits. */
static uint64_t fbf_plan_bits_for(double n, double p, uint32_t *hashes)
{
    double best = INFINITY;
    uint32_t below = (uint32_t)fmax(1, floor(-log2(p)));
    for (uint32_t k = below; k <= below + 1 && k <= BRY__FBF_MAX_HASHES; k++) {
        double bits = n * k / -log1p(-pow(p, 1.0 / k));
        if (bits < best) {
            best = bits;
            *hashes = k;
        }
    }
    if (!(best < (double)BRY__FBF_MAX_BITS))
        return BRY__FBF_MAX_BITS;
    return ((uint64_t)best / BRY__FBF_LINE_BITS + 1) * BRY__FBF_LINE_BITS;
}

/* Elements that keep the error; at least 2, since both periods have a limit of at least 1. */
static uint64_t fbf_plan_fits(uint64_t bits, uint32_t hashes, double p)
{
    double n = floor(bry__bloom_capacity((double)bits, hashes, p));
    return n < 2 ? 2 : (uint64_t)fmin(n, (double)BRY__FBF_MAX_BITS);
}

uint64_t bry__fbf_holds(const bry__fbf_setting *setting, uint64_t bits, uint32_t hashes)
{
    return fbf_plan_fits(bits, hashes, fbf_plan_share(setting, setting->filters));
}

double bry__fbf_likely(uint64_t bits, uint32_t hashes, uint64_t set)
{
    double m = (double)bits, clear = m - (double)set; /* a full filter may hold any number */
    return bry__bloom_count(m < 2 ? 2 : m, hashes, 1 - fmax(clear, 0.5) / m);
}

/* The most bits, in whole lines, of a filter within this cost; 0: there is none. */
static uint64_t bits_within(uint64_t cost)
{
    uint64_t lines = 0, none = cost / BRY__LINE + 1;
    while (none - lines > 1) {
        uint64_t middle = lines + (none - lines) / 2;
        if (bry__fbf_cost(middle * BRY__FBF_LINE_BITS) <= cost)
            lines = middle;
        else
            none = middle;
    }
    return lines * BRY__FBF_LINE_BITS;
}

bry__fbf_size bry__fbf_size_for(const bry__fbf_setting *setting, uint64_t place, uint64_t present,
                                uint64_t wanted, uint64_t max_cost)
{
    bry__fbf_size size = {setting->bits, setting->hashes, present, wanted};
    uint64_t ordinary = 2 * setting->limit;
    bool regular = place <= setting->filters;
    if (setting->fixed)
        size.limit = size.present_limit = setting->limit;
    if (setting->fixed || (regular && present + wanted == ordinary))
        return size;
    double p = fbf_plan_share(setting, place);
    if (regular) {
        double bits = (double)setting->bits * ((double)(present + wanted) / (double)ordinary);
        bits = fmin(ceil(bits / BRY__FBF_LINE_BITS) * BRY__FBF_LINE_BITS, BRY__FBF_MAX_BITS);
        size.bits = (uint64_t)bits;
    } else {
        size.bits = fbf_plan_bits_for((double)(present + wanted), p, &size.hashes);
    }
    if (bry__fbf_cost(size.bits) > max_cost) {
        size.bits = bits_within(max_cost);
        if (size.bits < setting->bits)
            size.bits = setting->bits;
    }
    uint64_t holds = fbf_plan_fits(size.bits, size.hashes, p);
    if (holds < present + wanted) {
        if (size.present_limit > holds / 2)
            size.present_limit = holds / 2;
        size.limit = holds - size.present_limit;
    }
    return size;
}

/* ---- the setting --------------------------------------------------------------------------- */

bry_status bry__fbf_set(const bry_window_options *options, bry__fbf_setting *setting)
{
    bry__fbf_setting made = {
        .refuse = options->refuse,
        .fixed = options->fixed,
        .refresh = options->refresh,
        .generations = options->generations,
        .window = options->window,
        .length = (options->window - 1) / options->generations + 1,
        .error = options->error,
        .max_bytes = options->max_bytes,
        .filters = options->generations + 2,
        .given = options->fbf.bits != 0,
    };
    if ((options->fbf.bits == 0) != (options->fbf.hashes == 0) ||
        options->fbf.bits > BRY__FBF_MAX_BITS ||
        options->fbf.bits / MOST_BITS_EACH > options->capacity + MOST_BITS_EACH ||
        options->fbf.hashes > BRY__FBF_MAX_HASHES)
        return BRY_E_RANGE;
    if (options->fbf.bits) {
        made.bits = options->fbf.bits;
        made.hashes = options->fbf.hashes;
    } else {
        double each = ceil((double)options->capacity * (1 + MARGIN) / options->generations);
        made.bits = fbf_plan_bits_for(2 * each, fbf_plan_share(&made, made.filters), &made.hashes);
    }
    if (made.max_bytes) { /* an ordinary row always fits */
        uint64_t left = made.max_bytes > sizeof(bry__fbf) ? made.max_bytes - sizeof(bry__fbf) : 0;
        uint64_t each = left / made.filters;
        if (bry__fbf_cost(made.bits) > each)
            made.bits = options->fbf.bits ? 0 : bits_within(each);
        if (made.bits == 0)
            return BRY_E_RANGE;
    }
    made.limit = fbf_plan_fits(made.bits, made.hashes, fbf_plan_share(&made, made.filters)) / 2;
    *setting = made;
    return BRY_OK;
}

void bry__fbf_shape(const bry__fbf_setting *setting, uint64_t capacity, bry_window_shape *shape)
{
    double error = fbf_plan_row_error(setting, (double)capacity / setting->generations);
    if (!setting->fixed && !setting->max_bytes)
        error = fmin(error, setting->error);
    *shape = (bry_window_shape){
        .engine = BRY_ENGINE_FBF,
        .window = setting->window,
        .longest = bry__fbf_after(setting->window, setting->length),
        .capacity = capacity,
        .generations = setting->filters,
        .fbf.bits = setting->bits,
        .fbf.hashes = setting->hashes,
        .error = error,
        .bytes = sizeof(bry__fbf) + setting->filters * bry__fbf_cost(setting->bits),
        .bytes_empty = sizeof(bry__fbf) + 2 * sizeof(bry__fbf_filter),
        .bytes_least =
            sizeof(bry__fbf) +
            setting->filters * bry__fbf_cost(setting->given ? setting->bits : BRY__FBF_LINE_BITS),
    };
}
