/* Filters of engine compact: their options, size and tables, and altered files. */
#include "support/altered_file.h"
#include "support/band.h"
#include "support/failing_allocator.h"
#include "support/filter_helpers.h"
#include "support/job_calls.h"
#include "support/like.h"

static bry_filter_options compact(uint64_t capacity, double error, bool fixed)
{
    return (bry_filter_options){.struct_size = sizeof(bry_filter_options),
                                .engine = BRY_ENGINE_COMPACT,
                                .capacity = capacity,
                                .error = error,
                                .seed = 1,
                                .fixed = fixed};
}

TEST(test_options)
{
    bry_filter_options options = compact(1000, 0.01, false);
    bry_filter_shape shape = {0}, fixed = {0};
    assert_int_equal(bry_filter_plan(&options, &shape), BRY_OK);
    options.fixed = true;
    assert_int_equal(bry_filter_plan(&options, &fixed), BRY_OK);
    assert_int_equal(shape.engine, BRY_ENGINE_COMPACT);
    assert_int_equal(shape.bloom.hashes, 0);
    assert_int_equal(shape.compact.fingerprint_bits, fixed.compact.fingerprint_bits + 1);
    assert_true(shape.error <= 0.0075 && fixed.error <= 0.01 && fixed.error > 0.0099);
    assert_true(shape.grows_to == BRY_CAPACITY_MAX && fixed.grows_to == 1000);
    bry_filter_options tight = compact(1000, 1e-9, false);
    assert_int_equal(bry_filter_plan(&tight, &shape), BRY_OK); /* about 1e-9 · 2^57 */
    assert_true(shape.grows_to > 72057594 && shape.grows_to < 288230376);
    bry_filter *filter = make(options);
    bry_filter_options like = filter_like(filter);
    assert_int_equal(like.engine, BRY_ENGINE_COMPACT);
    assert_true(like.fixed && like.bloom.bits == 0 && like.capacity == 1000 && like.seed == 1);
    bry_filter_destroy(filter);

    filter = make((bry_filter_options){.capacity = 10});
    bry_answer was = BRY_UNSURE;
    assert_int_equal(bry_filter_del(filter, (bry_hash){1, 2}, &was), BRY_E_UNSUPPORTED);
    assert_int_equal(was, BRY_UNSURE);
    assert_int_equal(stats_of(filter).tables, 1);
    bry_filter_destroy(filter);
}

/* ---- memory -------------------------------------------------------------------------------- */

TEST(test_bits_and_rates)
{
    enum { N = 200000 };
    static const struct {
        double error;
        bool fixed;
        double bits;
    } cases[] = {{0.01, false, 12}, {1e-3, false, 14.5}, {0.01, true, 11}, {1e-3, true, 13.5}};
    for (int c = 0; c < 4; c++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_filter_options options = compact(N, cases[c].error, cases[c].fixed);
        options.allocator = &memory.allocator;
        bry_filter_shape shape = {0};
        assert_int_equal(bry_filter_plan(&options, &shape), BRY_OK);
        bry_filter *filter = make(options);
        assert_int_equal(memory.now, shape.bytes_empty);
        assert_true(add_many(filter, 1, N) > N * 98 / 100);
        assert_int_equal(stats_of(filter).bytes, memory.now);
        assert_true((double)memory.now * 8 / N <= cases[c].bits);
        assert_true(memory.now < shape.bytes * 17 / 16 && memory.now > shape.bytes * 15 / 16);
        generator others = {99};
        uint64_t found = 0;
        for (int i = 0; i < 300000; i++)
            found += bry_filter_has(filter, generator_hash(&others)) == BRY_PRESENT;
        band_assert(found, 300000, stats_of(filter).estimated_error);
        band_assert_at_most(found, 300000, cases[c].error);

        /* Memory follows deletions too. */
        generator numbers = {1};
        for (int i = 0; i < N * 9 / 10; i++)
            assert_int_equal(bry_filter_del(filter, generator_hash(&numbers), NULL), BRY_OK);
        assert_true(memory.now < shape.bytes / 6);
        bry_filter_destroy(filter);
    }
}

/* Tables that growth has added are removed when deletions have emptied them, the last one first. */
TEST(test_tables_close)
{
    enum { KEYS_GROWN = 5000 };
    bry_filter *filter =
        make((bry_filter_options){.engine = BRY_ENGINE_COMPACT, .capacity = 50, .error = 1e-6});
    for (int round = 0; round < 2; round++) {
        generator adding = {5};
        for (int i = 0; i < KEYS_GROWN; i++)
            assert_int_equal(bry_filter_add(filter, generator_hash(&adding), NULL), BRY_OK);
        uint32_t tables = stats_of(filter).tables;
        assert_int_equal(tables, 3); /* of 50, 3,200 and 1,750 */
        generator deleting = {5};
        for (int i = 0; i < KEYS_GROWN; i++) {
            assert_int_equal(bry_filter_del(filter, generator_hash(&deleting), NULL), BRY_OK);
            assert_true(stats_of(filter).tables <= tables);
            tables = stats_of(filter).tables;
        }
        assert_int_equal(tables, 1);
        assert_int_equal(stats_of(filter).items, 0);
    }
    bry_filter_destroy(filter);
}

/* Deleting an absent key changes nothing, not even an empty table left by a merge. */
TEST(test_deleting_nothing)
{
    bry_filter_options options = {
        .engine = BRY_ENGINE_COMPACT, .capacity = 100, .error = 1e-6, .seed = 3};
    bry_filter *into = make(options), *from = make(options);
    generator numbers = {6};
    bry_answer was;
    bry_hash hash = {0};
    for (int i = 0; i < 130; i++) { /* the last 30 are in the second table of one, the first of the
                                       other */
        hash = generator_hash(&numbers);
        assert_int_equal(bry_filter_add(from, hash, NULL), BRY_OK);
        if (i >= 100)
            assert_int_equal(bry_filter_add(into, hash, NULL), BRY_OK);
    }
    assert_int_equal(bry_filter_merge(into, from), BRY_OK);
    assert_int_equal(stats_of(into).tables, 2);
    assert_int_equal(bry_filter_del(into, generator_hash(&numbers), &was), BRY_OK);
    assert_int_equal(was, BRY_ABSENT);
    assert_int_equal(stats_of(into).tables, 2);
    assert_int_equal(bry_filter_del(into, hash, &was), BRY_OK);
    assert_int_equal(was, BRY_PRESENT);
    assert_int_equal(stats_of(into).tables, 1);
    bry_filter_destroy(from);
    bry_filter_destroy(into);
}

/* ---- mismatches, frames -------------------------------------------------------------------- */

TEST(test_mismatch)
{
    bry_filter *filter = make(compact(100, 0.01, false));
    const bry_filter_options others[] = {
        {.capacity = 100},
        compact(101, 0.01, false),
        compact(100, 0.02, false),
        compact(100, 0.01, true),
        {.engine = BRY_ENGINE_COMPACT, .capacity = 100, .seed = 2},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        bry_filter *other = make(others[i]);
        assert_int_equal(bry_filter_merge(filter, other), BRY_E_MISMATCH);
        bry_filter_destroy(other);
    }
    bry_filter_destroy(filter);
}

/* A grown filter from which keys were deleted, so that younger ones took their places: into an empty
 * filter it goes as it is. */
TEST(test_merge_into_an_empty_filter)
{
    bry_filter *from = make(compact(50, 0.1, false)), *into = make(compact(50, 0.1, false));
    add_many(from, 60, 20000);
    generator numbers = {60};
    for (int i = 0; i < 40; i++)
        assert_int_equal(bry_filter_del(from, generator_hash(&numbers), NULL), BRY_OK);
    add_many(from, 61, 300);
    assert_int_equal(bry_filter_merge(into, from), BRY_OK);
    job_assert_alike(BRY_JOB_FILTER, into, from);
    bry_filter_destroy(into);
    bry_filter_destroy(from);
}

/* Numbers that contradict the entries. */
TEST(test_lies)
{
    static const altered_number lies[] = {
        {NUMBERS_AT + 8, 8, 1, NULL},
        {NUMBERS_AT + 16, 8, 201, NULL},
        {NUMBERS_AT + 24, 8, 499, NULL},
        {NUMBERS_AT + 32, 8, 0, NULL},
        {NUMBERS_AT + 40, 8, 1, NULL},
        {NUMBERS_AT, 8, 3, NULL},
        {NUMBERS_AT, 8, 2 | UINT64_C(1) << 32, NULL},
    };
    bry_filter *filter = make(compact(200, 1e-6, false));
    add_many(filter, 5, 500);
    ASSERT_ALTERED_REFUSED(BRY_JOB_FILTER, filter, lies);
    bry_filter_destroy(filter);
}

/* Numbers with correct checksums that would cost memory or time later. */
TEST(test_forged)
{
    bry_filter *bloom = make((bry_filter_options){.capacity = 1000, .error = 0.01});
    for (unsigned bit = 16; bit < 44; bit++) { /* a piece of 4 MiB for each new key */
        const altered_number blocks[] = {{NUMBERS_AT + 8, 8, UINT64_C(1) << bit, NULL}};
        ASSERT_ALTERED_REFUSED(BRY_JOB_FILTER, bloom, blocks);
    }
    bry_filter_destroy(bloom);

    bry_filter *filter = make(compact(200, 1e-3, false));
    for (unsigned i = 0; i < 100; i++) /* each deletion would have to search them */
        assert_int_equal(bry__maplet_add(&filter->compact, (bry_hash){7, 7}, 0), BRY_OK);
    bry_buffer bytes = job_saved(BRY_JOB_FILTER, filter);
    void *loaded;
    assert_int_equal(job_load_bytes(BRY_JOB_FILTER, bytes.bytes, bytes.len, NULL, &loaded),
                     BRY_E_BADDATA);
    bry_buffer_free(&bytes);
    bry_filter_destroy(filter);
}
