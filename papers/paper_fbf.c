/*
 * The published row: all filters alike and with the same positions, a refresh every t, and
 * Algorithm 3 on each absolute second: from 0.9 of the target up twice as many filters and t one
 * second shorter, from 0.1 down one filter fewer and t one second longer, judged by Eq. 4.3.
 *
 * What the thesis leaves open, and what is done here:
 *   - The oldest filter is asked alone, for the elements of the period before its own: the filter
 *     that had them too is gone. Filters that growth appends are empty and older, and asking one of
 *     *those* alone instead would forget a whole period at once. So they are not made at all:
 *     `count` is the number of filters the row may have, and the oldest one that exists is asked.
 *   - t changes, so the time that a number of filters covers varies. A filter is dropped only when
 *     the row is longer than `count` and the elements dropped with it are out of the window.
 *   - A refresh is due t after the one before; the first one on a multiple of t. When t changes, so
 *     does the one that is due, but never into the past.
 *   - Algorithm 3 knows no bounds. Here it does nothing that would cover less than the window with
 *     count - 1 periods; it takes no fewer than three filters and no more than cover the window
 *     with periods of a second; t stays from one second (or what it was planned to be, if that is
 *     less) to a quarter of a window (or what it was planned to be, if that is more).
 *   - However many filters it wants, one is dropped when what only it has ended 1.5 windows ago: so
 *     elements are always forgotten eventually.
 *   - A row without elements is reset to the filters and the t it was planned with.
 *   - The size of a filter is the smallest at which Eq. 4.3 stays at 0.85 of the error just before
 *     a refresh, so that the planned load is below the 0.9 where Algorithm 3 steps in. The oldest
 *     filter, which is asked alone, takes most of it.
 *
 * Without a refresh or an adaptation nothing changes what Eq. 4.3 says, so seconds in which nothing
 * is due are stepped over.
 */
#include "papers/paper_fbf.h"

#include <math.h>

#define SECOND 1000u
#define LEAST_FILTERS 3u /* future, present, one past */
#define MOST_FILTERS 1026u
#define MOST_HASHES 64u
#define MOST_BITS ((uint64_t)1 << 52)
#define LINE_BITS ((uint64_t)BRY__LINE * 8) /* planned sizes are multiples of this */
#define PLANNED_SHARE 0.85

static uint64_t paper_after(uint64_t time, uint64_t by)
{
    return time > UINT64_MAX - by ? UINT64_MAX : time + by;
}

static uint64_t paper_parts(uint64_t whole, uint64_t part)
{
    return whole / part + (whole % part != 0);
}

/* ---- Eq. 4.3 ------------------------------------------------------------------------------- */

/* Of a whole row just before a refresh, with `n` elements in each period. */
static double planned_error(bry__paper_check check, const bry__paper_fbf_plan *plan, double n)
{
    double full = bry__bloom_error((double)plan->bits, plan->hashes, 2 * n);
    bry__check_error sum = {.check = check, .none = 1};
    bry__check_error_take(&sum, bry__bloom_error((double)plan->bits, plan->hashes, n), false);
    for (uint32_t i = 1; i < plan->filters; i++)
        bry__check_error_take(&sum, full, i + 1 == plan->filters);
    return 1 - sum.none;
}

/* The published check asks the oldest filter of a full row alone, whether needed or not; in a row
 * that growth has made longer than the filters it has, only if it has what no other filter has. */
static bool asks_oldest_alone(const bry__paper_fbf *fbf)
{
    return fbf->row >= fbf->count || fbf->oldest->before > 0;
}

double bry__paper_fbf_predicted(const bry__paper_fbf *fbf)
{
    bry__check_error sum = {.check = fbf->options.check, .none = 1};
    for (const bry__paper_filter *filter = fbf->newest; filter; filter = filter->older) {
        double error = bry__filter_error(filter->bloom.bits, filter->bloom.hashes,
                                         filter->before + filter->items);
        bry__check_error_take(&sum, error, filter == fbf->oldest && asks_oldest_alone(fbf));
    }
    return 1 - sum.none;
}

/* ---- sizes --------------------------------------------------------------------------------- */

static uint64_t paper_filter_bytes(uint64_t bits)
{
    return sizeof(bry__paper_filter) +
           bry__pieces_bytes_full_of(paper_parts(bits, LINE_BITS) * BRY__LINE,
                                     BRY__BLOOM_PIECE_SHIFT);
}

/* The fewest lines with `plan->hashes` that keep the error, below `most`; or `most`. */
static uint64_t fewest_lines(const bry__paper_fbf_options *options, bry__paper_fbf_plan *plan,
                             double each, uint64_t most)
{
    uint64_t low = 0, high = most;
    while (high - low > 1) {
        uint64_t lines = low + (high - low) / 2;
        plan->bits = lines * LINE_BITS;
        if (planned_error(options->check, plan, each) <= PLANNED_SHARE * options->error)
            high = lines;
        else
            low = lines;
    }
    return high;
}

static void plan_paper_filter(const bry__paper_fbf_options *options, bry__paper_fbf_plan *plan)
{
    double each = ceil((double)options->capacity / (plan->filters - 1));
    uint64_t best = MOST_BITS / LINE_BITS, lines;
    uint32_t hashes = 1;
    for (uint32_t k = 1; k <= MOST_HASHES; k++) {
        plan->hashes = k;
        lines = fewest_lines(options, plan, each, best);
        if (k > 1 && lines >= best && best < MOST_BITS / LINE_BITS)
            break; /* sizes have one minimum in k */
        best = lines;
        hashes = k;
    }
    plan->bits = best * LINE_BITS;
    plan->hashes = hashes;
}

bry_status bry__paper_fbf_plan_row(const bry__paper_fbf_options *options, bry__paper_fbf_plan *plan)
{
    if (options->window == 0 || options->capacity == 0 || options->generations == 0 ||
        !(options->error > 0 && options->error < 1) || options->bits > MOST_BITS ||
        options->hashes > MOST_HASHES || (options->bits == 0) != (options->hashes == 0))
        return BRY_E_RANGE;
    uint32_t periods = options->generations;
    if (periods < LEAST_FILTERS - 1)
        periods = LEAST_FILTERS - 1;
    bry__paper_fbf_plan made = {
        .filters = periods + 1,
        .length = paper_parts(options->window, periods),
        .bits = options->bits,
        .hashes = options->hashes,
    };
    if (options->bits == 0)
        plan_paper_filter(options, &made);
    made.error = planned_error(options->check, &made, (double)options->capacity / periods);
    made.bytes = sizeof(bry__paper_fbf) + made.filters * paper_filter_bytes(made.bits);
    *plan = made;
    return BRY_OK;
}

/* Limits of Algorithm 3: no more filters than cover the window with the shortest periods, and
 * periods of at most a quarter of a window, unless planned longer. */
static void bound_algorithm(bry__paper_fbf *fbf)
{
    uint64_t window = fbf->options.window, length = fbf->plan.length;
    uint64_t most = paper_parts(window, length < SECOND ? length : SECOND) + 2;
    if (most > MOST_FILTERS)
        most = MOST_FILTERS;
    fbf->most_filters = most > fbf->plan.filters ? (uint32_t)most : fbf->plan.filters;
    uint64_t longest = paper_parts(window, 4);
    fbf->longest_period = longest > length ? longest : length;
    /* fixed: only the number of filters decides */
    fbf->kept = fbf->options.fixed ? UINT64_MAX : window + window / 2;
}

/* ---- the row ------------------------------------------------------------------------------- */

static bry_status append_filter(bry__paper_fbf *fbf, const bry_allocator *allocator)
{
    bry__paper_filter *made = bry__alloc(allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    bry_status status = bry__bloom_init(&made->bloom, fbf->plan.bits, fbf->plan.hashes, allocator);
    if (status != BRY_OK) {
        bry__free(allocator, made, sizeof *made);
        return status;
    }
    made->begin = UINT64_MAX;
    made->older = fbf->newest;
    if (fbf->newest)
        fbf->newest->newer = made;
    else
        fbf->oldest = made;
    fbf->newest = made;
    fbf->row++;
    return BRY_OK;
}

static void free_paper_filter(bry__paper_filter *filter, const bry_allocator *allocator)
{
    bry__bloom_free(&filter->bloom, allocator);
    bry__free(allocator, filter, sizeof *filter);
}

/* Frees the oldest of several filters and forgets what only it has. */
static void drop_oldest(bry__paper_fbf *fbf, const bry_allocator *allocator)
{
    bry__paper_filter *gone = fbf->oldest;
    fbf->items -= gone->before;
    fbf->oldest = gone->newer;
    fbf->oldest->older = NULL;
    fbf->row--;
    free_paper_filter(gone, allocator);
}

/* Two empty filters, numbered for their time, and what was planned. */
static void reset_row(bry__paper_fbf *fbf, const bry_allocator *allocator)
{
    fbf->present = fbf->newest->older;
    while (fbf->oldest != fbf->present)
        drop_oldest(fbf, allocator);
    for (bry__paper_filter *filter = fbf->oldest; filter; filter = filter->newer) {
        bry__bloom_clear(&filter->bloom, allocator);
        filter->before = filter->items = 0;
        filter->begin = UINT64_MAX;
    }
    uint64_t length = fbf->plan.length;
    fbf->present->begin = fbf->time / length * length;
    fbf->items = 0;
    fbf->count = fbf->plan.filters;
    fbf->period = length;
    fbf->due = paper_after(fbf->present->begin, length);
}

bry_status bry__paper_fbf_init(bry__paper_fbf *fbf, const bry__paper_fbf_options *options,
                               const bry_allocator *allocator)
{
    bry__paper_fbf made = {.options = *options};
    bry_status status = bry__paper_fbf_plan_row(options, &made.plan);
    if (status != BRY_OK)
        return status;
    bound_algorithm(&made);
    for (int i = 0; i < 2 && status == BRY_OK; i++)
        status = append_filter(&made, allocator);
    if (status == BRY_OK) {
        reset_row(&made, allocator);
        *fbf = made;
    } else {
        bry__paper_fbf_free(&made, allocator);
    }
    return status;
}

void bry__paper_fbf_free(bry__paper_fbf *fbf, const bry_allocator *allocator)
{
    while (fbf->oldest) {
        bry__paper_filter *gone = fbf->oldest;
        fbf->oldest = gone->newer;
        free_paper_filter(gone, allocator);
    }
}

/* ---- Algorithm 3 --------------------------------------------------------------------------- */

/* Whether this many filters can remember a window. */
static bool covers_window(const bry__paper_fbf *fbf, uint64_t filters, uint64_t period)
{
    return period >= fbf->options.window || (filters - 1) * period >= fbf->options.window;
}

/* What it does with the row; false: nothing. */
static bool wants_change(const bry__paper_fbf *fbf, uint32_t *count, uint64_t *period)
{
    *count = fbf->count;
    *period = fbf->period;
    if (fbf->options.fixed)
        return false;
    double error = bry__paper_fbf_predicted(fbf), target = fbf->options.error;
    if (error >= 0.9 * target) {
        uint64_t twice = 2 * (uint64_t)fbf->count;
        *count = twice < fbf->most_filters ? (uint32_t)twice : fbf->most_filters;
        if (fbf->period > SECOND)
            *period = fbf->period - SECOND > SECOND ? fbf->period - SECOND : SECOND;
    } else if (error <= 0.1 * target && fbf->count > LEAST_FILTERS) {
        *count = fbf->count - 1;
        *period =
            fbf->period + SECOND < fbf->longest_period ? fbf->period + SECOND : fbf->longest_period;
    }
    return (*count != fbf->count || *period != fbf->period) && covers_window(fbf, *count, *period);
}

/* The end of the elements that only the oldest filter has: those of the period before its own. */
static uint64_t oldest_elements_end(const bry__paper_fbf *fbf)
{
    return fbf->row > 2 ? fbf->oldest->begin : UINT64_MAX;
}

static void drop_surplus(bry__paper_fbf *fbf, uint64_t now, const bry_allocator *allocator)
{
    uint64_t window = fbf->options.window;
    while (fbf->row > fbf->count && now >= window && oldest_elements_end(fbf) <= now - window)
        drop_oldest(fbf, allocator);
}

static void adapt_row(bry__paper_fbf *fbf, uint32_t count, uint64_t period,
                      const bry_allocator *allocator)
{
    uint64_t now = ++fbf->second * SECOND;
    if (fbf->due != UINT64_MAX) {
        uint64_t due = paper_after(fbf->due - fbf->period, period);
        fbf->due = due > now ? due : paper_after(now, 1);
    }
    fbf->count = count;
    fbf->period = period;
    fbf->resizes++;
    drop_surplus(fbf, now, allocator);
}

/* ---- time ---------------------------------------------------------------------------------- */

static bry_status refresh_row(bry__paper_fbf *fbf, const bry_allocator *allocator)
{
    bry_status status = append_filter(fbf, allocator);
    if (status != BRY_OK)
        return status;
    uint64_t now = fbf->due;
    fbf->present = fbf->present->newer;
    fbf->present->begin = now;
    fbf->due = paper_after(now, fbf->period);
    drop_surplus(fbf, now, allocator);
    return BRY_OK;
}

bry_status bry__paper_fbf_advance(bry__paper_fbf *fbf, uint64_t now, const bry_allocator *allocator)
{
    if (now <= fbf->time)
        return BRY_OK;
    while (fbf->items > 0) {
        uint64_t over = paper_after(oldest_elements_end(fbf), fbf->kept);
        uint64_t next = fbf->due < over ? fbf->due : over, period;
        uint32_t count;
        uint64_t judged = paper_after(fbf->second * SECOND, SECOND);
        if (now < next && now < judged)
            break;
        if (judged < next && wants_change(fbf, &count, &period)) {
            adapt_row(fbf, count, period, allocator);
            continue;
        }
        if (now < next || next == UINT64_MAX)
            break;
        if (over <= fbf->due)
            drop_oldest(fbf, allocator);
        else if (refresh_row(fbf, allocator) != BRY_OK)
            return BRY_E_NOMEM;
        /* A second that ends at the same time is judged afterwards. */
        fbf->second = next / SECOND - (next % SECOND == 0);
    }
    fbf->time = now;
    fbf->second = now / SECOND;
    if (fbf->items == 0)
        reset_row(fbf, allocator);
    return BRY_OK;
}

/* ---- elements ------------------------------------------------------------------------------ */

/* The future filter; or two neighbours from the present one on; or the oldest alone, for elements
 * whose other filter was dropped. */
static bool optimized_has(const bry__paper_fbf *fbf, bry_hash hash)
{
    bool newer = false;
    for (const bry__paper_filter *filter = fbf->newest; filter; filter = filter->older) {
        bool in = bry__bloom_has(&filter->bloom, hash), future = filter == fbf->newest;
        if (in && (future || newer || (filter == fbf->oldest && asks_oldest_alone(fbf))))
            return true;
        newer = in;
    }
    return false;
}

static bool simple_has(const bry__paper_fbf *fbf, bry_hash hash)
{
    for (const bry__paper_filter *filter = fbf->newest; filter; filter = filter->older)
        if (bry__bloom_has(&filter->bloom, hash))
            return true;
    return false;
}

bool bry__paper_fbf_has(const bry__paper_fbf *fbf, bry_hash hash)
{
    return fbf->options.check == BRY__PAPER_SIMPLE ? simple_has(fbf, hash)
                                                   : optimized_has(fbf, hash);
}

bry_status bry__paper_fbf_add(bry__paper_fbf *fbf, bry_hash hash, uint64_t now, bry_answer *was,
                              const bry_allocator *allocator)
{
    bry_status status = bry__paper_fbf_advance(fbf, now, allocator);
    if (status != BRY_OK)
        return status;
    if (bry__paper_fbf_has(fbf, hash)) {
        *was = BRY_PRESENT;
        return BRY_OK;
    }
    status = bry__bloom_add(&fbf->present->bloom, hash, allocator);
    if (status == BRY_OK)
        status = bry__bloom_add(&fbf->newest->bloom, hash, allocator);
    if (status != BRY_OK)
        return status;
    fbf->present->items++;
    fbf->newest->before++;
    fbf->items++;
    *was = BRY_ABSENT;
    return BRY_OK;
}

/* ---- statistics ---------------------------------------------------------------------------- */

uint64_t bry__paper_fbf_filters(const bry__paper_fbf *fbf)
{
    return fbf->row > fbf->count ? fbf->row : fbf->count;
}

uint64_t bry__paper_fbf_bytes(const bry__paper_fbf *fbf)
{
    uint64_t bytes = sizeof *fbf;
    for (const bry__paper_filter *filter = fbf->oldest; filter; filter = filter->newer)
        bytes += sizeof *filter + bry__pieces_bytes_now(&filter->bloom.table);
    return bytes;
}
