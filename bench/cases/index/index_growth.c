/* Indexes with more units than planned: their error, and the cost of keeping it. */
#include "bench/cases/index/index_growth.h"

#include <math.h>
#include <stdlib.h>

#define NOTHING UINT32_MAX

/* The elements of each unit: a linked list of their numbers, in the order of arrival. */
typedef struct subsets {
    const index_data *data;
    uint32_t *next; /* for each element, the next one in its unit */
    uint32_t *first, *last; /* of each unit */
    uint32_t unit, at; /* the last element supplied */
    uint64_t number; /* its position */
    uint64_t given;
} subsets;

static bry_status supply_elements(void *opaque, uint32_t unit, uint64_t tag, uint64_t from,
                                  bry_hash *hashes, size_t room, size_t *got)
{
    subsets *all = opaque;
    (void)tag;
    if (all->unit != unit || all->number != from) {
        all->unit = unit;
        all->at = all->first[unit];
        for (all->number = 0; all->number < from && all->at != NOTHING; all->number++)
            all->at = all->next[all->at];
    }
    for (*got = 0; *got < room && all->at != NOTHING; all->number++) {
        hashes[(*got)++] = all->data->added[all->at];
        all->at = all->next[all->at];
    }
    all->given += *got;
    return BRY_OK;
}

static void keep_element(subsets *all, uint32_t element, uint32_t unit)
{
    all->next[element] = NOTHING;
    if (all->first[unit] == NOTHING)
        all->first[unit] = element;
    else
        all->next[all->last[unit]] = element;
    all->last[unit] = element;
    all->unit = NOTHING; /* a list that has grown is read from its beginning */
}

/* Adds all elements to the newest units, and lets the index rebuild meanwhile. */
static bool grow_index(bry_index *index, subsets *all, bool controlled,
                       const index_observer *observer, bench_watch *watch)
{
    bry_index_supplier supplier = {supply_elements, all};
    for (uint64_t done = 0; done < all->data->count; done += INDEX_GROWTH_BATCH) {
        uint32_t went[INDEX_GROWTH_BATCH];
        size_t n = all->data->count - done < INDEX_GROWTH_BATCH ? (size_t)(all->data->count - done)
                                                                : INDEX_GROWTH_BATCH;
        if (bry_index_add_n(index, all->data->added + done, n, BRY_INDEX_NEWEST, went, NULL) !=
            BRY_OK)
            return false;
        for (size_t i = 0; i < n; i++)
            keep_element(all, (uint32_t)(done + i), went[i]);
        uint64_t given = all->given;
        bench_watch steps = {0};
        bench_start(&steps);
        if (index_settle(index, controlled ? &supplier : NULL) != BRY_OK)
            return false;
        bench_stop(&steps);
        if (all->given > given) /* only steps that rebuilt something */
            watch->spent += steps.spent;
        if (observer && (done + n) % observer->every == 0)
            observer->look(observer->opaque, index, done + n);
    }
    return true;
}

static double error_of(const bry_index *index, const index_data *data)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < data->asked; i++)
        found += bry_index_has(index, data->misses[i]) == BRY_PRESENT;
    return (double)found / (double)data->asked;
}

bool index_none_lost(const bry_index *index, const index_data *data)
{
    for (uint64_t i = 0; i < data->asked; i++)
        if (bry_index_has(index, data->hits[i]) != BRY_PRESENT)
            return false;
    return true;
}

bool index_grow(const bry_index_options *options, const index_data *data, uint32_t most_units,
                const index_observer *observer, control_report *report)
{
    subsets all = {
        .data = data,
        .next = malloc(data->count * sizeof *all.next),
        .first = malloc(most_units * sizeof *all.first),
        .last = malloc(most_units * sizeof *all.last),
        .unit = NOTHING,
    };
    bry_index *index = NULL;
    bench_watch watch = {0};
    bool good = all.next && all.first && all.last && bry_index_create(options, &index) == BRY_OK;
    for (uint32_t i = 0; i < most_units && good; i++)
        all.first[i] = NOTHING;
    good =
        good &&
        grow_index(index, &all, options->dba.control != BRY_INDEX_UNCONTROLLED, observer, &watch) &&
        index_none_lost(index, data);
    if (good) {
        bry_index_stats stats = {0};
        bry_index_get_stats(index, &stats);
        *report = (control_report){
            .units = stats.units,
            .bytes = stats.bytes,
            .rebuilds = stats.dba.rebuilds,
            .reinserted = all.given,
            .full_error = stats.full_error,
            .estimated_error = stats.estimated_error,
            .observed = error_of(index, data),
            .ns_reinsert = all.given ? (double)watch.spent / (double)all.given : NAN,
        };
    }
    bry_index_destroy(index);
    free(all.next);
    free(all.first);
    free(all.last);
    return good;
}
