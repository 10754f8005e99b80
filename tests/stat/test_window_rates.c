/* The error of compact windows compared with the requested and the estimated one, and their size.
 * (test_fbf_rates does this for fbf.) */
#include "support/band.h"
#include "support/window_helpers.h"

enum { N = 100000, WINDOW = 1000000, ASKED = 1000000 };

static uint64_t strangers = UINT64_C(1) << 40;

/* For n elements that were never added. */
static uint64_t count_wrong(const bry_window *window, uint64_t n, uint64_t now)
{
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < n; i++)
        wrong += has(window, strangers++, now);
    return wrong;
}

static bry_window_options options_for(double error, uint32_t generations, bool fixed)
{
    bry_window_options options = options_of(&window_kinds[0]);
    options.window = WINDOW;
    options.capacity = N;
    options.error = error;
    options.generations = generations;
    options.fixed = fixed;
    return options;
}

/* A steady load for three windows; queried just before a generation expires, when there is most. */
TEST(test_steady)
{
    static const struct {
        double error, most_bits;
        uint32_t generations;
        bool fixed;
    } cases[] = {
        {0.01, 16.5, 13, false}, {1e-3, 19, 0, false},   {1e-3, 21.5, 8, false},
        {1e-3, 20, 8, true},     {1e-2, 18.5, 8, false}, {1e-3, 21.5, 30, false},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        bry_window_options options =
            options_for(cases[c].error, cases[c].generations, cases[c].fixed);
        bry_window_shape shape = {0};
        assert_int_equal(bry_window_plan(&options, &shape), BRY_OK);
        uint64_t length = shape.longest - shape.window, end = 4 * (uint64_t)WINDOW;
        end -= (end - WINDOW) % length + 1; /* just before one expires */
        bry_window *window = make(options);
        uint64_t worst = 0;
        for (uint64_t i = 0;; i++) {
            uint64_t now = WINDOW + i * WINDOW / N;
            if (now > end)
                break;
            add(window, i, now);
            if (now > 2 * (uint64_t)WINDOW && i % 64 == 0) {
                uint64_t bytes = stats_of(window).bytes;
                worst = bytes > worst ? bytes : worst;
            }
        }
        assert_int_equal(bry_window_advance(window, end), BRY_OK);
        uint64_t wrong = count_wrong(window, ASKED, end);
        band_assert(wrong, ASKED, stats_of(window).estimated_error);
        band_assert_at_most(wrong, ASKED, shape.error);
        assert_true(shape.error <= cases[c].error);
        assert_true(stats_of(window).estimated_error <= shape.error);
        assert_true((double)worst * 8 / N <= cases[c].most_bits);
        assert_true(worst <= shape.bytes + shape.bytes / 33);
        bry_window_destroy(window);
    }
}

/* Thirty times the plan: always within the error without `fixed`; with it, the error is the
 * estimated one. */
TEST(test_past_the_plan)
{
    for (int fixed = 0; fixed < 2; fixed++) {
        bry_window_options options = options_for(0.01, 0, fixed);
        options.capacity = 3000;
        bry_window *window = make(options);
        for (uint64_t i = 0; i < 90000; i++) {
            add(window, i, WINDOW);
            if (i % 15000 != 14999)
                continue;
            double says = stats_of(window).estimated_error;
            uint64_t wrong = count_wrong(window, 200000, WINDOW);
            band_assert(wrong, 200000, says);
            if (!fixed)
                band_assert_at_most(wrong, 200000, 0.01);
        }
        bry_window_destroy(window);
    }
}

/* Merged from parts, and filled further. */
TEST(test_merged)
{
    bry_window_options options = options_for(0.02, 0, false);
    bry_window *all = make(options);
    for (unsigned part = 0; part < 4; part++) {
        bry_window *one = make(options);
        for (uint64_t i = 0; i < N / 4; i++)
            add(one, part * (N / 4) + i, WINDOW + i);
        assert_int_equal(bry_window_merge(all, one), BRY_OK);
        bry_window_destroy(one);
    }
    band_assert(count_wrong(all, ASKED, WINDOW), ASKED, stats_of(all).estimated_error);
    for (uint64_t i = 0; i < N; i++)
        add(all, N + i, WINDOW);
    uint64_t wrong = count_wrong(all, ASKED, WINDOW);
    band_assert(wrong, ASKED, stats_of(all).estimated_error);
    band_assert_at_most(wrong, ASKED, 0.02);
    bry_window_destroy(all);
}
