/*
 * Error and cost of engine dba compared with the formulae: 1 - (1 - f)^r for r units, with and
 * without segments; beyond the planned number of units, without control and with both methods; and
 * its memory compared with one static filter. The argument is the capacity of a unit: 2^10 in
 * ordinary runs, 2^16 in long ones. Prints what it measured.
 */
#include "index/dba/dba_index.h"
#include "index/index_object.h"
#include "support/band.h"
#include "support/cmocka_all.h"
#include "support/generator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t capacity = 1 << 10;

enum { BATCH = 1024 };

static bry_hash element(uint64_t i)
{
    return bry_hash_key(5, &i, sizeof i);
}

static bry_index *make(bry_index_options options)
{
    bry_index *index = NULL;
    options.struct_size = sizeof options;
    options.engine = BRY_ENGINE_DBA;
    options.seed = 5;
    if (options.unit_capacity == 0)
        options.unit_capacity = capacity;
    assert_int_equal(bry_index_create(&options, &index), BRY_OK);
    return index;
}

static bry_index_stats stats_of(const bry_index *index)
{
    bry_index_stats stats = {0};
    bry_index_get_stats(index, &stats);
    return stats;
}

/* Adds elements [from, to), each to the unit given by its number divided by the capacity. */
static void fill(bry_index *index, uint64_t from, uint64_t to)
{
    bry_hash hashes[BATCH];
    while (from < to) {
        size_t n = to - from < BATCH ? (size_t)(to - from) : BATCH;
        for (size_t i = 0; i < n; i++)
            hashes[i] = element(from + i);
        assert_int_equal(bry_index_add_n(index, hashes, n, BRY_INDEX_NEWEST, NULL, NULL), BRY_OK);
        from += n;
    }
}

/* The number of candidates among n elements that were never added. */
static uint64_t false_positives(const bry_index *index, uint64_t n, uint64_t *candidates)
{
    bry_hash hashes[BATCH];
    uint32_t units[BATCH];
    size_t totals[BATCH];
    uint64_t count = 0, sum = 0;
    for (uint64_t done = 0; done < n; done += BATCH) {
        for (size_t i = 0; i < BATCH; i++)
            hashes[i] = element(((uint64_t)1 << 40) + done + i);
        bry_index_locate_n(index, hashes, BATCH, units, 1, totals);
        for (size_t i = 0; i < BATCH && done + i < n; i++) {
            count += totals[i] > 0;
            sum += totals[i];
        }
    }
    if (candidates)
        *candidates = sum;
    return count;
}

/* ---- full units ---------------------------------------------------------------------------- */

TEST(test_full_units)
{
    static const struct {
        uint32_t units, group;
        double error;
        bool segmented;
    } cases[] = {
        {1, 1, 0x1p-7, false},   {16, 0, 0x1p-7, false},  {16, 0, 0x1p-7, true},
        {64, 64, 0x1p-9, false}, {64, 512, 0x1p-9, true}, {100, 0, 0x1p-9, false},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        bry_index *index = make((bry_index_options){.units = cases[c].units,
                                                    .error = cases[c].error,
                                                    .dba.group = cases[c].group,
                                                    .dba.segmented = cases[c].segmented});
        /* False positives of a unit are not counted, so a few more elements fit. */
        uint64_t elements = cases[c].units * capacity;
        fill(index, 0, elements);
        bry_index_stats stats = stats_of(index);
        assert_true(stats.full_error <= cases[c].error && stats.full_error > 0.9 * cases[c].error);
        uint64_t n = (uint64_t)((capacity >= 1 << 16 ? 20000 : 1500) / cases[c].error), candidates;
        uint64_t found = false_positives(index, n, &candidates);
        printf("%4u units, error %.3g%s: promised %.4g, estimated %.4g, observed %.4g\n",
               cases[c].units, cases[c].error, cases[c].segmented ? ", segmented" : "",
               stats.full_error, stats.estimated_error, (double)found / (double)n);
        /* The fill of filters varies: with 10^3 elements by some percent. */
        if (capacity >= 1 << 16 || cases[c].units >= 16)
            band_assert(found, n, stats.estimated_error);
        assert_true((double)found <= 1.1 * (double)n * cases[c].error);
        bry_index_destroy(index);
    }
}

/* In very small filters the variation of the fill matters. */
TEST(test_small_units)
{
    for (uint64_t size = 4; size <= 64; size *= 4) {
        for (int segmented = 0; segmented < 2; segmented++) {
            enum { FILTERS = 4000, UNITS = 400, ASKED = 20000 };
            uint64_t found = 0, candidates;
            double expected = 0;
            for (unsigned round = 0; round < FILTERS / UNITS; round++) {
                bry_index *index = make((bry_index_options){.units = UNITS,
                                                            .unit_capacity = size,
                                                            .error = 0.3,
                                                            .dba.group = 512,
                                                            .dba.segmented = segmented});
                for (uint32_t u = 0; u < UNITS; u++) {
                    uint32_t unit = 0;
                    assert_int_equal(bry_index_open(index, 0, &unit), BRY_OK);
                    for (uint64_t i = 0; i < size; i++)
                        assert_int_equal(
                            bry_index_add(
                                index, element((((uint64_t)round * UNITS + u) * 2 + 1) << 20 | i),
                                unit, NULL, NULL),
                            BRY_OK);
                }
                false_positives(index, ASKED, &candidates);
                found += candidates;
                bry_index_unit_info info = {0};
                assert_int_equal(bry_index_get_unit_info(index, 0, &info), BRY_OK);
                expected = info.error;
                bry_index_destroy(index);
            }
            double observed = (double)found / ((double)FILTERS * ASKED);
            printf("units of %2ju%s: planned for %.3g, expected %.3g, observed %.3g\n",
                   (uintmax_t)size, segmented ? ", segmented" : "", bry__dba_unit_error(0.3, UNITS),
                   expected, observed);
            assert_true(observed < 1.1 * bry__dba_unit_error(0.3, UNITS));
            assert_true(observed > 0.5 * expected);
        }
    }
}

/* ---- past the number that was planned for -------------------------------------------------- */

/* The elements of each unit, in the order of their addition. */
typedef struct subsets {
    uint64_t *first; /* of each unit: its elements are in runs of BATCH at most */
    uint32_t *unit_of; /* of each element */
    uint64_t elements;
    uint32_t unit; /* the fields below are about this unit */
    uint64_t at, number;
    uint64_t supplied;
} subsets;

static bry_status supply(void *opaque, uint32_t unit, uint64_t tag, uint64_t from, bry_hash *hashes,
                         size_t room, size_t *got)
{
    subsets *all = opaque;
    (void)tag;
    if (all->unit != unit || all->number != from) {
        all->unit = unit;
        all->at = all->number = 0;
    }
    for (*got = 0; *got < room && all->at < all->elements; all->at++) {
        if (all->unit_of[all->at] != unit)
            continue;
        if (all->number++ >= from)
            hashes[(*got)++] = element(all->at);
    }
    all->supplied += *got;
    return BRY_OK;
}

typedef struct outcome {
    bry_index_stats stats;
    double observed;
    uint64_t asked, found, supplied;
} outcome;

/* Planned for 64 units, filled like 160 of the first capacity. */
static outcome grow(bry_index_options options, double error)
{
    enum { PLANNED = 64, GROWN = 160 };
    options.units = PLANNED;
    options.error = error;
    bry_index *index = make(options);
    subsets all = {.unit_of = malloc(GROWN * capacity * sizeof(uint32_t)), .unit = UINT32_MAX};
    bry_index_supplier supplier = {supply, &all};
    assert_non_null(all.unit_of);
    bry_hash hashes[BATCH];
    while (all.elements < GROWN * capacity) {
        size_t n = BATCH / 4;
        for (size_t i = 0; i < n; i++)
            hashes[i] = element(all.elements + i);
        assert_int_equal(
            bry_index_add_n(index, hashes, n, BRY_INDEX_NEWEST, all.unit_of + all.elements, NULL),
            BRY_OK);
        all.elements += n;
        uint64_t left = 1;
        for (int step = 0; left > 0 && step < 1000; step++)
            assert_int_equal(bry_index_step(index, &supplier, 4096, &left), BRY_OK);
        assert_int_equal(left, 0);
    }
    for (uint64_t i = 0; i < all.elements; i += 7) /* none is lost */
        assert_int_equal(bry_index_has(index, element(i)), BRY_PRESENT);
    outcome result = {.stats = stats_of(index), .supplied = all.supplied};
    result.asked = (uint64_t)((capacity >= 1 << 16 ? 1500 : 100) / error);
    result.found = false_positives(index, result.asked, NULL);
    result.observed = (double)result.found / (double)result.asked;
    free(all.unit_of);
    bry_index_destroy(index);
    return result;
}

TEST(test_grown)
{
    static const double error = 0x1p-14;
    static const struct {
        const char *name;
        bry_index_control control;
        uint32_t factor, group;
        bool segmented;
    } cases[] = {
        {"uncontrolled", BRY_INDEX_UNCONTROLLED, 0, 0, false},
        {"A, factor 3, groups of 32", BRY_INDEX_LARGER, 3, 32, false},
        {"A, factor 2", BRY_INDEX_LARGER, 2, 0, false},
        {"B, factor 3, groups of 32", BRY_INDEX_TIGHTER, 3, 32, false},
        {"B, factor 2", BRY_INDEX_TIGHTER, 2, 0, false},
        {"B, factor 3, segmented", BRY_INDEX_TIGHTER, 3, 32, true},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        outcome is = grow((bry_index_options){.dba.control = cases[c].control,
                                              .dba.factor = cases[c].factor,
                                              .dba.group = cases[c].group,
                                              .dba.segmented = cases[c].segmented},
                          error);
        printf("%-26s %3u units, %ju supplied, full %.3g, estimated %.3g, observed %.3g = %.2f of "
               "the target, %.1f MB\n",
               cases[c].name, is.stats.units, (uintmax_t)is.supplied, is.stats.full_error,
               is.stats.estimated_error, is.observed, is.observed / error,
               (double)is.stats.bytes / 1e6);
        band_assert(is.found, is.asked, is.stats.estimated_error);
        if (cases[c].control == BRY_INDEX_UNCONTROLLED) {
            assert_true(is.stats.full_error > 2.4 * error && is.stats.full_error < 2.6 * error);
            assert_int_equal(is.stats.waiting, 0);
            continue;
        }
        assert_true(is.stats.full_error <= error * (1 + 1e-6));
        assert_true(is.stats.estimated_error <= error);
        band_assert_at_most(is.found, is.asked, error);
        assert_true(is.stats.dba.rebuilds > 0);
        if (cases[c].control == BRY_INDEX_LARGER)
            assert_true(is.stats.units <= 64);
    }
}

/* ---- memory -------------------------------------------------------------------------------- */

static uint64_t bits_of(uint32_t units, uint64_t each, double error, bool segmented)
{
    bry_index_options options = {.struct_size = sizeof options,
                                 .engine = BRY_ENGINE_DBA,
                                 .units = units,
                                 .unit_capacity = each,
                                 .error = error,
                                 .dba.segmented = segmented};
    bry_index_shape shape = {0};
    assert_int_equal(bry_index_plan(&options, &shape), BRY_OK);
    assert_true(shape.error <= error);
    return units * shape.dba.unit_bits;
}

/* Against one filter for all: log to the base ε of 1 - (1 - ε)^(1/r). */
TEST(test_memory_against_one_filter)
{
    static const double errors[] = {1e-3, 0x1p-14, 1e-5, 1e-9};
    for (int e = 0; e < 4; e++) {
        double worst = 0;
        for (uint32_t r = 1; r <= 1024; r++) {
            double formula = log(-expm1(log1p(-errors[e]) / r)) / log(errors[e]);
            uint64_t each = 1 << 16;
            /* log2(e)·log2(1/ε) bits per element, without rounding the hashes */
            double one = (double)each * r * -log2(errors[e]) / log(2);
            for (int segmented = 0; segmented < 2; segmented++) {
                double ratio = (double)bits_of(r, each, errors[e], segmented) / one;
                double off = ratio / formula - 1;
                assert_true(off > -1e-4);
                if (off > worst)
                    worst = off;
            }
        }
        double costs = (double)bits_of(1024, 1 << 16, errors[e], false) /
                       (double)bits_of(1, 1024 << 16, errors[e], false);
        printf("error %.2g: 1024 units cost %.3f of one filter; formula exceeded by %.2f %% at "
               "most\n",
               errors[e], costs, 100 * worst);
        assert_true(worst < 0.006);
        if (e == 2)
            assert_true(costs > 1.57 && costs < 1.63);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        capacity = strtoull(argv[1], NULL, 10);
    return run_all_tests(NULL, NULL);
}
