#include "bench/cases/index/index_candidates.h"

#include "bench/harness/keys.h"
#include "hash/derive.h"

#include <stdlib.h>

#define MOST_ASKED 1000000u /* enough to measure an error of 10⁻⁵ */
#define ROOM 4u /* candidates fetched per element */
#define BUDGET 65536u

/* ---- elements ------------------------------------------------------------------------------ */

bry_hash index_element(uint64_t i)
{
    return (bry_hash){bench_random(i), bench_random(~i)};
}

bry_hash index_absent(uint64_t i)
{
    return index_element(((uint64_t)1 << 62) + i);
}

bool index_data_make(index_data *data, uint32_t units, uint64_t unit_capacity, uint64_t first)
{
    uint64_t count = units * unit_capacity;
    uint64_t asked = count < MOST_ASKED ? count : MOST_ASKED;
    *data = (index_data){
        .unit_capacity = unit_capacity,
        .count = count,
        .asked = asked,
        .added = malloc(count * sizeof *data->added),
        .hits = malloc(asked * sizeof *data->hits),
        .misses = malloc(asked * sizeof *data->misses),
        .hit_unit = malloc(asked * sizeof *data->hit_unit),
    };
    if (!data->added || !data->hits || !data->misses || !data->hit_unit) {
        index_data_free(data);
        return false;
    }
    for (uint64_t i = 0; i < count; i++)
        data->added[i] = index_element(first + i);
    for (uint64_t i = 0; i < asked; i++) {
        uint64_t number = bry__scale(bench_random(i ^ INDEX_SEED), count);
        data->hits[i] = index_element(first + number);
        data->hit_unit[i] = (uint32_t)(number / unit_capacity);
        data->misses[i] = index_absent(first + i);
    }
    return true;
}

void index_data_free(index_data *data)
{
    free(data->added);
    free(data->hits);
    free(data->misses);
    free(data->hit_unit);
    *data = (index_data){0};
}

bry_index_options index_options_for(const index_settings *settings, double error, bool grow)
{
    return (bry_index_options){
        .struct_size = sizeof(bry_index_options),
        .engine = settings->engine,
        .fixed = settings->engine == BRY_ENGINE_COMPACT && !grow,
        .units = settings->units,
        .unit_capacity = settings->unit_capacity,
        .error = error,
        .seed = INDEX_SEED,
        .dba.group = settings->group,
        .dba.segmented = settings->segmented,
    };
}

bool index_work_make(index_work *work, const index_data *data, const bry_index_options *options,
                     size_t batch, index_record *record)
{
    *record = (index_record){0};
    *work = (index_work){
        .data = data,
        .options = *options,
        .batch = batch,
        .units = malloc(batch * ROOM * sizeof *work->units),
        .totals = malloc(batch * sizeof *work->totals),
        .record = record,
    };
    return work->units && work->totals;
}

void index_work_free(index_work *work)
{
    free(work->units);
    free(work->totals);
    *work = (index_work){0};
}

/* ---- phases -------------------------------------------------------------------------------- */

static void *make_index(const void *work)
{
    bry_index *index = NULL;
    return bry_index_create(&((const index_work *)work)->options, &index) == BRY_OK ? index : NULL;
}

static void drop_index(void *state)
{
    bry_index_destroy(state);
}

bry_status index_settle(bry_index *index, const bry_index_supplier *supplier)
{
    bry_status status = BRY_OK;
    for (uint64_t left = 1; left > 0 && status == BRY_OK;)
        status = bry_index_step(index, supplier, BUDGET, &left);
    return status;
}

void index_scale_watch(bench_watch *watch, uint64_t asked, uint64_t done)
{
    watch->spent = done ? (uint64_t)((double)watch->spent * (double)asked / (double)done) : 0;
}

static bool fill_index(const index_work *work, bry_index *index, bench_watch *watch)
{
    const index_data *data = work->data;
    bool good = true;
    bench_start(watch);
    for (uint64_t i = 0; i < data->count && good;) {
        uint32_t unit = 0;
        good = bry_index_open(index, 0, &unit) == BRY_OK;
        for (uint64_t end = i + data->unit_capacity; i < end && good; i++)
            good = bry_index_add(index, data->added[i], unit, NULL, NULL) == BRY_OK;
    }
    /* Finishes pending work, so that groups are merged before look-ups. */
    good = good && index_settle(index, NULL) == BRY_OK;
    bench_stop(watch);
    index_scale_watch(watch, data->asked, data->count);
    bry_index_stats stats = {0};
    bry_index_get_stats(index, &stats);
    index_record *seen = work->record;
    if (seen->bytes == 0) {
        seen->bytes = stats.bytes;
        seen->group = stats.dba.group;
        seen->estimated_error = stats.estimated_error;
    }
    return good && seen->bytes == stats.bytes;
}

/* Present elements: 1 if the right unit is among the candidates. If there are more candidates than
 * fit, which is rare, units are tested one by one. */
static uint64_t is_right(const bry_index *index, bry_hash hash, const uint32_t *units, size_t total,
                         uint32_t right, uint64_t *exact)
{
    *exact += total == 1 && units[0] == right;
    for (size_t i = 0; i < total && i < ROOM; i++)
        if (units[i] == right)
            return 1;
    if (total <= ROOM)
        return 0;
    uint32_t *all = malloc(total * sizeof *all);
    uint64_t found = 0;
    if (all) {
        bry_index_locate(index, hash, all, total);
        for (size_t i = ROOM; i < total; i++)
            found |= all[i] == right;
    }
    free(all);
    return found;
}

static uint64_t look_up_elements(const index_work *work, const bry_index *index, bool hits,
                                 bench_watch *watch, uint64_t *exact)
{
    const index_data *data = work->data;
    uint64_t found = 0;
    uint32_t units[ROOM];
    bench_start(watch);
    for (uint64_t i = 0; i < data->asked; i++) {
        bry_hash hash = hits ? data->hits[i] : data->misses[i];
        size_t total = bry_index_locate(index, hash, units, ROOM);
        found += hits ? is_right(index, hash, units, total, data->hit_unit[i], exact) : total > 0;
    }
    bench_stop(watch);
    return found;
}

static uint64_t look_n(const index_work *work, const bry_index *index, bool hits,
                       bench_watch *watch, uint64_t *exact)
{
    const index_data *data = work->data;
    uint64_t found = 0;
    bench_start(watch);
    for (uint64_t done = 0; done < data->asked; done += work->batch) {
        size_t here = data->asked - done < work->batch ? (size_t)(data->asked - done) : work->batch;
        const bry_hash *hashes = (hits ? data->hits : data->misses) + done;
        bry_index_locate_n(index, hashes, here, work->units, ROOM, work->totals);
        for (size_t i = 0; i < here; i++)
            found += hits ? is_right(index, hashes[i], work->units + i * ROOM, work->totals[i],
                                     data->hit_unit[done + i], exact)
                          : work->totals[i] > 0;
    }
    bench_stop(watch);
    return found;
}

bry_status index_supply_unit(void *supply, uint32_t unit, uint64_t tag, uint64_t from,
                             bry_hash *hashes, size_t room, size_t *got)
{
    index_supply *s = supply;
    uint64_t first = unit * s->data->unit_capacity, all = s->data->unit_capacity;
    (void)tag;
    if (first >= s->data->count)
        all = 0;
    *got = from >= all ? 0 : all - from < room ? (size_t)(all - from) : room;
    for (size_t i = 0; i < *got; i++)
        hashes[i] = s->data->added[first + from + i];
    s->given += *got;
    return BRY_OK;
}

static bool reinsert_unit(const index_work *work, bry_index *index, bench_watch *watch,
                          uint64_t *found)
{
    index_supply from = {work->data, 0};
    bry_index_supplier supplier = {index_supply_unit, &from};
    uint32_t unit;
    bool good = bry_index_open(index, 0, &unit) == BRY_OK;
    bench_start(watch);
    good = good && index_settle(index, &supplier) == BRY_OK;
    bench_stop(watch);
    index_scale_watch(watch, work->data->asked, from.given);
    work->record->reinserted = from.given;
    /* All elements are still found. */
    bench_watch unused = {0};
    uint64_t exact = 0;
    good = good && look_n(work, index, true, &unused, &exact) == work->data->asked;
    *found = from.given;
    return good && from.given > 0;
}

static bool run_index_phase(const void *opaque, void *state, unsigned phase, bench_watch *watch,
                            uint64_t *found)
{
    const index_work *work = opaque;
    uint64_t exact = 0;
    bool hits = phase == INDEX_HIT || phase == INDEX_HIT_BATCH;
    switch (phase) {
    case INDEX_ADD:
        return fill_index(work, state, watch);
    case INDEX_REINSERT:
        return reinsert_unit(work, state, watch, found);
    case INDEX_HIT:
    case INDEX_MISS:
        *found = look_up_elements(work, state, hits, watch, &exact);
        break;
    default:
        *found = look_n(work, state, hits, watch, &exact);
        break;
    }
    if (phase == INDEX_HIT)
        work->record->exact = exact;
    if (phase == INDEX_MISS)
        work->record->found = *found;
    return hits ? exact == work->record->exact : *found == work->record->found;
}

const bench_candidate candidate_index = {"index", make_index, drop_index, run_index_phase, 0};
