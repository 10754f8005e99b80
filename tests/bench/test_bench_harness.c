/* The bench harness: order of candidates, fresh states, wrong answers, medians, keys, tables. */
#include "bench/bench_table.h"
#include "bench/harness/hu_moments.h"
#include "bench/harness/keys.h"
#include "bench/harness/measure.h"
#include "support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Candidates that record their calls. */
static char diary[256];
static int alive;
static unsigned spoiled_run; /* the run of b, counted from 1, that gives a wrong answer; 0: none */
static unsigned runs_of_b;

static void note(char what)
{
    size_t len = strlen(diary);
    assert_true(len + 1 < sizeof diary);
    diary[len] = what;
}

static void *make_a(const void *work)
{
    (void)work;
    note('a');
    alive++;
    return diary;
}

static void *make_b(const void *work)
{
    (void)work;
    note('b');
    alive++;
    return diary;
}

static void *make_none(const void *work)
{
    (void)work;
    return NULL;
}

static void drop(void *state)
{
    assert_ptr_equal(state, diary);
    note('.');
    alive--;
}

static bool run(const void *work, void *state, unsigned phase, bench_watch *watch, uint64_t *found)
{
    (void)work, (void)state;
    note((char)('0' + phase));
    watch->spent = (uint64_t)(phase + 1) * 1000;
    *found = phase + 7;
    return true;
}

static bool run_b(const void *work, void *state, unsigned phase, bench_watch *watch,
                  uint64_t *found)
{
    run(work, state, phase, watch, found);
    watch->spent += runs_of_b; /* rounds differ */
    *found += ++runs_of_b == spoiled_run;
    return true;
}

static bool run_failing(const void *work, void *state, unsigned phase, bench_watch *watch,
                        uint64_t *found)
{
    run(work, state, phase, watch, found);
    return phase != 1;
}

static bool measure(const bench_candidate *second, unsigned rounds, bench_result *results)
{
    bench_candidate candidates[2] = {{"a", make_a, drop, run, 0}, *second};
    bench_plan plan = {
        .candidates = candidates, .count = 2, .phases = 2, .operations = 10, .rounds = rounds};
    memset(diary, 0, sizeof diary);
    memset(results, 0, 2 * sizeof *results);
    alive = 0;
    runs_of_b = 0;
    return bench_measure(&plan, NULL, results);
}

TEST(test_rounds)
{
    const bench_candidate b = {"b", make_b, drop, run_b, 0};
    bench_result results[2];
    spoiled_run = 0;
    assert_true(measure(&b, 3, results));
    /* A warm-up round and three more; each state is new, and the first candidate changes. */
    assert_string_equal(diary, "a01.b01."
                               "b01.a01."
                               "a01.b01."
                               "b01.a01.");
    assert_int_equal(alive, 0);
    assert_true(results[0].time[0].median == 100 && results[0].time[0].min == 100);
    assert_true(results[0].time[1].median == 200);
    /* b has two runs per round; those of the warm-up, 0 and 1, do not count. */
    assert_true(results[1].time[0].median == 100.4 && results[1].time[0].min == 100.2);
    assert_true(results[1].time[1].median == 200.5 && results[1].time[1].min == 200.3);
    assert_int_equal(results[1].found[1], 8);
}

TEST(test_skipped_phase)
{
    const bench_candidate b = {"b", make_b, drop, run_b, 1u << 1};
    bench_result results[2];
    spoiled_run = 0;
    assert_true(measure(&b, 1, results));
    assert_string_equal(diary, "a01.b0.b0.a01.");
    assert_true(isnan(results[1].time[1].median) && isnan(results[1].time[1].min));
    assert_false(isnan(results[1].time[0].median));
}

TEST(test_wrong_answers_fail)
{
    bench_candidate b = {"b", make_b, drop, run_b, 0};
    bench_result results[2];
    for (spoiled_run = 1; spoiled_run <= 8; spoiled_run++) { /* in any phase of any round */
        assert_false(measure(&b, 3, results));
        assert_int_equal(alive, 0);
    }
    spoiled_run = 9; /* there is no ninth */
    assert_true(measure(&b, 3, results));
    b.run = run_failing;
    assert_false(measure(&b, 1, results));
    assert_string_equal(diary, "a01.b01.");
    b.make = make_none;
    assert_false(measure(&b, 1, results));
    assert_int_equal(alive, 0);
}

static void *make_from_work(const void *work)
{
    note(*(const char *)work);
    return diary;
}

static bool run_from_work(const void *work, void *state, unsigned phase, bench_watch *watch,
                          uint64_t *found)
{
    (void)state, (void)phase, (void)watch;
    *found = *(const unsigned char *)work;
    return true;
}

TEST(test_work_of_its_own)
{
    const bench_candidate one = {"one", make_from_work, drop, run_from_work, 0};
    const bench_candidate candidates[2] = {one, one};
    const void *const works[2] = {"x", "y"};
    bench_plan plan = {
        .candidates = candidates, .count = 2, .phases = 1, .operations = 1, .rounds = 1};
    bench_result results[2] = {0};
    memset(diary, 0, sizeof diary);
    assert_true(bench_measure(&plan, "s", results));
    assert_string_equal(diary, "s.s.s.s.");
    plan.works = works;
    memset(diary, 0, sizeof diary);
    assert_true(bench_measure(&plan, "s", results));
    assert_string_equal(diary, "x.y.y.x.");
    assert_int_equal(results[0].found[0], 'x');
    assert_int_equal(results[1].found[0], 'y');
}

TEST(test_median)
{
    double one[] = {5}, odd[] = {9, 1, 4}, even[] = {8, 2, 6, 4};
    assert_true(bench_median(one, 1) == 5);
    assert_true(bench_median(odd, 3) == 4);
    assert_true(bench_median(even, 4) == 5);
}

static int compare_keys(const void *a, const void *b)
{
    return memcmp(a, b, BENCH_KEY_BYTES);
}

TEST(test_keys)
{
    enum { COUNT = 5000 };
    bench_keys keys;
    assert_true(bench_keys_make(&keys, COUNT));
    assert_int_not_equal(memcmp(keys.added, keys.hits, COUNT * BENCH_KEY_BYTES), 0);
    qsort(keys.added, COUNT, BENCH_KEY_BYTES, compare_keys);
    qsort(keys.hits, COUNT, BENCH_KEY_BYTES, compare_keys);
    assert_memory_equal(keys.added, keys.hits, COUNT * BENCH_KEY_BYTES);
    for (size_t i = 1; i < COUNT; i++)
        assert_true(compare_keys(keys.added + (i - 1) * BENCH_KEY_BYTES,
                                 keys.added + i * BENCH_KEY_BYTES) != 0);
    for (size_t i = 0; i < COUNT; i++)
        assert_null(bsearch(keys.misses + i * BENCH_KEY_BYTES, keys.added, COUNT, BENCH_KEY_BYTES,
                            compare_keys));
    bench_keys_free(&keys);
    assert_false(bench_keys_make(&keys, UINT64_MAX / 8));
}

/* A rectangle has known moments. A shape keeps its own when it is moved or turned, and differs from
 * another shape. */
TEST(test_hu_moments)
{
    enum { SIDE = 12 };
    uint8_t box[SIDE * SIDE] = {0}, bent[SIDE * SIDE] = {0}, moved[SIDE * SIDE] = {0};
    uint8_t turned[SIDE * SIDE] = {0};
    static const char *const shape[] = {"1122", "3001", "4500"};
    for (size_t y = 0; y < 3; y++)
        for (size_t x = 0; x < 4; x++) {
            uint8_t pixel = (uint8_t)(shape[y][x] - '0');
            box[y * SIDE + x] = 1;
            bent[y * SIDE + x] = pixel;
            moved[(y + 5) * SIDE + x + 7] = pixel;
            turned[x * SIDE + 2 - y] = pixel;
        }
    double rectangle[HU_MOMENTS], here[HU_MOMENTS], there[HU_MOMENTS];
    hu_moments(box, SIDE, SIDE, SIDE, rectangle);
    double n20 = 15 / 12. / 12, n02 = 8 / 12. / 12; /* (width² - 1) / 12 / pixels */
    assert_true(fabs(rectangle[0] - (n20 + n02)) < 1e-12);
    assert_true(fabs(rectangle[1] - (n20 - n02) * (n20 - n02)) < 1e-12);
    for (int i = 2; i < HU_MOMENTS; i++)
        assert_true(fabs(rectangle[i]) < 1e-12);
    hu_moments(bent, SIDE, SIDE, SIDE, here);
    hu_moments(moved, SIDE, SIDE, SIDE, there);
    assert_true(hu_distance(here, there) < 1e-12);
    hu_moments(turned, SIDE, SIDE, SIDE, there);
    assert_true(hu_distance(here, there) < 1e-12);
    hu_moments(bent, 4, 3, SIDE, there); /* a part of an image */
    assert_true(hu_distance(here, there) < 1e-12);
    assert_true(hu_distance(here, rectangle) > 0.01);
    assert_true(here[2] > 1e-6 && fabs(here[6]) > 1e-12);
    hu_moments(bent + 6, 2, 2, SIDE, there); /* nothing but 0 */
    for (int i = 0; i < HU_MOMENTS; i++)
        assert_true(there[i] == 0);
}

TEST(a_report_is_a_table_for_each_array)
{
    char json[4096], text[4096];
    FILE *out = fmemopen(json, sizeof json, "w");
    cli_json writer = CLI_JSON_TO(out);
    cli_json_open(&writer, NULL, '{');
    cli_json_text(&writer, "bench", "a \"b\", 1.5");
    cli_json_open(&writer, "machine", '{');
    cli_json_count(&writer, "cores", 123456789);
    cli_json_text(&writer, "none", NULL);
    cli_json_close(&writer, '}');
    cli_json_open(&writer, "rows", '[');
    for (unsigned i = 0; i < 2; i++) {
        cli_json_open(&writer, NULL, '{');
        cli_json_number(&writer, "ns", 1.0 / 3 + i);
        cli_json_open(&writer, "of", '{');
        cli_json_number(&writer, "p", 1e-9);
        cli_json_close(&writer, '}');
        if (i == 1)
            cli_json_bool(&writer, "later", false);
        cli_json_close(&writer, '}');
    }
    cli_json_close(&writer, ']');
    cli_json_open(&writer, "empty", '[');
    cli_json_close(&writer, ']');
    cli_json_count(&writer, "last", 7);
    cli_json_close(&writer, '}');
    fclose(out);
    out = fmemopen(text, sizeof text, "w");
    assert_true(bench_table(json, out));
    fclose(out);
    assert_string_equal(text, "bench          a \\\"b\\\", 1.5\n"
                              "machine.cores  123456789\n"
                              "machine.none   -\n"
                              "\n"
                              "rows.ns     0.3333  1.333\n"
                              "rows.of.p    1e-09  1e-09\n"
                              "rows.later       -  false\n"
                              "\n"
                              "last  7\n");
}
