/* The filter as its header describes it: options, adding and asking, capacity. */
#include "support/cmocka_all.h"
#include "support/filter_helpers.h"
#include "support/generator.h"

#include <math.h>
#include <stddef.h>

/* ---- options ---- */

static void assert_same_shape(const bry_filter_shape *a, const bry_filter_shape *b)
{
    assert_int_equal(a->engine, b->engine);
    assert_int_equal(a->capacity, b->capacity);
    assert_int_equal(a->bits, b->bits);
    assert_int_equal(a->bloom.hashes, b->bloom.hashes);
    assert_true(a->error == b->error);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->bytes_empty, b->bytes_empty);
}

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
    assert_same_shape(&by_null, &by_hand);
    assert_same_shape(&by_empty, &by_hand);
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
    REFUSE(BRY_E_RANGE, struct_size, 0);
    REFUSE(BRY_E_RANGE, struct_size, sizeof(size_t) - 1);
    REFUSE(BRY_E_RANGE, struct_size, sizeof bad + 1);
    REFUSE(BRY_E_RANGE, struct_size, SIZE_MAX);
    REFUSE(BRY_E_RANGE, engine, (bry_engine)6);
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

/* A program compiled against an older header has a shorter struct: what it lacks is the default. */
TEST(test_shorter_options)
{
    bry_filter_shape shape = {0};
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.engine = BRY_ENGINE_BLOOM;
    options.capacity = 5000;
    options.error = 7; /* each of these would be refused … */
    options.bloom.bits = 3;
    options.bloom.hashes = 99;
    options.struct_size = offsetof(bry_filter_options, error); /* … but is beyond the end */
    assert_int_equal(bry_filter_plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.capacity, 5000);
    assert_true(shape.error <= 0.01);
    options.struct_size = sizeof(size_t);
    assert_int_equal(bry_filter_plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.capacity, 1000);
    options.struct_size = sizeof options;
    assert_refused(options, BRY_E_RANGE);
}

/* ---- adding and asking ---- */

TEST(test_add_and_has)
{
    bry_filter *filter = make((bry_filter_options){.capacity = 2000, .error = 0.001});
    generator numbers = {31};
    uint64_t items = 0;
    for (int i = 0; i < 2000; i++) {
        bry_hash hash = generator_hash(&numbers);
        bry_answer before = bry_filter_has(filter, hash), was = BRY_UNSURE;
        assert_int_equal(bry_filter_add(filter, hash, &was), BRY_OK);
        assert_int_equal(was, before);
        items += was == BRY_ABSENT;
        assert_int_equal(bry_filter_has(filter, hash), BRY_PRESENT);
        assert_int_equal(bry_filter_add(filter, hash, NULL), BRY_OK);
        assert_int_equal(bry_filter_add(filter, hash, &was), BRY_OK);
        assert_int_equal(was, BRY_PRESENT);
    }
    assert_int_equal(stats_of(filter).items, items);
    generator again = {31};
    for (int i = 0; i < 2000; i++)
        assert_int_equal(bry_filter_has(filter, generator_hash(&again)), BRY_PRESENT);
    bry_filter_destroy(filter);
}

TEST(test_batches_are_singles)
{
    enum { KEYS = 3000 };
    static bry_hash hashes[KEYS];
    static uint8_t was[KEYS + 1], answers[KEYS + 1];
    generator numbers = {32};
    for (int i = 0; i < KEYS; i++) /* repeats near and far */
        hashes[i] = i % 7 == 6   ? hashes[i - 1]
                    : i % 5 == 4 ? hashes[generator_below(&numbers, (uint64_t)i)]
                                 : generator_hash(&numbers);
    static const size_t sizes[] = {0, 1, 63, 64, 65, 255, 256, 257, 1000};
    bry_filter *by_one = make((bry_filter_options){.capacity = KEYS, .error = 0.05});
    bry_filter *by_batch = make((bry_filter_options){.capacity = KEYS, .error = 0.05});
    size_t done = 0;
    for (int s = 0; s < 9; s++) {
        size_t n = sizes[s];
        was[n] = answers[n] = 0x5a;
        assert_int_equal(bry_filter_add_n(by_batch, hashes + done, n, was), BRY_OK);
        for (size_t i = 0; i < n; i++) {
            bry_answer single;
            assert_int_equal(bry_filter_add(by_one, hashes[done + i], &single), BRY_OK);
            assert_int_equal(was[i], single);
        }
        assert_true(filter_same(by_one, by_batch));
        bry_filter_has_n(by_batch, hashes + KEYS - n, n, answers);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(answers[i], bry_filter_has(by_one, hashes[KEYS - n + i]));
        assert_int_equal(was[n], 0x5a);
        assert_int_equal(answers[n], 0x5a);
        done += n;
    }
    assert_int_equal(bry_filter_add_n(by_batch, hashes, KEYS, NULL), BRY_OK);
    assert_int_equal(bry_filter_add_n(by_batch, NULL, 0, NULL), BRY_OK);
    bry_filter_has_n(by_batch, NULL, 0, NULL);
    bry_filter_destroy(by_one);
    bry_filter_destroy(by_batch);
}

TEST(test_full_refuses_new_keys_only)
{
    bry_filter *filter = make((bry_filter_options){.capacity = 100, .error = 0.001});
    assert_int_equal(add_many(filter, 33, 1000), 100);
    assert_int_equal(stats_of(filter).items, 100);
    bry_filter *before = clone(filter);
    generator known = {33}, unknown = {34};
    for (int i = 0; i < 100; i++) {
        bry_answer was = BRY_UNSURE;
        assert_int_equal(bry_filter_add(filter, generator_hash(&known), &was), BRY_OK);
        assert_int_equal(was, BRY_PRESENT);
        bry_hash fresh = generator_hash(&unknown);
        if (bry_filter_has(filter, fresh))
            continue;
        was = BRY_UNSURE;
        assert_int_equal(bry_filter_add(filter, fresh, &was), BRY_E_FULL);
        assert_int_equal(was, BRY_UNSURE);
    }
    assert_true(filter_same(filter, before));
    bry_filter_destroy(before);
    bry_filter_destroy(filter);
}

TEST(test_full_batches_are_all_or_none)
{
    enum { CAPACITY = 600, KNOWN = 300 };
    static bry_hash hashes[2 * CAPACITY];
    static uint8_t was[2 * CAPACITY];
    generator numbers = {35};
    for (int i = 0; i < 2 * CAPACITY; i++)
        hashes[i] = generator_hash(&numbers);
    bry_filter *filter = make((bry_filter_options){.capacity = CAPACITY, .error = 1e-6});
    assert_int_equal(bry_filter_add_n(filter, hashes, KNOWN, NULL), BRY_OK);
    bry_filter *before = clone(filter);

    /* One key too many after known ones: nothing changes, not even `was`. */
    memset(was, 0x5a, sizeof was);
    assert_int_equal(bry_filter_add_n(filter, hashes, CAPACITY + 1, was), BRY_E_FULL);
    assert_true(filter_same(filter, before));
    for (int i = 0; i < 2 * CAPACITY; i++)
        assert_int_equal(was[i], 0x5a);

    /* Repeats of a new key count each time: 299 fit beside 300 known ones; 301 times one key does
     * not, although it would need one place. */
    static bry_hash repeats[KNOWN + 1];
    for (int i = 0; i <= KNOWN; i++)
        repeats[i] = hashes[CAPACITY];
    assert_int_equal(bry_filter_add_n(filter, repeats, KNOWN + 1, was), BRY_E_FULL);
    assert_true(filter_same(filter, before));
    assert_int_equal(bry_filter_add_n(filter, repeats, KNOWN, was), BRY_OK);
    assert_int_equal(was[0], BRY_ABSENT);
    assert_int_equal(was[1], BRY_PRESENT);
    assert_int_equal(stats_of(filter).items, KNOWN + 1);

    /* More keys than room, but the others are known: exactly up to the capacity. */
    assert_int_equal(bry_filter_add_n(filter, hashes, CAPACITY, was), BRY_E_FULL);
    assert_int_equal(bry_filter_add_n(filter, hashes, CAPACITY - 1, was), BRY_OK);
    assert_int_equal(stats_of(filter).items, CAPACITY);
    assert_int_equal(bry_filter_add_n(filter, hashes, CAPACITY - 1, was), BRY_OK);
    assert_int_equal(bry_filter_add_n(filter, hashes + CAPACITY + 1, 1, was), BRY_E_FULL);
    bry_filter_destroy(before);
    bry_filter_destroy(filter);
}
