/*
 * The errors of kbf compared with the formulae of kbf_plan.c, with the numbers in
 * doc/design-map.md, and with the requested error. The argument is the number of keys in a table:
 * 10^5 in ordinary runs, 10^6 (the published number) in long ones. Prints what it measured.
 */
#include "map/kbf/kbf_map.h"
#include "papers/paper_plan.h"

#include "support/band.h"
#include "support/cmocka_all.h"
#include "support/generator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static size_t keys = 100000;
static bry_allocator heap;

/* ---- values -------------------------------------------------------------------------------- */

typedef struct spread {
    const char *name;
    uint32_t values;
    double first; /* the share of value 0; 0: as the others */
    double zipf; /* exponent; 0: uniform */
} spread;

static const spread spreads[] = {
    {"3000 even", 3000, 0, 0},         {"3000, one 50 %", 3000, 0.5, 0},
    {"8, one 90 %", 8, 0.9, 0},        {"1", 1, 0, 0},
    {"16000 Zipf 1.5", 16000, 0, 1.5},
};
enum { SPREADS = sizeof spreads / sizeof spreads[0] };

/* The codes of all keys; the caller frees them. */
static uint32_t *draw(const spread *from, uint64_t seed)
{
    double *sums = malloc(from->values * sizeof *sums), sum = 0;
    uint32_t *codes = calloc(keys, sizeof *codes);
    assert_true(sums && codes);
    for (uint32_t i = 0; i < from->values; i++) {
        double weight = from->zipf > 0 ? pow(i + 1, -from->zipf) : 1;
        if (i == 0 && from->first > 0)
            weight = from->first / (1 - from->first) * (from->values - 1);
        sums[i] = sum += weight;
    }
    generator numbers = {seed};
    for (size_t i = 0; i < keys; i++) {
        double at = (double)(generator_next(&numbers) >> 11) * 0x1p-53 * sum;
        uint32_t low = 0, high = from->values - 1;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (sums[middle] > at)
                high = middle;
            else
                low = middle + 1;
        }
        codes[i] = low;
    }
    free(sums);
    return codes;
}

/* ---- tables -------------------------------------------------------------------------------- */

typedef struct tally {
    uint64_t trials, false_negative, false_positive, incorrect, unsure;
} tally;

static bry_hash key(uint64_t seed, uint64_t i)
{
    return bry_hash_key(seed, &i, sizeof i);
}

static bry_hash absent_key(uint64_t seed, uint64_t i)
{
    return key(seed, i + (UINT64_C(1) << 48));
}

enum { BATCH = 1000 };

static void fill(bry__kbf *kbf, uint64_t seed, const uint32_t *codes)
{
    bry_hash hashes[BATCH];
    for (size_t done = 0; done < keys; done += BATCH) {
        size_t here = keys - done < BATCH ? keys - done : BATCH;
        for (size_t i = 0; i < here; i++)
            hashes[i] = key(seed, done + i);
        assert_int_equal(bry__kbf_reach(kbf, hashes, here, &heap), BRY_OK);
        bry__kbf_add_n(kbf, hashes, codes + done, here);
    }
}

static void ask(const bry__kbf *kbf, uint64_t seed, const uint32_t *codes, uint32_t values,
                tally *sum)
{
    bry_hash hashes[BATCH];
    uint32_t got[BATCH];
    uint8_t answers[BATCH];
    for (int absent = 0; absent <= 1; absent++)
        for (size_t done = 0; done < keys; done += BATCH) {
            size_t here = keys - done < BATCH ? keys - done : BATCH;
            for (size_t i = 0; i < here; i++)
                hashes[i] = absent ? absent_key(seed, done + i) : key(seed, done + i);
            bry__kbf_get_n(kbf, hashes, here, values, got, answers);
            for (size_t i = 0; i < here; i++) {
                bool value = answers[i] == BRY_PRESENT;
                sum->false_positive += absent && value;
                sum->unsure += absent && answers[i] == BRY_UNSURE;
                sum->false_negative += !absent && !value;
                sum->incorrect += !absent && value && got[i] != codes[done + i];
            }
        }
    sum->trials += keys;
}

static double rate(uint64_t count, uint64_t trials)
{
    return (double)count / (double)trials;
}

static void print(const char *what, double bytes, const tally *sum)
{
    printf("%-30s %6.2f B/key  FN %.2e  FP %.2e  incorrect %.2e  unsure of absent %.2e\n", what,
           bytes, rate(sum->false_negative, sum->trials), rate(sum->false_positive, sum->trials),
           rate(sum->incorrect, sum->trials), rate(sum->unsure, sum->trials));
}

/* Not above the band, even if the band includes zero; plus one, for rare events. */
static void at_most(uint64_t observed, uint64_t trials, double p)
{
    double expected = p * (double)trials;
    if ((double)observed > expected + 5 * sqrt(expected) + 1)
        fail_msg("%ju of %ju, where %g are expected", (uintmax_t)observed, (uintmax_t)trials,
                 expected);
}

/* Within the band if it excludes zero, else not above it. */
static void near(uint64_t observed, uint64_t trials, double p)
{
    if (band_tells(trials, p))
        band_assert(observed, trials, p);
    else
        at_most(observed, trials, p);
}

/* Two measurements of the same thing, the second one of 10^6 trials. */
static void as_published(uint64_t observed, uint64_t trials, double published)
{
    double p = rate(observed, trials), n = (double)trials;
    double variance = fmax(p, 1 / n) / n + fmax(published, 1e-6) / 1e6;
    if (fabs(p - published) > 5 * sqrt(variance))
        fail_msg("%g was measured, %g is published", p, published);
}

/* ---- the papers' shape --------------------------------------------------------------------- */

/* 10^6 keys, 3000 uniform values, unmasked. */
static const struct {
    double p;
    unsigned part; /* of the cells: all or half */
    double false_negative[5]; /* by level */
    double false_positive[5];
} published[] = {
    {1e-3, 1, {0, 0, 0, 0, 0}, {0, 0, 9.9e-4, 9.9e-4, 0}},
    {1e-3, 2, {0, 0, 1.2e-3, 6.6e-4, 1.5e-4}, {0, 0, 5.7e-2, 5.7e-2, 0}},
    {1e-4, 1, {0, 0, 0, 0, 0}, {0, 0, 7.3e-5, 7.3e-5, 0}},
    {1e-4, 2, {0, 0, 7.3e-5, 3.9e-5, 5e-6}, {0, 0, 2.1e-2, 2.1e-2, 0}},
};

static tally ask_paper(const bry__paper_kbf *kbf, bry__paper_level level, uint64_t seed,
                       const uint32_t *codes, uint32_t values)
{
    tally sum = {.trials = keys};
    for (size_t i = 0; i < keys; i++) {
        uint32_t got;
        bry_answer answer = bry__paper_kbf_get(kbf, key(seed, i), level, values, &got);
        sum.false_negative += answer != BRY_PRESENT;
        sum.incorrect += answer == BRY_PRESENT && got != codes[i];
        answer = bry__paper_kbf_get(kbf, absent_key(seed, i), level, values, &got);
        sum.false_positive += answer == BRY_PRESENT;
        sum.unsure += answer == BRY_UNSURE;
    }
    return sum;
}

TEST(test_papers_shape_by_level)
{
    bry__gf *gf = *state;
    static const bry__paper_level levels[] = {BRY__PAPER_ONES, BRY__PAPER_ONES, BRY__PAPER_PAIRS,
                                              BRY__PAPER_TRIPLES, BRY__PAPER_CONSISTENT};
    for (size_t row = 0; row < sizeof published / sizeof published[0]; row++) {
        bry__kbf_setting setting = {gf->order, 3000};
        bry__kbf_shape shape = {0};
        assert_true(bry__kbf_plan(&setting, BRY_MAP_PAPER, false, keys, published[row].p, &shape));
        shape.segment = (shape.segment + published[row].part - 1) / published[row].part;
        bry__encoder encoder = bry__algebraic_encoder(gf);
        bry__paper_kbf kbf;
        assert_int_equal(bry__paper_kbf_init(&kbf, &encoder, shape.hashes, shape.segment, &heap),
                         BRY_OK);
        kbf.gf = gf;
        uint32_t *codes = draw(&spreads[0], row + 1);
        for (size_t i = 0; i < keys; i++)
            bry__paper_kbf_insert(&kbf, key(row + 1, i), codes[i]);
        for (unsigned level = 2; level <= 4; level++) {
            tally sum = ask_paper(&kbf, levels[level], row + 1, codes, 3000);
            char what[80];
            snprintf(what, sizeof what, "paper %g, m/%u, level %u", published[row].p,
                     published[row].part, level);
            print(what, 4.0 * (double)(shape.hashes * shape.segment) / (double)keys, &sum);
            assert_int_equal(sum.incorrect, 0);
            as_published(sum.false_negative, sum.trials, published[row].false_negative[level]);
            as_published(sum.false_positive, sum.trials, published[row].false_positive[level]);
            const bry__paper_setting as_asked = {levels[level], false, gf->order, 3000, 0.5};
            bry_map_errors at = bry__paper_errors_at(&as_asked, &shape, (double)keys);
            near(sum.false_negative, sum.trials, at.false_negative);
            near(sum.false_positive, sum.trials, at.false_positive);
        }
        free(codes);
        bry__paper_kbf_free(&kbf, &heap);
    }
}

/* ---- the tuned shape ----------------------------------------------------------------------- */

/* Fills a map with these options to its capacity and looks up keys. */
static double tuned(const spread *values, double error, bool fixed, uint64_t seed, tally *sum,
                    bry_map_errors *estimated)
{
    bry_map_options options = {
        .struct_size = sizeof options,
        .engine = BRY_ENGINE_KBF,
        .capacity = keys,
        .error = error,
        .fixed = fixed,
        .values = values->values,
        .seed = seed,
    };
    void *self = NULL;
    assert_int_equal(bry__kbf_map_engine.create(&options, &heap, &self), BRY_OK);
    bry__kbf_map *map = self;
    uint32_t *codes = draw(values, seed);
    fill(&map->table[0], seed, codes);
    ask(&map->table[0], seed, codes, values->values, sum);
    bry_map_stats stats = {0};
    bry__kbf_map_engine.stats(map, values->values, &stats);
    *estimated = stats.estimated;
    double bytes = 4.0 * (double)(map->table[0].hashes * map->table[0].segment) / (double)keys;
    free(codes);
    bry__kbf_map_destroy(map);
    return bytes;
}

static void tuned_within(double error, double most_bytes, unsigned tables)
{
    for (int i = 0; i < SPREADS; i++)
        for (int fixed = 0; fixed <= 1; fixed++) {
            tally sum = {0};
            double bytes = 0, expected = 0;
            bry_map_errors estimated;
            for (unsigned t = 0; t < tables; t++) {
                bytes = tuned(&spreads[i], error, fixed, 100 + t, &sum, &estimated);
                expected += estimated.false_negative / tables;
            }
            char what[80];
            snprintf(what, sizeof what, "%g%s, %s", error, fixed ? " fixed" : "", spreads[i].name);
            print(what, bytes, &sum);
            assert_true(bytes <= most_bytes);
            assert_int_equal(sum.incorrect, 0);
            near(sum.false_negative + sum.false_positive, sum.trials, expected);
            at_most(sum.false_negative + sum.false_positive, sum.trials, error);
        }
}

TEST(test_tuned_at_1e3)
{
    tuned_within(1e-3, 25, 1);
}

TEST(test_tuned_at_1e5)
{
    tuned_within(1e-5, 40, 5);
}

/* ---- other ways to be full ----------------------------------------------------------------- */

/* Small tables and a small field: the formulae are not below the measured errors. */
TEST(test_small_tables)
{
    size_t all = keys;
    for (keys = 1; keys <= 300; keys = keys * 3 + 1) {
        tally sum = {0};
        double error = 0.02;
        bry_map_errors estimated;
        const spread few = {"200", 200, 0, 0};
        for (uint64_t seed = 1; seed <= 60000 / keys; seed++)
            tuned(&few, error, true, seed, &sum, &estimated);
        char what[80];
        snprintf(what, sizeof what, "%g, %zu keys", error, keys);
        print(what, 0, &sum);
        band_assert_at_most(sum.false_negative, sum.trials, error);
        band_assert_at_most(sum.false_positive, sum.trials, error);
        band_assert_at_most(sum.false_negative + sum.false_positive, sum.trials, error);
    }
    keys = all;
}

/* Maps planned for a few keys that get thousands: every key finds room, and all tables together
 * keep the promise, for absent and for present keys. */
static void grown_within(uint64_t capacity, double error, uint32_t value_bits, tally *sum)
{
    enum { GROWN = 2000, MAPS = 20 };
    bry_hash hashes[2 * GROWN];
    uint32_t codes[GROWN], got[2 * GROWN], all = value_bits ? 1u << value_bits : 200;
    uint8_t answers[2 * GROWN];
    for (uint64_t seed = 1; seed <= MAPS; seed++) {
        bry_map_options options = {
            .struct_size = sizeof options,
            .engine = BRY_ENGINE_KBF,
            .capacity = capacity,
            .error = error,
            .value_bits = value_bits,
            .values = 200,
            .seed = seed,
        };
        void *self = NULL;
        assert_int_equal(bry__kbf_map_engine.create(&options, &heap, &self), BRY_OK);
        generator numbers = {seed};
        for (size_t i = 0; i < 2 * GROWN; i++)
            hashes[i] = key(seed, i);
        for (size_t i = 0; i < GROWN; i++) {
            codes[i] = (uint32_t)generator_below(&numbers, all);
            assert_int_equal(bry__kbf_map_engine.add_n(self, &hashes[i], &codes[i], 1), BRY_OK);
        }
        bry__kbf_map_engine.get_n(self, hashes, 2 * GROWN, all, got, answers);
        for (size_t i = 0; i < GROWN; i++) {
            bool value = answers[i] == BRY_PRESENT;
            sum->false_negative += !value;
            sum->incorrect += value && got[i] != codes[i];
            sum->false_positive += answers[GROWN + i] == BRY_PRESENT;
            sum->unsure += answers[GROWN + i] == BRY_UNSURE;
        }
        sum->trials += GROWN;
        bry__kbf_map_destroy(self);
    }
}

TEST(test_growth_from_a_few_keys)
{
    static const uint64_t capacities[] = {1, 2, 3, 5, 12};
    static const double errors[] = {0.5, 0.1, 0.01, 1e-3};
    static const uint32_t bits[] = {1, 3, 7, 0};
    for (int c = 0; c < 5; c++)
        for (int e = 0; e < 4; e++)
            for (int b = 0; b < 4; b++) {
                tally sum = {0};
                grown_within(capacities[c], errors[e], bits[b], &sum);
                band_assert_at_most(sum.false_positive, sum.trials, errors[e]);
                band_assert_at_most(sum.false_negative + sum.incorrect, sum.trials, errors[e]);
            }
}

/* Keys that are added and deleted leave stuck cells; the estimate includes their cost. */
TEST(test_estimate_under_churn)
{
    bry__gf *gf = *state;
    enum { TURNS = 12 };
    bry__kbf_setting setting = {gf->order, 3000};
    bry__kbf_shape shape = {0};
    assert_true(bry__kbf_plan(&setting, BRY_MAP_TUNED, false, keys, 0.005, &shape));
    bry__kbf like = {.gf = gf, .hashes = shape.hashes, .segment = shape.segment}, kbf = {0};
    assert_int_equal(bry__kbf_init(&kbf, &like, &heap), BRY_OK);
    uint32_t *codes = draw(&spreads[0], 5);
    fill(&kbf, 5, codes);
    double before = bry__kbf_errors_now(&setting, &kbf).by_kind.false_negative;
    /* Key i of one round is replaced by key i of the next, in one table. */
    for (uint64_t turn = 0; turn < TURNS; turn++)
        for (size_t i = 0; i < keys; i++) {
            bry_hash next = key(6 + turn, i);
            bry__kbf_take(&kbf, key(5 + turn, i), codes[i], 0);
            assert_int_equal(bry__kbf_reach(&kbf, &next, 1, &heap), BRY_OK);
            bry__kbf_add(&kbf, next, codes[i]);
        }
    assert_true(kbf.counts[BRY__KBF_STUCK] > 0);
    bry_map_errors now = bry__kbf_errors_now(&setting, &kbf).by_kind;
    assert_true(now.false_negative > before);
    tally sum = {0};
    ask(&kbf, 5 + TURNS, codes, 3000, &sum);
    print("after 12 turns", 0, &sum);
    assert_int_equal(sum.incorrect, 0);
    near(sum.false_negative, sum.trials, now.false_negative);
    free(codes);
    bry__kbf_free(&kbf, &heap);
}

static int set_up(void **state)
{
    static bry__gf gf;
    heap = bry__allocator_or_default(NULL);
    *state = &gf;
    return bry__gf_init(&gf, 14, &heap) != BRY_OK;
}

static int tear_down(void **state)
{
    bry__gf_free(*state, &heap);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        keys = strtoul(argv[1], NULL, 10);
    return run_all_tests(set_up, tear_down);
}
