/* The plan of a chain: shares of the error, where entries go, where growth ends. */
#include "maplet/maplet_plan.h"

#include "support/cmocka_all.h"
#include "support/generator.h"

#include <math.h>

static bry__chain plan(uint64_t capacity, double error, bool fixed)
{
    bry__chain chain;
    assert_true(bry__chain_plan(&chain, capacity, error, fixed));
    return chain;
}

static const uint64_t capacities[] = {
    1, 2, 100, 1000, 4096, 1000000, 123456789, UINT64_C(1) << 32, UINT64_C(1) << 40};
static const double errors[] = {0.5, 0.1, 1e-3, 1e-6, 1e-9, 1e-12};

/* With all tables full, the sum of the errors is within the promise. */
TEST(test_shares)
{
    for (unsigned i = 0; i < sizeof capacities / sizeof *capacities; i++)
        for (unsigned j = 0; j < sizeof errors / sizeof *errors; j++) {
            bry__chain chain;
            if (!bry__chain_plan(&chain, capacities[i], errors[j], false)) {
                assert_true((double)capacities[i] / (0.75 * errors[j]) > 0x1p62);
                continue;
            }
            uint64_t full[BRY__MAPLET_TABLES];
            for (unsigned t = 0; t < BRY__MAPLET_TABLES; t++)
                full[t] = bry__chain_capacity(&chain, t);
            double sum = bry__chain_error(&chain, full);
            assert_true(sum <= 0.9995 * errors[j]);
            assert_true(bry__chain_keeps(&chain, full) || chain.most == BRY__CHAIN_MOST);
            assert_int_equal(bry__chain_capacity(&chain, 0), capacities[i]);
            for (unsigned t = 1; t < chain.tables; t++) {
                assert_true(bry__chain_range(&chain, t) <= UINT64_C(1) << 62);
                assert_int_equal(bry__chain_range(&chain, t),
                                 chain.range << bry__chain_shift(&chain, t));
                assert_true(bry__chain_shift(&chain, t) >= bry__chain_shift(&chain, t - 1));
                assert_true(bry__chain_capacity(&chain, t) > 0 &&
                            bry__chain_capacity(&chain, t) <= BRY__CHAIN_MOST);
            }
            assert_true((double)chain.most >= fmin(0x1p40, errors[j] * 0x1p53));
            assert_true(chain.most <= BRY__CHAIN_MOST);
        }
}

/* Examples for which growth once ended early. */
TEST(test_growth_goes_on)
{
    assert_int_equal(plan(100, 1e-3, false).most, BRY__CHAIN_MOST);
    assert_true(plan(1000, 1e-9, false).most > 90000000);
    assert_int_equal(plan(1, 0.01, false).most, BRY__CHAIN_MOST);
    assert_int_equal(plan(1, 0.01, false).tables, BRY__MAPLET_TABLES);
    bry__chain fixed = plan(1000, 1e-3, true);
    assert_int_equal(fixed.tables, 1);
    assert_int_equal(fixed.most, 1000);
    assert_int_equal(fixed.range, 1000000);
}

/* Without merges: the first table with room, until there is none. */
TEST(test_place)
{
    bry__chain chain = plan(10, 0.01, false);
    uint64_t n[BRY__MAPLET_TABLES] = {0};
    for (uint64_t i = 0; i < 3000; i++) {
        unsigned at = bry__chain_place(&chain, n);
        assert_int_equal(at, i < 10 ? 0 : i < 650 ? 1 : 2);
        n[at]++;
    }
    n[1]--;
    assert_int_equal(bry__chain_place(&chain, n), 1);
    for (unsigned i = 0; i < chain.tables; i++)
        n[i] = bry__chain_capacity(&chain, i);
    assert_int_equal(bry__chain_place(&chain, n), chain.tables);

    bry__chain fixed = plan(10, 0.01, true);
    uint64_t m[BRY__MAPLET_TABLES] = {9};
    assert_int_equal(bry__chain_place(&fixed, m), 0);
    m[0] = 10;
    assert_true(bry__chain_keeps(&fixed, m));
    assert_int_equal(bry__chain_place(&fixed, m), 1);
    m[0] = 11;
    assert_false(bry__chain_keeps(&fixed, m));
}

/* After merges tables may have any numbers of entries within the promise. Further entries keep
 * it. */
TEST(test_place_after_merges)
{
    generator numbers = {1};
    for (unsigned round = 0; round < 2000; round++) {
        bry__chain chain = plan(1 + generator_below(&numbers, 5000), errors[round % 4], false);
        uint64_t n[BRY__MAPLET_TABLES] = {0};
        for (unsigned i = 0; i < chain.tables && i < 3; i++)
            n[i] = generator_below(&numbers, bry__chain_capacity(&chain, i) * 3 / 2 + 1);
        if (!bry__chain_keeps(&chain, n))
            continue;
        unsigned at, last = chain.tables - 1;
        while ((at = bry__chain_place(&chain, n)) < last) { /* fill each table that is given */
            assert_true(n[at] < bry__chain_capacity(&chain, at));
            n[at] += bry__chain_room(&chain, n);
        }
        assert_true(bry__chain_keeps(&chain, n));
        n[last] += at == last;
        assert_true(bry__chain_error(&chain, n) <= chain.error * (1 + 1e-9));
    }
}
