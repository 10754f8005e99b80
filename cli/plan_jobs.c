#include "cli/plan_jobs.h"

#include "cli/core/limits.h"

#include <math.h>
#include <string.h>

static bry_status plan_filter(const plan_job *of, const plan_inputs *in, plan_costs *out)
{
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.engine = of->engine;
    options.capacity = in->items;
    options.error = in->error;
    bry_filter_shape shape = {0};
    bry_status status = bry_filter_plan(&options, &shape);
    *out = (plan_costs){
        .bytes = shape.bytes,
        .bytes_empty = shape.bytes_empty,
        .is_fixed = of->engine == BRY_ENGINE_BLOOM,
        .grows_to = shape.grows_to,
        .hashes = shape.bloom.hashes,
        .error = shape.error,
    };
    return status;
}

static bry_status plan_map(const plan_job *of, const plan_inputs *in, plan_costs *out)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    options.engine = of->engine;
    options.capacity = in->items;
    options.values = in->values;
    options.value_bits = (uint32_t)in->raw;
    options.error = in->error;
    if (of->layout)
        options.kbf.layout = strcmp(of->layout, "paper") == 0 ? BRY_MAP_PAPER : BRY_MAP_TUNED;
    bry_map_shape shape = {0};
    bry_status status = bry_map_plan(&options, &shape);
    *out = (plan_costs){
        .bytes = shape.bytes,
        .bytes_empty = shape.bytes_empty,
        .grows_to = shape.grows_to,
        .hashes = shape.kbf.hashes,
        /* the requested error bounds the first, and the sum of the others */
        .error =
            fmax(shape.errors.false_positive, shape.errors.false_negative + shape.errors.incorrect),
        .is_map = true,
        .errors = shape.errors,
        .values = shape.values,
        .value_bits = shape.value_bits,
    };
    return status;
}

/* The items in `units` units of equal size. */
static bry_status plan_index(const plan_job *of, const plan_inputs *in, plan_costs *out)
{
    bry_index_options options = BRY_INDEX_OPTIONS;
    if (in->items > BRY_CAPACITY_MAX || in->units > BRY_INDEX_UNITS_MAX)
        return BRY_E_RANGE;
    options.engine = of->engine;
    options.units = (uint32_t)in->units;
    options.unit_capacity = (in->items - 1) / in->units + 1;
    options.error = in->error;
    bry_index_shape shape = {0};
    bry_status status = bry_index_plan(&options, &shape);
    *out = (plan_costs){
        .bytes = shape.bytes,
        .bytes_empty = shape.bytes_empty,
        .grows_to = shape.grows_to,
        .hashes = shape.dba.hashes,
        .error = shape.error,
        .units = in->units,
        .group = shape.dba.group,
    };
    return status;
}

/* The items within one window. */
static bry_status plan_window(const plan_job *of, const plan_inputs *in, plan_costs *out)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.engine = of->engine;
    options.window = in->window;
    options.capacity = in->items;
    options.error = in->error;
    bry_window_shape shape = {0};
    bry_status status = bry_window_plan(&options, &shape);
    *out = (plan_costs){
        .bytes = shape.bytes,
        .bytes_empty = shape.bytes_empty,
        .grows_to = shape.grows_to,
        .hashes = shape.fbf.hashes,
        .error = shape.error,
        .window = shape.window,
        .longest = shape.longest,
        .generations = shape.generations,
    };
    return status;
}

/* The operations within one window, without the counters themselves. */
static bry_status plan_counter(const plan_job *of, const plan_inputs *in, plan_costs *out)
{
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    options.engine = of->engine;
    options.window = in->window;
    options.capacity = in->items;
    options.error = in->error;
    bry_counters_shape shape = {0};
    bry_status status = bry_counters_plan(&options, &shape);
    *out = (plan_costs){
        .bytes = shape.bytes,
        .bytes_empty = shape.bytes_empty,
        .grows_to = shape.grows_to,
        .error = shape.error,
        .window = shape.window,
        .longest = shape.longest,
        .bytes_per_counter = shape.bytes_per_counter,
    };
    return status;
}

#define LIMITS(least_error) "capacity 1 to " CLI_CAPACITY_MOST ", error " CLI_ERRORS(least_error)
#define FILTER_LIMITS LIMITS(BRY_FILTER_ERROR_MIN)
#define MAP_LIMITS LIMITS(BRY_MAP_ERROR_MIN) ", values 1 to "
#define WINDOW_LIMITS LIMITS(BRY_WINDOW_ERROR_MIN) ", windows up to " CLI_SPAN_MOST CLI_COMBINATIONS
#define INDEX_LIMITS LIMITS(BRY_INDEX_ERROR_MIN) ", units 1 to " CLI_UNITS_MOST CLI_COMBINATIONS

#define KBF_LIMITS MAP_LIMITS CLI_KBF_VALUES_MOST CLI_COMBINATIONS

static const struct {
    planner *plan;
    const char *limits;
} planners[] = {
    [BRY_JOB_FILTER] = {plan_filter, FILTER_LIMITS},
    [BRY_JOB_MAP] = {plan_map, MAP_LIMITS CLI_VALUES_MOST CLI_COMBINATIONS},
    [BRY_JOB_WINDOW] = {plan_window, WINDOW_LIMITS},
    [BRY_JOB_COUNTERS] = {plan_counter, WINDOW_LIMITS},
    [BRY_JOB_INDEX] = {plan_index, INDEX_LIMITS},
};

size_t plan_jobs_list(plan_job jobs[PLAN_JOBS_MOST])
{
    size_t n = 0;
    for (bry_job job = 0; bry_job_name(job); job++)
        for (size_t i = 0; bry_job_engine_at(job, i) != BRY_ENGINE_AUTO; i++) {
            bool kbf = bry_job_engine_at(job, i) == BRY_ENGINE_KBF;
            for (int layout = 0; layout <= kbf && n < PLAN_JOBS_MOST; layout++)
                jobs[n++] = (plan_job){bry_job_name(job), bry_job_engine_at(job, i),
                                       kbf ? layout ? "paper" : "tuned" : NULL, planners[job].plan,
                                       kbf ? KBF_LIMITS : planners[job].limits};
        }
    return n;
}

/* The size of a standard Bloom filter by the textbook: m = n·ln(1/p)/ln²2 bits, k = log2(1/p), as a
 * well-known reference; nothing here creates one. */
plan_costs plan_standard_bloom(const plan_inputs *in)
{
    double n = (double)in->items;
    double bits = ceil(n * -log(in->error) / (M_LN2 * M_LN2));
    double hashes = fmax(1, round(-log2(in->error)));
    return (plan_costs){
        .bytes = (uint64_t)ceil(bits / 8),
        .hashes = (uint64_t)hashes,
        .bits_per_item = bits / n,
        .error = pow(-expm1(-hashes * n / bits), hashes),
    };
}
