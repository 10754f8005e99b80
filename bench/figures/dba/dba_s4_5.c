/* DBA, section 4.5: the expected memory when the size of a set is not known, only how sizes are
 * distributed. One Bloom filter must be made for the largest size. */
#include "bench/figures/dba/dba_memory.h"
#include "bench/figures/figure.h"
#include "bench/harness/keys.h"
#include "hash/derive.h"

#include <math.h>
#include <stdlib.h>

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
    dba_memory_set set = {BRY_ENGINE_DBA, UNITS, unit_capacity, THRESHOLD, run->seed >> 3};
    const double most = (double)(UNITS * unit_capacity), one = dba_one_filter(THRESHOLD) * most;
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
            if (!dba_memory_fill(&set, (uint64_t)size, &here))
                return false;
            bits[e] += here / (double)sets;
        }
    }
    figure_bar(run, "", "formula of the paper", shape_names[shape],
               mean * dba_memory_ratio(THRESHOLD, UNITS));
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
