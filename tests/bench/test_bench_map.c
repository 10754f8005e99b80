/* Parts of the benchmarks of maps: the distribution of values, the workload of the papers, and the
 * counting of wrong answers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cases/map/map_candidates.h"
#include "bench/harness/kbf_workload.h"
#include "support/cmocka_all.h"

/* ---- values -------------------------------------------------------------------------------- */

enum { DRAWS = 100000, VALUES = 50 };

/* Evenly spaced draws: each value as often as its share, plus or minus one. */
static void check_mix(double skew, double top, const double *share)
{
    value_mix mix;
    unsigned seen[VALUES] = {0};
    double same = 0;
    assert_true(value_mix_make(&mix, VALUES, skew, top));
    for (uint64_t i = 0; i < DRAWS; i++)
        seen[value_mix_draw(&mix, i * (UINT64_MAX / DRAWS) + UINT64_MAX / DRAWS / 2)]++;
    for (unsigned i = 0; i < VALUES; i++) {
        assert_true(fabs(seen[i] - share[i] * DRAWS) <= 2);
        same += share[i] * share[i];
    }
    assert_true(fabs(mix.same - same) < 1e-12);
    assert_int_equal(value_mix_draw(&mix, 0), 0);
    assert_int_equal(value_mix_draw(&mix, UINT64_MAX), VALUES - 1);
    value_mix_free(&mix);
}

TEST(test_value_mix)
{
    double uniform[VALUES], zipf[VALUES], top[VALUES], sum = 0;
    for (unsigned i = 0; i < VALUES; i++)
        sum += zipf[i] = pow(i + 1, -1.5);
    for (unsigned i = 0; i < VALUES; i++) {
        uniform[i] = 1.0 / VALUES;
        zipf[i] /= sum;
        top[i] = i == 0 ? 0.9 : 0.1 / (VALUES - 1);
    }
    check_mix(0, 0, uniform);
    check_mix(1.5, 0, zipf);
    check_mix(0, 0.9, top);
    value_mix one;
    assert_true(value_mix_make(&one, 1, 0, 0));
    assert_int_equal(value_mix_draw(&one, 12345), 0);
    assert_true(one.same == 1);
    value_mix_free(&one);
}

/* ---- the workload of the papers ------------------------------------------------------------ */

/* The means of the distributions, which have closed forms, and the table of short values. */
TEST(test_sizes)
{
    enum { STEPS = 1000000 };
    double keys = 0, values = 0, share[15] = {0}, shorter = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        double size = kbf_value_size((i + 0.5) / STEPS);
        keys += kbf_key_size((i + 0.5) / STEPS) / STEPS;
        if (size < 15)
            share[(unsigned)size] += 1.0 / STEPS;
        else
            values += size;
    }
    for (unsigned size = 0; size < 15; size++)
        shorter += share[size];
    assert_true(fabs(keys - (30.7984 + 8.20449 * (tgamma(1 - 0.078688) - 1) / 0.078688)) < 0.01);
    assert_true(fabs(shorter - 0.44155) < 2e-6);
    assert_true(fabs(share[2] - 0.1782) < 2e-6 && fabs(share[11] - 0.08989) < 2e-6);
    /* What exceeds 15 has a Pareto distribution too, with a scale that is larger by 15·k. */
    values /= (1 - shorter) * STEPS;
    assert_true(fabs(values - 15 - (214.476 + 15 * 0.348238) / (1 - 0.348238)) < 0.3);
}

static int compare_texts(const void *a, const void *b)
{
    const kbf_text *x = a, *y = b;
    size_t len = x->len < y->len ? x->len : y->len;
    int order = memcmp(x->bytes, y->bytes, len);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Distinct and printable. */
static void check_texts(const kbf_text *texts, size_t count, size_t least, size_t most)
{
    kbf_text *sorted = malloc(count * sizeof *sorted);
    assert_non_null(sorted);
    memcpy(sorted, texts, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_texts);
    for (size_t i = 0; i < count; i++) {
        assert_true(sorted[i].len >= least && sorted[i].len <= most);
        for (size_t c = 0; c < sorted[i].len; c++)
            assert_true(sorted[i].bytes[c] > ' ' && sorted[i].bytes[c] < 127);
        assert_true(i == 0 || compare_texts(&sorted[i - 1], &sorted[i]) < 0);
    }
    free(sorted);
}

TEST(test_workload)
{
    enum { PAIRS = 20000, ASKED = 3000, DISTINCT = 500 };
    kbf_workload load;
    assert_true(kbf_workload_make(&load, PAIRS, ASKED, DISTINCT));
    check_texts(load.key, PAIRS + ASKED, 1, KBF_KEY_MOST);
    check_texts(load.value, DISTINCT, 0, KBF_VALUE_MOST);
    bool *asked = calloc(PAIRS, sizeof *asked), used[DISTINCT] = {0};
    assert_non_null(asked);
    for (unsigned i = 0; i < ASKED; i++) {
        assert_true(load.place[i] < PAIRS && !asked[load.place[i]]);
        asked[load.place[i]] = true;
    }
    unsigned changed = 0;
    for (unsigned i = 0; i < PAIRS; i++) {
        used[kbf_first_value(&load, i) - load.value] = true;
        changed += kbf_first_value(&load, i) != kbf_later_value(&load, i);
    }
    assert_true(changed > PAIRS * 98 / 100);
    for (unsigned i = 0; i < DISTINCT; i++)
        assert_true(used[i]);
    free(asked);
    kbf_workload_free(&load);
}

/* Values keep their size as long as there are different texts of it. */
TEST(test_short_values)
{
    enum { DISTINCT = 3000 };
    kbf_workload load;
    unsigned sizes[4] = {0};
    assert_true(kbf_workload_make(&load, 1, 1, DISTINCT));
    check_texts(load.value, DISTINCT, 0, KBF_VALUE_MOST);
    for (unsigned i = 0; i < DISTINCT; i++)
        if (load.value[i].len < 4)
            sizes[load.value[i].len]++;
    assert_int_equal(sizes[0], 1);
    assert_true(sizes[1] > 5 && sizes[1] <= 36);
    assert_true(fabs(sizes[2] - 0.1782 * DISTINCT) < 5 * sqrt(0.1782 * DISTINCT));
    assert_true(fabs(sizes[3] - 0.09239 * DISTINCT) < 5 * sqrt(0.09239 * DISTINCT));
    kbf_workload_free(&load);
    assert_true(kbf_workload_make(&load, 1, 1, 10000)); /* more of two bytes than there are */
    check_texts(load.value, 10000, 0, KBF_VALUE_MOST);
    kbf_workload_free(&load);
}

/* ---- wrong answers ------------------------------------------------------------------------- */

enum { COUNT = 2000, BATCH = 100 };

typedef struct fixture {
    map_data data;
    map_work work;
    map_record record;
} fixture;

/* At this error, no two of so few keys share a fingerprint. */
static int set_up(void **state)
{
    const map_settings settings = {.engine = BRY_ENGINE_COMPACT, .values = VALUES, .size = 1};
    fixture *made = calloc(1, sizeof *made);
    bry_map_options options;
    bry_map_shape shape = {0};
    assert_non_null(made);
    assert_true(map_data_make(&made->data, COUNT, VALUES, 0, 0));
    assert_int_equal(map_options_for(&settings, COUNT + 1, 1e-9, false, &options, &shape), BRY_OK);
    assert_true(map_work_make(&made->work, &made->data, &settings, &options, BATCH, &made->record));
    *state = made;
    return 0;
}

static int tear_down(void **state)
{
    fixture *made = *state;
    map_work_free(&made->work);
    map_data_free(&made->data);
    free(made);
    return 0;
}

static bool run_phase(const fixture *with, bry_map *map, unsigned phase)
{
    bench_watch watch = {0};
    uint64_t found = 0;
    return candidate_map.run(&with->work, map, phase, &watch, &found);
}

static bry_map *filled(const fixture *with)
{
    bry_map *map = candidate_map.make(&with->work);
    assert_non_null(map);
    assert_true(run_phase(with, map, MAP_INSERT));
    return map;
}

static void assert_tally(const map_tally *tally, uint64_t right, uint64_t wrong, uint64_t absent)
{
    assert_int_equal(tally->right, right);
    assert_int_equal(tally->wrong, wrong);
    assert_int_equal(tally->absent, absent);
    assert_int_equal(tally->unsure, 0);
}

TEST_WITH(test_right_answers, set_up, tear_down)
{
    fixture *with = *state;
    bry_map *map = filled(with);
    const map_record *record = &with->record;
    for (unsigned phase = MAP_HIT; phase < MAP_PHASES; phase++)
        assert_true(run_phase(with, map, phase));
    assert_tally(&record->said[MAP_HIT], COUNT, 0, 0);
    assert_tally(&record->said[MAP_HIT_BATCH], COUNT, 0, 0);
    assert_tally(&record->said[MAP_MISS], 0, 0, COUNT);
    assert_tally(&record->said[MAP_MISS_BATCH], 0, 0, COUNT);
    assert_tally(&record->said[MAP_UPDATE], COUNT, 0, 0);
    assert_tally(&record->updated, COUNT, 0, 0);
    assert_tally(&record->said[MAP_DELETE], COUNT / 20, 0, 0);
    assert_tally(&record->gone, 0, 0, COUNT / 20);
    assert_tally(&record->kept, COUNT - COUNT / 20, 0, 0);
    assert_true(record->bytes > record->bytes_main && record->bytes_main > 0);
    candidate_map.drop(map);
}

TEST_WITH(test_wrong_answers_are_counted, set_up, tear_down)
{
    fixture *with = *state;
    const map_data *data = &with->data;
    bry_map *map = filled(with);
    uint32_t other = (data->hit_value[7] + 1) % VALUES;
    assert_int_equal(bry_map_set(map, data->hits[7],
                                 bry_map_value_bytes(data->bytes[other], MAP_VALUE_BYTES), NULL),
                     BRY_OK);
    assert_int_equal(
        bry_map_set(map, data->hits[8], bry_map_value_bytes("no value of ours", 16), NULL), BRY_OK);
    assert_int_equal(bry_map_del(map, data->hits[9], NULL), BRY_OK);
    assert_int_equal(bry_map_set(map, data->misses[3],
                                 bry_map_value_bytes(data->bytes[0], MAP_VALUE_BYTES), NULL),
                     BRY_OK);
    for (unsigned phase = MAP_HIT; phase <= MAP_MISS_BATCH; phase++)
        assert_true(run_phase(with, map, phase));
    assert_tally(&with->record.said[MAP_HIT], COUNT - 3, 2, 1);
    assert_tally(&with->record.said[MAP_HIT_BATCH], COUNT - 3, 2, 1);
    assert_tally(&with->record.said[MAP_MISS], 0, 1, COUNT - 1);
    assert_tally(&with->record.said[MAP_MISS_BATCH], 0, 1, COUNT - 1);
    candidate_map.drop(map);
}

TEST_WITH(test_rounds_that_differ_fail, set_up, tear_down)
{
    fixture *with = *state;
    bry_map *map = filled(with);
    assert_true(run_phase(with, map, MAP_HIT) && run_phase(with, map, MAP_HIT));
    assert_int_equal(bry_map_del(map, with->data.hits[0], NULL), BRY_OK);
    assert_false(run_phase(with, map, MAP_HIT));
    candidate_map.drop(map);
}
