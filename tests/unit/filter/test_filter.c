/* The filter as its header describes it: options, merging. The model does the rest, with
 * every kernel (model/filter/). */
#include "support/cmocka_all.h"
#include "support/filter_helpers.h"

#include <math.h>
#include <stddef.h>

/* ---- options ---- */

TEST(test_defaults)
{
    bry_filter_options empty = BRY_FILTER_OPTIONS;
    bry_filter_options written = BRY_FILTER_OPTIONS;
    written.engine = BRY_ENGINE_COMPACT;
    written.capacity = 1000;
    written.error = 0.01;
    bry_filter_shape by_null = {0}, by_empty = {0}, by_hand = {0};
    assert_int_equal(bry_filter_plan(NULL, &by_null), BRY_OK);
    assert_int_equal(bry_filter_plan(&empty, &by_empty), BRY_OK);
    assert_int_equal(bry_filter_plan(&written, &by_hand), BRY_OK);
    assert_memory_equal(&by_null, &by_hand, sizeof by_hand);
    assert_memory_equal(&by_empty, &by_hand, sizeof by_hand);
    assert_int_equal(by_hand.engine, BRY_ENGINE_COMPACT);
    assert_int_equal(by_hand.capacity, 1000);
    assert_true(by_hand.error <= 0.01);

    bry_filter *filter = NULL, *other = NULL;
    assert_int_equal(bry_filter_create(NULL, &filter), BRY_OK);
    assert_int_equal(bry_filter_create(&empty, &other), BRY_OK);
    bry_filter_stats stats = stats_of(filter);
    assert_int_equal(stats.engine, BRY_ENGINE_COMPACT);
    assert_int_equal(bry_filter_engine(filter), BRY_ENGINE_COMPACT);
    assert_int_equal(stats.capacity, 1000);
    assert_int_equal(bry_filter_capacity(filter), 1000);
    assert_int_equal(stats.items, 0);
    assert_true(stats.fill == 0 && stats.estimated_error == 0 && stats.promised_error == 0.01);
    assert_int_equal(stats.bytes, by_hand.bytes_empty);
    /* Each has its own random seed. */
    assert_true(bry_filter_seed(filter) != 0);
    assert_true(bry_filter_seed(filter) != bry_filter_seed(other));
    assert_true(stats.seed == bry_filter_seed(filter));
    bry_filter_destroy(filter);
    bry_filter_destroy(other);
    bry_filter_destroy(NULL);
}

/* Whoever sets no options can add more than the default capacity; whoever asks for a fixed filter
 * gets the fastest one. */
TEST(test_the_default_grows)
{
    bry_filter *filter = NULL;
    assert_int_equal(bry_filter_create(NULL, &filter), BRY_OK);
    uint64_t taken = add_many(filter, 1, 5000);
    assert_true(taken > 4900);
    assert_int_equal(bry_filter_items(filter), taken);
    bry_filter_destroy(filter);

    bry_filter_options options = BRY_FILTER_OPTIONS;
    bry_filter_shape shape = {0};
    options.fixed = 1;
    assert_int_equal(bry_filter_plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.engine, BRY_ENGINE_BLOOM);
    assert_int_equal(shape.grows_to, 1000);
    options.fixed = 0;
    assert_int_equal(bry_filter_plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.engine, BRY_ENGINE_COMPACT);
    assert_true(shape.grows_to > 1000000000);
}

static void assert_refused(bry_filter_options options, bry_status expected)
{
    bry_filter_shape shape = {0}, untouched = {0};
    bry_filter *filter = (bry_filter *)&options;
    memset(&shape, 0x5a, sizeof shape);
    memset(&untouched, 0x5a, sizeof untouched);
    assert_int_equal(bry_filter_plan(&options, &shape), expected);
    assert_memory_equal(&shape, &untouched, sizeof shape);
    assert_int_equal(bry_filter_create(&options, &filter), expected);
    assert_ptr_equal(filter, &options);
}

TEST(test_bad_options_are_refused)
{
    bry_filter_options good = BRY_FILTER_OPTIONS, bad;
    good.engine = BRY_ENGINE_BLOOM;
#define REFUSE(status, field, value)                                                               \
    bad = good;                                                                                    \
    bad.field = (value);                                                                           \
    assert_refused(bad, status)
    REFUSE(BRY_E_RANGE, engine, (bry_engine)99);
    REFUSE(BRY_E_RANGE, engine, (bry_engine)-1);
    REFUSE(BRY_E_UNSUPPORTED, engine, BRY_ENGINE_KBF);
    REFUSE(BRY_E_UNSUPPORTED, engine, BRY_ENGINE_DBA);
    REFUSE(BRY_E_RANGE, capacity, (UINT64_C(1) << 40) + 1);
    REFUSE(BRY_E_RANGE, capacity, UINT64_MAX);
    REFUSE(BRY_E_RANGE, error, -0.01);
    REFUSE(BRY_E_RANGE, error, 0.99e-9);
    REFUSE(BRY_E_RANGE, error, 0.51);
    REFUSE(BRY_E_RANGE, error, 1);
    REFUSE(BRY_E_RANGE, error, (double)NAN);
    REFUSE(BRY_E_RANGE, error, (double)INFINITY);
    REFUSE(BRY_E_RANGE, bloom.hashes, 7); /* without bits, and the other way round */
    REFUSE(BRY_E_RANGE, bloom.bits, 512);
    bad = good;
    bad.bloom.hashes = 7;
    static const uint64_t bits[] = {1, 511, 513, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 40};
    for (int i = 0; i < 6; i++) {
        bad.bloom.bits = bits[i];
        assert_refused(bad, BRY_E_RANGE);
    }
    bad.bloom.bits = 512;
    bad.bloom.hashes = 22;
    assert_refused(bad, BRY_E_RANGE);
#undef REFUSE
}

TEST(test_the_ends_of_the_ranges)
{
    bry_filter_shape shape = {0};
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.engine = BRY_ENGINE_BLOOM;
    options.capacity = UINT64_C(1) << 40;
    options.error = 1e-9;
    assert_int_equal(bry_filter_plan(&options, &shape), BRY_OK);
    assert_true(shape.error <= 1e-9);
    assert_true(shape.bytes > shape.bits / 8 && shape.bytes_empty < shape.bytes);
    options.error = 0.5;
    options.capacity = 1;
    assert_int_equal(bry_filter_plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.bits, 512);
    options.bloom.bits = 512;
    options.bloom.hashes = 21;
    assert_int_equal(bry_filter_plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.bits, 512);
    assert_int_equal(shape.bloom.hashes, 21);
}

/* ---- merging ---- */

TEST(test_merge_refuses_other_shapes)
{
    const bry_filter_options base = {
        .capacity = 500, .seed = 5, .bloom.bits = 512 * 20, .bloom.hashes = 5};
    bry_filter *filter = make(base);
    add_many(filter, 56, 100);
    bry_filter *before = clone(filter);
    bry_filter_options others[] = {base, base, base, base};
    others[0].seed = 6;
    others[1].capacity = 501;
    others[2].bloom.bits = 512 * 21;
    others[3].bloom.hashes = 6;
    for (int i = 0; i < 4; i++) {
        bry_filter *other = make(others[i]);
        add_many(other, 57, 10);
        assert_int_equal(bry_filter_merge(filter, other), BRY_E_MISMATCH);
        assert_int_equal(bry_filter_merge(other, filter), BRY_E_MISMATCH);
        assert_true(filter_same(filter, before));
        bry_filter_destroy(other);
    }
    bry_filter_destroy(filter);
    bry_filter_destroy(before);
}

/* Pieces that exist in both filters, in one of them, or in neither. */
TEST(test_merge_of_pieces)
{
    enum { KEYS = 400 };
    bry_filter_options options = {
        .capacity = 100000, .bloom.bits = 4 * (uint64_t)BRY__PIECE_BYTES * 8, .bloom.hashes = 7};
    bry_filter *a = make(options), *b = make(options);
    for (uint64_t i = 0; i < KEYS; i++) {
        bry_hash hash = key_in_piece(a, i % 4 < 2 ? 0 : i % 2 + 1, i);
        hash.hi += i * (UINT64_MAX / a->bloom.blocks); /* a block of its own */
        assert_int_equal(bry_filter_add(i % 2 ? b : a, hash, NULL), BRY_OK);
    }
    assert_int_equal(bry_filter_merge(a, b), BRY_OK);
    assert_in_range(bry_filter_items(a), KEYS - 4, KEYS);
    assert_int_equal(a->bloom.table.present, 3);
    bry_filter_destroy(a);
    bry_filter_destroy(b);
}
