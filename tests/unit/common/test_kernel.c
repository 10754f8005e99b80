/* Every instruction set of this machine gives the same bits as a plain loop. */
#include "kernel/kernel.h"

#include "common/allocator.h"
#include "kernel/block.h"
#include "support/cmocka_all.h"
#include "support/generator.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_HASHES = 21, BLOCKS = 300, LINES = 70 };

static _Alignas(64) unsigned char blocks[BLOCKS][64];

/* Runs before anything else in this process asks for kernels: ctest starts it once for each value
 * of BLOOMERY_ISA. */
TEST(test_environment_decides_the_first_use)
{
    const char *wanted = getenv("BLOOMERY_ISA");
    const char *best = "scalar";
    bool have = false;
    for (int isa = 0; isa < BRY__ISA_COUNT; isa++) {
        if (!bry__kernel_of((bry__isa)isa))
            continue;
        best = bry__isa_names[isa];
        have = have || (wanted && strcmp(wanted, best) == 0);
    }
    assert_string_equal(bry_isa(), have ? wanted : best);
    assert_string_equal(bry__isa_names[bry__kernels()->isa], bry_isa());
}

TEST(test_force)
{
    for (int isa = 0; isa < BRY__ISA_COUNT; isa++) {
        const char *before = bry_isa();
        const bry__kernel *kernel = bry__kernel_of((bry__isa)isa);
        assert_int_equal(kernel != NULL, bry__cpu_has((bry__isa)isa));
        assert_int_equal(bry__kernel_force((bry__isa)isa), kernel != NULL);
        assert_string_equal(bry_isa(), kernel ? bry__isa_names[isa] : before);
        if (kernel) {
            assert_int_equal(kernel->isa, isa);
            assert_ptr_equal(bry__kernels(), kernel);
        }
    }
    assert_null(bry__kernel_of(BRY__ISA_COUNT));
    assert_false(bry__kernel_force(BRY__ISA_COUNT));
}

/* ---- block_test ---- */

/* Written from the description in kernel/block.h, without its functions. */
static bool plain_test(const unsigned char *block, uint64_t half, unsigned k)
{
    for (unsigned i = 0; i < k; i++) {
        uint64_t word = half;
        if (i >= 7) {
            word += i / 7 * UINT64_C(0x9e3779b97f4a7c15);
            for (int round = 0; round < 2; round++) {
                word ^= word >> 32;
                word *= UINT64_C(0xd6e8feb86659fd93);
            }
            word ^= word >> 32;
        }
        unsigned p = word >> (9 * (i % 7)) & 511;
        if ((block[p / 8] >> p % 8 & 1) == 0)
            return false;
    }
    return true;
}

/* From empty to full. The fills in between make both results of k tests likely. */
static void fill_blocks(generator *numbers, unsigned k)
{
    for (int b = 0; b < BLOCKS; b++) {
        unsigned keys = (unsigned)generator_below(numbers, 3 * 512 / k);
        memset(blocks[b], b == 0 ? 0 : b == 1 ? 0xff : 0, 64);
        for (unsigned i = 0; i < keys && b > 1; i++)
            bry__block_set(blocks[b], generator_next(numbers), k);
    }
}

static void compare_block_tests(const bry__kernel *kernel, generator *numbers, unsigned k, size_t n)
{
    static const unsigned char *at[BLOCKS];
    static uint64_t halves[BLOCKS];
    static uint8_t answers[BLOCKS + 1];
    for (size_t i = 0; i < n; i++) {
        at[i] = blocks[generator_below(numbers, BLOCKS)];
        halves[i] = generator_next(numbers);
    }
    memset(answers, 0x5a, sizeof answers);
    kernel->block_test(at, halves, n, k, answers);
    for (size_t i = 0; i < n; i++)
        if (answers[i] != plain_test(at[i], halves[i], k) ||
            kernel->block_has(at[i], halves[i], k) != answers[i])
            fail_msg("%s: answer %zu of %zu is %d, k = %u", bry__isa_names[kernel->isa], i, n,
                     answers[i], k);
    assert_int_equal(answers[n], 0x5a);
}

/* Blocks in which exactly one of the key's bits is missing: each lane of a vector must count. */
static void compare_one_missing(const bry__kernel *kernel, generator *numbers, unsigned k)
{
    static _Alignas(64) unsigned char block[64];
    const unsigned char *at[1] = {block};
    for (int round = 0; round < 20; round++) {
        uint64_t half = generator_next(numbers);
        unsigned char key[64] = {0};
        uint8_t answer = 9;
        bry__block_set(key, half, k);
        memcpy(block, key, 64);
        kernel->block_test(at, &half, 1, k, &answer);
        assert_int_equal(answer, 1);
        for (unsigned bit = 0; bit < 512; bit++) {
            if (!(key[bit / 8] >> bit % 8 & 1))
                continue;
            memset(block, 0xff, 64);
            block[bit / 8] ^= (unsigned char)(1u << bit % 8);
            kernel->block_test(at, &half, 1, k, &answer);
            assert_int_equal(answer, 0);
        }
    }
}

/* Blocks of every fill, with one key added after another: same bits, same answers. */
static void compare_block_adds(const bry__kernel *kernel, generator *numbers, unsigned k)
{
    static _Alignas(64) unsigned char block[64];
    for (int b = 0; b < BLOCKS; b++) {
        unsigned char expected[64];
        memcpy(block, blocks[b], 64);
        memcpy(expected, block, 64);
        for (int i = 0; i < 4; i++) {
            uint64_t half = generator_next(numbers);
            bool was_there = plain_test(expected, half, k);
            bry__block_set(expected, half, k);
            assert_int_equal(kernel->block_add(block, half, k), !was_there);
            assert_memory_equal(block, expected, 64);
            assert_false(kernel->block_add(block, half, k));
            assert_memory_equal(block, expected, 64);
        }
    }
}

TEST(test_block_test)
{
    for (int isa = 0; isa < BRY__ISA_COUNT; isa++) {
        const bry__kernel *kernel = bry__kernel_of((bry__isa)isa);
        if (!kernel)
            continue;
        generator numbers = {11};
        for (unsigned k = 1; k <= MAX_HASHES; k++) {
            fill_blocks(&numbers, k);
            for (size_t n = 0; n <= 130; n++)
                compare_block_tests(kernel, &numbers, k, n);
            compare_block_tests(kernel, &numbers, k, BLOCKS);
            compare_one_missing(kernel, &numbers, k);
            compare_block_adds(kernel, &numbers, k);
        }
    }
}

/* ---- whole lines ---- */

static uint64_t plain_popcount(const unsigned char *bytes, size_t len)
{
    uint64_t count = 0;
    for (size_t i = 0; i < len; i++)
        for (int bit = 0; bit < 8; bit++)
            count += bytes[i] >> bit & 1;
    return count;
}

static void compare_lines(const bry__kernel *kernel, generator *numbers, size_t len)
{
    /* Blocks of exactly this size, so that a sanitizer detects access beyond them. */
    bry_allocator allocator = bry__allocator_or_default(NULL);
    unsigned char *a = bry__alloc_lines(&allocator, len), *b = bry__alloc_lines(&allocator, len);
    unsigned char *both = malloc(len + 1);
    assert_true(a && b && both);
    generator_fill(numbers, a, len);
    generator_fill(numbers, b, len);
    if (generator_below(numbers, 8) == 0)
        memset(a, 0xff, len);
    for (size_t i = 0; i < len; i++)
        both[i] = a[i] | b[i];

    assert_int_equal(kernel->popcount(a, len), plain_popcount(a, len));
    assert_int_equal(kernel->popcount_or(a, b, len), plain_popcount(both, len));
    assert_int_equal(kernel->popcount_or(a, a, len), plain_popcount(a, len));
    unsigned char *from = malloc(len + 1);
    assert_non_null(from);
    memcpy(from, b, len);
    kernel->or_into(a, b, len);
    assert_memory_equal(a, both, len);
    assert_memory_equal(b, from, len);
    kernel->or_into(a, a, len);
    assert_memory_equal(a, both, len);

    free(from);
    free(both);
    bry__free_lines(&allocator, a, len);
    bry__free_lines(&allocator, b, len);
}

TEST(test_whole_lines)
{
    for (int isa = 0; isa < BRY__ISA_COUNT; isa++) {
        const bry__kernel *kernel = bry__kernel_of((bry__isa)isa);
        if (!kernel)
            continue;
        generator numbers = {12};
        assert_int_equal(kernel->popcount(NULL, 0), 0);
        for (size_t lines = 1; lines <= LINES; lines++)
            compare_lines(kernel, &numbers, 64 * lines);
        compare_lines(kernel, &numbers, 64 * 5000);
    }
}
