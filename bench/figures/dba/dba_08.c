/* DBA, figure 8: the error of an array that gets more elements than planned, without and with the
 * two methods of error control. */
#include "bench/cases/index/index_growth.h"
#include "bench/figures/figure.h"
#include "bench/harness/bench_fail.h"

#define PLANNED 64u
#define GROWN 160u
#define FACTOR 3u /* of a rebuild, as in the paper; and its groups */
#define GROUP 32u
#define BATCHED 256u

static const struct {
    const char *name;
    bry_engine engine;
    bry_index_control control;
    bool segmented;
} ways[] = {
    {"uncontrolled", BRY_ENGINE_DBA, BRY_INDEX_UNCONTROLLED, false},
    {"method A: larger filters", BRY_ENGINE_DBA, BRY_INDEX_LARGER, false},
    {"method B: tighter filters", BRY_ENGINE_DBA, BRY_INDEX_TIGHTER, false},
    {"method B with segments", BRY_ENGINE_DBA, BRY_INDEX_TIGHTER, true},
    {"compact (ours)", BRY_ENGINE_COMPACT, BRY_INDEX_TIGHTER, false},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

typedef struct growth_curve {
    const figure_run *run;
    const char *series;
    uint64_t unit_capacity, asked, first;
    double threshold;
} growth_curve;

static void look_at_error(void *opaque, const bry_index *index, uint64_t elements)
{
    const growth_curve *here = opaque;
    bry_hash hashes[BATCHED];
    bry_answer answers[BATCHED];
    uint64_t found = 0;
    for (uint64_t done = 0; done < here->asked; done += BATCHED) {
        for (unsigned i = 0; i < BATCHED; i++)
            hashes[i] = index_absent(here->first + elements * here->asked + done + i);
        bry_index_has_n(index, hashes, BATCHED, answers);
        for (unsigned i = 0; i < BATCHED; i++)
            found += answers[i] == BRY_PRESENT;
    }
    double units = (double)elements / (double)here->unit_capacity;
    figure_point(here->run, "error", here->series, units,
                 (double)found / (double)here->asked / here->threshold);
    bry_index_stats stats = {0};
    bry_index_get_stats(index, &stats);
    figure_point(here->run, "predicted", here->series, units,
                 stats.estimated_error / here->threshold);
    figure_point(here->run, "bits", here->series, units,
                 8 * (double)bry_index_bytes(index) / (double)elements);
}

static bool measure_error_control(const figure_run *run)
{
    const uint64_t unit_capacity = FIGURE_SIZE(run, 256, 1 << 13, 1 << 19);
    const double threshold = run->scale == FIGURE_SMALL ? 0x1p-7 : 0x1p-14;
    const uint64_t first = run->seed >> 3, looks = FIGURE_SIZE(run, 8, 8, 16);
    index_data data;
    if (!index_data_make(&data, GROWN, unit_capacity, first))
        return bench_no_memory();
    bool good = true;
    for (int i = 0; i < WAYS && good; i++) {
        const bool dba = ways[i].engine == BRY_ENGINE_DBA;
        const index_settings settings = {ways[i].engine, PLANNED, unit_capacity, dba ? GROUP : 0,
                                         ways[i].segmented};
        bry_index_options options = index_options_for(&settings, threshold, true);
        options.dba.control = ways[i].control;
        options.dba.factor = dba ? FACTOR : 0;
        growth_curve here = {run,           ways[i].name,
                             unit_capacity, FIGURE_SIZE(run, 20480, 8000000, 8000000),
                             first + 1,     threshold};
        const index_observer observer = {GROWN / looks * unit_capacity, look_at_error, &here};
        control_report report;
        good = index_grow(&options, &data, GROWN * 2, &observer, &report);
    }
    index_data_free(&data);
    return good || bench_fail("an index that grew lost elements, or memory ran out");
}

FIGURE(dba_08, "dba-08", "Error control", {5, 2, 1}, measure_error_control);
