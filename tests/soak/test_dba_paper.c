/*
 * The experiment of "Efficiently Representing Membership for Variable Large Data Sets", section 4,
 * at its own scale: 83,733,597 elements in units of 2^19 at an error of 2^-14, planned for 64
 * units, which come to be 160; uncontrolled, with both methods of error control, and with segments;
 * then as many queries as its backup had chunks, 2,026,005,927, all but the first of each element
 * repeats. The argument divides all of that. Prints errors, times and peak memory; fails when an
 * element is denied, when an error is not what it should be, or when memory passes 4 GiB.
 */
#include <bloomery/index.h>

#include "cli/core/steady_clock.h"
#include "support/band.h"
#include "support/cmocka_all.h"
#include "support/generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { PLANNED = 64, BATCH = 4096 };
static const double error = 0x1p-14;
static uint64_t scale = 1;

static uint64_t capacity(void)
{
    return ((uint64_t)1 << 19) / scale;
}

static uint64_t elements(void)
{
    return UINT64_C(83733597) / scale;
}

static double peak(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

static bry_hash element(uint64_t i)
{
    generator from = {i * UINT64_C(0x632be59bd9b4e019)};
    return generator_hash(&from);
}

/* ---- the subsets --------------------------------------------------------------------------- */

/* The elements of each unit, as runs of consecutive ones. */
typedef struct run {
    uint64_t first, n;
} run;

typedef struct subset {
    run *runs;
    size_t n, room;
} subset;

typedef struct subsets {
    subset unit[4096];
    uint64_t supplied;
    double seconds; /* spent in the supplier */
} subsets;

static void note(subsets *all, uint32_t unit, uint64_t i)
{
    assert_true(unit < 4096);
    subset *to = &all->unit[unit];
    if (to->n && to->runs[to->n - 1].first + to->runs[to->n - 1].n == i) {
        to->runs[to->n - 1].n++;
        return;
    }
    if (to->n == to->room) {
        to->room = to->room ? 2 * to->room : 4;
        to->runs = realloc(to->runs, to->room * sizeof *to->runs);
        assert_non_null(to->runs);
    }
    to->runs[to->n++] = (run){i, 1};
}

static bry_status supply(void *opaque, uint32_t unit, uint64_t tag, uint64_t from, bry_hash *hashes,
                         size_t room, size_t *got)
{
    subsets *all = opaque;
    const subset *of = &all->unit[unit];
    double began = cli_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    (void)tag;
    *got = 0;
    for (size_t r = 0; r < of->n && *got < room; r++) {
        if (from >= of->runs[r].n) {
            from -= of->runs[r].n;
            continue;
        }
        for (; from < of->runs[r].n && *got < room; from++)
            hashes[(*got)++] = element(of->runs[r].first + from);
        from = 0;
    }
    all->supplied += *got;
    all->seconds += cli_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - began;
    return BRY_OK;
}

static void forget(subsets *all)
{
    for (size_t u = 0; u < 4096; u++)
        free(all->unit[u].runs);
    free(all);
}

/* ---- growing ------------------------------------------------------------------------------- */

typedef struct grown {
    bry_index *index;
    bry_index_stats stats;
    double observed;
} grown;

static void assert_none_denied(const bry_index *index, uint64_t step)
{
    bry_hash hashes[BATCH];
    uint8_t answers[BATCH];
    for (uint64_t i = 0; i < elements();) {
        size_t n = 0;
        for (; n < BATCH && i < elements(); i += step)
            hashes[n++] = element(i);
        bry_index_has_n(index, hashes, n, answers);
        for (size_t j = 0; j < n; j++)
            assert_int_equal(answers[j], BRY_PRESENT);
    }
}

static grown grow(const char *name, bry_index_options options)
{
    grown is = {.stats = {0}};
    subsets *all = calloc(1, sizeof *all);
    uint32_t went[BATCH];
    bry_hash hashes[BATCH];
    double adding = 0, stepping = 0;
    assert_non_null(all);
    bry_index_supplier supplier = {supply, all};
    options.struct_size = sizeof options;
    options.engine = BRY_ENGINE_DBA;
    options.units = PLANNED;
    options.unit_capacity = capacity();
    options.error = error;
    options.dba.factor = 3;
    options.seed = 1;
    assert_int_equal(bry_index_create(&options, &is.index), BRY_OK);
    for (uint64_t i = 0; i < elements();) {
        size_t n = elements() - i < BATCH ? (size_t)(elements() - i) : BATCH;
        for (size_t j = 0; j < n; j++)
            hashes[j] = element(i + j);
        double began = cli_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        assert_int_equal(bry_index_add_n(is.index, hashes, n, BRY_INDEX_NEWEST, went, NULL),
                         BRY_OK);
        adding += cli_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - began;
        for (size_t j = 0; j < n; j++, i++)
            note(all, went[j], i);
        began = cli_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        uint64_t left;
        assert_int_equal(bry_index_step(is.index, &supplier, (uint64_t)16 * BATCH, &left), BRY_OK);
        stepping += cli_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - began;
    }
    for (uint64_t left = 1; left > 0;)
        assert_int_equal(bry_index_step(is.index, &supplier, 1 << 20, &left), BRY_OK);
    bry_index_get_stats(is.index, &is.stats);

    uint64_t asked = (uint64_t)(500 / error), found = 0;
    uint8_t answers[BATCH];
    for (uint64_t i = 0; i < asked; i += BATCH) {
        for (size_t j = 0; j < BATCH; j++)
            hashes[j] = element(((uint64_t)1 << 50) + i + j);
        bry_index_has_n(is.index, hashes, BATCH, answers);
        for (size_t j = 0; j < BATCH; j++)
            found += answers[j];
    }
    asked = (asked + BATCH - 1) / BATCH * BATCH;
    is.observed = (double)found / (double)asked;
    band_assert(found, asked, is.stats.estimated_error);
    assert_none_denied(is.index, 13);
    printf("%-22s %3u units, error %.3g (estimated %.3g, %.2f of the target), %.0f ns an addition",
           name, is.stats.units, is.observed, is.stats.estimated_error, is.observed / error,
           1e9 * adding / (double)elements());
    if (all->supplied)
        printf(", %ju put in again at %.0f ns", (uintmax_t)all->supplied,
               1e9 * (stepping - all->seconds) / (double)all->supplied);
    printf(", %.1f MB\n", (double)is.stats.bytes / 1e6);
    fflush(stdout);
    forget(all);
    return is;
}

TEST(test_error_control)
{
    grown is = grow("uncontrolled",
                    (bry_index_options){.dba.group = 32, .dba.control = BRY_INDEX_UNCONTROLLED});
    assert_true(is.stats.full_error > 2.4 * error && is.stats.full_error < 2.6 * error);
    bry_index_destroy(is.index);
    is = grow("method A", (bry_index_options){.dba.group = 32, .dba.control = BRY_INDEX_LARGER});
    assert_true(is.stats.full_error <= error * (1 + 1e-6) && is.stats.units <= PLANNED);
    bry_index_destroy(is.index);
    is = grow("method B", (bry_index_options){.dba.group = 32, .dba.control = BRY_INDEX_TIGHTER});
    assert_true(is.stats.full_error <= error * (1 + 1e-6));
    bry_index_destroy(is.index);
    is = grow("method B, segmented", (bry_index_options){
                                         .dba.group = 32,
                                         .dba.segmented = true,
                                         .dba.control = BRY_INDEX_TIGHTER,
                                     });
    assert_true(is.stats.full_error <= error * (1 + 1e-6));
    bry_index_destroy(is.index);
}

/* ---- asking -------------------------------------------------------------------------------- */

TEST(test_queries)
{
    uint64_t queries = UINT64_C(2026005927) / scale - elements(), sum = 0;
    grown is = grow("method B, g = 256",
                    (bry_index_options){.dba.group = 256, .dba.control = BRY_INDEX_TIGHTER});
    generator numbers = {1};
    bry_hash hashes[BATCH];
    uint8_t answers[BATCH];
    double asking = 0;
    for (uint64_t i = 0; i < queries; i += BATCH) {
        for (size_t j = 0; j < BATCH; j++)
            hashes[j] = element(generator_below(&numbers, elements()));
        double began = cli_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        bry_index_has_n(is.index, hashes, BATCH, answers);
        asking += cli_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - began;
        for (size_t j = 0; j < BATCH; j++)
            sum += answers[j];
    }
    queries = (queries + BATCH - 1) / BATCH * BATCH;
    assert_int_equal(sum, queries * BRY_PRESENT);
    printf("%ju repeats asked for at %.0f ns; peak %.0f MB\n", (uintmax_t)queries,
           1e9 * asking / (double)queries, peak() / 1e6);
    bry_index_destroy(is.index);
    assert_true(peak() < 4.0 * (1 << 30));
}

int main(int argc, char **argv)
{
    if (argc > 1)
        scale = strtoull(argv[1], NULL, 10);
    return run_all_tests(NULL, NULL);
}
