/* The errors that papers/paper_plan.c predicts, compared with what the papers' kBF does. */
#include "papers/greedy.h"
#include "papers/paper_plan.h"

#include "support/band.h"
#include "support/cmocka_all.h"
#include "support/generator.h"

#include <math.h>

static bry_allocator heap;

enum { KEYS = 100000, CODES = 400, HASHES = 7 };

static bry_hash key(uint64_t i)
{
    return bry_hash_key(7, &i, sizeof i);
}

static uint32_t code_of(uint64_t i)
{
    generator numbers = {i};
    return (uint32_t)generator_below(&numbers, CODES);
}

/* In half of the cells for their error, so that all levels err often enough. */
static void check_levels(const bry__encoder *encoder, double pairs)
{
    static const bry__paper_level levels[] = {BRY__PAPER_ONES, BRY__PAPER_PAIRS, BRY__PAPER_TRIPLES,
                                              BRY__PAPER_SETS};
    const bry__kbf_shape shape = {HASHES, (uint64_t)(KEYS / (2 * M_LN2))};
    bry__paper_kbf kbf;
    assert_int_equal(bry__paper_kbf_init(&kbf, encoder, shape.hashes, shape.segment, &heap),
                     BRY_OK);
    for (uint64_t i = 0; i < KEYS; i++)
        bry__paper_kbf_insert(&kbf, key(i), code_of(i));
    for (unsigned l = 0; l < sizeof levels / sizeof levels[0]; l++) {
        const bry__paper_setting setting = {levels[l], false, encoder->count, CODES, pairs};
        bry_map_errors expected = bry__paper_errors_at(&setting, &shape, KEYS);
        uint64_t missed = 0, answered = 0;
        for (uint64_t i = 0; i < KEYS; i++) {
            uint32_t code = CODES;
            missed += bry__paper_kbf_get(&kbf, key(i), levels[l], CODES, &code) != BRY_PRESENT;
            answered +=
                bry__paper_kbf_get(&kbf, key(KEYS + i), levels[l], CODES, &code) == BRY_PRESENT;
        }
        print_message("level %u, pairs %.3f: FN %.3e (expected %.3e), FP %.3e (%.3e)\n",
                      (unsigned)levels[l], pairs, (double)missed / KEYS, expected.false_negative,
                      (double)answered / KEYS, expected.false_positive);
        assert_true(expected.false_negative * KEYS > 20);
        band_assert(missed, KEYS, expected.false_negative);
        band_assert_at_most(answered, KEYS, expected.false_positive);
    }
    bry__paper_kbf_free(&kbf, &heap);
}

TEST(test_algebraic_encodings)
{
    bry__gf gf;
    assert_int_equal(bry__gf_init(&gf, bry__gf_bits_for(CODES), &heap), BRY_OK);
    bry__encoder encoder = bry__algebraic_encoder(&gf);
    check_levels(&encoder, 0.5);
    bry__gf_free(&gf, &heap);
}

TEST(test_greedy_encodings)
{
    bry__greedy greedy;
    assert_int_equal(bry__greedy_search(&greedy, CODES, 0, &heap), BRY_OK);
    assert_int_equal(bry__greedy_index(&greedy, 1e-4), BRY_OK);
    bry__encoder encoder = bry__greedy_encoder(&greedy);
    check_levels(&encoder, bry__greedy_pair_share(CODES));
    bry__greedy_free(&greedy);
}

/* How often four different encodings look like two. */
static double pair_share(const bry__encoder *encoder)
{
    enum { TRIALS = 20000 };
    generator numbers = {1};
    unsigned pairs = 0;
    for (unsigned i = 0; i < TRIALS; i++) {
        uint32_t sum = 0, first = (uint32_t)generator_below(&numbers, encoder->count), step = 0;
        for (int j = 0; j < 4; j++) {
            sum ^= encoder->encode(encoder->self, (first + step) % encoder->count);
            step += 1 + (uint32_t)generator_below(&numbers, encoder->count / 4);
        }
        pairs += encoder->is_pair(encoder->self, sum);
    }
    return (double)pairs / TRIALS;
}

/* The share of pairs, without a search; and filters of just what a level needs. */
TEST(test_filters_of_encodings)
{
    for (uint32_t count = 100; count <= 1000; count += 180) {
        bry__greedy greedy;
        assert_int_equal(bry__greedy_search(&greedy, count, 0, &heap), BRY_OK);
        assert_int_equal(bry__greedy_index_singles(&greedy, 1e-3), BRY_OK);
        assert_int_equal(greedy.pairs.bits, 0);
        assert_int_equal(greedy.singles.bits / 8, bry__greedy_index_bytes(count, 1e-3, false));
        bry__encoder encoder = bry__greedy_encoder(&greedy);
        uint32_t a, b;
        assert_true(encoder.decode_pair(encoder.self, greedy.code[3] ^ greedy.code[7], &a, &b));
        assert_int_equal(a + b, 10);
        assert_int_equal(bry__greedy_index(&greedy, 1e-3), BRY_OK);
        double share = pair_share(&encoder), expected = bry__greedy_pair_share(count);
        assert_true(expected > share * 0.75 && expected < share * 1.3);
        assert_int_equal((greedy.singles.bits + greedy.pairs.bits) / 8,
                         bry__greedy_index_bytes(count, 1e-3, true));
        bry__greedy_free(&greedy);
    }
}

/* The numbers in section 4 of the paper, and in doc/errata.md. */
TEST(test_formulae_as_published)
{
    assert_true(fabs(bry__published_full_cells(1) - 0.0333132) < 1e-7);
    assert_true(fabs(bry__published_undecodable(10, 2) - 2.107e-7) < 0.003e-7);
    /* p = 0.001 in half of the cells, that is 10 of 14.38 / 2 per key */
    const bry__kbf_shape shape = {10, 718880};
    const bry__paper_setting setting = {BRY__PAPER_PAIRS, false, 4095, 3000, 0.5};
    bry_map_errors right = bry__paper_errors_at(&setting, &shape, 1000000);
    assert_true(fabs(right.false_negative - 1.13e-3) < 0.01e-3);
}

int main(void)
{
    heap = bry__allocator_or_default(NULL);
    return run_all_tests(NULL, NULL);
}
