/* Arrays of records that grow without moving. */
#include "common/records.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"

typedef struct record {
    uint64_t number, unused;
} record;

static record *at(const bry__records *records, uint32_t i)
{
    return bry__record_at(records, i, sizeof(record));
}

/* Grows one by one beyond three blocks: contents stay, the rest is zero, and bytes are counted
 * correctly. */
TEST(test_growth)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry__records records = {0};
    const record *fixed = NULL;
    for (uint32_t n = 1; n < 3 * BRY__RECORDS_BLOCK; n++) {
        assert_int_equal(bry__records_reach(&records, n, sizeof(record), &memory.allocator),
                         BRY_OK);
        assert_true(records.room >= n && records.room == bry__records_room(n));
        assert_int_equal(bry__records_bytes(records.room, sizeof(record)), memory.now);
        assert_int_equal(at(&records, n - 1)->number, 0);
        at(&records, n - 1)->number = n;
        if (n == BRY__RECORDS_BLOCK)
            fixed = at(&records, 0);
        assert_true(n < BRY__RECORDS_BLOCK || at(&records, 0) == fixed);
    }
    for (uint32_t n = 1; n < 3 * BRY__RECORDS_BLOCK; n++)
        assert_int_equal(at(&records, n - 1)->number, n);
    bry__records_free(&records, sizeof(record), &memory.allocator);
    assert_int_equal(memory.now, 0);
    assert_int_equal(records.room, 0);
}

/* Grows from every size to a much larger one, with each allocation failing once: nothing
 * changes. */
TEST(test_without_memory)
{
    static const uint32_t rooms[] = {0, 1, 5, 4095, 4096, 4097, 9000};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry__records records = {0};
        assert_int_equal(bry__records_reach(&records, rooms[i], sizeof(record), &memory.allocator),
                         BRY_OK);
        if (rooms[i])
            at(&records, rooms[i] - 1)->number = 77;
        uint32_t room = records.room;
        uint64_t bytes = memory.now;
        bry_status status = BRY_E_NOMEM;
        for (uint64_t fail = 1; status != BRY_OK; fail++) {
            failing_allocator_restart(&memory);
            memory.fail_at = fail;
            status = bry__records_reach(&records, 20000, sizeof(record), &memory.allocator);
            assert_true(status == BRY_OK || (records.room == room && memory.now == bytes));
        }
        memory.fail_at = 0;
        assert_true(records.room >= 20000);
        assert_true(!rooms[i] || at(&records, rooms[i] - 1)->number == 77);
        bry__records_free(&records, sizeof(record), &memory.allocator);
        assert_int_equal(memory.now, 0);
    }
}
