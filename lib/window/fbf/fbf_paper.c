/*
 * The row as the thesis publishes it ("Idempotent Distributed Counters using a Forgetful Bloom
 * Filter"): all filters alike and with the same positions, a refresh every t, and Algorithm 3 on
 * each absolute second: from 0.9 of the target up twice as many filters and t one second shorter,
 * from 0.1 down one filter fewer and t one second longer, judged by Eq. 4.3.
 *
 * What the thesis leaves open, and what is done here:
 *   - The oldest filter is asked alone, for the elements of the period before its own: the filter
 *     that had them too is gone. Filters that growth appends are empty and older, and
 *     asking one of *those* alone instead would forget a whole period at once. So they are not made
 *     at all: `count` is the number of filters the row may have, and the oldest one that exists is
 *     asked.
 *   - t changes, so the time that a number of filters covers varies. A filter is dropped only when
 *     the row is longer than `count` and the elements dropped with it are out of the window.
 *   - A refresh is due t after the one before; the first one on a multiple of t. When t changes, so
 *     does the one that is due, but never into the past.
 *   - Algorithm 3 knows no bounds. Here it does nothing that would cover less than the window with
 *     count - 1 periods; it takes no fewer than three filters and no more than cover the window
 *     with periods of a second; t stays from one second (or what it was planned to be, if that is
 *     less) to a quarter of a window (or what it was planned to be, if that is more).
 *   - However many filters it wants, one is dropped when what only it has ended 1.5 windows
 *     ago: so elements are always forgotten eventually.
 *   - A row without elements is reset to the filters and the t it was planned with.
 *   - At the memory ceiling the number of filters does not double, and a refresh for which there
 *     is no room waits for another t: that keeps more, never less. With `refuse`,
 *     nothing is stored while Eq. 4.3 is at the target or above.
 *
 * Without a refresh or an adaptation nothing changes what Eq. 4.3 says, so seconds in which nothing
 * is due are stepped over. Adaptations may go on for as long as a period, though: t falls by a
 * second every second while the number of filters is at its bound; or the number doubles, the
 * oldest filter is not asked alone any more, the error is low, the number falls, until the oldest
 * one is asked alone again. While no filter comes or goes, the error depends on the number alone,
 * so when a number comes back, the seconds until then repeat, with t and the refresh that is due as
 * much earlier or later each time, until t meets a bound or a refresh comes. Such repetitions are
 * skipped at once (struct pattern). So a jump costs as many steps as there are refreshes until the
 * row is empty, and as the number of filters takes to come back after each.
 *
 * A look-up later than the last change is answered as if time had advanced: the same steps
 * run over numbers alone (struct steps, without a row to change).
 */
#include "common/sizing.h"
#include "window/fbf/fbf.h"

#define SECOND 1000u

/* The seconds of adaptation since one at which the number of filters was (or may have been) what it
 * is now. */
typedef struct pattern {
    uint64_t second, period; /* at its beginning */
    uint32_t count;
    uint32_t fewest; /* filters after a step of it, */
    uint64_t shortest, longest; /* the bounds of t, */
    uint64_t slack; /* and the least time from an evaluated second to the refresh */
    uint64_t patience; /* steps until another start is tried: doubles each time */
    bool begun;
    bool even; /* no bound has shortened a step of t */
} pattern;

/*
 * Eq. 4.3 is a product over the filters from the newest on, and as time moves only the oldest go.
 * So products of the newest ones are kept, one per `stride` filters, and each computation
 * starts from one of them: a jump costs as much as the filters it passes, not their square.
 */
enum { PRODUCTS = 64, STRIDE = 16 };
typedef struct product {
    const bry__fbf_filter *next; /* the next factor */
    bry__fbf_sum sum; /* of the filters before it */
} product;

/* The row's numbers while time advances. New filters are empty and need not exist to be counted. */
typedef struct steps {
    const bry__fbf_setting *setting;
    const bry__fbf_filter *oldest; /* of those that exist; NULL: none is left */
    const bry__fbf_filter *newest; /* at the start */
    uint64_t newest_begin; /* of its own period, once that has begun */
    uint64_t row, made; /* filters, and how many of them were made since the start */
    uint64_t items; /* 0: the row is to be reset */
    uint32_t count;
    uint64_t period, due, second; /* the last second that was evaluated */
    uint64_t resizes;
    bry__fbf *change; /* the row to change, or NULL */
    /* Valid until a filter is added or dropped. */
    pattern pattern;
    double error[2]; /* predicted, by whether the oldest filter is asked alone */
    bool has_error[2];
    /* Valid for this number of new filters in front; a third makes no difference. */
    bool has_products;
    uint64_t in_front, stride;
    product products[PRODUCTS];
} steps;

static double filter_error(const bry__fbf_filter *filter)
{
    uint64_t n = filter->before + filter->items;
    return n ? bry__bloom_error((double)filter->bloom.bits, filter->bloom.hashes, (double)n) : 0;
}

/* The published check asks the oldest filter of a full row alone, whether needed or not; in a row
 * that growth has made longer than the filters it has, only if it has what no other filter has. */
static bool asks_alone(const steps *at)
{
    return at->oldest && (at->row >= at->count || at->oldest->before > 0);
}

static void keep_products(steps *at, uint64_t in_front)
{
    product now = {at->newest, bry__fbf_sum_begin(at->setting->mode)};
    uint64_t filters = at->row - at->made;
    at->has_products = true;
    at->in_front = in_front;
    at->stride = STRIDE;
    while (filters > PRODUCTS * at->stride)
        at->stride *= 2;
    for (uint64_t i = 0; i < in_front; i++)
        bry__fbf_sum_take(&now.sum, 0, false);
    for (uint64_t i = 0; i < filters; i++) {
        if (i % at->stride == 0)
            at->products[i / at->stride] = now;
        bry__fbf_sum_take(&now.sum, filter_error(now.next), false);
        now.next = now.next->older;
    }
}

/* Eq. 4.3, or its variant for the simple check. */
static double fbf_paper_predicted(steps *at)
{
    uint64_t in_front = at->made < 2 ? at->made : 2, filters = at->row - at->made;
    if (filters == 0)
        return 0;
    if (!at->has_products || at->in_front != in_front)
        keep_products(at, in_front);
    product from = at->products[(filters - 1) / at->stride];
    for (uint64_t i = (filters - 1) / at->stride * at->stride; i < filters; i++) {
        bry__fbf_sum_take(&from.sum, filter_error(from.next), i + 1 == filters && asks_alone(at));
        from.next = from.next->older;
    }
    return bry__fbf_sum_end(&from.sum);
}

static double known_error(steps *at)
{
    int alone = asks_alone(at);
    if (!at->has_error[alone]) {
        at->error[alone] = fbf_paper_predicted(at);
        at->has_error[alone] = true;
    }
    return at->error[alone];
}

static bool fbf_paper_has_room(const bry__fbf_setting *setting, uint64_t filters)
{
    return !setting->max_bytes ||
           sizeof(bry__fbf) + filters * bry__fbf_cost(setting->bits) <= setting->max_bytes;
}

bool bry__fbf_paper_covers(const bry__fbf_setting *setting, uint64_t filters, uint64_t period)
{
    return period >= setting->window || (filters - 1) * period >= setting->window;
}

/* What Algorithm 3 does with the row; false: nothing. */
static bool fbf_paper_adapted(steps *at, uint32_t *count, uint64_t *period)
{
    const bry__fbf_setting *setting = at->setting;
    *count = at->count;
    *period = at->period;
    if (setting->fixed)
        return false;
    double error = known_error(at);
    if (error >= 0.9 * setting->error) {
        uint64_t twice = 2 * (uint64_t)at->count;
        *count = twice < setting->most_filters ? (uint32_t)twice : setting->most_filters;
        if (at->period > SECOND)
            *period = at->period - SECOND > SECOND ? at->period - SECOND : SECOND;
        if (*count < at->count || !fbf_paper_has_room(setting, *count))
            *count = at->count;
    } else if (error <= 0.1 * setting->error && at->count > BRY__FBF_PAPER_LEAST) {
        *count = at->count - 1;
        *period = at->period + SECOND < setting->longest_period ? at->period + SECOND
                                                                : setting->longest_period;
    }
    return (*count != at->count || *period != at->period) &&
           bry__fbf_paper_covers(setting, *count, *period);
}

/* The end of the elements that only the oldest filter has: those of the period before its own. */
static uint64_t oldest_end(const steps *at)
{
    if (!at->oldest || at->row <= 2)
        return UINT64_MAX;
    return at->oldest == at->newest ? at->newest_begin : at->oldest->begin;
}

static void fbf_paper_drop(steps *at)
{
    at->items -= at->oldest->before;
    at->oldest = at->oldest == at->newest ? NULL : at->oldest->newer;
    at->row--;
    if (at->change)
        bry__fbf_drop(at->change);
}

static void fbf_paper_drop_old(steps *at, uint64_t now)
{
    while (at->row > at->count) {
        uint64_t end = oldest_end(at);
        if (end == UINT64_MAX || !bry__fbf_expired(end, at->setting->window, now))
            break;
        fbf_paper_drop(at);
    }
}

static bry_status fbf_paper_refresh(steps *at)
{
    uint64_t now = at->due;
    at->row++; /* counted when deciding what to drop */
    fbf_paper_drop_old(at, now);
    at->row--;
    at->due = bry__fbf_after(now, at->period);
    if (!fbf_paper_has_room(at->setting, at->row + 1))
        return BRY_OK;
    at->row++;
    if (at->made++ == 0)
        at->newest_begin = now;
    if (!at->change)
        return BRY_OK;
    bry__fbf *fbf = at->change;
    bry_status status = bry__fbf_append(fbf, fbf->setting.bits, fbf->setting.hashes);
    if (status != BRY_OK)
        return status;
    fbf->present->end = now;
    fbf->present = fbf->present->newer;
    fbf->present->begin = fbf->newest->from = now;
    fbf->newest->limit = fbf->setting.limit;
    return BRY_OK;
}

/* ---- seconds that repeat ------------------------------------------------------------------- */

static void forget_pattern(steps *at)
{
    at->has_error[0] = at->has_error[1] = false;
    at->pattern = (pattern){0};
}

static void begin_pattern(steps *at, uint64_t patience)
{
    at->pattern = (pattern){
        .second = at->second,
        .period = at->period,
        .count = at->count,
        .fewest = UINT32_MAX,
        .shortest = UINT64_MAX,
        .slack = UINT64_MAX,
        .patience = patience,
        .begun = true,
        .even = true,
    };
}

/* How often the pattern repeats before t reaches a bound. */
static uint64_t times_in_bounds(const steps *at)
{
    const pattern *seen = &at->pattern;
    if (at->period > seen->period)
        return (at->setting->longest_period - seen->longest) / (at->period - seen->period);
    uint64_t parts = seen->fewest - 1;
    uint64_t least = at->setting->window / parts + (at->setting->window % parts != 0);
    least = least > SECOND ? least : SECOND;
    return seen->shortest < least ? 0 : (seen->shortest - least) / (seen->period - at->period);
}

/* How often it repeats before a refresh, and before `end`, the last ms at which no filter is
 * dropped. The time of the refresh moves with t. */
static uint64_t fbf_paper_times(const steps *at, uint64_t span, uint64_t end)
{
    const pattern *seen = &at->pattern;
    uint64_t now = at->second * SECOND;
    if (end <= now || seen->slack == 0 || at->due == UINT64_MAX)
        return 0;
    uint64_t most = (end - now) / span;
    if (at->period != seen->period) {
        uint64_t bound = seen->even ? times_in_bounds(at) : 0;
        most = bound < most ? bound : most;
    }
    uint64_t nearer = span + seen->period - at->period; /* how much nearer it comes each time */
    uint64_t before = nearer > 0 ? (seen->slack - 1) / nearer : most;
    return before < most ? before : most;
}

static void fbf_paper_skip(steps *at, uint64_t end)
{
    uint64_t seconds = at->second - at->pattern.second;
    uint64_t n = fbf_paper_times(at, seconds * SECOND, end);
    at->second += n * seconds;
    at->resizes += n * seconds;
    uint64_t by = n * (at->period - at->pattern.period); /* modulo 2⁶⁴ if negative */
    at->period += by;
    at->due += by;
}

/* After an adaptation that dropped no filter; t was `before`. */
static void fbf_paper_note(steps *at, uint64_t before, uint64_t now)
{
    pattern *seen = &at->pattern;
    if (!seen->begun) {
        begin_pattern(at, 1);
        return;
    }
    uint64_t by = at->period > before ? at->period - before : before - at->period;
    seen->even = seen->even && by == SECOND;
    seen->fewest = at->count < seen->fewest ? at->count : seen->fewest;
    seen->shortest = at->period < seen->shortest ? at->period : seen->shortest;
    seen->longest = at->period > seen->longest ? at->period : seen->longest;
    uint64_t judged = bry__fbf_after(at->second * SECOND, SECOND);
    uint64_t slack = at->due > judged ? at->due - judged : 0;
    seen->slack = slack < seen->slack ? slack : seen->slack;
    if (at->count == seen->count) {
        uint64_t ended = oldest_end(at), end = bry__fbf_after(ended, at->setting->kept) - 1;
        if (at->row > seen->fewest && bry__fbf_after(ended, at->setting->window) - 1 < end)
            end = bry__fbf_after(ended, at->setting->window) - 1;
        fbf_paper_skip(at, now < end ? now : end);
        begin_pattern(at, seen->patience);
    } else if (at->second - seen->second >= seen->patience) {
        begin_pattern(at, 2 * seen->patience);
    }
}

/* ---- time ---------------------------------------------------------------------------------- */

/* The time of the next refresh after t has changed. */
static uint64_t fbf_paper_due_with(const steps *at, uint64_t before)
{
    uint64_t due = bry__fbf_after(at->due - before, at->period);
    uint64_t soonest = bry__fbf_after(at->second * SECOND, 1);
    return at->due == UINT64_MAX ? UINT64_MAX : due > soonest ? due : soonest;
}

static void fbf_paper_adapt_to(steps *at, uint32_t count, uint64_t period, uint64_t now)
{
    uint64_t before = at->period, row = at->row;
    at->second++;
    at->count = count;
    at->period = period;
    at->due = fbf_paper_due_with(at, before);
    at->resizes++;
    fbf_paper_drop_old(at, at->second * SECOND);
    if (at->row == row)
        fbf_paper_note(at, before, now);
    else
        forget_pattern(at);
}

static bry_status fbf_paper_run(steps *at, uint64_t now)
{
    if (now < at->due && now / SECOND == at->second &&
        now < bry__fbf_after(oldest_end(at), at->setting->kept))
        return BRY_OK;
    while (at->items > 0) {
        uint32_t count;
        uint64_t period;
        bool adapt = fbf_paper_adapted(at, &count, &period);
        uint64_t judged = bry__fbf_after(at->second * SECOND, SECOND);
        uint64_t over = bry__fbf_after(oldest_end(at), at->setting->kept);
        uint64_t next = at->due < over ? at->due : over;
        if (adapt && judged < next) {
            if (judged > now || judged == UINT64_MAX)
                break;
            fbf_paper_adapt_to(at, count, period, now);
        } else {
            if (next > now || next == UINT64_MAX)
                break;
            at->second = next / SECOND - (next % SECOND == 0);
            bry_status status = BRY_OK;
            if (over <= at->due)
                fbf_paper_drop(at);
            else
                status = fbf_paper_refresh(at);
            if (status != BRY_OK)
                return status;
            forget_pattern(at);
        }
    }
    return BRY_OK;
}

static steps fbf_paper_steps_of(const bry__fbf *fbf)
{
    return (steps){
        .setting = &fbf->setting,
        .oldest = fbf->oldest,
        .newest = fbf->newest,
        .newest_begin = UINT64_MAX,
        .items = fbf->items,
        .row = fbf->row,
        .count = fbf->count,
        .period = fbf->period,
        .due = fbf->due,
        .second = fbf->time / SECOND,
        .resizes = fbf->resizes,
    };
}

bry_status bry__fbf_paper_to(bry__fbf *fbf, uint64_t now)
{
    steps at = fbf_paper_steps_of(fbf);
    at.change = fbf;
    bry_status status = fbf_paper_run(&at, now);
    if (status != BRY_OK)
        return status;
    fbf->time = now;
    fbf->resizes = at.resizes;
    fbf->items = at.items;
    if (at.items == 0)
        return bry__fbf_renew(fbf, 0);
    fbf->count = at.count;
    fbf->period = at.period;
    fbf->due = at.due;
    return BRY_OK;
}

bry__fbf_view bry__fbf_paper_at(const bry__fbf *fbf, uint64_t now)
{
    steps at = fbf_paper_steps_of(fbf);
    (void)fbf_paper_run(&at, now); /* it only fails if there is a row to change */
    return (bry__fbf_view){at.items > 0 ? at.oldest : NULL, at.made > 0, asks_alone(&at)};
}

double bry__fbf_paper_predicted(const bry__fbf *fbf)
{
    steps at = fbf_paper_steps_of(fbf);
    return fbf_paper_predicted(&at);
}

bool bry__fbf_paper_held(const bry__fbf *fbf)
{
    uint64_t twice = 2 * (uint64_t)fbf->count;
    if (twice > fbf->setting.most_filters)
        twice = fbf->setting.most_filters;
    double error = bry__fbf_paper_predicted(fbf);
    return (fbf->setting.refuse && error >= fbf->setting.error) ||
           (twice > fbf->count && !fbf_paper_has_room(&fbf->setting, twice) &&
            error >= 0.9 * fbf->setting.error);
}
