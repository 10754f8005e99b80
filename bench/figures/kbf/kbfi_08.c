/* kBF (INFOCOM), figure 8: memory by p. */
#include "bench/figures/figure.h"

#include "bench/figures/kbf/kbf_store.h"
#include "bench/harness/bench_fail.h"

/* The values' own bytes, which all stores have to keep once, count too. */
static bool memory_of(const figure_run *run, const kbf_pairs *pairs, const char *series,
                      bry_engine engine, bry_map_layout layout, double p)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    options.engine = engine;
    options.fixed = true;
    options.capacity = pairs->count;
    options.error = p;
    options.values = pairs->values;
    options.seed = run->seed;
    options.kbf.layout = layout;
    bry_map *map = NULL;
    bry_status status = bry_map_create(&options, &map);
    for (uint64_t i = 0; i < pairs->count && status == BRY_OK; i++) {
        const kbf_text *value = kbf_first_value(&pairs->load, i);
        status = bry_map_add(map, pairs->hash[i], bry_map_value_bytes(value->bytes, value->len));
    }
    if (status == BRY_OK)
        figure_point(run, "", series, p, (double)bry_map_bytes(map) / (double)pairs->count);
    bry_map_destroy(map);
    return status == BRY_OK || bench_fail("figures of kBF: p = %g: %s", p, bry_status_text(status));
}

static bool measure_map_memory(const figure_run *run)
{
    kbf_pairs pairs;
    if (!kbf_pairs_make(&pairs, run, FIGURE_SIZE(run, 20000, 200000, 10000000)))
        return false;
    bool good = true;
    for (int digits = 3; digits <= 6 && good; digits++) {
        static const double errors[] = {1e-3, 1e-4, 1e-5, 1e-6};
        double p = errors[digits - 3];
        good = memory_of(run, &pairs, "published shape", BRY_ENGINE_KBF, BRY_MAP_PAPER, p) &&
               memory_of(run, &pairs, "kbf tuned (ours)", BRY_ENGINE_KBF, BRY_MAP_TUNED, p) &&
               memory_of(run, &pairs, "compact (ours)", BRY_ENGINE_COMPACT, BRY_MAP_TUNED, p);
    }
    kbf_pairs_free(&pairs);
    return good;
}

FIGURE(kbfi_08, "kbfi-08", "Memory by error", {1, 1, 1}, measure_map_memory);
