/* The map's calls, one by one, on both engines. */
#include "support/job_calls.h"
#include "support/like.h"
#include "support/map_helpers.h"

/* An error so small that no test has a wrong answer. */
static bry_map_options exact(bry_engine engine, uint64_t capacity)
{
    return (bry_map_options){.engine = engine, .capacity = capacity, .error = 1e-9};
}

static bry_status status_of(bry_map_options options)
{
    bry_map_shape shape = {0};
    memset(&shape, 0x5a, sizeof shape);
    bry_map_shape before = shape;
    options.struct_size = sizeof options;
    bry_status status = bry_map_plan(&options, &shape);
    bry_map *map = NULL;
    assert_int_equal(bry_map_create(&options, &map), status);
    if (status != BRY_OK) {
        assert_memory_equal(&shape, &before, sizeof shape);
        assert_null(map);
    }
    bry_map_destroy(map);
    return status;
}

TEST(test_options)
{
    bry_map_options defaults = BRY_MAP_OPTIONS;
    bry_map *map = NULL;
    assert_int_equal(bry_map_create(NULL, &map), BRY_OK);
    bry_map_options like = map_like(map);
    assert_int_equal(like.engine, BRY_ENGINE_COMPACT);
    assert_int_equal(like.capacity, 1000);
    assert_true(like.error == 0.001);
    assert_int_equal(like.values, 1000);
    assert_int_not_equal(like.seed, 0);
    assert_int_equal(like.seed, bry_map_seed(map));
    assert_null(like.allocator);
    bry_map_destroy(map);

    assert_int_equal(status_of(defaults), BRY_OK);
    assert_int_equal(status_of((bry_map_options){.engine = BRY_ENGINE_BLOOM}), BRY_E_UNSUPPORTED);
    assert_int_equal(status_of((bry_map_options){.engine = (bry_engine)77}), BRY_E_RANGE);
    assert_int_equal(status_of((bry_map_options){.capacity = (UINT64_C(1) << 40) + 1}),
                     BRY_E_RANGE);
    static const double errors[] = {-1, 9e-10, 0.51, 1.0 / 0.0, 0.0 / 0.0};
    for (int i = 0; i < 5; i++)
        assert_int_equal(status_of((bry_map_options){.error = errors[i]}), BRY_E_RANGE);
    assert_int_equal(status_of((bry_map_options){.value_bits = 32}), BRY_OK);
    assert_int_equal(status_of((bry_map_options){.value_bits = 33}), BRY_E_RANGE);
    assert_int_equal(status_of((bry_map_options){.values = UINT32_MAX}), BRY_OK);
    assert_int_equal(status_of((bry_map_options){.values = UINT64_C(1) << 32}), BRY_E_RANGE);
}

/* What concerns kbf alone is 0 with compact. */
TEST(test_shape_of_other_engines)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    bry_map_shape shape = {0};
    assert_int_equal(bry_map_plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.kbf.cells, 0);
    assert_int_equal(shape.kbf.hashes, 0);
}

TEST(test_integers)
{
    for (int e = 0; e < 2; e++) {
        unsigned most = e == 0 ? 32 : 13;
        for (unsigned bits = 1; bits <= most; bits++) {
            bry_map_options options = exact(map_engines[e], 100);
            options.value_bits = bits;
            bry_map *map = make(options);
            uint64_t largest = (UINT64_C(1) << bits) - 1;
            set(map, key(1), bry_map_value_number(largest));
            set(map, key(2), bry_map_value_number(0));
            assert_true(has(map, key(1), bry_map_value_number(largest)));
            assert_true(has(map, key(2), bry_map_value_number(0)));
            assert_int_equal(bry_map_set(map, key(1), bry_map_value_number(largest + 1), NULL),
                             BRY_E_RANGE);
            assert_int_equal(bry_map_update(map, key(3), bry_map_value_number(UINT64_MAX), NULL),
                             BRY_E_RANGE);
            bry_answer was = BRY_UNSURE;
            assert_int_equal(bry_map_del_pair(map, key(1), bry_map_value_number(largest + 1), &was),
                             BRY_OK);
            assert_int_equal(was, BRY_ABSENT);
            bry_map_stats stats = stats_of(map);
            assert_int_equal(stats.values, 0);
            assert_int_equal(stats.bytes_values, 0);
            bry_map_destroy(map);
        }
    }
}

/* A value of the other kind is refused, not taken for 0 or the empty string. */
TEST(test_the_other_kind_of_value)
{
    for (int numbers = 0; numbers < 2; numbers++) {
        bry_map_options options = BRY_MAP_OPTIONS;
        options.value_bits = numbers ? 8 : 0;
        bry_map *map = NULL;
        assert_int_equal(bry_map_create(&options, &map), BRY_OK);
        bry_map_value good = numbers ? bry_map_value_number(7) : bry_map_value_bytes("seven", 5);
        bry_map_value bad = numbers ? bry_map_value_bytes("seven", 5) : bry_map_value_number(7);
        assert_int_equal(bry_map_value_bits(map), options.value_bits);
        assert_int_equal(bry_map_set(map, key(1), good, NULL), BRY_OK);
        assert_int_equal(bry_map_set(map, key(1), bad, NULL), BRY_E_RANGE);
        assert_int_equal(bry_map_update(map, key(1), bad, NULL), BRY_E_RANGE);
        assert_int_equal(bry_map_add(map, key(2), bad), BRY_E_RANGE);
        assert_int_equal(
            bry_map_set_n(map, (bry_hash[]){key(3), key(4)}, (bry_map_value[]){good, bad}, 2, NULL),
            BRY_E_RANGE);
        assert_int_equal(bry_map_items(map), 1);

        bry_hash asked[] = {key(1), key(2)};
        uint64_t found[] = {99, 99};
        bry_answer answers[] = {9, 9};
        bry_status status = bry_map_get_numbers_n(map, asked, 2, found, answers);
        assert_int_equal(status, numbers ? BRY_OK : BRY_E_UNSUPPORTED);
        assert_int_equal(found[0], numbers ? 7 : 99);
        assert_int_equal(found[1], 99);
        assert_int_equal(answers[0], numbers ? BRY_PRESENT : 9);
        if (numbers)
            assert_int_equal(bry_map_get_numbers_n(map, asked, 2, NULL, answers), BRY_OK);
        bry_map_destroy(map);
    }
}

TEST(test_more_values_than_codes)
{
    bry_map_options options = exact(BRY_ENGINE_KBF, 2000);
    options.values = 200; /* rounded up to 255 */
    bry_map *map = make(options);
    set_many(map, 0, 255, 255);
    assert_int_equal(stats_of(map).values_left, 0);
    assert_int_equal(bry_map_set(map, key(1000), text("one more"), NULL), BRY_E_FULL);
    assert_int_equal(bry_map_update(map, key(7), text("one more"), NULL), BRY_E_FULL);
    assert_int_equal(bry_map_add(map, key(1000), text("one more")), BRY_E_FULL);
    bry_hash hashes[2] = {key(1000), key(1001)};
    bry_map_value values[2] = {text("value 3"), text("one more")};
    assert_int_equal(bry_map_set_n(map, hashes, values, 2, NULL), BRY_E_FULL);
    assert_int_equal(stats_of(map).refused_full, 4);
    assert_int_equal(stats_of(map).items, 255);
    set(map, key(1000), text("value 9")); /* a known value is no problem */

    /* Codes come back when the map is empty, not before. */
    for (uint64_t i = 0; i < 255; i++)
        assert_int_equal(bry_map_del_pair(map, key(i), numbered(i), NULL), BRY_OK);
    assert_int_equal(bry_map_set(map, key(1), text("one more"), NULL), BRY_E_FULL);
    assert_true(has(map, key(1000), text("value 9")));
    assert_int_equal(bry_map_del(map, key(1000), NULL), BRY_OK);
    set(map, key(1), text("one more"));
    assert_true(has(map, key(1), text("one more")));
    assert_int_equal(stats_of(map).values, 1);
    bry_map_destroy(map);
}

TEST(test_fixed_is_full_at_capacity)
{
    enum { N = 300 };
    bry_hash hashes[N + 1];
    bry_map_value values[N + 1];
    uint8_t was[N + 1];
    for (unsigned i = 0; i <= N; i++) {
        hashes[i] = key(i);
        values[i] = text(i % 3 ? "a" : "b");
    }
    for (int e = 0; e < 2; e++) {
        bry_map_options options = exact(map_engines[e], N);
        options.fixed = true;
        bry_map *map = make(options);
        memset(was, 9, sizeof was);
        assert_int_equal(bry_map_set_n(map, hashes, values, N + 1, was), BRY_E_FULL);
        assert_int_equal(was[0], 9);
        assert_int_equal(bry_map_add_n(map, hashes, values, N + 1), BRY_E_FULL);
        assert_int_equal(stats_of(map).items, 0);
        assert_int_equal(stats_of(map).values, 0);
        assert_int_equal(bry_map_add_n(map, hashes, values, N), BRY_OK);
        assert_int_equal(bry_map_set(map, hashes[N], text("c"), NULL), BRY_E_FULL);
        assert_int_equal(stats_of(map).values, 2); /* "c" got no code */
        assert_int_equal(stats_of(map).refused_full, 3);
        set(map, hashes[0], text("c"));
        assert_int_equal(bry_map_set_n(map, hashes, values, N, was), BRY_OK);
        for (unsigned i = 0; i < N; i++)
            assert_int_equal(was[i], BRY_PRESENT);
        assert_int_equal(bry_map_del_n(map, hashes, N + 1, was), BRY_OK);
        for (unsigned i = 0; i <= N; i++)
            assert_int_equal(was[i], i < N ? BRY_PRESENT : BRY_ABSENT);
        assert_int_equal(stats_of(map).items, 0);
        assert_int_equal(bry_map_set_n(map, hashes, values, 0, NULL), BRY_OK);
        bry_map_destroy(map);
    }
}

/* ---- merges --------------------------------------------------------------------------------- */

TEST(test_unlike_maps_do_not_merge)
{
    for (int e = 0; e < 2; e++) {
        bry_map_options options = exact(map_engines[e], 1000);
        bry_map *map = make(options);
        set(map, key(1), text("a"));
        bry_map_options unlike[6];
        for (int i = 0; i < 6; i++)
            unlike[i] = options;
        unlike[0].engine = map_engines[1 - e];
        unlike[1].seed = 2;
        unlike[2].value_bits = 8;
        unlike[3].capacity = 1500;
        unlike[4].error = 1e-8;
        unlike[5].fixed = true;
        for (int i = 0; i < 6; i++) {
            bry_map *other = make(unlike[i]);
            set(other, key(2), i == 2 ? bry_map_value_number(3) : text("b"));
            assert_int_equal(bry_map_merge(map, other), BRY_E_MISMATCH);
            bry_map_destroy(other);
        }
        assert_int_equal(stats_of(map).items, 1);
        assert_int_equal(stats_of(map).values, 1);
        bry_map_destroy(map);
    }

    /* kbf: the same code for different values. */
    bry_map *a = make(exact(BRY_ENGINE_KBF, 100)), *b = make(exact(BRY_ENGINE_KBF, 100));
    set(a, key(1), text("a"));
    set(b, key(2), text("b"));
    assert_int_equal(bry_map_merge(a, b), BRY_E_MISMATCH);
    assert_true(has(a, key(1), text("a")));
    assert_int_equal(bry_map_get(a, key(2), NULL), BRY_ABSENT);
    bry_map_destroy(b);
    assert_int_equal(bry_map_create_like(a, NULL, &b), BRY_OK);
    assert_int_equal(stats_of(b).values, 1);
    assert_int_equal(stats_of(b).items, 0);
    set(b, key(2), text("a"));
    set(b, key(3), text("b"));
    assert_int_equal(bry_map_merge(a, b), BRY_OK);
    assert_true(has(a, key(1), text("a")) && has(a, key(2), text("a")) &&
                has(a, key(3), text("b")));
    bry_map_destroy(a);
    bry_map_destroy(b);
}

/* A map merged into itself is unchanged; kbf refuses, because each key would be in it twice. */
TEST(test_merge_with_itself)
{
    for (int e = 0; e < 2; e++)
        for (uint32_t bits = 0; bits <= 8; bits += 8) {
            bry_map *map = make((bry_map_options){
                .engine = map_engines[e], .capacity = 500, .error = 0.001, .value_bits = bits});
            for (uint64_t i = 0; i < 900; i++) /* in two tables */
                assert_int_equal(
                    bry_map_add(map, key(i),
                                bits ? bry_map_value_number(i % 60) : numbered(i % 60)),
                    BRY_OK);
            bry_buffer before = job_saved(BRY_JOB_MAP, map);
            assert_int_equal(bry_map_merge(map, map), e == 0 ? BRY_OK : BRY_E_RANGE);
            job_assert_saved(BRY_JOB_MAP, map, &before);
            bry_buffer_free(&before);
            bry_map_destroy(map);
        }
}

TEST(test_compress_range)
{
    for (int e = 0; e < 2; e++) {
        bry_map *map = make(exact(map_engines[e], 1000));
        set_many(map, 0, 100, 5);
        static const double wrong[] = {-0.1, 1.1, 0.0 / 0.0};
        for (int i = 0; i < 3; i++)
            assert_int_equal(bry_map_compress(map, wrong[i]), BRY_E_RANGE);
        uint64_t before = stats_of(map).bytes;
        assert_int_equal(bry_map_compress(map, 0), BRY_OK);
        assert_true(stats_of(map).bytes <= before);
        for (uint64_t i = 0; i < 100; i++)
            assert_true(has(map, key(i), numbered(i % 5)));
        bry_map_destroy(map);
    }
}
