/*
 * Look-ups and statistics.
 *
 * Improved: an element is found if two neighbours have it. Every pair has exactly one filter at an
 * odd place, counted from the newest at 0; so those are asked first, and an even one only next to
 * an odd one that has it: an absent element costs half as many filters as there are.
 */
#include "common/attributes.h"
#include "common/sizing.h"
#include "common/struct_size.h"
#include "hash/derive.h"
#include "window/fbf/fbf.h"

#include <math.h>

enum { BATCH = 32 };

/* ---- membership ---------------------------------------------------------------------------- */

/* A look-up at time `now`. */
typedef struct question {
    const bry__fbf *fbf;
    bry__fbf_view view;
} question;

static question fbf_question_at(const bry__fbf *fbf, uint64_t now)
{
    question asked = {.fbf = fbf};
    if (fbf->items > 0 && fbf->setting.mode == BRY_WINDOW_IMPROVED)
        asked.view.oldest = bry__fbf_oldest_at(fbf, now);
    else if (fbf->items > 0)
        asked.view = bry__fbf_paper_at(fbf, now);
    return asked;
}

static const bry__fbf_filter *fbf_older_of(const question *asked, const bry__fbf_filter *filter)
{
    return filter == asked->view.oldest ? NULL : filter->older;
}

/* Whether a neighbour of a filter that has the element has it too. */
static bool fbf_neighbour_has(const question *asked, const bry__fbf_filter *filter, bry_hash hash)
{
    const bry__fbf_filter *older = fbf_older_of(asked, filter);
    return bry__fbf_in(filter->newer, hash) || (older && bry__fbf_in(older, hash));
}

static const bry__fbf_filter *fbf_next_asked(const question *asked, const bry__fbf_filter *filter)
{
    filter = fbf_older_of(asked, filter);
    return filter ? fbf_older_of(asked, filter) : NULL;
}

static bool fbf_pair_has(const question *asked, bry_hash hash)
{
    const bry__fbf_filter *filter = asked->fbf->present;
    for (; filter; filter = fbf_next_asked(asked, filter))
        if (bry__fbf_in(filter, hash) && fbf_neighbour_has(asked, filter, hash))
            return true;
    return false;
}

static bool fbf_simple_has(const question *asked, bry_hash hash)
{
    for (const bry__fbf_filter *filter = asked->fbf->newest; filter;
         filter = fbf_older_of(asked, filter))
        if (bry__fbf_in(filter, hash))
            return true;
    return false;
}

/* The future filter; or two neighbours from the present one on; or the oldest alone, for elements
 * whose other filter was dropped. */
static bool fbf_optimized_has(const question *asked, bry_hash hash)
{
    bool newer = false;
    for (const bry__fbf_filter *filter = asked->fbf->newest; filter;
         filter = fbf_older_of(asked, filter)) {
        bool in = bry__fbf_in(filter, hash);
        bool future = filter == asked->fbf->newest && !asked->view.rotated;
        bool alone = filter == asked->view.oldest && asked->view.alone;
        if (in && (future || newer || alone))
            return true;
        newer = in && !future;
    }
    return false;
}

static bool fbf_question_has(const question *asked, bry_hash hash)
{
    if (!asked->view.oldest)
        return false;
    if (asked->fbf->setting.mode == BRY_WINDOW_IMPROVED)
        return fbf_pair_has(asked, hash);
    return asked->fbf->setting.mode == BRY_WINDOW_PAPER ? fbf_optimized_has(asked, hash)
                                                        : fbf_simple_has(asked, hash);
}

bry_answer bry__fbf_has(const void *self, bry_hash hash, uint64_t now)
{
    question asked = fbf_question_at(self, now);
    return fbf_question_has(&asked, hash) ? BRY_PRESENT : BRY_ABSENT;
}

enum { FETCHED = 2 }; /* positions to prefetch; half of the absent elements need only one */

BRY__PREFETCHING void fbf_prefetch(const bry__fbf_filter *filter, const bry_hash *hashes,
                                   const uint8_t *left, size_t n)
{
    const bry__bloom *bloom = &filter->bloom;
    unsigned positions = bloom->hashes < FETCHED ? bloom->hashes : FETCHED;
    for (size_t i = 0; i < n && bloom->table.present > 0; i++) {
        bry_hash own = {hashes[left[i]].lo + filter->salt, hashes[left[i]].hi};
        for (unsigned j = 0; j < positions; j++) {
            uint64_t byte = bry__position(own, j, bloom->bits) >> 3;
            const unsigned char *piece = bloom->table.piece[byte >> BRY__BLOOM_PIECE_SHIFT];
            if (piece)
                __builtin_prefetch(piece + (byte & (BRY__BLOOM_PIECE_BYTES - 1)));
        }
    }
}

/* One filter at a time for the whole batch, while the next one is being prefetched. */
static void pair_has_n(const question *asked, const bry_hash *hashes, size_t n, uint8_t *answers)
{
    uint8_t left[BATCH]; /* elements not found yet */
    const bry__fbf_filter *filter = asked->view.oldest ? asked->fbf->present : NULL;
    for (size_t i = 0; i < n; i++) {
        answers[i] = BRY_ABSENT;
        left[i] = (uint8_t)i;
    }
    if (filter)
        fbf_prefetch(filter, hashes, left, n);
    while (filter && n > 0) {
        const bry__fbf_filter *next = fbf_next_asked(asked, filter);
        if (next)
            fbf_prefetch(next, hashes, left, n);
        size_t still = 0;
        for (size_t i = 0; i < n; i++) {
            uint8_t at = left[i];
            if (bry__fbf_in(filter, hashes[at]) && fbf_neighbour_has(asked, filter, hashes[at]))
                answers[at] = BRY_PRESENT;
            else
                left[still++] = at;
        }
        n = still;
        filter = next;
    }
}

void bry__fbf_has_n(const void *self, const bry_hash *hashes, size_t n, uint64_t now,
                    uint8_t *answers)
{
    question asked = fbf_question_at(self, now);
    bool pairs = asked.fbf->setting.mode == BRY_WINDOW_IMPROVED;
    for (size_t done = 0; done < n; done += BATCH) {
        size_t here = n - done < BATCH ? n - done : BATCH;
        if (pairs)
            pair_has_n(&asked, hashes + done, here, answers + done);
        else
            for (size_t i = done; i < done + here; i++)
                answers[i] = fbf_question_has(&asked, hashes[i]) ? BRY_PRESENT : BRY_ABSENT;
    }
}

/* ---- statistics ---------------------------------------------------------------------------- */

static double fbf_fill_of(const bry__fbf_filter *filter)
{
    return (double)filter->set / (double)filter->bloom.bits;
}

size_t bry__fbf_generations(const void *self, uint64_t now, bry_window_generation *generations,
                            size_t generation_size, size_t room)
{
    const bry__fbf *fbf = self;
    (void)now;
    size_t n = 0;
    const bry__fbf_filter *filter = fbf->newest;
    bry_window_generation one;
    for (uint64_t left = fbf->row; left > 0; left--, filter = filter->older, n++)
        if (n < room) {
            one = (bry_window_generation){filter->from, filter->end, filter->before + filter->items,
                                          fbf_fill_of(filter)};
            bry__element_write(bry__element(generations, generation_size, n), generation_size, &one,
                               sizeof one);
        }
    /* Filters that growth appended in a paper's mode and that no refresh has reached yet are empty
     * and older than the rest. */
    uint64_t end = fbf->oldest->from > 0 ? fbf->oldest->from : 1;
    one = (bry_window_generation){end > fbf->period ? end - fbf->period : 0, end, 0, 0};
    for (; fbf->setting.mode != BRY_WINDOW_IMPROVED && n < fbf->count; n++)
        if (n < room)
            bry__element_write(bry__element(generations, generation_size, n), generation_size, &one,
                               sizeof one);
    return n;
}

static double fbf_estimated(const bry__fbf *fbf)
{
    bry__fbf_sum sum = bry__fbf_sum_begin(fbf->setting.mode);
    const bry__fbf_filter *filter = fbf->newest;
    bool alone = fbf->row >= fbf->count || fbf->oldest->before > 0;
    for (uint64_t left = fbf->row; left > 0; left--, filter = filter->older)
        bry__fbf_sum_take(&sum, pow(fbf_fill_of(filter), filter->bloom.hashes), left == 1 && alone);
    return fbf->items ? bry__fbf_sum_end(&sum) : 0;
}

static double fbf_predicted(const bry__fbf *fbf)
{
    if (fbf->setting.mode != BRY_WINDOW_IMPROVED)
        return bry__fbf_paper_predicted(fbf);
    bry__fbf_sum sum = bry__fbf_sum_begin(fbf->setting.mode);
    const bry__fbf_filter *filter = fbf->newest;
    for (uint64_t left = fbf->row; left > 0; left--, filter = filter->older)
        bry__fbf_sum_take(&sum,
                          bry__bloom_error((double)filter->bloom.bits, filter->bloom.hashes,
                                           (double)(filter->before + filter->items)),
                          false);
    return fbf->items ? bry__fbf_sum_end(&sum) : 0;
}

static bool fbf_at_ceiling(const bry__fbf *fbf)
{
    const bry__fbf_setting *setting = &fbf->setting;
    if (!setting->max_bytes)
        return false;
    if (setting->mode != BRY_WINDOW_IMPROVED)
        return bry__fbf_paper_held(fbf);
    if (setting->fixed)
        return false;
    for (const bry__fbf_filter *filter = fbf->oldest; filter; filter = filter->newer)
        if (filter->items > filter->limit)
            return true;
    return fbf->present->items >= fbf->present->limit && !bry__fbf_can_end_early(fbf);
}

void bry__fbf_stats(const void *self, uint64_t now, bry_window_stats *stats)
{
    const bry__fbf *fbf = self;
    uint64_t back = now > fbf->oldest->begin ? now - fbf->oldest->begin : 0;
    if (fbf->setting.mode != BRY_WINDOW_IMPROVED && fbf->oldest->before > 0)
        back = now - fbf->oldest->from;
    uint64_t covered = now < fbf->setting.window ? now : fbf->setting.window;
    stats->covered = covered > back ? covered : back;
    stats->items = fbf->items;
    stats->generations = (uint32_t)bry__fbf_generations(self, now, NULL, 0, 0);
    stats->ended_early = fbf->ended_early;
    stats->resizes = fbf->resizes;
    stats->estimated_error = fbf_estimated(fbf);
    stats->predicted_error = fbf_predicted(fbf);
    stats->at_ceiling = fbf_at_ceiling(fbf);
    stats->bytes += bry__fbf_bytes(self);
}
