/*
 * Time that passes while nothing comes, in the papers' modes of fbf: Algorithm 3 goes on judging
 * every second. A jump must come to the same bytes as its seconds one by one, in few steps.
 */
#include "support/fbf_helpers.h"
#include "support/generator.h"

#include <stdio.h>

/* What was seen, so that the test can say that it tested something. */
typedef struct sights {
    uint64_t fallen, risen; /* seconds after which t was shorter or longer, the filters as many, */
    uint64_t around; /* and how often their number doubled while no filter came or went */
} sights;

/*
 * About as many as a period is planned for and all at once, so that the error is high while the
 * oldest filter is asked alone, which has nothing of a period before; or up to `most` now and then.
 */
static uint64_t come(bry_window *window, generator *from, uint64_t most)
{
    const bry__fbf_setting *setting = &row_of(window)->setting;
    uint64_t now = bry_window_time(window);
    bool at_once = generator_below(from, 3) > 0;
    uint64_t n = at_once ? setting->limit + generator_below(from, setting->limit)
                         : 1 + generator_below(from, most);
    for (uint64_t i = 0; i < n; i++) {
        add(window, i, now);
        if (!at_once && generator_below(from, 40) == 0)
            now += generator_below(from, setting->window / 8);
    }
    return n;
}

static bry_window *loaded_row(generator *from, bry_window_mode mode)
{
    static const uint64_t windows[] = {60000, 600000, 2000001, 7000001};
    static const uint32_t generations[] = {2, 3, 4, 8, 20};
    static const double errors[] = {0.3, 0.01, 1e-4};
    double error = errors[generator_below(from, 3)];
    bry_window_options options = fbf_options(mode, windows[generator_below(from, 4)], 100, error);
    options.generations = generations[generator_below(from, 5)];
    if (generator_below(from, 3) == 0) /* where the number of filters cannot double */
        options.max_bytes = 2000 + 40 * generator_below(from, 4000);
    options.start = generator_below(from, 3) == 0 ? 0 : generator_below(from, UINT64_C(1) << 42);
    bry_window *window = make(options);
    (void)come(window, from, 400);
    return window;
}

static void look(sights *seen, const bry__fbf *was, const bry__fbf *is)
{
    if (was->oldest != is->oldest || was->newest != is->newest || is->items == 0)
        return;
    seen->fallen += is->period < was->period && is->count == was->count;
    seen->risen += is->period > was->period;
    seen->around += is->count > was->count && is->count > is->row && was->count <= was->row;
}

TEST(test_a_jump_is_its_seconds)
{
    generator from = {5};
    sights seen = {0, 0, 0};
    for (int round = 0; round < 100; round++) {
        bry_window *slow = loaded_row(&from, modes[1 + round % 2]), *start = clone_of(slow);
        uint64_t begin = bry_window_time(slow), left = 4 * row_of(slow)->setting.window / 1000;
        uint64_t every = left / 12 + 1;
        for (uint64_t second = begin / 1000 + 1; left > 0 && row_of(slow)->items > 0;
             second++, left--) {
            bry__fbf was = *row_of(slow);
            advance(slow, second * 1000);
            look(&seen, &was, row_of(slow));
            if (left % every != 0)
                continue;
            uint64_t now = second * 1000 + generator_below(&from, 1000);
            bry_window *fast = clone_of(start), *there = clone_of(slow);
            advance(there, now);
            for (uint64_t i = 0; i < 400; i += 7)
                assert_int_equal(has(fast, i, now), has(there, i, now));
            advance(fast, now);
            assert_true(alike(fast, there));
            bry_window_destroy(fast);
            bry_window_destroy(there);
        }
        bry_window_destroy(start);
        bry_window_destroy(slow);
    }
    printf("seconds with a shorter t: %ju, with a longer one: %ju; filters doubled and fell back: "
           "%ju\n",
           (uintmax_t)seen.fallen, (uintmax_t)seen.risen, (uintmax_t)seen.around);
    assert_true(seen.fallen > 1000 && seen.risen > 1000 && seen.around > 100);
}

/* Second by second these would take 10¹² steps. */
TEST(test_long_windows)
{
    generator from = {6};
    uint64_t resizes = 0;
    for (int round = 0; round < 100; round++) {
        bry_window_options options =
            fbf_options(modes[1 + round % 2], UINT64_C(1) << (30 + generator_below(&from, 23)), 40,
                        round % 3 ? 0.01 : 1e-4);
        options.generations = 2 + (uint32_t)generator_below(&from, 9);
        options.start = generator_below(&from, UINT64_C(1) << (41 + round % 10));
        bry_window *window = make(options);
        uint64_t n = come(window, &from, 300);
        bry_window *whole = clone_of(window);
        uint64_t time = bry_window_time(window), end = time + 4 * options.window;
        advance(whole, time + options.window / 2);
        resizes += stats_of(whole).resizes;
        while (time < end) {
            time += 1 + generator_below(&from, options.window / 3);
            advance(window, time);
            for (uint64_t i = 0; i < n && time <= options.start + options.window; i++)
                assert_true(has(window, i, time));
        }
        advance(whole, time);
        assert_true(alike(window, whole));
        assert_int_equal(stats_of(window).items, 0);
        bry_window_destroy(window);
        bry_window_destroy(whole);
    }
    printf("adaptations in half a window each: %ju\n", (uintmax_t)resizes);
    assert_true(resizes > UINT64_C(1000000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_jump_is_its_seconds),
        cmocka_unit_test(test_long_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
