/* The filter's memory: plan, stats and allocator agree to the byte, piece by piece. */
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/filter_bits.h"
#include "support/generator.h"

#define PIECE_BITS ((uint64_t)BRY__PIECE_BYTES * 8)

static void assert_accounted(const bry_filter *filter, const failing_allocator *memory)
{
    bry_filter_stats stats = {0};
    bry_filter_get_stats(filter, &stats);
    assert_int_equal(stats.bytes, memory->now);
}

static void check_shape(bry_filter_options options)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    options.struct_size = sizeof options;
    options.engine = BRY_ENGINE_BLOOM;
    options.seed = 1;
    options.allocator = &memory.allocator;

    bry_filter_shape shape = {0};
    assert_int_equal(bry_filter_plan(&options, &shape), BRY_OK);
    assert_int_equal(memory.calls, 0); /* planning costs nothing */
    bry_filter *filter = NULL;
    assert_int_equal(bry_filter_create(&options, &filter), BRY_OK);
    assert_int_equal(memory.now, shape.bytes_empty);
    assert_accounted(filter, &memory);
    bry_filter_stats stats = {0};
    bry_filter_get_stats(filter, &stats);
    assert_int_equal(stats.bits, shape.bits);
    assert_int_equal(stats.bloom.hashes, shape.bloom.hashes);

    /* Look-ups allocate nothing; additions allocate one piece at a time, in any order. */
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

TEST(test_plan_is_what_create_allocates)
{
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
