/* Keys, and properties of all entries of a maplet or a table, for tests. */
#ifndef BRY_TESTS_MAPLET_ENTRIES_H
#define BRY_TESTS_MAPLET_ENTRIES_H

#include "maplet/maplet.h"
#include "support/cmocka_all.h"
#include "support/table_entries.h"

static inline bry_hash maplet_key(uint64_t number)
{
    generator numbers = {number * 77};
    return generator_hash(&numbers);
}

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

static inline void table_check(const bry__table *table)
{
    const char *problem = table_problem(table);
    if (problem)
        fail_msg("%s", problem);
}

static inline void maplet_check(const bry__maplet *maplet)
{
    for (unsigned t = 0; t < maplet->tables; t++)
        table_check(&maplet->table[t]);
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
