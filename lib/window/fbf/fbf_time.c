/*
 * How time and load move the row.
 *
 * Time is cut into cells of ceil(window / generations) ms, on a grid of absolute time. A period
 * ends with its cell, or when it holds what its filters were planned for and another element comes.
 * The elements of period j are in filters j and j + 1, and both are asked: a window after the
 * period's end filter j is dropped, and with it the pair.
 *
 * Limits follow the load. The filter that is made when a period begins serves that period and the
 * next, whose limit is decided now:
 *   - the period before ended early: as many as would have filled a cell at its rate, plus an
 *     eighth, between once and twice what the period that begins may hold. So limits double as
 *     long as that does not suffice, and a load that rises a hundredfold at once ends seven or
 *     eight periods early and then none.
 *   - it ended with its cell: what came in the cell, plus an eighth if that is above the plan;
 *     but at least a quarter of the limit before, so that a short lull does not undo everything;
 * and never below the planned limit. A row in which nothing is remembered any more is reset: it
 * depends on time alone, so a jump over any number of cells costs no more than the cells of one
 * window.
 *
 * Limit. The ordinary size is such that an ordinary row, in which no period ends early, fits
 * below the limit. What is left is for larger filters and for those made early; if it does not
 * suffice, a filter made by time is smaller than wanted, and a full period does not end (or, with
 * `refuse`, accepts no more). A limit below one line per filter of an ordinary row is rejected at
 * creation.
 */
#include "window/fbf/fbf.h"

#define GENEROUS(n) ((n) + (n) / 8)

static uint64_t cell_begin(const bry__fbf *fbf, uint64_t cell)
{
    return cell * fbf->setting.length;
}

static void fbf_expire(bry__fbf *fbf, uint64_t now)
{
    while (fbf->oldest != fbf->present &&
           bry__fbf_expired(fbf->oldest->end, fbf->setting.window, now)) {
        fbf->items -= fbf->oldest->items;
        bry__fbf_drop(fbf);
    }
}

const bry__fbf_filter *bry__fbf_oldest_at(const bry__fbf *fbf, uint64_t now)
{
    const bry__fbf_filter *filter = fbf->oldest;
    while (filter != fbf->present && bry__fbf_expired(filter->end, fbf->setting.window, now))
        filter = filter->newer;
    if (filter == fbf->present) {
        uint64_t end = bry__fbf_after(cell_begin(fbf, fbf->cell), fbf->setting.length);
        if (now / fbf->setting.length != fbf->cell &&
            bry__fbf_expired(end, fbf->setting.window, now))
            return NULL;
    }
    return filter;
}

/* ---- the limit ------------------------------------------------------------------------------ */

/* Bytes below the limit that are not reserved for the ordinary row; there must be a limit. */
static uint64_t fbf_spare(const bry__fbf *fbf)
{
    uint64_t ordinary = bry__fbf_cost(fbf->setting.bits);
    uint64_t taken = sizeof *fbf + fbf->setting.filters * ordinary + fbf->extra;
    return taken < fbf->setting.max_bytes ? fbf->setting.max_bytes - taken : 0;
}

/* ---- periods -------------------------------------------------------------------------------- */

static uint64_t wanted_limit(const bry__fbf *fbf, bool early, uint64_t now)
{
    uint64_t planned = fbf->setting.limit, next = fbf->newest->limit;
    if (!early) {
        uint64_t came = fbf->cell_items, wanted = came <= planned ? planned : GENEROUS(came);
        return wanted > next / 4 ? wanted : next / 4;
    }
    uint64_t took = now > fbf->present->begin ? now - fbf->present->begin : 1;
    double rate = (double)fbf->present->items / (double)took;
    double wanted = GENEROUS(rate * (double)fbf->setting.length);
    return wanted <= (double)next ? next : wanted >= 2 * (double)next ? 2 * next : (uint64_t)wanted;
}

static bry__fbf_size fbf_next_size(const bry__fbf *fbf, bool early, uint64_t now)
{
    uint64_t max_cost = UINT64_MAX;
    if (fbf->setting.max_bytes)
        max_cost = fbf_spare(fbf) + (early ? 0 : bry__fbf_cost(fbf->setting.bits));
    return bry__fbf_size_for(&fbf->setting, fbf->row + 1, fbf->newest->limit,
                             wanted_limit(fbf, early, now), max_cost);
}

static bry_status end_period(bry__fbf *fbf, uint64_t now, bool early, const bry__fbf_size *size)
{
    bry_status status = bry__fbf_append(fbf, size->bits, size->hashes);
    if (status != BRY_OK)
        return status;
    bry__fbf_filter *ended = fbf->present, *present = ended->newer, *newest = fbf->newest;
    ended->end = early ? bry__fbf_after(fbf->last, 1) : now;
    if (early) {
        fbf->sub++;
        fbf->ended_early++;
    } else {
        fbf->cell++;
        fbf->cell_items = 0;
        fbf->sub = 0;
    }
    fbf->resizes += size->limit != present->limit;
    present->begin = newest->from = now;
    present->limit = size->present_limit;
    newest->limit = size->limit;
    newest->early = early;
    newest->sub = fbf->sub;
    newest->salt = bry__fbf_salt(fbf->cell, fbf->sub);
    fbf->extra += bry__fbf_extra(fbf, newest);
    fbf->present = present;
    return BRY_OK;
}

/* A filter that is too small for the period that begins would not help. */
static bool fbf_affordable(const bry__fbf *fbf, const bry__fbf_size *size)
{
    return !fbf->setting.max_bytes || (bry__fbf_cost(size->bits) <= fbf_spare(fbf) &&
                                       size->present_limit == fbf->newest->limit);
}

bool bry__fbf_can_end_early(const bry__fbf *fbf)
{
    bry__fbf_size size = fbf_next_size(fbf, true, fbf->time);
    return fbf_affordable(fbf, &size);
}

bry_status bry__fbf_end_early(bry__fbf *fbf, uint64_t now)
{
    bry__fbf_size size = fbf_next_size(fbf, true, now);
    return fbf_affordable(fbf, &size) ? end_period(fbf, now, true, &size) : BRY_E_FULL;
}

bool bry__fbf_stays(const bry__fbf *fbf, uint64_t now)
{
    return fbf->items > 0 && now - cell_begin(fbf, fbf->cell) < fbf->setting.length &&
           (fbf->oldest == fbf->present ||
            !bry__fbf_expired(fbf->oldest->end, fbf->setting.window, now));
}

bry_status bry__fbf_to(bry__fbf *fbf, uint64_t now)
{
    uint64_t cell = now / fbf->setting.length;
    while (fbf->cell != cell) {
        uint64_t end = cell_begin(fbf, fbf->cell + 1);
        fbf_expire(fbf, end);
        if (fbf->items == 0)
            break;
        bry__fbf_size size = fbf_next_size(fbf, false, end);
        bry_status status = end_period(fbf, end, false, &size);
        if (status != BRY_OK)
            return status;
    }
    fbf_expire(fbf, now);
    if (fbf->items == 0) {
        bry_status status = bry__fbf_renew(fbf, cell);
        if (status != BRY_OK)
            return status;
    }
    fbf->time = now;
    return BRY_OK;
}
