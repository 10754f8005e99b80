/*
 * The engine fbf: a forgetful Bloom filter, after "Idempotent Distributed Counters using a
 * Forgetful Bloom Filter" (thesis, University of Illinois 2015), and better.
 *
 * A Bloom filter cannot forget an element, but a whole filter can be dropped. So there is a row of
 * them, and time is cut into periods; an element of period j goes into filters j and j + 1:
 *
 *     time       ──┬── period 4 ──┬── period 5 ──┬── period 6 ──┬── period 7 (now) ──
 *     filter 4   ██│██████████████│              ·              ·
 *     filter 5     │██████████████│██████████████│              ·
 *     filter 6     ·              │██████████████│██████████████│
 *     filter 7     ·              ·              │██████████████│██████       present
 *     filter 8     ·              ·              ·              │██████       future
 *
 * Period j is what filters j and j + 1 both hold, and no other two neighbours hold it. A filter of
 * error p asked alone errs with p; asked together with its neighbour it errs
 * with p². That is the thesis's idea; this engine refines it:
 *
 *   thesis                               here
 *   ------------------------------------ -------------------------------------------------------
 *   all filters use the same positions:  positions are salted by the filter's place in time, so
 *   neighbours share elements *and*      neighbours are independent, and a pair errs with p² as
 *   positions, and a pair errs with      the analysis assumes
 *   p^1.5, not p²
 *   future alone, pairs, oldest alone    pairs alone, future and present included; one more past
 *                                        filter in exchange. The oldest alone took most of the
 *                                        error, so filters had to be half as large again
 *   judged once a second, then twice as  a period ends when it holds what it was planned for, and
 *   many filters                         the next one is larger (fbf_time.c): the error is bounded
 *                                        at any rate and moment (fbf_plan.c has the proof)
 *   covers (N + 1)·t, whatever t became  a pair is dropped a window after its period's end
 *
 * Nothing is forgotten early: an element that came at a is in a period that ends at a + 1 or later,
 * and its pair is dropped when that end and the window have passed, so at a + window it is still
 * there. It is gone a window after the end of the cell in which it came: at most a period more.
 *
 * The published row is in papers/, for comparison.
 *
 * Refresh: an element that is found, but not in the present pair, is stored again there. At a
 * limit with `refuse` that may be refused like a new one, since it would break the promise.
 *
 * Memory: a filter has none until its first element, and then allocates in pieces. A change that
 * drops old filters keeps them until it cannot fail any more, so that it can be undone.
 */
#include "window/fbf/fbf.h"

#include <string.h>

/* ---- making --------------------------------------------------------------------------------- */

static bry_status fbf_window_plan(const bry_window_options *options, bry_window_shape *shape)
{
    bry__fbf_setting setting;
    bry_status status = bry__fbf_set(options, &setting);
    if (status == BRY_OK)
        bry__fbf_shape(&setting, options->capacity, shape);
    return status;
}

static uint64_t fbf_window_bytes_first(const bry_window_options *options)
{
    bry__fbf_setting setting;
    return bry__fbf_set(options, &setting) == BRY_OK ? bry__fbf_bytes_first(&setting) : 0;
}

/* An empty instance at time 0; NULL: out of memory. */
static bry__fbf *fbf_make(const bry__fbf_setting *setting, const bry_allocator *allocator)
{
    bry__fbf *fbf = bry__alloc(allocator, sizeof *fbf);
    if (!fbf)
        return NULL;
    fbf->allocator = bry__memory_begin(&fbf->memory, allocator);
    fbf->setting = *setting;
    bry_status status = bry__fbf_append(fbf, setting->bits, setting->hashes);
    fbf->oldest = fbf->present = fbf->newest;
    if (status == BRY_OK)
        status = bry__fbf_append(fbf, setting->bits, setting->hashes);
    if (status != BRY_OK) {
        bry__fbf_destroy(fbf);
        return NULL;
    }
    bry__fbf_relabel(fbf, 0);
    return fbf;
}

static bry_status fbf_window_create(const bry_window_options *options,
                                    const bry_allocator *allocator, void **self)
{
    bry__fbf_setting setting;
    bry_status status = bry__fbf_set(options, &setting);
    if (status != BRY_OK)
        return status;
    bry__fbf *fbf = fbf_make(&setting, allocator);
    if (!fbf)
        return BRY_E_NOMEM;
    fbf->time = options->start;
    bry__fbf_relabel(fbf, options->start / setting.length);
    *self = fbf;
    return BRY_OK;
}

static void fbf_free_all(bry__fbf *fbf, bry__fbf_filter *filter)
{
    while (filter) {
        bry__fbf_filter *newer = filter->newer;
        bry__fbf_free_filter(fbf, filter);
        filter = newer;
    }
}

void bry__fbf_destroy(void *self)
{
    bry__fbf *fbf = self;
    bry_allocator allocator = fbf->memory.from;
    fbf_free_all(fbf, fbf->oldest);
    fbf_free_all(fbf, fbf->trash);
    bry__free(&allocator, fbf, sizeof *fbf);
}

static void fbf_window_clear(void *self)
{
    bry__fbf_empty(self);
}

static const bry_allocator *fbf_window_allocator(const void *self)
{
    const bry__fbf *fbf = self;
    return &fbf->memory.from;
}

static void fbf_window_like(const void *self, bry_window_options *options)
{
    const bry__fbf *fbf = self;
    options->fbf.bits = fbf->setting.bits;
    options->fbf.hashes = fbf->setting.hashes;
}

/* ---- changing ------------------------------------------------------------------------------- */

static bry_status fbf_end_change(bry__fbf *fbf, const bry__fbf_change *change, bry_status status)
{
    if (status == BRY_OK)
        bry__fbf_commit(fbf, change);
    else
        bry__fbf_rollback(fbf, change);
    return status;
}

static bry_status fbf_window_advance(void *self, uint64_t now)
{
    bry__fbf_change change = bry__fbf_begin(self);
    return fbf_end_change(self, &change, bry__fbf_to(self, now));
}

/* Makes room for one more element in the present period. FULL, NOMEM. */
static bry_status fbf_make_room(bry__fbf *fbf, uint64_t now)
{
    if (fbf->setting.fixed || fbf->present->items < fbf->present->limit)
        return BRY_OK;
    bry_status status = bry__fbf_end_early(fbf, now);
    return status == BRY_E_FULL && !fbf->setting.refuse ? BRY_OK : status;
}

/* Adds one element at time `now`, within a change; sets *undo if it is stored. */
static bry_status fbf_add_one(bry__fbf *fbf, bry_hash hash, uint64_t now, bry_answer *was,
                              bry__fbf_undo *undo)
{
    *undo = (bry__fbf_undo){0, 0};
    *was = bry__fbf_has(fbf, hash, now);
    if (*was == BRY_PRESENT && (!fbf->setting.refresh || (bry__fbf_in(fbf->present, hash) &&
                                                          bry__fbf_in(fbf->newest, hash))))
        return BRY_OK;
    bry_status status = fbf_make_room(fbf, now);
    return status == BRY_OK ? bry__fbf_store(fbf, hash, now, undo) : status;
}

/* Whether adding n more elements cannot fail. */
static bool fbf_is_sure(const bry__fbf *fbf, size_t n)
{
    const bry__pieces *present = &fbf->present->bloom.table, *newest = &fbf->newest->bloom.table;
    if (!present->piece || present->present < present->count || !newest->piece ||
        newest->present < newest->count)
        return false;
    return fbf->setting.fixed || (fbf->present->items <= fbf->present->limit &&
                                  fbf->present->limit - fbf->present->items >= n);
}

static bry_status fbf_window_add(void *self, bry_hash hash, uint64_t now, bry_answer *was)
{
    bry__fbf *fbf = self;
    bry_answer answer = BRY_ABSENT;
    bry__fbf_undo undo;
    if (bry__fbf_stays(fbf, now) && fbf_is_sure(fbf, 1)) {
        fbf->time = now; /* the common case: nothing to undo */
        bry__fbf_reclaim(fbf);
        return fbf_add_one(fbf, hash, now, was, &undo);
    }
    bry__fbf_change change = bry__fbf_begin(fbf);
    bry_status status = bry__fbf_to(fbf, now);
    if (status == BRY_OK)
        status = fbf_add_one(fbf, hash, now, &answer, &undo);
    status = fbf_end_change(fbf, &change, status);
    if (status == BRY_OK)
        *was = answer;
    return status;
}

/* ---- batches -------------------------------------------------------------------------------- */

/* Bits that an element of a batch set in the two filters that existed before; filters made by the
 * batch are dropped if it fails. */
typedef struct noted {
    uint64_t present, newest;
} noted;

static noted fbf_note(const bry__fbf *fbf, const bry__fbf_change *change, const bry__fbf_undo *undo)
{
    if (fbf->present == change->row.present)
        return (noted){undo->present, undo->newest};
    if (fbf->present == change->row.newest)
        return (noted){0, undo->present};
    return (noted){0, 0};
}

static bry_status add_noting(bry__fbf *fbf, const bry__fbf_change *change, const bry_hash *hashes,
                             size_t n, uint64_t now, noted *notes, uint8_t *answers)
{
    for (size_t i = 0; i < n; i++) {
        bry_answer answer;
        bry__fbf_undo undo;
        bry_status status = fbf_add_one(fbf, hashes[i], now, &answer, &undo);
        if (status != BRY_OK) {
            while (i-- > 0) {
                bry__fbf_unset(change->row.present, hashes[i], notes[i].present);
                bry__fbf_unset(change->row.newest, hashes[i], notes[i].newest);
            }
            return status;
        }
        notes[i] = fbf_note(fbf, change, &undo);
        answers[i] = (uint8_t)answer;
    }
    return BRY_OK;
}

static bry_status fbf_window_add_n(void *self, const bry_hash *hashes, size_t n, uint64_t now,
                                   uint8_t *was)
{
    bry__fbf *fbf = self;
    bry__fbf_change change = bry__fbf_begin(fbf);
    bry_status status = bry__fbf_to(fbf, now);
    if (status == BRY_OK && fbf_is_sure(fbf, n)) {
        for (size_t i = 0; i < n; i++) {
            bry_answer answer;
            bry__fbf_undo undo;
            (void)fbf_add_one(fbf, hashes[i], now, &answer, &undo);
            if (was)
                was[i] = (uint8_t)answer;
        }
    } else if (status == BRY_OK) {
        size_t size = n * (sizeof(noted) + 1); /* cannot overflow: n hashes of 16 bytes exist */
        noted *notes = bry__alloc(&fbf->allocator, size);
        uint8_t *answers = notes ? (uint8_t *)(notes + n) : NULL;
        status = notes ? add_noting(fbf, &change, hashes, n, now, notes, answers) : BRY_E_NOMEM;
        if (status == BRY_OK && was)
            memcpy(was, answers, n);
        bry__free(&fbf->allocator, notes, size);
    }
    return fbf_end_change(fbf, &change, status);
}

const bry__window_engine bry__fbf_window_engine = {
    .engine = BRY_ENGINE_FBF,
    .plan = fbf_window_plan,
    .bytes_first = fbf_window_bytes_first,
    .create = fbf_window_create,
    .destroy = bry__fbf_destroy,
    .clone = bry__fbf_clone,
    .clear = fbf_window_clear,
    .allocator = fbf_window_allocator,
    .like = fbf_window_like,
    .has = bry__fbf_has,
    .has_n = bry__fbf_has_n,
    .add = fbf_window_add,
    .add_n = fbf_window_add_n,
    .advance = fbf_window_advance,
    .merge = bry__fbf_merge,
    .items = bry__fbf_items,
    .bytes = bry__fbf_bytes,
    .generations = bry__fbf_generations,
    .stats = bry__fbf_stats,
    .write = bry__fbf_write,
    .read = bry__fbf_read,
};
