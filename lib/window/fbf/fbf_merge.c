/* Whole rows: copying, and merging two. */
#include "kernel/kernel.h"
#include "window/fbf/fbf.h"

#include <math.h>

/* ---- clone ---------------------------------------------------------------------------------- */

static bry_status fbf_copy_table(bry__fbf_filter *to, const bry__fbf_filter *from,
                                 const bry_allocator *allocator)
{
    const bry__pieces *table = &from->bloom.table;
    if (table->present == 0)
        return BRY_OK;
    bry_status status = bry__fbf_reach(to, allocator);
    return status == BRY_OK ? bry__pieces_copy(&to->bloom.table, table, allocator) : status;
}

/* Appends a copy of a filter. */
static bry_status append_copy(bry__fbf *fbf, const bry__fbf_filter *from)
{
    bry_status status = bry__fbf_append(fbf, from->bloom.bits, from->bloom.hashes);
    if (status != BRY_OK)
        return status;
    bry__fbf_filter *made = fbf->newest;
    bry__fbf_filter numbers = *from;
    numbers.older = made->older;
    numbers.newer = NULL;
    numbers.bloom = made->bloom;
    *made = numbers;
    return fbf_copy_table(made, from, &fbf->allocator);
}

static bry__fbf *fbf_copy_of(const bry__fbf *fbf, const bry_allocator *allocator)
{
    bry__fbf *made = bry__alloc(allocator, sizeof *made);
    if (!made)
        return NULL;
    *made = *fbf;
    made->allocator = bry__memory_begin(&made->memory, allocator);
    made->oldest = made->present = made->newest = made->trash = NULL;
    made->row = 0;
    bry_status status = BRY_OK;
    for (const bry__fbf_filter *filter = fbf->oldest; filter && status == BRY_OK;
         filter = filter->newer) {
        status = append_copy(made, filter);
        if (!made->oldest)
            made->oldest = made->newest;
        if (filter == fbf->present)
            made->present = made->newest;
    }
    if (status != BRY_OK) {
        bry__fbf_destroy(made);
        return NULL;
    }
    return made;
}

bry_status bry__fbf_clone(const void *self, const bry_allocator *allocator, void **copy)
{
    bry__fbf *made = fbf_copy_of(self, allocator);
    if (!made)
        return BRY_E_NOMEM;
    *copy = made;
    return BRY_OK;
}

/* ---- merge ---------------------------------------------------------------------------------- */

static bool same_setting(const bry__fbf_setting *a, const bry__fbf_setting *b)
{
    return a->window == b->window && a->generations == b->generations && a->error == b->error &&
           a->fixed == b->fixed && a->bits == b->bits && a->hashes == b->hashes;
}

static bool same_place(const bry__fbf_filter *a, const bry__fbf_filter *b)
{
    return a->salt == b->salt && a->begin == b->begin && a->end == b->end &&
           a->bloom.bits == b->bloom.bits && a->bloom.hashes == b->bloom.hashes;
}

static const bry__fbf_filter *fbf_older_in(const bry__fbf *fbf, const bry__fbf_filter *filter)
{
    return filter == fbf->oldest ? NULL : filter->older;
}

/* Whether two rows at the same time can be merged filter by filter, newest with newest. */
static bool same_places(const bry__fbf *a, const bry__fbf *b)
{
    if (a->cell != b->cell || a->sub != b->sub)
        return false;
    const bry__fbf_filter *x = a->newest, *y = b->newest;
    for (; x && y; x = fbf_older_in(a, x), y = fbf_older_in(b, y))
        if (!same_place(x, y))
            return false;
    return true;
}

/* Whether all periods together stay within their planned limits. */
static bool within_limits(const bry__fbf *a, const bry__fbf *b)
{
    const bry__fbf_filter *x = a->newest, *y = b->newest;
    for (; x && y; x = fbf_older_in(a, x), y = fbf_older_in(b, y))
        if (x->items + y->items > x->limit)
            return false;
    return true;
}

/* Allocates the pieces that `into` lacks: the last step that can fail. */
static bry_status reach_like(bry__fbf_filter *into, const bry__fbf_filter *from,
                             const bry_allocator *allocator)
{
    bry_status status = BRY_OK;
    if (from->bloom.table.present > 0)
        status = bry__fbf_reach(into, allocator);
    for (size_t i = 0; status == BRY_OK && i < from->bloom.table.count; i++)
        if (from->bloom.table.piece[i])
            status = bry__piece_reach(&into->bloom.table, i, allocator);
    return status;
}

/* Bits set in either, and in both together. */
typedef struct overlap {
    uint64_t into, from, both;
    double likely; /* elements, estimated from the bits of both */
} overlap;

static overlap fbf_overlap_of(const bry__fbf_filter *into, const bry__fbf_filter *from)
{
    const bry__pieces *a = &into->bloom.table, *b = &from->bloom.table;
    overlap bits = {0, 0, 0, 0};
    for (size_t i = 0; i < a->count || i < b->count; i++) {
        const unsigned char *x = i < a->count ? a->piece[i] : NULL;
        const unsigned char *y = i < b->count ? b->piece[i] : NULL;
        size_t size = bry__piece_size(a->count ? a : b, i);
        uint64_t in_x = x ? bry__kernels()->popcount(x, size) : 0;
        uint64_t in_y = y ? bry__kernels()->popcount(y, size) : 0;
        bits.into += in_x;
        bits.from += in_y;
        bits.both += x && y ? bry__kernels()->popcount_or(x, y, size) : in_x + in_y;
    }
    bits.likely = bry__fbf_likely(into->bloom.bits, into->bloom.hashes, bits.both);
    return bits;
}

/*
 * Elements of a period after merging. If one side's bits are all in the other, so are, up to the
 * error, its elements, so merging what is there already changes nothing. Otherwise the number of
 * common elements is unknown, and all are counted; but no more than the bits make likely. Never
 * fewer than either side has: its bits may be in the other as those of another period.
 */
static uint64_t fbf_merged_count(uint64_t into, uint64_t from, const overlap *one,
                                 const overlap *next)
{
    uint64_t least = into > from ? into : from, sum = into + from;
    if ((one->both == one->into && next->both == next->into) ||
        (one->both == one->from && next->both == next->from))
        return least;
    double most = BRY__FBF_MOST(fmin(one->likely, next->likely));
    return (double)sum <= most ? sum : (double)least >= most ? least : (uint64_t)most;
}

static void merge_filter(bry__fbf_filter *into, const bry__fbf_filter *from, const overlap *newer,
                         const overlap *own)
{
    const bry__pieces *table = &from->bloom.table;
    for (size_t i = 0; i < table->count; i++)
        if (table->piece[i])
            bry__kernels()->or_into(into->bloom.table.piece[i], table->piece[i],
                                    bry__piece_size(table, i));
    into->set = own->both;
    into->items = fbf_merged_count(into->items, from->items, own, newer);
    into->before =
        fbf_merged_count(into->before, from->before, own, own); /* used for the oldest filter */
    if (into->newer)
        into->newer->before = into->items;
    if (from->from < into->from)
        into->from = from->from;
    if (from->limit < into->limit)
        into->limit = from->limit;
}

/* Takes over filters older than all of into's from a copy. */
static void take_older(bry__fbf *into, bry__fbf *copy, bry__fbf_filter *first)
{
    uint64_t n = 1;
    for (bry__fbf_filter *filter = first; filter->older; filter = filter->older)
        n++;
    bry__fbf_filter *left = first->newer;
    first->newer = into->oldest;
    into->oldest->older = first;
    into->oldest = copy->oldest;
    into->row += n;
    copy->oldest = left;
    left->older = NULL;
    copy->row -= n;
}

/*
 * At the end of the shorter row, neighbours of two rows meet. What the newer one has of the period
 * before its own is what the older one has, and also what the shorter one held of a period that
 * ended earlier there and is out of the window: bits without a pair.
 */
static void meet_older(bry__fbf_filter *filter)
{
    const bry__fbf_filter *older = filter->older;
    filter->from = older->begin;
    if (filter->before < older->items)
        filter->before = older->items;
}

/* Whether a row as long as this one stays below the limit. */
static bool has_room_for(const bry__fbf *into, const bry__fbf *from)
{
    uint64_t bytes = sizeof *into;
    for (const bry__fbf_filter *filter = from->oldest; filter; filter = filter->newer)
        bytes += bry__fbf_cost(filter->bloom.bits);
    return !into->setting.max_bytes || bytes <= into->setting.max_bytes;
}

static bry_status fbf_no_room(const bry__fbf *into)
{
    return into->setting.refuse ? BRY_E_FULL : BRY_E_MISMATCH;
}

/* Recounts the row's sums over its filters. */
static void count_again(bry__fbf *fbf)
{
    uint64_t cell_begin = fbf->cell * fbf->setting.length;
    fbf->items = fbf->cell_items = fbf->extra = 0;
    for (const bry__fbf_filter *filter = fbf->oldest; filter; filter = filter->newer) {
        fbf->items += filter->items;
        fbf->extra += bry__fbf_extra(fbf, filter);
        if (filter->begin >= cell_begin)
            fbf->cell_items += filter->items;
    }
}

/* The part of a merge that can fail. */
static bry_status prepare_merge(const bry__fbf *into, const bry__fbf *copy)
{
    if (!same_places(into, copy))
        return BRY_E_MISMATCH;
    if (copy->row > into->row && !has_room_for(into, copy))
        return fbf_no_room(into);
    if (into->setting.refuse && into->setting.max_bytes && !into->setting.fixed &&
        !within_limits(into, copy))
        return BRY_E_FULL;
    bry__fbf_filter *x = into->newest, *y = copy->newest;
    bry_status status = BRY_OK;
    for (uint64_t i = 0; i < into->row && i < copy->row && status == BRY_OK; i++) {
        status = reach_like(x, y, &into->allocator);
        x = x->older;
        y = y->older;
    }
    return status;
}

/* `copy` has elements and may be taken apart. */
static void fbf_merge_all(bry__fbf *into, bry__fbf *copy)
{
    bry__fbf_filter *x = into->newest, *y = copy->newest;
    overlap newer = {0, 0, 0, 0}, own; /* the newest's own period has not begun */
    for (;;) {
        own = fbf_overlap_of(x, y);
        merge_filter(x, y, &newer, &own);
        newer = own;
        if (x == into->oldest || !y->older)
            break;
        x = x->older;
        y = y->older;
    }
    if (y->older)
        take_older(into, copy, y->older);
    if (x->older)
        meet_older(x);
    count_again(into);
    if (copy->last > into->last)
        into->last = copy->last;
    if (copy->ended_early > into->ended_early)
        into->ended_early = copy->ended_early;
    if (copy->resizes > into->resizes)
        into->resizes = copy->resizes;
}

/* Replaces an empty row by the other's. */
static void fbf_become(bry__fbf *into, bry__fbf *copy)
{
    bry__fbf was = *into;
    into->oldest = copy->oldest;
    into->present = copy->present;
    into->newest = copy->newest;
    into->row = copy->row;
    into->extra = copy->extra;
    into->items = copy->items;
    into->last = copy->last;
    into->cell_items = copy->cell_items;
    into->sub = copy->sub;
    into->ended_early = was.ended_early > copy->ended_early ? was.ended_early : copy->ended_early;
    into->resizes = was.resizes > copy->resizes ? was.resizes : copy->resizes;
    copy->oldest = was.oldest;
    copy->present = was.present;
    copy->newest = was.newest;
}

/*
 * Brings a copy of `from` to the later time; filters that are taken over come from it. Bits are
 * merged when nothing can fail any more, so that until then the change can be undone.
 */
static bry_status fbf_copy_at(const bry__fbf *from, uint64_t now, const bry_allocator *allocator,
                              bry__fbf **copy)
{
    bry__fbf *made = fbf_copy_of(from, allocator);
    if (!made)
        return BRY_E_NOMEM;
    bry__fbf_change change = bry__fbf_begin(made);
    bry_status status = bry__fbf_to(made, now);
    if (status == BRY_OK) {
        bry__fbf_commit(made, &change);
        *copy = made;
    } else {
        bry__fbf_rollback(made, &change);
        bry__fbf_destroy(made);
    }
    return status;
}

bry_status bry__fbf_merge(void *self, const void *other, uint64_t now)
{
    bry__fbf *into = self, *copy;
    const bry__fbf *from = other;
    if (!same_setting(&into->setting, &from->setting))
        return BRY_E_MISMATCH;
    bry_status status = fbf_copy_at(from, now, &into->allocator, &copy);
    if (status != BRY_OK)
        return status;
    bry__fbf_change change = bry__fbf_begin(into);
    status = bry__fbf_to(into, now);
    bool takes_all = status == BRY_OK && into->items == 0 && copy->items > 0;
    if (takes_all && !has_room_for(into, copy))
        status = fbf_no_room(into);
    else if (status == BRY_OK && !takes_all && copy->items > 0)
        status = prepare_merge(into, copy);
    if (status == BRY_OK)
        bry__fbf_commit(into, &change);
    else
        bry__fbf_rollback(into, &change);
    if (status == BRY_OK && takes_all)
        fbf_become(into, copy);
    else if (status == BRY_OK && copy->items > 0)
        fbf_merge_all(into, copy);
    bry__fbf_destroy(copy);
    return status;
}
