#include "papers/literal_fbf.h"

#include "papers/check_error.h"

#include <string.h>

#define SECOND UINT64_C(1000)
#define LEAST_FILTERS 3u /* future, present, one past */

/* Appends empty filters. BRY_E_NOMEM: none. */
static bry_status append_empty(bry__literal_fbf *fbf, uint32_t more, const bry_allocator *allocator)
{
    bry_status status = BRY_OK;
    uint32_t made = 0;
    for (; made < more && status == BRY_OK; made++) {
        bry__literal_filter *filter = &fbf->filter[fbf->count + made];
        filter->items = 0;
        status = bry__bloom_init(&filter->bloom, fbf->options.bits, fbf->options.hashes, allocator);
    }
    if (status == BRY_OK)
        fbf->count += more;
    else /* the last one was not made */
        while (--made > 0)
            bry__bloom_free(&fbf->filter[fbf->count + made - 1].bloom, allocator);
    return status;
}

bry_status bry__literal_fbf_init(bry__literal_fbf *fbf, const bry__literal_options *options,
                                 const bry_allocator *allocator)
{
    if (options->bits == 0 || options->hashes == 0 || options->period < SECOND ||
        !(options->target > 0 && options->target < 1) || options->most < LEAST_FILTERS)
        return BRY_E_RANGE;
    bry__literal_fbf made = {.options = *options, .period = options->period};
    made.filter = bry__alloc(allocator, options->most * sizeof *made.filter);
    if (!made.filter)
        return BRY_E_NOMEM;
    bry_status status = append_empty(&made, LEAST_FILTERS, allocator);
    if (status == BRY_OK)
        *fbf = made;
    else
        bry__literal_fbf_free(&made, allocator);
    return status;
}

void bry__literal_fbf_free(bry__literal_fbf *fbf, const bry_allocator *allocator)
{
    for (uint32_t i = 0; i < fbf->count; i++)
        bry__bloom_free(&fbf->filter[i].bloom, allocator);
    bry__free(allocator, fbf->filter, fbf->options.most * sizeof *fbf->filter);
}

double bry__literal_fbf_predicted(const bry__literal_fbf *fbf)
{
    bry__check_error sum = {.check = BRY__PAPER_OPTIMIZED, .none = 1};
    for (uint32_t i = 0; i < fbf->count; i++)
        bry__check_error_take(
            &sum, bry__filter_error(fbf->options.bits, fbf->options.hashes, fbf->filter[i].items),
            i + 1 == fbf->count);
    return 1 - sum.none;
}

/* ---- time ---------------------------------------------------------------------------------- */

/* The oldest filter, emptied, becomes the future one. */
static void refresh_filters(bry__literal_fbf *fbf, const bry_allocator *allocator)
{
    bry__literal_filter reused = fbf->filter[fbf->count - 1];
    bry__bloom_clear(&reused.bloom, allocator);
    reused.items = 0;
    memmove(fbf->filter + 1, fbf->filter, (fbf->count - 1) * sizeof *fbf->filter);
    fbf->filter[0] = reused;
}

/* Algorithm 3. At the least number of filters, t stays as well, as in Fig. 6.6. */
static bry_status resize_filters(bry__literal_fbf *fbf, const bry_allocator *allocator)
{
    double error = bry__literal_fbf_predicted(fbf);
    if (error >= 0.9 * fbf->options.target) {
        uint32_t room = fbf->options.most - fbf->count;
        bry_status status = append_empty(fbf, fbf->count < room ? fbf->count : room, allocator);
        if (status != BRY_OK)
            return status;
        fbf->period = fbf->period > 2 * SECOND ? fbf->period - SECOND : SECOND;
    } else if (error <= 0.1 * fbf->options.target && fbf->count > LEAST_FILTERS) {
        bry__bloom_free(&fbf->filter[--fbf->count].bloom, allocator);
        fbf->period += SECOND;
    }
    return BRY_OK;
}

bry_status bry__literal_fbf_advance(bry__literal_fbf *fbf, uint64_t now,
                                    const bry_allocator *allocator)
{
    for (;;) {
        uint64_t due = fbf->refreshed + fbf->period, judge = fbf->judged + SECOND;
        if (due < fbf->judged) /* t was made shorter than what has passed */
            due = fbf->judged;
        if (due > now && judge > now)
            return BRY_OK;
        if (due <= judge) {
            refresh_filters(fbf, allocator);
            fbf->refreshed = due;
            continue;
        }
        bry_status status = resize_filters(fbf, allocator);
        if (status != BRY_OK)
            return status;
        fbf->judged = judge;
    }
}

/* ---- elements ------------------------------------------------------------------------------ */

bool bry__literal_fbf_has(const bry__literal_fbf *fbf, bry_hash hash)
{
    bool newer = false;
    for (uint32_t i = 0; i < fbf->count; i++) {
        bool in = bry__bloom_has(&fbf->filter[i].bloom, hash);
        if (in && (i == 0 || newer || i + 1 == fbf->count))
            return true;
        newer = in;
    }
    return false;
}

bry_status bry__literal_fbf_add(bry__literal_fbf *fbf, bry_hash hash, uint64_t now, bry_answer *was,
                                const bry_allocator *allocator)
{
    bry_status status = bry__literal_fbf_advance(fbf, now, allocator);
    if (status != BRY_OK)
        return status;
    *was = bry__literal_fbf_has(fbf, hash) ? BRY_PRESENT : BRY_ABSENT;
    for (int i = 0; i < 2 && *was == BRY_ABSENT && status == BRY_OK; i++) {
        status = bry__bloom_add(&fbf->filter[i].bloom, hash, allocator);
        fbf->filter[i].items += status == BRY_OK;
    }
    return status;
}
