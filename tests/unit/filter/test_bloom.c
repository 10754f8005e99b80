/* The bits of the standard Bloom filter: against a plain bit array, in one piece and in several. The
 * model of filters does this for the blocked one. */
#include "bloom/bloom_standard.h"
#include "hash/derive.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"

#include <stdlib.h>
#include <string.h>

enum { KEYS = 3000 };
static bry_hash keys[KEYS], others[KEYS];

static int draw_keys(void **state)
{
    (void)state;
    generator numbers = {21};
    for (int i = 0; i < KEYS; i++) {
        keys[i] = generator_hash(&numbers);
        others[i] = generator_hash(&numbers);
    }
    keys[0].hi = 0;
    keys[1].hi = UINT64_MAX;
    return 0;
}

/* The table as one array, with zeros for missing pieces. */
static unsigned char *flat(const bry__pieces *table)
{
    unsigned char *bytes = calloc(1, (size_t)table->bytes);
    assert_non_null(bytes);
    for (size_t i = 0; i < table->count; i++)
        if (table->piece[i])
            memcpy(bytes + (i << table->shift), table->piece[i], bry__piece_size(table, i));
    return bytes;
}

static void assert_same_bits(const bry__pieces *table, const unsigned char *expected)
{
    unsigned char *bytes = flat(table);
    assert_memory_equal(bytes, expected, (size_t)table->bytes);
    free(bytes);
}

static void check_standard(uint64_t bits, unsigned k, size_t n)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry__bloom bloom;
    assert_int_equal(bry__bloom_init(&bloom, bits, k, &memory.allocator), BRY_OK);
    assert_int_equal(bloom.table.bytes % 64, 0);
    assert_in_range(bloom.table.bytes * 8, bits, bits + 511);
    unsigned char *expected = calloc(1, (size_t)bloom.table.bytes);
    uint8_t *answers = malloc(n);
    assert_true(expected && answers);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(bry__bloom_add(&bloom, keys[i], &memory.allocator), BRY_OK);
        assert_true(bry__bloom_has(&bloom, keys[i]));
        for (unsigned j = 0; j < k; j++) {
            uint64_t mixed = bry__mix64(keys[i].lo + j * keys[i].hi);
            uint64_t p = (uint64_t)(((bry__u128)mixed * bits) >> 64);
            expected[p / 8] |= (unsigned char)(1u << p % 8);
        }
    }
    assert_same_bits(&bloom.table, expected);
    uint64_t set = 0;
    for (size_t i = 0; i < (size_t)bloom.table.bytes; i++)
        set += (unsigned)__builtin_popcount(expected[i]);
    assert_true(bry__bloom_fill_now(&bloom) == (double)set / (double)bits);
    bry__bloom_has_n(&bloom, others, n, answers);
    for (size_t i = 0; i < n; i++) {
        bool all = true;
        for (unsigned j = 0; j < k; j++) {
            uint64_t p = bry__position(others[i], j, bits);
            all = all && (expected[p / 8] >> p % 8 & 1);
        }
        assert_int_equal(answers[i], all);
        assert_int_equal(bry__bloom_has(&bloom, others[i]), all);
    }
    bry__bloom_clear(&bloom, &memory.allocator);
    assert_false(bry__bloom_has(&bloom, keys[0]));
    assert_true(bry__bloom_fill_now(&bloom) == 0);
    bry__bloom_free(&bloom, &memory.allocator);
    assert_int_equal(memory.now, 0);
    free(expected);
    free(answers);
}

TEST(test_standard_bits)
{
    check_standard(1, 1, 1);
    check_standard(511, 3, 50);
    check_standard(512, 3, 50);
    check_standard(513, 30, 31);
    for (unsigned k = 1; k <= 30; k++)
        check_standard(1000 * k, k, 200 + k);
    check_standard(8 * 2 * BRY__BLOOM_PIECE_BYTES + 77, 7, KEYS);
}

TEST(test_standard_add_is_all_or_nothing)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry__bloom bloom;
    assert_int_equal(bry__bloom_init(&bloom, 8 * 3 * BRY__BLOOM_PIECE_BYTES, 20, &memory.allocator),
                     BRY_OK);
    /* Twenty positions reach all three pieces; each of their allocations fails once. */
    for (uint64_t failing = 1; failing <= 3; failing++) {
        failing_allocator_restart(&memory);
        memory.fail_at = failing;
        assert_int_equal(bry__bloom_add(&bloom, keys[5], &memory.allocator), BRY_E_NOMEM);
        assert_true(bry__bloom_fill_now(&bloom) == 0);
        bry__bloom_clear(&bloom, &memory.allocator);
    }
    failing_allocator_restart(&memory);
    memory.fail_at = 4;
    assert_int_equal(bry__bloom_add(&bloom, keys[5], &memory.allocator), BRY_OK);
    assert_int_equal(memory.calls, 3);
    assert_true(bry__bloom_has(&bloom, keys[5]));
    bry__bloom_free(&bloom, &memory.allocator);
    assert_int_equal(memory.now, 0);
}

int main(void)
{
    return run_all_tests(draw_keys, NULL);
}
