/* DBA, figure 9: how fast elements are inserted again when units are rebuilt. */
#include "bench/cases/index/index_growth.h"
#include "bench/figures/dba/dba_reads.h"
#include "bench/figures/figure.h"
#include "bench/harness/bench_fail.h"

#define UNITS 64u
#define THRESHOLD 0x1p-14
#define FACTOR 3u

static const unsigned groups[] = {1, 8, 16, 32, 64, 256};
enum { GROUPS = sizeof groups / sizeof groups[0] };

static const struct {
    const char *name;
    bool refresh; /* same shape: because elements were deleted */
    unsigned opened; /* units beyond the plan, so that there is something to do */
    bry_index_control control;
    bool segmented;
} configurations[] = {
    {"A: as before", true, 0, BRY_INDEX_UNCONTROLLED, false},
    {"B: larger filters", false, 0, BRY_INDEX_LARGER, false},
    {"C: tighter filters", false, 8, BRY_INDEX_TIGHTER, false},
    {"C with segments", false, 8, BRY_INDEX_TIGHTER, true},
};
enum { CONFIGURATIONS = sizeof configurations / sizeof configurations[0] };

/* Fills all units, which is enough for B to act; deletes an element of each unit, or opens units that
 * were not planned. */
static bool prepare(bry_index *index, const index_data *data, bool refresh, unsigned opened)
{
    bool good = true;
    uint32_t unit;
    for (uint64_t i = 0; i < data->count && good;) {
        good = bry_index_open(index, 0, &unit) == BRY_OK;
        for (uint64_t end = i + data->unit_capacity; i < end && good; i++)
            good = bry_index_add(index, data->added[i], unit, NULL, NULL) == BRY_OK;
        if (good && refresh)
            good = bry_index_del(index, data->added[i - 1], unit, NULL) == BRY_OK;
    }
    good = good && index_settle(index, NULL) == BRY_OK;
    for (unsigned i = 0; i < opened && good; i++)
        good = bry_index_open(index, 0, &unit) == BRY_OK;
    return good;
}

static bool rebuild(const figure_run *run, const index_data *data, bry_index *index, int which,
                    unsigned group)
{
    const char *name = configurations[which].name;
    index_supply supply = {data, 0};
    const bry_index_supplier supplier = {index_supply_unit, &supply};
    bench_watch watch = {0};
    bench_start(&watch);
    bool good = index_settle(index, &supplier) == BRY_OK;
    bench_stop(&watch);
    if (!good || supply.given == 0 || !index_none_lost(index, data))
        return false;
    unsigned before = configurations[which].segmented ? dba_hashes_first(index) : 0;
    figure_point(run, "speed", name, group, (double)supply.given * 1e3 / (double)watch.spent);
    figure_point(run, "bits", name, group, dba_hashes_last(index) - before);
    figure_point(run, "share", name, group, (double)supply.given / (double)data->count);
    return true;
}

static bool measure_configuration(const figure_run *run, const index_data *data, int which,
                                  unsigned group)
{
    const index_settings settings = {BRY_ENGINE_DBA, UNITS, data->unit_capacity, group,
                                     configurations[which].segmented};
    bry_index_options options = index_options_for(&settings, THRESHOLD, true);
    options.dba.control = configurations[which].control;
    options.dba.factor = FACTOR;
    options.dba.stale = 0.5 / (double)data->unit_capacity; /* one deletion is enough */
    bry_index *index = NULL;
    bool good = bry_index_create(&options, &index) == BRY_OK &&
                prepare(index, data, configurations[which].refresh, configurations[which].opened) &&
                rebuild(run, data, index, which, group);
    bry_index_destroy(index);
    return good;
}

static bool measure_reconstruction(const figure_run *run)
{
    index_data data;
    if (!index_data_make(&data, UNITS, FIGURE_SIZE(run, 256, 1 << 13, 1 << 19), run->seed >> 3))
        return bench_no_memory();
    bool good = true;
    for (int i = 0; i < CONFIGURATIONS && good; i++)
        for (int g = 0; g < GROUPS && good; g++)
            good = measure_configuration(run, &data, i, groups[g]);
    for (int g = 0; g < GROUPS && good; g++) /* its growth needs no elements */
        figure_point(run, "share", "compact (ours)", groups[g], 0);
    index_data_free(&data);
    return good || bench_fail("a rebuild lost elements, or memory ran out");
}

FIGURE(dba_09, "dba-09", "Partial reconstruction", {1, 2, 1}, measure_reconstruction);
