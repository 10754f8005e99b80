/* DBA, figure 10: the memory of a full array relative to one Bloom filter with the same capacity and
 * error. */
#include "bench/figures/dba/dba_memory.h"
#include "bench/figures/figure.h"

#include <stdio.h>

static const double errors[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5};
enum { ERRORS = sizeof errors / sizeof errors[0] };

static bool look_at_memory(const figure_run *run, uint32_t units, double error)
{
    char panel[32];
    snprintf(panel, sizeof panel, "1e-%d", error < 1e-4 ? 5 : 2);
    const dba_memory_set set = {
        .engine = BRY_ENGINE_DBA,
        .units = units,
        .unit_capacity = FIGURE_SIZE(run, 1u << 15, 1u << 20, 1u << 24) / units,
        .error = error,
        .first = run->seed >> 3,
    };
    dba_memory_set compact = set;
    compact.engine = BRY_ENGINE_COMPACT;
    double dba_bits, compact_bits, elements = (double)set.unit_capacity * units;
    if (!dba_memory_fill(&set, (uint64_t)elements, &dba_bits) ||
        !dba_memory_fill(&compact, (uint64_t)elements, &compact_bits))
        return false;
    double one = dba_one_filter(error) * elements;
    figure_point(run, panel, "formula of the paper", units, dba_memory_ratio(error, units));
    figure_point(run, panel, "array as allocated", units, dba_bits / one);
    figure_point(run, panel, "compact (ours)", units, compact_bits / one);
    return true;
}

static bool measure_memory(const figure_run *run)
{
    const uint32_t most = run->scale == FIGURE_SMALL ? 64 : 1024;
    char name[32];
    for (uint32_t units = 1; units <= 1024; units *= 2)
        for (int e = 0; e < ERRORS; e++) {
            snprintf(name, sizeof name, "error 1e-%d", e + 1);
            figure_point(run, "formula", name, units, dba_memory_ratio(errors[e], units));
        }
    for (uint32_t units = 1; units <= most; units *= 2)
        if (!look_at_memory(run, units, 1e-5) || !look_at_memory(run, units, 1e-2))
            return false;
    return true;
}

FIGURE(dba_10, "dba-10", "Memory relative to one filter", {1, 1, 1}, measure_memory);
