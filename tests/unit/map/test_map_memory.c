/* The map's memory: plan, stats and allocator agree to the byte; operations that need no memory
 * work without it; and growth takes little memory at a time. With both engines. */
#include "maplet/maplet.h"
#include "support/map_helpers.h"

enum { KEYS = 700, VALUES = 64 };

static bry_map_options small(bry_engine engine, failing_allocator *memory)
{
    return (bry_map_options){.struct_size = sizeof(bry_map_options),
                             .engine = engine,
                             .capacity = 300, /* so that it has grown */
                             .error = 1e-9,
                             .seed = 1,
                             .allocator = &memory->allocator};
}

/* At capacity, with the planned values: the planned size within an eighth. */
TEST(test_plan_at_capacity)
{
    for (int e = 0; e < 2; e++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_map_options options = small(map_engines[e], &memory);
        options.capacity = 30000;
        options.error = 1e-3;
        options.values = 500;
        bry_map_shape shape = {0};
        assert_int_equal(bry_map_plan(&options, &shape), BRY_OK);
        bry_map *map = make(options);
        for (uint64_t i = 0; i < 30000; i++)
            (void)bry_map_set(map, key(i), bry_map_value_bytes(&(uint16_t){(uint16_t)(i % 500)}, 2),
                              NULL);
        bry_map_stats stats = stats_of(map);
        assert_int_equal(stats.bytes, memory.now);
        uint64_t bytes = stats.bytes - 1024; /* the values themselves, in a piece of 1,024 */
        assert_true(bytes < shape.bytes * 9 / 8 && bytes > shape.bytes * 7 / 8);
        bry_map_destroy(map);
    }
}

/*
 * compact, with hashes that all belong to one segment, so that it overflows: a batch then works on
 * a copy, and is still all or nothing.
 */
TEST(test_batch_on_spilled_segment)
{
    enum { N = 2600 };
    static bry_hash hashes[N];
    static bry_map_value values[N];
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry_map *map = make((bry_map_options){.capacity = 1 << 14,
                                          .error = 0.25,
                                          .fixed = true,
                                          .value_bits = 8,
                                          .allocator = &memory.allocator});
    /* A range of 2^16; fingerprints that are multiples of 2^4 are in one segment of up to 16. */
    for (uint64_t i = 0; i < N; i++) {
        hashes[i] = (bry_hash){i, i << 52};
        values[i] = bry_map_value_number(i % 251);
    }
    for (unsigned i = 0; i < N; i++)
        set(map, hashes[i], values[i]);
    assert_true(bry__overflow_count(&((bry__maplet *)map->keys)->table[0].overflow) > 0);
    for (unsigned i = 0; i < N; i++)
        values[i].number ^= 1;
    uint64_t failed = 0;
    for (memory.fail_at = 1;; memory.fail_at += 7) {
        failing_allocator_restart(&memory);
        bry_status status = bry_map_set_n(map, hashes, values, N, NULL);
        if (status == BRY_OK)
            break;
        failed++;
        assert_int_equal(status, BRY_E_NOMEM);
        for (unsigned i = 0; i < N; i++)
            assert_true(has(map, hashes[i], bry_map_value_number(values[i].number ^ 1)));
    }
    assert_true(failed > 0);
    for (unsigned i = 0; i < N; i++)
        assert_true(has(map, hashes[i], values[i]));
    bry_map_destroy(map);
    assert_int_equal(memory.now, 0);
}

/*
 * A growing map in which every key has its own value: no single call takes much memory, so none
 * copies everything. Memory of replaced values is reclaimed.
 */
TEST(test_growth_in_steps)
{
    enum { N = 150000, MOST = 300 << 10 };
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry_map *map =
        make((bry_map_options){.capacity = 1000, .error = 1e-9, .allocator = &memory.allocator});
    for (uint64_t i = 0; i < N; i++) {
        failing_allocator_restart(&memory);
        uint64_t before = memory.now;
        set(map, key(i), numbered(i));
        assert_in_range(memory.peak - before, 0, MOST);
    }
    assert_int_equal(stats_of(map).values, N);
    for (uint64_t i = 0; i < N; i += 2)
        set(map, key(i), numbered(N + i));
    for (uint64_t i = 0; i < N; i += 5)
        assert_int_equal(bry_map_del(map, key(i), NULL), BRY_OK);
    for (uint64_t i = 0; i < 5000; i++)
        set(map, key(2 * N + i), numbered(3 * N + i));
    bry_map_stats stats = stats_of(map);
    assert_in_range(stats.values, 0, stats.items + stats.items / 32);
    for (uint64_t i = 1; i < N; i += 1001)
        if (i % 5 != 0)
            assert_true(has(map, key(i), numbered(i % 2 ? i : N + i)));
    bry_map_destroy(map);
    assert_int_equal(memory.now, 0);
}
