/*
 * The measured error of engine fbf: the effect of salting on a pair of neighbours, the error of a
 * row at its planned load, and while the load rises a hundredfold and falls again.
 */
#include "common/sizing.h"
#include "support/band.h"
#include "support/fbf_helpers.h"

#include <math.h>
#include <stdio.h>

/* An element that is never added in these tests. */
static bry_hash absent(uint64_t i)
{
    return key(UINT64_C(1) << 60 | i);
}

static uint64_t false_positives(const bry_window *window, uint64_t first, uint64_t n)
{
    bry_hash hashes[250];
    uint8_t answers[250];
    uint64_t found = 0;
    assert_int_equal(n % 250, 0);
    for (uint64_t done = 0; done < n; done += 250) {
        for (uint64_t i = 0; i < 250; i++)
            hashes[i] = absent(first + done + i);
        bry_window_has_n(window, hashes, 250, bry_window_time(window), answers);
        for (uint64_t i = 0; i < 250; i++)
            found += answers[i] == BRY_PRESENT;
    }
    return found;
}

/* ---- a pair of neighbours ------------------------------------------------------------------ */

static bry_hash salt(bry_hash hash, int filter)
{
    return (bry_hash){hash.lo + bry__fbf_salt(7, (uint32_t)filter), hash.hi};
}

/* Two filters that share half of their elements: p² when salted, about p^1.5 when not. */
TEST(test_pairs)
{
    enum { EACH = 1000, BITS = 9600, HASHES = 3, SETS = 200, QUERIES = 10000 };
    bry_allocator allocator = bry__allocator_or_default(NULL);
    uint64_t pairs[2] = {0, 0};
    for (uint64_t set = 0; set < SETS; set++)
        for (int salting = 0; salting < 2; salting++) {
            bry__bloom filter[2];
            for (int i = 0; i < 2; i++) {
                assert_int_equal(bry__bloom_init(&filter[i], BITS, HASHES, &allocator), BRY_OK);
                for (uint64_t j = 0; j < 2 * EACH; j++) {
                    bry_hash hash = key(set * 10000 + (uint64_t)i * EACH + j);
                    bry_hash own = salting ? salt(hash, i) : hash;
                    assert_int_equal(bry__bloom_add(&filter[i], own, &allocator), BRY_OK);
                }
            }
            for (uint64_t j = 0; j < QUERIES; j++) {
                bry_hash hash = absent(set * QUERIES + j);
                pairs[salting] += bry__bloom_has(&filter[0], salting ? salt(hash, 0) : hash) &&
                                  bry__bloom_has(&filter[1], salting ? salt(hash, 1) : hash);
            }
            for (int i = 0; i < 2; i++)
                bry__bloom_free(&filter[i], &allocator);
        }
    double p = bry__bloom_error(BITS, HASHES, 2 * EACH), n = SETS * (double)QUERIES;
    /* Unsalted: a bit is set in both by a shared element, or by different elements of either
     * side. */
    double clear = exp(-(double)HASHES * EACH / BITS);
    double both = 1 - clear + clear * (1 - clear) * (1 - clear);
    double shared = pow(both, HASHES);
    printf("pair: p = %.3g, p² = %.3g, salted %.3g; shared positions %.3g = p^%.2f (formula "
           "%.3g)\n",
           p, p * p, (double)pairs[1] / n, (double)pairs[0] / n, log((double)pairs[0] / n) / log(p),
           shared);
    band_assert(pairs[1], (uint64_t)n, p * p);
    assert_true((double)pairs[0] > 2 * (double)pairs[1]);
    assert_true(fabs((double)pairs[0] / n / shared - 1) < 0.03);
}

/* ---- the planned load ---------------------------------------------------------------------- */

TEST(test_planned_load)
{
    bry_window_options options = fbf_options(8000, 160000, 0.001);
    bry_window_shape shape = {0};
    assert_int_equal(bry_window_plan(&options, &shape), BRY_OK);
    uint64_t wrong = 0, asked = 0, next = 0, most = 0;
    double estimated = 0;
    bry_window *window = make(options);
    for (uint64_t now = 8000; now < 40000; now++) {
        for (int i = 0; i < 20; i++)
            bry_window_add(window, key(next++), now, NULL);
        if (now > 17000 && now % 1000 == 999) { /* the worst moment of a period */
            wrong += false_positives(window, asked, 100000);
            asked += 100000;
            bry_window_stats stats = stats_of(window);
            estimated += stats.estimated_error * 100000;
            most = stats.bytes > most ? stats.bytes : most;
        }
    }
    printf("%.2f bits per element, planned %.3g, estimated %.3g, measured %.3g\n",
           (double)most * 8 / 160000, shape.error, estimated / (double)asked,
           (double)wrong / (double)asked);
    band_assert_at_most(wrong, asked, 0.001);
    band_assert(wrong, asked, estimated / (double)asked);
    assert_true((double)most * 8 / 160000 <= 26);
    bry_window_destroy(window);
}

/* ---- a hundredfold load -------------------------------------------------------------------- */

TEST(test_burst)
{
    static const uint32_t parts[] = {8, 2, 32};
    for (int g = 0; g < 3; g++) {
        bry_window_options options = fbf_options(8000, 8000, 0.001);
        options.generations = parts[g];
        bry_window *window = make(options);
        uint64_t wrong = 0, asked = 0, next = 0, peak = 0, calm = 0, remembered = 0;
        double worst = 0, worst_measured = 0;
        for (uint64_t now = 8000; now < 60000; now++) {
            bool burst = now >= 20300 && now < 26300;
            for (int i = 0; i < (burst ? 100 : 1); i++)
                bry_window_add(window, key(next++), now, NULL);
            bool close = now >= 20300 && now < 20900; /* the rise itself */
            if (now >= 17000 && now % (close ? 50 : 500) == 49) {
                bry_window_stats stats = stats_of(window);
                uint64_t here = false_positives(window, asked, 30000);
                wrong += here;
                asked += 30000;
                worst = fmax(worst, stats.estimated_error);
                worst_measured = fmax(worst_measured, (double)here / 30000);
                assert_true(stats.fbf.predicted_error <= 0.001);
                band_assert_at_most(here, 30000, 0.001);
                if (stats.bytes > peak) {
                    peak = stats.bytes;
                    remembered = stats.items;
                }
                if (now < 20300)
                    calm = stats.bytes;
            }
        }
        bry_window_stats stats = stats_of(window);
        printf("%2u generations: estimated at most %.3g, measured %.3g (at most %.3g); %llu ended "
               "early; bytes %llu, at most %llu for %llu elements, then %llu\n",
               parts[g], worst, (double)wrong / (double)asked, worst_measured,
               (unsigned long long)stats.fbf.ended_early, (unsigned long long)calm,
               (unsigned long long)peak, (unsigned long long)remembered,
               (unsigned long long)stats.bytes);
        assert_true(worst <= 0.001);
        band_assert_at_most(wrong, asked, 0.001);
        assert_true(stats.bytes <= calm + calm / 50);
        bry_window_destroy(window);
    }
}
