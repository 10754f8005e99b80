/* One table of a maplet and its memory, for tests of tables. */
#ifndef BRY_TESTS_ONE_TABLE_H
#define BRY_TESTS_ONE_TABLE_H

#include "support/failing_allocator.h"
#include "support/maplet_entries.h"

static failing_allocator memory;
static bry__table table;

static void start(uint64_t range, unsigned value_bits)
{
    failing_allocator_init(&memory);
    assert_int_equal(bry__table_init(&table, range, value_bits, &memory.allocator), BRY_OK);
    assert_int_equal(memory.now, bry__table_bytes_empty());
}

static void finish(void)
{
    bry__table_free(&table, &memory.allocator);
    assert_int_equal(memory.now, 0);
    assert_int_equal(memory.blocks, 0);
}

static void check(void)
{
    table_check(&table);
    assert_int_equal(bry__table_bytes(&table), memory.now);
}

#endif
