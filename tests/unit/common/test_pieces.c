/* Tables in pieces: the planned size is the size taken, to the byte. */
#include "common/pieces.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"

static const uint64_t sizes[] = {
    64,
    128,
    BRY__PIECE_BYTES - 64,
    BRY__PIECE_BYTES,
    BRY__PIECE_BYTES + 64,
    3 * BRY__PIECE_BYTES,
    3 * BRY__PIECE_BYTES + 12800,
};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

TEST(test_costs_what_was_told)
{
    for (int s = 0; s < SIZES; s++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry__pieces pieces;
        assert_int_equal(bry__pieces_init(&pieces, sizes[s], &memory.allocator), BRY_OK);
        assert_int_equal(memory.now, bry__pieces_bytes_empty(sizes[s]));
        assert_int_equal(memory.now, bry__pieces_bytes_now(&pieces));

        uint64_t sum = 0;
        for (size_t i = pieces.count; i-- > 0;) { /* in random order */
            size_t size = bry__piece_size(&pieces, i);
            assert_in_range(size, 1, BRY__PIECE_BYTES);
            sum += size;
            assert_null(pieces.piece[i]);
            assert_int_equal(bry__piece_reach(&pieces, i, &memory.allocator), BRY_OK);
            assert_int_equal((uintptr_t)pieces.piece[i] % BRY__LINE, 0);
            for (size_t at = 0; at < size; at++)
                if (pieces.piece[i][at])
                    fail_msg("byte %zu of piece %zu is not clear", at, i);
            pieces.piece[i][0] = pieces.piece[i][size - 1] = 0xff;
            assert_int_equal(memory.now, bry__pieces_bytes_now(&pieces));
            assert_int_equal(pieces.present, pieces.count - i);
        }
        assert_int_equal(sum, sizes[s]);
        assert_int_equal(memory.now, bry__pieces_bytes_full(sizes[s]));

        /* A piece is allocated once. */
        unsigned char *first = pieces.piece[0];
        uint64_t calls = memory.calls;
        assert_int_equal(bry__piece_reach(&pieces, 0, &memory.allocator), BRY_OK);
        assert_ptr_equal(pieces.piece[0], first);
        assert_int_equal(first[0], 0xff);
        assert_int_equal(memory.calls, calls);
        assert_int_equal(pieces.present, pieces.count);

        bry__pieces_clear(&pieces, &memory.allocator);
        assert_int_equal(memory.now, bry__pieces_bytes_empty(sizes[s]));
        assert_int_equal(pieces.present, 0);
        assert_int_equal(bry__piece_reach(&pieces, 0, &memory.allocator), BRY_OK);
        assert_int_equal(pieces.piece[0][0], 0);
        bry__pieces_free(&pieces, &memory.allocator);
        assert_int_equal(memory.now, 0);
        assert_int_equal(memory.blocks, 0);
    }
}

TEST(test_failures_change_nothing)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry__pieces pieces = {.bytes = 1};
    memory.fail_at = 1;
    assert_int_equal(bry__pieces_init(&pieces, sizes[4], &memory.allocator), BRY_E_NOMEM);
    assert_int_equal(pieces.bytes, 1);
    assert_int_equal(memory.now, 0);

    failing_allocator_restart(&memory);
    memory.fail_at = 2;
    assert_int_equal(bry__pieces_init(&pieces, sizes[4], &memory.allocator), BRY_OK);
    assert_int_equal(bry__piece_reach(&pieces, 1, &memory.allocator), BRY_E_NOMEM);
    assert_null(pieces.piece[1]);
    assert_int_equal(pieces.present, 0);
    assert_int_equal(memory.now, bry__pieces_bytes_now(&pieces));
    assert_int_equal(bry__piece_reach(&pieces, 1, &memory.allocator), BRY_OK);
    assert_int_equal(pieces.present, 1);
    bry__pieces_free(&pieces, &memory.allocator);
    assert_int_equal(memory.now, 0);
}
