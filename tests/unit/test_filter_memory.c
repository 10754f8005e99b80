/*
 * The filter's memory: plan, stats and allocator agree to the byte, and when any one allocation of
 * any operation fails, the filter is as it was.
 */
#include "hash/derive.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/filter_bits.h"
#include "support/generator.h"

#define PIECE_BITS ((uint64_t)BRY__PIECE_BYTES * 8)

static void assert_accounted(const bry_filter *filter, const failing_allocator *memory)
{
    bry_filter_stats stats = BRY_FILTER_STATS;
    bry_filter_get_stats(filter, &stats);
    assert_int_equal(stats.bytes, memory->now);
}

/* A key whose block is in the given piece: the hash's upper half decides. */
static bry_hash key_in_piece(const bry_filter *filter, size_t piece, uint64_t number)
{
    generator numbers = {number};
    uint64_t lo = generator_next(&numbers), blocks = filter->bloom.blocks;
    uint64_t block = (uint64_t)piece * (BRY__PIECE_BYTES / BRY__BLOCK_BYTES);
    uint64_t hi = (uint64_t)((((bry__u128)block << 64) + blocks - 1) / blocks);
    return (bry_hash){lo, hi};
}

static void check_shape(bry_filter_options options)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    options.struct_size = sizeof options;
    options.seed = 1;
    options.allocator = &memory.allocator;

    bry_filter_shape shape = BRY_FILTER_SHAPE;
    assert_int_equal(bry_filter_plan(&options, &shape), BRY_OK);
    assert_int_equal(memory.calls, 0); /* planning costs nothing */
    bry_filter *filter = NULL;
    assert_int_equal(bry_filter_create(&options, &filter), BRY_OK);
    assert_int_equal(memory.now, shape.bytes_empty);
    assert_accounted(filter, &memory);
    bry_filter_stats stats = BRY_FILTER_STATS;
    bry_filter_get_stats(filter, &stats);
    assert_int_equal(stats.bits, shape.bits);
    assert_int_equal(stats.hashes, shape.hashes);

    /* Asking reaches nothing; adding reaches one piece at a time, in whatever order. */
    size_t pieces = filter->bloom.table.count;
    assert_int_equal(pieces, (shape.bits + PIECE_BITS - 1) / PIECE_BITS);
    uint64_t before = memory.now;
    for (size_t i = pieces; i-- > 0;) {
        bry_hash hash = key_in_piece(filter, i, i);
        uint8_t answer = 9;
        assert_int_equal(bry_filter_has(filter, hash), BRY_ABSENT);
        bry_filter_has_n(filter, &hash, 1, &answer);
        assert_int_equal(answer, BRY_ABSENT);
        assert_int_equal(memory.now, before);
        if (i % 2)
            assert_int_equal(bry_filter_add(filter, hash, NULL), BRY_OK);
        else
            assert_int_equal(bry_filter_add_n(filter, &hash, 1, NULL), BRY_OK);
        uint64_t bytes = i + 1 == pieces ? shape.bits / 8 - i * BRY__PIECE_BYTES : BRY__PIECE_BYTES;
        assert_int_equal(memory.now, before + bytes + BRY__LINE);
        assert_accounted(filter, &memory);
        before = memory.now;
        assert_int_equal(bry_filter_has(filter, hash), BRY_PRESENT);
    }
    assert_int_equal(memory.now, shape.bytes);

    /* A full table costs no more, whatever is added. */
    uint64_t calls = memory.calls;
    generator numbers = {3};
    for (int i = 0; i < 100; i++)
        (void)bry_filter_add(filter, generator_hash(&numbers), NULL);
    assert_int_equal(memory.calls, calls);

    bry_filter *copy = NULL;
    assert_int_equal(bry_filter_clone(filter, NULL, &copy), BRY_OK);
    assert_int_equal(memory.now, 2 * shape.bytes);
    bry_filter_clear(copy);
    assert_int_equal(memory.now, shape.bytes + shape.bytes_empty);
    assert_int_equal(bry_filter_merge(copy, filter), BRY_OK);
    assert_int_equal(memory.now, 2 * shape.bytes);
    bry_filter_destroy(filter);
    assert_int_equal(memory.now, shape.bytes);
    assert_accounted(copy, &memory);
    bry_filter_destroy(copy);
    assert_int_equal(memory.now, 0);
    assert_int_equal(memory.blocks, 0);
}

static void test_plan_is_what_create_allocates(void **state)
{
    (void)state;
    static const double errors[] = {0.5, 0.1, 0.01, 0.001, 1e-6, 1e-9};
    static const uint64_t capacities[] = {1, 10, 1000, 4321, 100000};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 5; j++)
            check_shape((bry_filter_options){.capacity = capacities[j], .error = errors[i]});
    check_shape((bry_filter_options){.capacity = 10000000, .error = 0.01});
    static const uint64_t bits[] = {512, PIECE_BITS - 512, PIECE_BITS, PIECE_BITS + 512,
                                    3 * PIECE_BITS + 5120};
    for (int i = 0; i < 5; i++)
        check_shape(
            (bry_filter_options){.capacity = 100000, .bloom.bits = bits[i], .bloom.hashes = 9});
}

/* ---- failing allocations ---- */

enum { PIECES = 3 };

static bry_filter_options in_pieces(failing_allocator *memory)
{
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.capacity = 20000;
    options.seed = 1;
    options.bloom.bits = (PIECES - 1) * PIECE_BITS + 5120;
    options.bloom.hashes = 6;
    options.allocator = &memory->allocator;
    return options;
}

/* Starts the count for call number `failing` and says so, or clears it for 0. */
static void fail_from_now(failing_allocator *memory, uint64_t failing)
{
    failing_allocator_restart(memory);
    memory->fail_at = failing;
}

static void test_create_fails_cleanly(void **state)
{
    (void)state;
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry_filter_options options = in_pieces(&memory);
    uint64_t failing = 1;
    for (;; failing++) {
        bry_filter *filter = (bry_filter *)&options;
        fail_from_now(&memory, failing);
        bry_status status = bry_filter_create(&options, &filter);
        if (status == BRY_OK) {
            bry_filter_destroy(filter);
            break;
        }
        assert_int_equal(status, BRY_E_NOMEM);
        assert_ptr_equal(filter, &options);
        assert_int_equal(memory.now, 0);
    }
    assert_int_equal(failing, 3); /* the object and the directory */
    assert_int_equal(memory.now, 0);
}

/* Two filters with some keys: the second has pieces that the first lacks. */
typedef struct pair {
    failing_allocator memory;
    bry_filter *first, *second, *first_before, *second_before;
} pair;

static void pair_make(pair *both)
{
    failing_allocator_init(&both->memory);
    bry_filter_options options = in_pieces(&both->memory);
    assert_int_equal(bry_filter_create(&options, &both->first), BRY_OK);
    assert_int_equal(bry_filter_create(&options, &both->second), BRY_OK);
    for (uint64_t i = 0; i < 30; i++) {
        assert_int_equal(bry_filter_add(both->first, key_in_piece(both->first, 0, i), NULL),
                         BRY_OK);
        assert_int_equal(
            bry_filter_add(both->second, key_in_piece(both->second, i % PIECES, 100 + i), NULL),
            BRY_OK);
    }
    assert_int_equal(bry_filter_clone(both->first, NULL, &both->first_before), BRY_OK);
    assert_int_equal(bry_filter_clone(both->second, NULL, &both->second_before), BRY_OK);
}

static void pair_free(pair *both)
{
    bry_filter_destroy(both->first);
    bry_filter_destroy(both->second);
    bry_filter_destroy(both->first_before);
    bry_filter_destroy(both->second_before);
    assert_int_equal(both->memory.now, 0);
}

/* Each operation gives its status; `was` and `made` are for what it writes besides. */
static bry_status do_add(pair *both, uint8_t *was, bry_filter **made)
{
    (void)made;
    bry_answer answer = BRY_UNSURE;
    bry_status status = bry_filter_add(both->first, key_in_piece(both->first, 1, 500), &answer);
    *was = (uint8_t)answer;
    return status;
}

static bry_status do_add_n(pair *both, uint8_t *was, bry_filter **made)
{
    (void)made;
    bry_hash hashes[20];
    for (uint64_t i = 0; i < 20; i++)
        hashes[i] = key_in_piece(both->first, i % PIECES, 600 + i);
    return bry_filter_add_n(both->first, hashes, 20, was);
}

static bry_status do_clone(pair *both, uint8_t *was, bry_filter **made)
{
    (void)was;
    return bry_filter_clone(both->second, NULL, made);
}

static bry_status do_merge(pair *both, uint8_t *was, bry_filter **made)
{
    (void)was;
    (void)made;
    return bry_filter_merge(both->first, both->second);
}

static bry_status do_load(pair *both, uint8_t *was, bry_filter **made)
{
    (void)was;
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    assert_int_equal(bry_filter_save(both->second, &sink, NULL), BRY_OK);
    bry_view view = {buffer.bytes, buffer.len, 0};
    bry_source source = bry_view_source(&view);
    bry_load load = BRY_LOAD;
    load.allocator = &both->memory.allocator;
    bry_status status = bry_filter_load(&source, &load, made);
    if (status == BRY_OK)
        assert_true(filter_same(*made, both->second));
    else
        assert_non_null(load.problem);
    bry_buffer_free(&buffer);
    return status;
}

/* Fails allocation 1, 2, … of the operation until none is left, and expects `allocations`. */
static void check_failures(bry_status (*operation)(pair *, uint8_t *, bry_filter **),
                           uint64_t allocations, bool changes)
{
    for (uint64_t failing = 1;; failing++) {
        pair both;
        pair_make(&both);
        uint64_t others = both.memory.now;
        uint8_t was[20];
        memset(was, BRY_UNSURE, sizeof was);
        bry_filter *made = NULL;
        fail_from_now(&both.memory, failing);
        bry_status status = operation(&both, was, &made);
        uint64_t calls = both.memory.calls;
        assert_true(filter_same(both.second, both.second_before));
        if (status == BRY_OK) {
            assert_int_equal(calls, allocations);
            assert_int_equal(failing, allocations + 1);
            assert_int_equal(filter_same(both.first, both.first_before), !changes);
            bry_filter_destroy(made);
            pair_free(&both);
            break;
        }
        assert_int_equal(status, BRY_E_NOMEM);
        assert_true(filter_same(both.first, both.first_before));
        assert_null(made);
        for (size_t i = 0; i < sizeof was; i++)
            assert_int_equal(was[i], BRY_UNSURE);
        /* A piece that was had before the failure may stay; it is counted. */
        bry_filter_stats now = BRY_FILTER_STATS, before = BRY_FILTER_STATS;
        bry_filter_get_stats(both.first, &now);
        bry_filter_get_stats(both.first_before, &before);
        assert_int_equal(both.memory.now, others + now.bytes - before.bytes);

        /* The same again, now that there is memory. */
        fail_from_now(&both.memory, 0);
        assert_int_equal(operation(&both, was, &made), BRY_OK);
        bry_filter_destroy(made);
        pair_free(&both);
    }
}

static void test_operations_fail_cleanly(void **state)
{
    (void)state;
    check_failures(do_add, 1, true);
    check_failures(do_add_n, PIECES - 1, true);
    check_failures(do_clone, 2 + PIECES, false);
    check_failures(do_merge, PIECES - 1, true);
    check_failures(do_load, 2 + PIECES, false);
}

/* The ceiling of a load is the object's memory, to the byte. */
static void test_ceiling_of_a_load(void **state)
{
    (void)state;
    pair both;
    pair_make(&both);
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    assert_int_equal(bry_filter_save(both.second, &sink, NULL), BRY_OK);
    bry_filter_stats stats = BRY_FILTER_STATS;
    bry_filter_get_stats(both.second, &stats);
    uint64_t before = both.memory.now;
    for (uint64_t less = 0; less < 3; less++) {
        bry_view view = {buffer.bytes, buffer.len, 0};
        bry_source source = bry_view_source(&view);
        bry_load load = BRY_LOAD;
        load.allocator = &both.memory.allocator;
        load.max_bytes = stats.bytes - less * less * 1000 - (less > 0);
        bry_filter *loaded = NULL;
        bry_status status = bry_filter_load(&source, &load, &loaded);
        assert_int_equal(status, less ? BRY_E_LIMIT : BRY_OK);
        assert_int_equal(loaded != NULL, !less);
        assert_int_equal(both.memory.now, before + (less ? 0 : stats.bytes));
        bry_filter_destroy(loaded);
    }
    bry_buffer_free(&buffer);
    pair_free(&both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_is_what_create_allocates),
        cmocka_unit_test(test_create_fails_cleanly),
        cmocka_unit_test(test_operations_fail_cleanly),
        cmocka_unit_test(test_ceiling_of_a_load),
    };
    return cmocka_run_group_tests_name("filter memory", tests, NULL, NULL);
}
