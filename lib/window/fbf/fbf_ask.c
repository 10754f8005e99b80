/*
 * Look-ups and statistics.
 *
 * An element is found if two neighbours have it. Every pair has exactly one filter at an odd place,
 * counted from the newest at 0; so those are asked first, and an even one only next to an odd one
 * that has it: an absent element costs half as many filters as there are.
 */
#include "common/attributes.h"
#include "common/sizing.h"
#include "common/struct_size.h"
#include "hash/derive.h"
#include "window/fbf/fbf.h"

#include <math.h>

enum { BATCH = 32 };

/* ---- membership ----------------------------------------------------------------------------- */

/* A look-up at time `now`. */
typedef struct question {
    const bry__fbf *fbf;
    const bry__fbf_filter *oldest; /* NULL: nothing is remembered */
} question;

static question fbf_question_at(const bry__fbf *fbf, uint64_t now)
{
    return (question){fbf, fbf->items > 0 ? bry__fbf_oldest_at(fbf, now) : NULL};
}

static const bry__fbf_filter *fbf_older_of(const question *asked, const bry__fbf_filter *filter)
{
    return filter == asked->oldest ? NULL : filter->older;
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
    const bry__fbf_filter *filter = asked->oldest ? asked->fbf->present : NULL;
    for (; filter; filter = fbf_next_asked(asked, filter))
        if (bry__fbf_in(filter, hash) && fbf_neighbour_has(asked, filter, hash))
            return true;
    return false;
}

bry_answer bry__fbf_has(const void *self, bry_hash hash, uint64_t now)
{
    question asked = fbf_question_at(self, now);
    return fbf_pair_has(&asked, hash) ? BRY_PRESENT : BRY_ABSENT;
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
    const bry__fbf_filter *filter = asked->oldest ? asked->fbf->present : NULL;
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
    for (size_t done = 0; done < n; done += BATCH)
        pair_has_n(&asked, hashes + done, n - done < BATCH ? n - done : BATCH, answers + done);
}

/* ---- statistics ----------------------------------------------------------------------------- */

static double fbf_fill_of(const bry__fbf_filter *filter)
{
    return (double)filter->set / (double)filter->bloom.bits;
}

size_t bry__fbf_generations(const void *self, uint64_t now, bry_window_generation *generations,
                            size_t generation_size, size_t room)
{
    const bry__fbf *fbf = self;
    (void)now;
    const bry__fbf_filter *filter = fbf->newest;
    for (size_t n = 0; n < fbf->row && n < room; n++, filter = filter->older) {
        bry_window_generation one = {filter->from, filter->end, filter->before + filter->items,
                                     fbf_fill_of(filter)};
        bry__struct_write(bry__element(generations, generation_size, n), generation_size, &one,
                          sizeof one);
    }
    return (size_t)fbf->row;
}

static double fbf_estimated(const bry__fbf *fbf)
{
    bry__fbf_sum sum = bry__fbf_sum_begin();
    const bry__fbf_filter *filter = fbf->newest;
    for (uint64_t left = fbf->row; left > 0; left--, filter = filter->older)
        bry__fbf_sum_take(&sum, pow(fbf_fill_of(filter), filter->bloom.hashes));
    return fbf->items ? bry__fbf_sum_end(&sum) : 0;
}

static double fbf_predicted(const bry__fbf *fbf)
{
    bry__fbf_sum sum = bry__fbf_sum_begin();
    const bry__fbf_filter *filter = fbf->newest;
    for (uint64_t left = fbf->row; left > 0; left--, filter = filter->older)
        bry__fbf_sum_take(&sum, bry__bloom_error((double)filter->bloom.bits, filter->bloom.hashes,
                                                 (double)(filter->before + filter->items)));
    return fbf->items ? bry__fbf_sum_end(&sum) : 0;
}

static bool fbf_at_limit(const bry__fbf *fbf)
{
    const bry__fbf_setting *setting = &fbf->setting;
    if (!setting->max_bytes || setting->fixed)
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
    uint64_t covered = now < fbf->setting.window ? now : fbf->setting.window;
    stats->covered = covered > back ? covered : back;
    stats->items = fbf->items;
    stats->generations = (uint32_t)bry__fbf_generations(self, now, NULL, 0, 0);
    stats->fbf.ended_early = fbf->ended_early;
    stats->fbf.resizes = fbf->resizes;
    stats->estimated_error = fbf_estimated(fbf);
    stats->fbf.predicted_error = fbf_predicted(fbf);
    stats->at_limit = fbf_at_limit(fbf);
    stats->bytes += bry__fbf_bytes(self);
}
