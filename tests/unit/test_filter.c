/* The filter as its header describes it: options, adding and asking, capacity, merging. */
#include "support/cmocka_all.h"
#include "support/filter_bits.h"
#include "support/generator.h"

#include <math.h>
#include <stddef.h>

static bry_filter *make(bry_filter_options options)
{
    bry_filter *filter = NULL;
    options.struct_size = sizeof options;
    if (options.seed == 0)
        options.seed = 1;
    assert_int_equal(bry_filter_create(&options, &filter), BRY_OK);
    assert_non_null(filter);
    return filter;
}

static bry_filter *clone(const bry_filter *filter)
{
    bry_filter *copy = NULL;
    assert_int_equal(bry_filter_clone(filter, &copy), BRY_OK);
    return copy;
}

static bry_filter_stats stats_of(const bry_filter *filter)
{
    bry_filter_stats stats;
    memset(&stats, 0x5a, sizeof stats);
    bry_filter_get_stats(filter, &stats);
    return stats;
}

/* Adds up to n new keys from the generator's sequence. Returns how many were taken. */
static uint64_t add_many(bry_filter *filter, uint64_t from, uint64_t n)
{
    generator numbers = {from};
    uint64_t taken = 0;
    for (uint64_t i = 0; i < n; i++) {
        bry_answer was = BRY_UNSURE;
        bry_status status = bry_filter_add(filter, generator_hash(&numbers), &was);
        if (status != BRY_OK) {
            assert_int_equal(status, BRY_E_FULL);
            assert_int_equal(was, BRY_UNSURE);
            break;
        }
        taken += was == BRY_ABSENT;
    }
    return taken;
}

/* ---- options ---- */

static void assert_same_shape(const bry_filter_shape *a, const bry_filter_shape *b)
{
    assert_int_equal(a->engine, b->engine);
    assert_int_equal(a->capacity, b->capacity);
    assert_int_equal(a->bits, b->bits);
    assert_int_equal(a->hashes, b->hashes);
    assert_true(a->error == b->error);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->bytes_empty, b->bytes_empty);
}

static void test_defaults(void **state)
{
    (void)state;
    bry_filter_options empty = BRY_FILTER_OPTIONS;
    bry_filter_options written = BRY_FILTER_OPTIONS;
    written.engine = BRY_ENGINE_BLOOM;
    written.capacity = 1000;
    written.error = 0.01;
    bry_filter_shape by_null, by_empty, by_hand;
    assert_int_equal(bry_filter_plan(NULL, &by_null), BRY_OK);
    assert_int_equal(bry_filter_plan(&empty, &by_empty), BRY_OK);
    assert_int_equal(bry_filter_plan(&written, &by_hand), BRY_OK);
    assert_same_shape(&by_null, &by_hand);
    assert_same_shape(&by_empty, &by_hand);
    assert_int_equal(by_hand.engine, BRY_ENGINE_BLOOM);
    assert_int_equal(by_hand.capacity, 1000);
    assert_true(by_hand.error <= 0.01);
    assert_int_equal(by_hand.bits % 512, 0);

    bry_filter *filter = NULL, *other = NULL;
    assert_int_equal(bry_filter_create(NULL, &filter), BRY_OK);
    assert_int_equal(bry_filter_create(&empty, &other), BRY_OK);
    bry_filter_stats stats = stats_of(filter);
    assert_int_equal(stats.engine, BRY_ENGINE_BLOOM);
    assert_int_equal(stats.capacity, 1000);
    assert_int_equal(stats.bits, by_hand.bits);
    assert_int_equal(stats.hashes, by_hand.hashes);
    assert_int_equal(stats.items, 0);
    assert_true(stats.fill == 0 && stats.estimated_error == 0 && stats.promised_error == 0.01);
    assert_int_equal(stats.bytes, by_hand.bytes_empty);
    /* Each drew a seed of its own. */
    assert_true(bry_filter_seed(filter) != 0);
    assert_true(bry_filter_seed(filter) != bry_filter_seed(other));
    assert_true(stats.seed == bry_filter_seed(filter));
    bry_filter_destroy(filter);
    bry_filter_destroy(other);
    bry_filter_destroy(NULL);
}

static void assert_refused(bry_filter_options options, bry_status expected)
{
    bry_filter_shape shape, untouched;
    bry_filter *filter = (bry_filter *)&options;
    memset(&shape, 0x5a, sizeof shape);
    memset(&untouched, 0x5a, sizeof untouched);
    assert_int_equal(bry_filter_plan(&options, &shape), expected);
    assert_memory_equal(&shape, &untouched, sizeof shape);
    assert_int_equal(bry_filter_create(&options, &filter), expected);
    assert_ptr_equal(filter, &options);
}

static void test_bad_options_are_refused(void **state)
{
    (void)state;
    const bry_filter_options good = BRY_FILTER_OPTIONS;
    bry_filter_options bad;
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
    REFUSE(BRY_E_RANGE, hashes, 7); /* without bits, and the other way round */
    REFUSE(BRY_E_RANGE, bits, 512);
    bad = good;
    bad.hashes = 7;
    static const uint64_t bits[] = {1, 511, 513, UINT64_MAX, UINT64_C(1) << 63};
    for (int i = 0; i < 5; i++) {
        bad.bits = bits[i];
        assert_refused(bad, BRY_E_RANGE);
    }
    bad.bits = 512;
    bad.hashes = 22;
    assert_refused(bad, BRY_E_RANGE);
#undef REFUSE
}

static void test_the_ends_of_the_ranges(void **state)
{
    (void)state;
    bry_filter_shape shape;
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.capacity = UINT64_C(1) << 40;
    options.error = 1e-9;
    assert_int_equal(bry_filter_plan(&options, &shape), BRY_OK);
    assert_true(shape.error <= 1e-9);
    assert_true(shape.bytes > shape.bits / 8 && shape.bytes_empty < shape.bytes);
    options.error = 0.5;
    options.capacity = 1;
    assert_int_equal(bry_filter_plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.bits, 512);
    options.bits = 512;
    options.hashes = 21;
    assert_int_equal(bry_filter_plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.bits, 512);
    assert_int_equal(shape.hashes, 21);
}

/* A program compiled against an older header has a shorter struct: what it lacks is the default. */
static void test_shorter_options(void **state)
{
    (void)state;
    bry_filter_shape shape;
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.capacity = 5000;
    options.error = 7; /* each of these would be refused … */
    options.bits = 3;
    options.hashes = 99;
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

static void test_add_and_has(void **state)
{
    (void)state;
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

static void test_batches_are_singles(void **state)
{
    (void)state;
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

static void test_full_refuses_new_keys_only(void **state)
{
    (void)state;
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

static void test_full_batches_are_all_or_none(void **state)
{
    (void)state;
    enum { CAPACITY = 600, KNOWN = 300 };
    static bry_hash hashes[2 * CAPACITY];
    static uint8_t was[2 * CAPACITY];
    generator numbers = {35};
    for (int i = 0; i < 2 * CAPACITY; i++)
        hashes[i] = generator_hash(&numbers);
    bry_filter *filter = make((bry_filter_options){.capacity = CAPACITY, .error = 1e-6});
    assert_int_equal(bry_filter_add_n(filter, hashes, KNOWN, NULL), BRY_OK);
    bry_filter *before = clone(filter);

    /* One too many, at the end of known ones; nothing happens, not even to `was`. */
    memset(was, 0x5a, sizeof was);
    assert_int_equal(bry_filter_add_n(filter, hashes, CAPACITY + 1, was), BRY_E_FULL);
    assert_true(filter_same(filter, before));
    for (int i = 0; i < 2 * CAPACITY; i++)
        assert_int_equal(was[i], 0x5a);

    /* Repeats of a new key count each time: 299 fit beside 300 known, 301 times one key does not,
     * although it would take one place. */
    static bry_hash repeats[KNOWN + 1];
    for (int i = 0; i <= KNOWN; i++)
        repeats[i] = hashes[CAPACITY];
    assert_int_equal(bry_filter_add_n(filter, repeats, KNOWN + 1, was), BRY_E_FULL);
    assert_true(filter_same(filter, before));
    assert_int_equal(bry_filter_add_n(filter, repeats, KNOWN, was), BRY_OK);
    assert_int_equal(was[0], BRY_ABSENT);
    assert_int_equal(was[1], BRY_PRESENT);
    assert_int_equal(stats_of(filter).items, KNOWN + 1);

    /* More keys than room, but the rest is known: exactly up to the capacity. */
    assert_int_equal(bry_filter_add_n(filter, hashes, CAPACITY, was), BRY_E_FULL);
    assert_int_equal(bry_filter_add_n(filter, hashes, CAPACITY - 1, was), BRY_OK);
    assert_int_equal(stats_of(filter).items, CAPACITY);
    assert_int_equal(bry_filter_add_n(filter, hashes, CAPACITY - 1, was), BRY_OK);
    assert_int_equal(bry_filter_add_n(filter, hashes + CAPACITY + 1, 1, was), BRY_E_FULL);
    bry_filter_destroy(before);
    bry_filter_destroy(filter);
}

/* ---- copies, clearing, merging ---- */

static void test_clone_lives_on_its_own(void **state)
{
    (void)state;
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

static void test_clear_is_as_created(void **state)
{
    (void)state;
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

static void test_options_like(void **state)
{
    (void)state;
    /* A shape that no plan would give, and a seed that was drawn. */
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.capacity = 300;
    options.error = 0.3;
    options.bits = 512 * 11;
    options.hashes = 13;
    bry_filter *filter = NULL, *like = NULL;
    assert_int_equal(bry_filter_create(&options, &filter), BRY_OK);
    options = bry_filter_options_like(filter);
    assert_int_equal(options.struct_size, sizeof options);
    assert_null(options.allocator);
    bry_filter_shape shape;
    assert_int_equal(bry_filter_plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.bits, 512 * 11);
    assert_int_equal(shape.hashes, 13);
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

static void test_merge_is_the_union_in_either_order(void **state)
{
    (void)state;
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

static void test_merge_counts_shared_keys_once(void **state)
{
    (void)state;
    bry_filter_options options = {.capacity = 4000, .error = 0.01};
    bry_filter *a = make(options), *b = make(options);
    add_many(a, 53, 2000);
    add_many(b, 53, 2000);
    add_many(b, 54, 1000);
    uint64_t in_b = stats_of(b).items;
    /* All keys of a are in b: what is known is known, whatever the bits would suggest. */
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
static void test_merge_into_a_full_filter(void **state)
{
    (void)state;
    for (uint64_t seed = 60; seed < 80; seed++) {
        bry_filter *full = make((bry_filter_options){.capacity = 300, .error = 0.01});
        add_many(full, seed, 1000);
        assert_int_equal(stats_of(full).items, 300);
        bry_filter *copy = clone(full), *part = make(bry_filter_options_like(full));
        bry_filter *empty = make(bry_filter_options_like(full));
        add_many(part, seed, 200);
        assert_int_equal(bry_filter_merge(full, copy), BRY_OK);
        assert_int_equal(bry_filter_merge(full, part), BRY_OK);
        assert_int_equal(bry_filter_merge(full, empty), BRY_OK);
        assert_true(filter_same(full, copy));
        assert_int_equal(bry_filter_merge(part, full), BRY_OK);
        assert_int_equal(bry_filter_merge(empty, full), BRY_OK);
        assert_true(filter_same(part, full));
        assert_true(filter_same(empty, full));

        bry_filter *others = make(bry_filter_options_like(full));
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

/* The count after a merge is an estimate, but never one that the bits contradict: a filter with
 * more bits than its keys can have set does not load. */
static void test_what_was_merged_loads(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        bry_filter *a = make((bry_filter_options){.capacity = 10, .bits = 512, .hashes = 3});
        bry_filter *b = make(bry_filter_options_like(a)), *loaded = NULL;
        add_many(a, seed, 1 + seed % 3);
        add_many(b, seed + 1000, 1 + seed % 4);
        assert_int_equal(bry_filter_merge(a, b), BRY_OK);
        bry_filter_stats stats = stats_of(a);
        assert_true(stats.fill * 512 <= (double)(stats.items * 3));
        bry_buffer buffer = BRY_BUFFER;
        bry_sink sink = bry_buffer_sink(&buffer);
        assert_int_equal(bry_filter_save(a, &sink), BRY_OK);
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

static void test_merge_refuses_other_shapes(void **state)
{
    (void)state;
    const bry_filter_options base = {.capacity = 500, .seed = 5, .bits = 512 * 20, .hashes = 5};
    bry_filter *filter = make(base);
    add_many(filter, 56, 100);
    bry_filter *before = clone(filter);
    bry_filter_options others[] = {base, base, base, base};
    others[0].seed = 6;
    others[1].capacity = 501;
    others[2].bits = 512 * 21;
    others[3].hashes = 6;
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

static void test_a_saturated_filter_still_counts(void **state)
{
    (void)state;
    /* One block that all keys fill: the estimate is infinite, the sum is not. */
    bry_filter_options options = {.capacity = 100000, .error = 0.5, .bits = 512, .hashes = 21};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_bad_options_are_refused),
        cmocka_unit_test(test_the_ends_of_the_ranges),
        cmocka_unit_test(test_shorter_options),
        cmocka_unit_test(test_add_and_has),
        cmocka_unit_test(test_batches_are_singles),
        cmocka_unit_test(test_full_refuses_new_keys_only),
        cmocka_unit_test(test_full_batches_are_all_or_none),
        cmocka_unit_test(test_clone_lives_on_its_own),
        cmocka_unit_test(test_clear_is_as_created),
        cmocka_unit_test(test_options_like),
        cmocka_unit_test(test_merge_is_the_union_in_either_order),
        cmocka_unit_test(test_merge_counts_shared_keys_once),
        cmocka_unit_test(test_merge_into_a_full_filter),
        cmocka_unit_test(test_what_was_merged_loads),
        cmocka_unit_test(test_merge_refuses_other_shapes),
        cmocka_unit_test(test_a_saturated_filter_still_counts),
    };
    return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
