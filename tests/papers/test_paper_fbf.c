/*
 * The published forgetful Bloom filter: what it plans, that it forgets nothing early whatever
 * Algorithm 3 does, and that Algorithm 3 follows the load as in Fig. 6.6.
 *
 * test_paper_fbf [OPERATIONS]: of each check in the programs against a twin.
 */
#include "common/sizing.h"
#include "papers/paper_fbf.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"
#include "support/key_by_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t operations = 60000;
static bry_allocator memory;

enum { CHECKS = 2 };
static const bry__paper_check checks[CHECKS] = {BRY__PAPER_OPTIMIZED, BRY__PAPER_SIMPLE};

static bry__paper_fbf_options row_options(bry__paper_check check, uint64_t window,
                                          uint64_t capacity, double error)
{
    return (bry__paper_fbf_options){
        .check = check, .window = window, .capacity = capacity, .error = error, .generations = 8};
}

/* The thesis's own example. */
static bry__paper_fbf_options example(bry__paper_check check, uint64_t window)
{
    bry__paper_fbf_options options = row_options(check, window, 300, 1e-3);
    options.generations = 2;
    options.bits = 6250;
    options.hashes = 5;
    return options;
}

static bry__paper_fbf make(bry__paper_fbf_options options)
{
    bry__paper_fbf fbf;
    assert_int_equal(bry__paper_fbf_init(&fbf, &options, &memory), BRY_OK);
    return fbf;
}

static bry_answer add(bry__paper_fbf *fbf, uint64_t i, uint64_t now)
{
    bry_answer was = BRY_UNSURE;
    assert_int_equal(bry__paper_fbf_add(fbf, key(i), now, &was, &memory), BRY_OK);
    return was;
}

static bool has(const bry__paper_fbf *fbf, uint64_t i)
{
    return bry__paper_fbf_has(fbf, key(i));
}

static void advance(bry__paper_fbf *fbf, uint64_t now)
{
    assert_int_equal(bry__paper_fbf_advance(fbf, now, &memory), BRY_OK);
}

/* ---- plans --------------------------------------------------------------------------------- */

TEST(test_plan_is_what_is_used)
{
    for (int c = 0; c < CHECKS; c++) {
        bry__paper_fbf_options options = row_options(checks[c], 8000, 80000, 0.001);
        options.fixed = true; /* Algorithm 3 adapts to the first second, in which nothing comes */
        bry__paper_fbf_plan plan;
        assert_int_equal(bry__paper_fbf_plan_row(&options, &plan), BRY_OK);
        assert_int_equal(plan.filters, 9);
        assert_true(plan.error <= 0.001 && plan.error > 0.0001);
        bry__paper_fbf fbf = make(options);
        /* Ten elements per millisecond, as planned. */
        uint64_t most = 0, next = 0;
        double worst = 0;
        for (uint64_t now = 8000; now < 40000; now++) {
            for (int i = 0; i < 10; i++)
                add(&fbf, next++, now);
            if (now % 250 == 249) {
                uint64_t bytes = bry__paper_fbf_bytes(&fbf);
                most = bytes > most ? bytes : most;
                worst = fmax(worst, bry__paper_fbf_predicted(&fbf));
            }
        }
        assert_int_equal(most, plan.bytes);
        assert_true(fabs(worst / plan.error - 1) < 0.01);
        printf("check %d: %.2f bits per element of the window, error %.3g\n", c,
               (double)plan.bytes * 8 / 80000, plan.error);
        bry__paper_fbf_free(&fbf, &memory);
    }
    bry__paper_fbf_options options = row_options(BRY__PAPER_OPTIMIZED, 60000, 1000000, 0.001);
    bry__paper_fbf_plan plan;
    assert_int_equal(bry__paper_fbf_plan_row(&options, &plan), BRY_OK);
    assert_true((double)plan.bytes * 8 / 1e6 >= 30 && (double)plan.bytes * 8 / 1e6 <= 36);
}

TEST(test_options_out_of_range)
{
    bry__paper_fbf_options good = row_options(BRY__PAPER_SIMPLE, 1000, 100, 0.01);
    bry__paper_fbf_options bad[] = {good, good, good, good, good, good, good, good};
    bad[0].window = 0;
    bad[1].capacity = 0;
    bad[2].generations = 0;
    bad[3].error = 0;
    bad[4].error = NAN;
    bad[5].bits = 512; /* without hashes */
    bad[6].bits = 512;
    bad[6].hashes = 65;
    bad[7].bits = (UINT64_C(1) << 52) + 1;
    bad[7].hashes = 1;
    bry__paper_fbf fbf;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(bry__paper_fbf_init(&fbf, &bad[i], &memory), BRY_E_RANGE);
}

/* ---- programs against a twin --------------------------------------------------------------- */

/* Elements that were new when added, and the time; the twin expects them for a window from then
 * on. */
typedef struct twin {
    uint64_t *time; /* 0: never new */
    uint64_t ids, first; /* those before `first` are out of any window */
} twin;

static void check_promise(const bry__paper_fbf *fbf, const twin *known, generator *from, unsigned n)
{
    for (unsigned i = 0; i < n && known->first < known->ids; i++) {
        uint64_t id = known->first + generator_below(from, known->ids - known->first);
        uint64_t then = known->time[id];
        assert_true(then == 0 || then + fbf->options.window < fbf->time || has(fbf, id));
    }
}

/* ms after which an element is forgotten: a change of t may merge two periods. */
static uint64_t longest(const bry__paper_fbf *fbf)
{
    return fbf->options.fixed ? fbf->plan.filters * fbf->plan.length
                              : fbf->kept + 2 * fbf->longest_period;
}

static void run_program(bry__paper_fbf_options options, uint64_t seed, uint64_t count)
{
    generator from = {seed};
    twin known = {calloc(count + 1, sizeof *known.time), 0, 0};
    bry__paper_fbf fbf = make(options);
    uint64_t now = 1 + generator_below(&from, 100000), length = options.window / 8 + 1;
    unsigned rate = 1; /* elements per step */
    while (known.ids < count) {
        unsigned what = (unsigned)generator_below(&from, 1000);
        if (what < 4)
            rate = 1u << generator_below(&from, 9); /* the load rises or falls at once */
        if (what == 5)
            now += generator_below(&from, 4 * options.window); /* an idle gap */
        else
            now += generator_below(&from, 1 + length / 50);
        uint64_t stamp = now, then = fbf.time;
        const bry__paper_filter *present = fbf.present;
        if (what == 6)
            stamp -= generator_below(&from, now); /* a clock that steps back, once */
        for (unsigned i = 0; i < rate && known.ids < count; i++) {
            if (add(&fbf, known.ids, stamp) == BRY_ABSENT)
                known.time[known.ids] = fbf.time;
            known.ids++;
        }
        if (what < 100 && known.ids > known.first) { /* adding again */
            uint64_t id = known.first + generator_below(&from, known.ids - known.first);
            if (add(&fbf, id, stamp) == BRY_ABSENT)
                known.time[id] = fbf.time;
        }
        while (known.first < known.ids && known.time[known.first] + options.window < fbf.time)
            known.first++;
        check_promise(&fbf, &known, &from, 4);
        assert_true((fbf.count - 1) * fbf.period >= options.window);
        /* A refresh is never in the past. */
        assert_true(fbf.present == present || fbf.row == 2 || fbf.present->begin > then);
    }
    /* At the last moment everything is found, and at the end nothing. */
    uint64_t end = fbf.time;
    advance(&fbf, end + options.window);
    for (uint64_t id = known.first; id < known.ids; id++)
        assert_true(known.time[id] < end || has(&fbf, id));
    advance(&fbf, end + longest(&fbf));
    assert_int_equal(fbf.items, 0);
    assert_int_equal(fbf.row, 2);
    bry__paper_fbf_free(&fbf, &memory);
    free(known.time);
}

TEST(test_programs)
{
    for (int c = 0; c < CHECKS; c++) {
        bry__paper_fbf_options options = row_options(checks[c], 20000, 500, 0.001);
        run_program(options, 10, operations);
        options.generations = 3;
        run_program(options, 20, operations / 2);
        options = row_options(checks[c], 7777, 100, 0.02);
        options.generations = 1;
        run_program(options, 30, operations / 4);
        options.fixed = true;
        options.generations = 5;
        run_program(options, 40, operations / 4);
        options = row_options(checks[c], 30000, 3000, 0.001);
        options.generations = 12;
        run_program(options, 50, operations / 4);
    }
}

/* ---- time ---------------------------------------------------------------------------------- */

/* Advancing at once gives the same row as advancing by single milliseconds. */
TEST(test_a_jump_is_its_steps)
{
    generator from = {5};
    uint64_t resizes = 0;
    for (int round = 0; round < 120; round++) {
        static const double errors[] = {0.3, 0.01, 1e-4};
        bry__paper_fbf_options options =
            row_options(checks[round % CHECKS], 60000, 100, errors[round % 3]);
        options.generations = 2 + (uint32_t)generator_below(&from, 19);
        bry__paper_fbf fast = make(options), slow = make(options);
        uint64_t now = generator_below(&from, UINT64_C(1) << 42);
        uint64_t n = 20 + generator_below(&from, 100), spread = generator_below(&from, 100);
        for (uint64_t i = 0; i < n; i++) {
            now += generator_below(&from, spread + 1);
            assert_int_equal(add(&fast, i, now), add(&slow, i, now));
        }
        for (int jump = 0; jump < 4; jump++) {
            now += generator_below(&from, options.window / 2);
            while (slow.time + 50 < now)
                advance(&slow, slow.time + 1 + generator_below(&from, 50));
            advance(&slow, now);
            advance(&fast, now);
            assert_int_equal(fast.count, slow.count);
            assert_int_equal(fast.period, slow.period);
            assert_int_equal(fast.due, slow.due);
            assert_int_equal(fast.row, slow.row);
            assert_int_equal(fast.items, slow.items);
            assert_int_equal(fast.resizes, slow.resizes);
            for (uint64_t id = 0; id < 2000; id++)
                assert_int_equal(has(&fast, id), has(&slow, id));
        }
        resizes += fast.resizes;
        bry__paper_fbf_free(&fast, &memory);
        bry__paper_fbf_free(&slow, &memory);
    }
    printf("adaptations: %ju\n", (uintmax_t)resizes);
    assert_true(resizes > 400); /* otherwise the test shows nothing */
}

TEST(test_far_jumps)
{
    for (int c = 0; c < CHECKS; c++) {
        bry__paper_fbf_options options = row_options(checks[c], 1000, 100, 0.001);
        options.generations = 64;
        bry__paper_fbf fbf = make(options);
        for (uint64_t i = 0; i < 60; i++) {
            uint64_t now = UINT64_C(1) << i;
            for (uint64_t j = 0; j < 300; j++)
                if (add(&fbf, i * 300 + j, now) == BRY_ABSENT)
                    assert_true(has(&fbf, i * 300 + j));
        }
        advance(&fbf, UINT64_MAX);
        assert_int_equal(fbf.items, 0);
        assert_int_equal(add(&fbf, 1, UINT64_MAX), BRY_ABSENT);
        assert_true(has(&fbf, 1));
        bry__paper_fbf_free(&fbf, &memory);
    }
}

/* ---- the thesis's numbers ------------------------------------------------------------------ */

static double by_formula(double m, double k, double l)
{
    return pow(1 - exp(-k * l / m), k);
}

/* The same with (1 - 1/m)^kl instead of e^(-kl/m). */
static double by_sizing(bry__paper_check check)
{
    double once = bry__bloom_error(6250, 5, 150), twice = bry__bloom_error(6250, 5, 300);
    double pair = check == BRY__PAPER_SIMPLE ? twice : twice * once;
    return 1 - (1 - once) * (1 - pair) * (1 - once);
}

static double by_fill(const bry__paper_filter *filter)
{
    return pow(bry__bloom_fill_now(&filter->bloom), filter->bloom.hashes);
}

/* Eq. 4.3 on the thesis's own example, and Eq. 4.1 for any filter of it. */
TEST(test_equations)
{
    double once = by_formula(6250, 5, 150), twice = by_formula(6250, 5, 300);
    double simple = 1 - (1 - once) * (1 - twice) * (1 - once);
    double optimized = 1 - (1 - once) * (1 - twice * once) * (1 - once);
    assert_true(fabs(simple - 4.8e-4) < 0.05e-4 && fabs(optimized - 3.7e-5) < 0.05e-5);
    for (int c = 0; c < CHECKS; c++) {
        bry__paper_fbf_options options = example(checks[c], 10000);
        options.fixed = true;
        bry__paper_fbf fbf = make(options);
        for (uint64_t i = 0; i < 150; i++)
            add(&fbf, i, 100000);
        for (uint64_t i = 150; i < 300; i++)
            add(&fbf, i, 105000);
        double wanted = checks[c] == BRY__PAPER_SIMPLE ? simple : optimized;
        assert_true(fabs(bry__paper_fbf_predicted(&fbf) / wanted - 1) < 0.002);
        assert_true(fabs(bry__paper_fbf_predicted(&fbf) / by_sizing(checks[c]) - 1) < 1e-9);
        double future = by_fill(fbf.newest), present = by_fill(fbf.present);
        double past = by_fill(fbf.oldest); /* by the bits: one draw of hashes */
        double filled = 1 - (1 - future) * (1 - past) *
                                (1 - present * (checks[c] == BRY__PAPER_SIMPLE ? 1 : past));
        assert_true(fabs(filled / wanted - 1) < 0.25);
        assert_int_equal(bry__paper_fbf_filters(&fbf), 3);
        bry__paper_fbf_free(&fbf, &memory);
    }
}

/*
 * The growth trap. When Algorithm 3 doubles the row, elements that only the oldest filter has must
 * be found as before: filters appended behind it are empty.
 */
TEST(test_growth_forgets_nothing)
{
    unsigned traps = 0, grown = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        generator from = {seed};
        bry__paper_fbf fbf = make(example(BRY__PAPER_OPTIMIZED, 22000));
        enum { MOST = 4000 };
        static uint64_t when[MOST];
        uint64_t n = 0, now = 100000;
        for (unsigned step = 0; step < 60 && n + 100 < MOST; step++) {
            now += 500 + generator_below(&from, 1000);
            uint32_t count = fbf.count;
            uint64_t single = 0; /* found by the oldest filter alone */
            for (uint64_t i = 0; i < n; i++)
                single += fbf.oldest->before > 0 && bry__bloom_has(&fbf.oldest->bloom, key(i)) &&
                          !bry__bloom_has(&fbf.oldest->newer->bloom, key(i));
            advance(&fbf, now);
            bool grew = fbf.count > count;
            grown += grew;
            traps += grew && single > 0;
            for (uint64_t i = 0; i < n; i++)
                if (when[i] && when[i] + fbf.options.window >= now)
                    assert_true(has(&fbf, i));
            uint64_t burst = step > 20 ? generator_below(&from, 100) : generator_below(&from, 20);
            for (uint64_t i = 0; i < burst; i++, n++)
                when[n] = add(&fbf, n, now) == BRY_ABSENT ? now : 0;
        }
        bry__paper_fbf_free(&fbf, &memory);
    }
    printf("grown %u times, %u of them with elements in the oldest filter alone\n", grown, traps);
    assert_true(traps >= 10); /* otherwise the test shows nothing */
}

/* As Fig. 6.6: three filters and 11 s; a load that rises and subsides, twice. */
TEST(test_adaptation_follows_the_load)
{
    bry__paper_fbf fbf = make(example(BRY__PAPER_OPTIMIZED, 22000));
    uint64_t next = 0, now = 1000000;
    static const unsigned filters_then[] = {3, 3, 3, 24, 24, 24, 16, 7, 3, 3, 3, 3,
                                            3, 3, 6, 24, 24, 24, 17, 8, 3, 3, 3, 3};
    static const unsigned seconds_then[] = {11, 11, 11, 3, 1, 1, 9, 11, 11, 11, 11, 11,
                                            11, 11, 10, 4, 1, 1, 8, 11, 11, 11, 11, 11};
    uint64_t peaks[2] = {0, 0}, lows[2] = {99, 99}, shortest = UINT64_MAX;
    for (int wave = 0; wave < 2; wave++)
        for (int second = 0; second < 120; second++, now += 1000) {
            unsigned rate = second < 20 ? 5 + 2 * (unsigned)second : 2;
            for (unsigned i = 0; i < rate; i++)
                add(&fbf, next++, now + i);
            uint64_t filters = bry__paper_fbf_filters(&fbf);
            if (filters > peaks[wave])
                peaks[wave] = filters;
            if (second > 100 && filters < lows[wave])
                lows[wave] = filters;
            if (fbf.period < shortest)
                shortest = fbf.period;
            if (second % 10 == 0) {
                printf("%3d s: %2u elements/s, %2u filters, t = %2u s, Eq. 4.3 %.2g\n",
                       wave * 120 + second, rate, (unsigned)filters, (unsigned)(fbf.period / 1000),
                       bry__paper_fbf_predicted(&fbf));
                assert_int_equal(filters, filters_then[wave * 12 + second / 10]);
                assert_int_equal(fbf.period / 1000, seconds_then[wave * 12 + second / 10]);
            }
        }
    for (int wave = 0; wave < 2; wave++) {
        assert_true(peaks[wave] >= 6 && peaks[wave] <= 24);
        assert_true(lows[wave] <= 4);
    }
    assert_true(shortest < 11000);
    assert_true(fbf.resizes >= 4);
    bry__paper_fbf_free(&fbf, &memory);
}

/* ---- memory -------------------------------------------------------------------------------- */

/* Each allocation fails once; elements added before are found afterwards. */
TEST(test_out_of_memory)
{
    failing_allocator failing;
    failing_allocator_init(&failing);
    bry__paper_fbf_options options = row_options(BRY__PAPER_OPTIMIZED, 4000, 400, 0.01);
    bry__paper_fbf fbf;
    bry_status status = BRY_E_NOMEM;
    for (failing.fail_at = 1; status != BRY_OK; failing.fail_at++) {
        failing_allocator_restart(&failing);
        status = bry__paper_fbf_init(&fbf, &options, &failing.allocator);
        assert_true(status == BRY_OK || (status == BRY_E_NOMEM && failing.now == 0));
    }
    static uint64_t when[3000];
    unsigned failures = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t now = 5000 + 10 * i;
        bry_answer was = BRY_UNSURE;
        failing_allocator_restart(&failing);
        failing.fail_at = 1;
        while (bry__paper_fbf_add(&fbf, key(i), now, &was, &failing.allocator) != BRY_OK) {
            failures++;
            failing_allocator_restart(&failing);
            failing.fail_at++;
        }
        failing.fail_at = 0;
        when[i] = was == BRY_ABSENT ? now : 0;
        assert_int_equal(failing.now + sizeof fbf, bry__paper_fbf_bytes(&fbf));
        for (uint64_t j = i > 500 ? i - 500 : 0; j <= i; j++)
            assert_true(when[j] == 0 || when[j] + 4000 < now || has(&fbf, j));
    }
    assert_true(failures > 50);
    bry__paper_fbf_free(&fbf, &failing.allocator);
    assert_int_equal(failing.now, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        operations = strtoull(argv[1], NULL, 10);
    memory = bry__allocator_or_default(NULL);
    return run_all_tests(NULL, NULL);
}
