/*
 * An exact hash table in place of an index, as a candidate beside candidate_index: from the hash of
 * an element to its unit. It can do less than an index, since an element has only one unit here, and
 * so shows what exact answers cost at least.
 */
#include "bench/cases/index/index_candidates.h"
#include "bench/peers/exact_table.h"

static void *make_exact_index(const void *work)
{
    return exact_table_new(((const index_work *)work)->data->count);
}

static bool fill_exact_index(const index_work *work, exact_table *table, bench_watch *watch)
{
    const index_data *data = work->data;
    bool good = true, was;
    bench_start(watch);
    for (uint64_t i = 0, unit = 0; i < data->count && good; unit++)
        for (uint64_t end = i + data->unit_capacity; i < end && good; i++)
            good = exact_table_put(table, data->added[i].hi, (uint32_t)unit, &was);
    bench_stop(watch);
    index_scale_watch(watch, data->asked, data->count);
    work->record->bytes = exact_table_bytes(table);
    return good;
}

/* Looks up all, prefetching `ahead` of them at a time. */
static uint64_t look_exactly(const index_work *work, const exact_table *table, bool hits,
                             size_t ahead, bench_watch *watch)
{
    const index_data *data = work->data;
    const bry_hash *hashes = hits ? data->hits : data->misses;
    uint64_t found = 0;
    bench_start(watch);
    for (uint64_t done = 0; done < data->asked; done += ahead) {
        uint64_t end = data->asked - done < ahead ? data->asked : done + ahead;
        for (uint64_t i = done; ahead > 1 && i < end; i++)
            exact_table_prefetch(table, hashes[i].hi);
        for (uint64_t i = done; i < end; i++) {
            uint32_t unit;
            if (exact_table_get(table, hashes[i].hi, &unit))
                found += !hits || unit == data->hit_unit[i];
        }
    }
    bench_stop(watch);
    return found;
}

static bool run_exact_index(const void *opaque, void *state, unsigned phase, bench_watch *watch,
                            uint64_t *found)
{
    enum { AHEAD = 64 }; /* more than are fetched at once, few enough for the cache */
    const index_work *work = opaque;
    bool hits = phase == INDEX_HIT || phase == INDEX_HIT_BATCH;
    if (phase == INDEX_ADD)
        return fill_exact_index(work, state, watch);
    bool single = phase == INDEX_HIT || phase == INDEX_MISS;
    *found = look_exactly(work, state, hits, single ? 1 : AHEAD, watch);
    if (hits)
        work->record->exact = *found;
    return *found == (hits ? work->data->asked : 0);
}

const bench_candidate candidate_exact_index = {"exact hash table", make_exact_index,
                                               exact_table_delete, run_exact_index,
                                               1u << INDEX_REINSERT};
