/* Properties of all entries of a maplet, for tests. */
#ifndef BRY_TESTS_MAPLET_ENTRIES_H
#define BRY_TESTS_MAPLET_ENTRIES_H

#include "maplet/maplet.h"
#include "maplet/table_arena.h"
#include "support/cmocka_all.h"
#include "support/generator.h"

/*
 * A checksum over all entries that depends neither on their order nor on their table: fingerprints
 * are those of the first table.
 */
static inline uint64_t maplet_sum(const bry__maplet *maplet)
{
    bry__maplet_cursor cursor = {0};
    uint64_t fingerprint, sum = 0, n = 0;
    uint32_t value;
    for (; bry__maplet_next(maplet, &cursor, &fingerprint, &value); n++) {
        fingerprint >>= bry__chain_shift(&maplet->chain, cursor.table);
        generator mixed = {fingerprint * 1000003 + value};
        sum += generator_next(&mixed);
    }
    assert_int_equal(n, bry__maplet_count(maplet));
    return sum;
}

/* Checks all invariants. */
static inline void maplet_check(const bry__maplet *maplet)
{
    for (unsigned t = 0; t < maplet->tables; t++) {
        const bry__table *table = &maplet->table[t];
        uint64_t n = bry__overflow_count(&table->overflow);
        for (uint64_t i = 0; i < table->segments; i++) {
            const bry__segment *segment = bry__table_segment(table, i);
            const char *problem = bry__segment_check(segment, bry__table_u_most(table, i),
                                                     bry__table_u_limit(table, i));
            if (problem)
                fail_msg("table %u, segment %ju: %s", t, (uintmax_t)i, problem);
            n += segment->n;
        }
        const char *problem = bry__table_check_overflow(table);
        if (!problem)
            problem = bry__arena_check(table);
        if (problem)
            fail_msg("table %u: %s", t, problem);
        assert_int_equal(n, table->n);
        assert_true(table->max_step <= 8192);
    }
}

static inline bry_buffer maplet_saved(const bry__maplet *maplet)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    assert_int_equal(bry__maplet_save(maplet, &sink), BRY_OK);
    return buffer;
}

static inline void maplet_assert_saved(const bry__maplet *maplet, const bry_buffer *expected)
{
    bry_buffer buffer = maplet_saved(maplet);
    assert_int_equal(buffer.len, expected->len);
    assert_memory_equal(buffer.bytes, expected->bytes, buffer.len);
    bry_buffer_free(&buffer);
}

#endif
