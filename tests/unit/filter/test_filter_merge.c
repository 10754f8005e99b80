/* Filters made from filters: clones, cleared and merged filters, and options_like(). */
#include "support/cmocka_all.h"
#include "support/filter_helpers.h"
#include "support/generator.h"
#include "support/job_calls.h"
#include "support/like.h"

TEST(test_clone_lives_on_its_own)
{
    bry_filter *filter = make((bry_filter_options){.capacity = 500, .seed = 9});
    add_many(filter, 41, 200);
    bry_filter *copy = clone(filter), *second = clone(filter);
    assert_true(filter_same(filter, copy));
    add_many(filter, 42, 100);
    assert_false(filter_same(filter, copy));
    assert_true(filter_same(second, copy));
    bry_filter_destroy(filter);
    generator numbers = {41};
    for (int i = 0; i < 200; i++)
        assert_int_equal(bry_filter_has(copy, generator_hash(&numbers)), BRY_PRESENT);
    bry_filter_destroy(copy);
    bry_filter_destroy(second);
}

TEST(test_clear_is_as_created)
{
    bry_filter_options options = {.capacity = 500, .seed = 9};
    bry_filter *filter = make(options), *fresh = make(options);
    add_many(filter, 43, 500);
    bry_filter_clear(filter);
    assert_true(filter_same(filter, fresh));
    assert_int_equal(stats_of(filter).bytes, stats_of(fresh).bytes);
    assert_int_equal(add_many(filter, 43, 300), add_many(fresh, 43, 300));
    assert_true(filter_same(filter, fresh));
    bry_filter_destroy(filter);
    bry_filter_destroy(fresh);
}

TEST(test_options_like)
{
    /* A shape that no plan would give, and a seed that was drawn. */
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.engine = BRY_ENGINE_BLOOM;
    options.capacity = 300;
    options.error = 0.3;
    options.bloom.bits = 512 * 11;
    options.bloom.hashes = 13;
    bry_filter *filter = NULL, *like = NULL;
    assert_int_equal(bry_filter_create(&options, &filter), BRY_OK);
    options = filter_like(filter);
    assert_int_equal(options.struct_size, sizeof options);
    assert_null(options.allocator);
    bry_filter_shape shape = {0};
    assert_int_equal(bry_filter_plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.bits, 512 * 11);
    assert_int_equal(shape.bloom.hashes, 13);
    assert_int_equal(bry_filter_create(&options, &like), BRY_OK);
    assert_true(filter_same(filter, like));
    add_many(filter, 44, 100);
    bry_filter *twin = clone(filter);
    bry_filter_destroy(filter);
    assert_int_equal(bry_filter_merge(like, twin), BRY_OK);
    assert_true(filter_same(like, twin));
    bry_filter_destroy(like);
    bry_filter_destroy(twin);
}

TEST(test_merge_is_the_union_in_either_order)
{
    bry_filter_options options = {.capacity = 4000, .error = 0.01};
    bry_filter *a = make(options), *b = make(options), *all = make(options);
    add_many(a, 51, 1000);
    add_many(b, 52, 1500);
    add_many(all, 51, 1000);
    add_many(all, 52, 1500);
    bry_filter *ab = clone(a), *ba = clone(b);
    assert_int_equal(bry_filter_merge(ab, b), BRY_OK);
    assert_int_equal(bry_filter_merge(ba, a), BRY_OK);
    assert_true(filter_same(ab, ba));
    unsigned char *merged = filter_bits(ab), *added = filter_bits(all);
    assert_memory_equal(merged, added, (size_t)all->bloom.table.bytes);
    free(merged);
    free(added);
    /* Disjoint keys: the sum, or an estimate from the bits a little below it. */
    uint64_t sum = stats_of(a).items + stats_of(b).items;
    assert_in_range(stats_of(ab).items, sum - sum / 20, sum);
    bry_filter_destroy(a);
    bry_filter_destroy(b);
    bry_filter_destroy(ab);
    bry_filter_destroy(ba);
    bry_filter_destroy(all);
}

TEST(test_merge_counts_shared_keys_once)
{
    bry_filter_options options = {.capacity = 4000, .error = 0.01};
    bry_filter *a = make(options), *b = make(options);
    add_many(a, 53, 2000);
    add_many(b, 53, 2000);
    add_many(b, 54, 1000);
    uint64_t in_b = stats_of(b).items;
    /* All keys of a are in b: the exact count is kept, whatever the bits suggest. */
    bry_filter *before = clone(b);
    assert_int_equal(bry_filter_merge(b, a), BRY_OK);
    assert_true(filter_same(b, before));
    assert_int_equal(bry_filter_merge(a, b), BRY_OK);
    assert_int_equal(stats_of(a).items, in_b);
    assert_int_equal(bry_filter_merge(a, a), BRY_OK);
    assert_true(filter_same(a, b));

    bry_filter *c = make(options);
    add_many(c, 53, 1000);
    add_many(c, 55, 900);
    assert_int_equal(bry_filter_merge(c, b), BRY_OK); /* 3900 different ones of 4900 */
    assert_in_range(stats_of(c).items, 3700, 4000);
    bry_filter_destroy(a);
    bry_filter_destroy(b);
    bry_filter_destroy(c);
    bry_filter_destroy(before);
}

/* Merging what is known already never fills a filter, however full it is. */
TEST(test_merge_into_a_full_filter)
{
    for (uint64_t seed = 60; seed < 80; seed++) {
        bry_filter *full = make((bry_filter_options){.capacity = 300, .error = 0.01});
        add_many(full, seed, 1000);
        assert_int_equal(stats_of(full).items, 300);
        bry_filter *copy = clone(full), *part = make(filter_like(full));
        bry_filter *empty = make(filter_like(full));
        add_many(part, seed, 200);
        assert_int_equal(bry_filter_merge(full, copy), BRY_OK);
        assert_int_equal(bry_filter_merge(full, part), BRY_OK);
        assert_int_equal(bry_filter_merge(full, empty), BRY_OK);
        assert_true(filter_same(full, copy));
        assert_int_equal(bry_filter_merge(part, full), BRY_OK);
        assert_int_equal(bry_filter_merge(empty, full), BRY_OK);
        assert_true(filter_same(part, full));
        assert_true(filter_same(empty, full));

        bry_filter *others = make(filter_like(full));
        add_many(others, seed + 100, 250);
        assert_int_equal(bry_filter_merge(full, others), BRY_E_FULL);
        assert_true(filter_same(full, copy));
        bry_filter_destroy(full);
        bry_filter_destroy(copy);
        bry_filter_destroy(part);
        bry_filter_destroy(empty);
        bry_filter_destroy(others);
    }
}

/* The count after a merge is an estimate, but never one that contradicts the bits: a filter with
 * more bits than its keys can have set does not load. */
TEST(test_what_was_merged_loads)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        bry_filter *a =
            make((bry_filter_options){.capacity = 10, .bloom.bits = 512, .bloom.hashes = 3});
        bry_filter *b = make(filter_like(a)), *loaded = NULL;
        add_many(a, seed, 1 + seed % 3);
        add_many(b, seed + 1000, 1 + seed % 4);
        assert_int_equal(bry_filter_merge(a, b), BRY_OK);
        bry_filter_stats stats = stats_of(a);
        assert_true(stats.fill * 512 <= (double)(stats.items * 3));
        bry_buffer buffer = job_saved(BRY_JOB_FILTER, a);
        bry_view view = {buffer.bytes, buffer.len, 0};
        bry_source source = bry_view_source(&view);
        assert_int_equal(bry_filter_load(&source, NULL, &loaded), BRY_OK);
        assert_true(filter_same(a, loaded));
        bry_buffer_free(&buffer);
        bry_filter_destroy(a);
        bry_filter_destroy(b);
        bry_filter_destroy(loaded);
    }
}

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

TEST(test_a_saturated_filter_still_counts)
{
    /* One block that all keys fill: the estimate is infinite, the sum is not. */
    bry_filter_options options = {
        .capacity = 100000, .error = 0.5, .bloom.bits = 512, .bloom.hashes = 21};
    bry_filter *a = make(options), *b = make(options);
    add_many(a, 58, 5000);
    add_many(b, 59, 5000);
    bry_filter_stats stats = stats_of(a);
    assert_true(stats.fill == 1 && stats.estimated_error == 1);
    assert_int_equal(bry_filter_merge(a, b), BRY_OK);
    assert_true(stats_of(a).items >= stats.items);
    assert_true(stats_of(a).items <= stats.items + stats_of(b).items);
    bry_filter_destroy(a);
    bry_filter_destroy(b);
}
