/* DBA, figure 10 and section 4.5: the memory of indexes that hold a set of some size, relative to one
 * Bloom filter. */
#include "bench/cases/index/index_candidates.h"
#include "bench/figures/figure.h"
#include "bench/harness/bench_fail.h"
#include "bench/harness/keys.h"
#include "hash/derive.h"
#include "index/dba/dba_shape.h"

#include <math.h>
#include <stdio.h>

typedef struct memory_set {
    bry_engine engine;
    uint32_t units; /* of the largest set */
    uint64_t unit_capacity;
    double error;
    uint64_t first; /* number of the first element */
} memory_set;

/* Bits per element of one Bloom filter with this error, full. */
static double one_filter_bits(double error)
{
    return M_LOG2E * log2(1 / error);
}

/* The formula of the paper: bits of `units` full filters, together with this error, relative to
 * that. */
static double memory_ratio(double error, uint32_t units)
{
    return log(bry__dba_unit_error(error, units)) / log(error);
}

/* Makes an index for the largest set, adds `elements` elements to as many units as they take, and
 * measures the memory, in bits. False after a message. */
static bool fill_memory_set(const memory_set *set, uint64_t elements, double *bits)
{
    const index_settings settings = {set->engine, set->units, set->unit_capacity, 0, false};
    bry_index_options options = index_options_for(&settings, set->error, true);
    bry_index *index = NULL;
    bry_status status = bry_index_create(&options, &index);
    for (uint64_t i = 0; i < elements && status == BRY_OK; i++)
        status = bry_index_add(index, index_element(set->first + i), BRY_INDEX_NEWEST, NULL, NULL);
    if (status == BRY_OK)
        status = index_settle(index, NULL);
    *bits = index ? 8 * (double)bry_index_bytes(index) : 0;
    bry_index_destroy(index);
    return status == BRY_OK ||
           bench_fail("an index of %u units: %s", set->units, bry_status_text(status));
}

/* ---- figure 10: full arrays, with the capacity and the error of the filter --------------------- */

static const double errors[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5};
enum { ERRORS = sizeof errors / sizeof errors[0] };

static bool look_at_memory(const figure_run *run, uint32_t units, double error)
{
    char panel[32];
    snprintf(panel, sizeof panel, "1e-%d", error < 1e-4 ? 5 : 2);
    const memory_set set = {
        .engine = BRY_ENGINE_DBA,
        .units = units,
        .unit_capacity = FIGURE_SIZE(run, 1u << 15, 1u << 20, 1u << 24) / units,
        .error = error,
        .first = run->seed >> 3,
    };
    memory_set compact = set;
    compact.engine = BRY_ENGINE_COMPACT;
    double dba_bits, compact_bits, elements = (double)set.unit_capacity * units;
    if (!fill_memory_set(&set, (uint64_t)elements, &dba_bits) ||
        !fill_memory_set(&compact, (uint64_t)elements, &compact_bits))
        return false;
    double one = one_filter_bits(error) * elements;
    figure_point(run, panel, "formula of the paper", units, memory_ratio(error, units));
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
            figure_point(run, "formula", name, units, memory_ratio(errors[e], units));
        }
    for (uint32_t units = 1; units <= most; units *= 2)
        if (!look_at_memory(run, units, 1e-5) || !look_at_memory(run, units, 1e-2))
            return false;
    return true;
}

FIGURE(dba_10, "dba-10", "Memory relative to one filter", {1, 1, 1}, measure_memory);

/* ---- section 4.5: the expected memory when the size of a set is not known, only how sizes are
 * distributed. One Bloom filter must be made for the largest size. ------------------------------- */

#define UNITS 64u
#define THRESHOLD 0x1p-14

/* A distribution is a weight for each of CLASSES sizes: those of a row of equal steps. */
enum { CLASSES = 1000 };
enum shape { UNIFORM, NORMAL, RANDOM_ZIPF, MAXIMUM_ZIPF, MINIMUM_ZIPF, SHAPES };
static const char *const shape_names[SHAPES] = {"uniform", "normal", "random Zipf", "maximum Zipf",
                                                "minimum Zipf"};

static void weigh_sizes(enum shape shape, uint64_t seed, double weight[CLASSES])
{
    for (int i = 0; i < CLASSES; i++) {
        double x = (i + 1.0) / CLASSES, z = (x - 0.5) * 6; /* six standard deviations */
        weight[i] = shape == UNIFORM        ? 1
                    : shape == NORMAL       ? exp(-z * z / 2)
                    : shape == MAXIMUM_ZIPF ? 1.0 / (CLASSES - i)
                                            : 1.0 / (i + 1);
    }
    if (shape != RANDOM_ZIPF)
        return;
    for (int i = CLASSES - 1; i > 0; i--) {
        int j = (int)bry__scale(bench_random(seed + (uint64_t)i), (uint64_t)i + 1);
        double kept = weight[i];
        weight[i] = weight[j];
        weight[j] = kept;
    }
}

/* The class in which `share` of the whole weight is reached. */
static int class_at(const double weight[CLASSES], double share)
{
    double all = 0, sum = 0;
    for (int i = 0; i < CLASSES; i++)
        all += weight[i];
    for (int i = 0; i < CLASSES - 1; i++) {
        sum += weight[i];
        if (sum > share * all)
            return i;
    }
    return CLASSES - 1;
}

static bool look_at_shape(const figure_run *run, enum shape shape)
{
    const uint64_t unit_capacity = FIGURE_SIZE(run, 256, 1024, 8192),
                   sets = run->scale == FIGURE_SMALL ? 8 : 60;
    memory_set set = {BRY_ENGINE_DBA, UNITS, unit_capacity, THRESHOLD, run->seed >> 3};
    const double most = (double)(UNITS * unit_capacity), one = one_filter_bits(THRESHOLD) * most;
    double weight[CLASSES], mean = 0, bits[2] = {0};
    weigh_sizes(shape, run->seed, weight);
    /* Sets at equal distances of the distribution: their mean is near the true one. */
    for (uint64_t i = 0; i < sets; i++) {
        double size =
            floor((class_at(weight, ((double)i + 0.5) / (double)sets) + 1.0) / CLASSES * most);
        mean += size / most / (double)sets;
        for (int e = 0; e < 2; e++) {
            double here;
            set.engine = e ? BRY_ENGINE_COMPACT : BRY_ENGINE_DBA;
            if (!fill_memory_set(&set, (uint64_t)size, &here))
                return false;
            bits[e] += here / (double)sets;
        }
    }
    figure_bar(run, "", "formula of the paper", shape_names[shape],
               mean * memory_ratio(THRESHOLD, UNITS));
    figure_bar(run, "", "array as allocated", shape_names[shape], bits[0] / one);
    figure_bar(run, "", "compact (ours)", shape_names[shape], bits[1] / one);
    return true;
}

static bool measure_expected(const figure_run *run)
{
    for (int i = 0; i < SHAPES; i++)
        if (!look_at_shape(run, (enum shape)i))
            return false;
    return true;
}

FIGURE(dba_s4_5, "dba-s4.5", "Expected memory", {2, 3, 1}, measure_expected);
