/*
 * Bit fields, moves and runs of every instruction set compared with definitions that use one bit at
 * a time. Strings are on the heap and exactly as long as the contract says, so that a sanitizer
 * detects access beyond them.
 */
#include "kernel/bits.h"
#include "kernel/kernel.h"
#include "maplet/segment_shift.h"

#include "support/cmocka_all.h"
#include "support/generator.h"

#include <stdlib.h>
#include <string.h>

/* ---- one bit at a time ---- */

static unsigned bit_of(const unsigned char *bytes, uint64_t i)
{
    return bytes[i / 8] >> i % 8 & 1;
}

static void set_bit(unsigned char *bytes, uint64_t i, unsigned bit)
{
    bytes[i / 8] = (unsigned char)((bytes[i / 8] & ~(1u << i % 8)) | bit << i % 8);
}

/* Target bit i is what source bit i was before anything moved. */
static void plain_move(unsigned char *bytes, const unsigned char *before, uint64_t from,
                       uint64_t to, int64_t by)
{
    for (uint64_t i = from; i < to; i++)
        set_bit(bytes, i + (uint64_t)by, bit_of(before, i));
}

static uint64_t plain_run_after(const unsigned char *bytes, uint64_t at, unsigned zeros,
                                unsigned *ones)
{
    while (zeros > 0)
        zeros -= !bit_of(bytes, at++);
    *ones = 0;
    while (bit_of(bytes, at + *ones))
        ++*ones;
    return at;
}

/* A string of that many bytes, some of them random and some all 0 or all 1. */
static unsigned char *string_of(size_t len, generator *numbers)
{
    unsigned char *bytes = malloc(len);
    assert_non_null(bytes);
    generator_fill(numbers, bytes, len);
    unsigned kind = (unsigned)generator_below(numbers, 8);
    if (kind < 2)
        memset(bytes, kind ? 0xff : 0, len);
    return bytes;
}

typedef void each_kernel(const bry__kernel *kernel, generator *numbers);

static void for_each_kernel(each_kernel *run, uint64_t seed)
{
    for (int isa = 0; isa < BRY__ISA_COUNT; isa++) {
        generator numbers = {seed};
        const bry__kernel *kernel = bry__kernel_of((bry__isa)isa);
        if (kernel)
            run(kernel, &numbers);
    }
}

/* ---- fields ---- */

TEST(test_fields)
{
    generator numbers = {1};
    for (size_t len = 8; len <= 24; len++) {
        for (unsigned bits = 0; bits <= BRY__FIELD_MAX; bits++) {
            for (uint64_t at = 0; at + bits <= len * 8; at++) {
                unsigned char *bytes = string_of(len, &numbers), before[24];
                memcpy(before, bytes, len);
                uint64_t expected = 0, value = generator_next(&numbers);
                for (unsigned i = 0; i < bits; i++)
                    expected |= (uint64_t)bit_of(bytes, at + i) << i;
                assert_int_equal(bry__field_get(bytes, at, bits), expected);
                bry__field_put(bytes, at, bits, value); /* takes the low bits only */
                for (unsigned i = 0; i < bits; i++)
                    set_bit(before, at + i, value >> i & 1);
                assert_memory_equal(bytes, before, len);
                free(bytes);
            }
        }
    }
}

TEST(test_select)
{
    generator numbers = {2};
    for (int round = 0; round < 3000; round++) {
        uint64_t word = generator_next(&numbers);
        for (int i = 0; i < round % 3; i++)
            word &= generator_next(&numbers);
        if (round % 3 == 2)
            word = ~word;
        unsigned number = 0;
        for (unsigned i = 0; i < 64; i++)
            if (word >> i & 1)
                assert_int_equal(bry__select64(word, number++), i);
    }
}

/* ---- moves ---- */

/* Moves to the bytes [first, end) in a string that has no byte more than the move reads. */
static void compare_move(const bry__kernel *kernel, generator *numbers, bool up, size_t length,
                         unsigned by)
{
    size_t first = up ? (by + 7) / 8 : generator_below(numbers, 2), end = first + length;
    size_t len = up ? end : end + by / 8 + 1;
    unsigned char *bytes = string_of(len, numbers), *expected = malloc(len);
    unsigned char *before = malloc(len);
    assert_true(expected && before);
    memcpy(expected, bytes, len);
    memcpy(before, bytes, len);
    uint64_t from = 8 * (uint64_t)first + (up ? -(uint64_t)by : by);
    plain_move(expected, before, from, from + 8 * (uint64_t)length,
               up ? (int64_t)by : -(int64_t)by);
    if (up)
        kernel->bits_up(bytes, first, end, by);
    else
        kernel->bits_down(bytes, first, end, by);
    if (memcmp(bytes, expected, len) != 0)
        fail_msg("%s: bytes [%zu, %zu) %s by %u", bry__isa_names[kernel->isa], first, end,
                 up ? "up" : "down", by);
    free(before);
    free(expected);
    free(bytes);
}

/* Around the lengths at which vector loops begin and end. */
static void small_moves(const bry__kernel *kernel, generator *numbers)
{
    for (size_t length = 0; length < 210; length++) {
        for (unsigned by = 1; by <= BRY__FIELD_MAX; by += 1 + (unsigned)(length % 3)) {
            compare_move(kernel, numbers, true, length, by);
            compare_move(kernel, numbers, false, length, by);
        }
    }
}

static void large_moves(const bry__kernel *kernel, generator *numbers)
{
    for (int round = 0; round < 600; round++) {
        size_t length = generator_below(numbers, 5000);
        unsigned by = 1 + (unsigned)generator_below(numbers, BRY__FIELD_MAX);
        compare_move(kernel, numbers, true, length, by);
        compare_move(kernel, numbers, false, length, by);
    }
}

TEST(test_small_moves)
{
    for_each_kernel(small_moves, 10);
}

TEST(test_large_moves)
{
    for_each_kernel(large_moves, 12);
}

/* ---- entries ---- */

/* A block as segment.c draws it, with slots of this many bits, and room for one entry more. */
typedef struct block {
    unsigned char *bytes, *before;
    size_t len;
    uint64_t runs, lowest, end; /* bits */
} block;

static block block_of(generator *numbers, unsigned bits)
{
    block it = {.runs = 65 + generator_below(numbers, generator_below(numbers, 2) ? 10 : 1400)};
    uint64_t slots = generator_below(numbers, generator_below(numbers, 2) ? 10 : 200);
    size_t front = (size_t)(it.runs + 1 + 7) / 8, gap = generator_below(numbers, 10);
    size_t room = ((size_t)(slots + 1) * bits + 7) / 8;
    it.len = front + gap + (room < 8 ? 8 : room);
    it.end = 8 * (uint64_t)it.len;
    it.lowest = it.end - slots * bits;
    it.bytes = string_of(it.len, numbers);
    it.before = malloc(it.len);
    assert_non_null(it.before);
    for (uint64_t i = it.runs; i < it.lowest; i++)
        set_bit(it.bytes, i, 0);
    set_bit(it.bytes, it.runs - 1, 0); /* a run ends with a 0 */
    memcpy(it.before, it.bytes, it.len);
    return it;
}

static void block_free(block *it)
{
    free(it->bytes);
    free(it->before);
}

/* Opens a place in the slots, and closes it again. */
static void open_slots(const bry__kernel *kernel, generator *numbers)
{
    for (int round = 0; round < 4000; round++) {
        unsigned bits = 1 + (unsigned)generator_below(numbers, BRY__FIELD_MAX);
        block it = block_of(numbers, bits);
        uint64_t n = (it.end - it.lowest) / bits, slot = generator_next(numbers) >> (64 - bits);
        uint64_t at = it.end - bits * (round % 4 ? generator_below(numbers, n + 1) : n);
        unsigned char *expected = malloc(it.len);
        assert_non_null(expected);
        memcpy(expected, it.before, it.len);
        plain_move(expected, it.before, it.lowest, at, -(int64_t)bits);
        for (unsigned i = 0; i < bits; i++)
            set_bit(expected, at - bits + i, slot >> i & 1);
        bry__slot_open(kernel, it.bytes, it.lowest, at, bits, slot);
        assert_memory_equal(it.bytes, expected, it.len);
        bry__slot_close(kernel, it.bytes, it.lowest - bits, at, bits);
        assert_memory_equal(it.bytes, it.before, it.len);
        free(expected);
        block_free(&it);
    }
}

static void open_runs(const bry__kernel *kernel, generator *numbers)
{
    for (int round = 0; round < 4000; round++) {
        block it = block_of(numbers, 20);
        uint64_t at = generator_below(numbers, it.runs);
        unsigned char *expected = malloc(it.len);
        assert_non_null(expected);
        memcpy(expected, it.before, it.len);
        plain_move(expected, it.before, at, it.runs, 1);
        set_bit(expected, at, 1);
        bry__run_open(kernel, it.bytes, at, it.runs);
        assert_memory_equal(it.bytes, expected, it.len);
        bry__run_close(kernel, it.bytes, at, it.runs);
        assert_memory_equal(it.bytes, it.before, it.len);
        free(expected);
        block_free(&it);
    }
}

TEST(test_open_and_close_slots)
{
    for_each_kernel(open_slots, 13);
}

TEST(test_open_and_close_runs)
{
    for_each_kernel(open_runs, 14);
}

/* ---- runs ---- */

enum { PAST = 8 }; /* bytes that may be read past the 0 that ends the run */

/* `runs` runs from bit `start` on, then exactly as much garbage as may be read. */
static unsigned char *runs_of(uint64_t start, unsigned runs, unsigned longest, generator *numbers,
                              uint64_t *places)
{
    uint64_t bits = start;
    for (unsigned i = 0; i < runs; i++) {
        places[i] = bits;
        uint64_t ones = generator_below(numbers, longest + 1);
        bits += (generator_below(numbers, 2) ? ones : ones % 3) + 1;
    }
    places[runs] = bits;
    size_t len = (size_t)((bits - 1) / 8) + 1 + PAST;
    unsigned char *bytes = malloc(len);
    assert_non_null(bytes);
    generator_fill(numbers, bytes, len);
    for (unsigned i = 0; i < runs; i++)
        for (uint64_t bit = places[i]; bit < places[i + 1]; bit++)
            set_bit(bytes, bit, bit + 1 < places[i + 1]);
    return bytes;
}

static void runs(const bry__kernel *kernel, generator *numbers)
{
    static uint64_t places[400];
    for (int round = 0; round < 700; round++) {
        unsigned longest = round % 7 == 0 ? 300 : round % 7 < 3 ? 0 : 6;
        unsigned count = 1 + (unsigned)generator_below(numbers, round % 2 ? 64 : 200);
        uint64_t start = generator_below(numbers, 40);
        unsigned char *bytes = runs_of(start, count, longest, numbers, places);
        for (unsigned first = 0; first < count; first += 1 + (unsigned)(round % 3) * 7) {
            for (unsigned zeros = 0; first + zeros < count; zeros++) {
                unsigned ones = 12345, expected;
                uint64_t at = kernel->run_after(bytes, places[first], zeros, &ones);
                assert_int_equal(at, places[first + zeros]);
                assert_int_equal(plain_run_after(bytes, places[first], zeros, &expected), at);
                assert_int_equal(ones, expected);
            }
        }
        /* From the middle of a run. */
        for (unsigned i = 0; i < count; i++) {
            uint64_t from = places[i] + generator_below(numbers, places[i + 1] - places[i]);
            unsigned zeros = (unsigned)generator_below(numbers, count - i), ones, expected;
            uint64_t at = kernel->run_after(bytes, from, zeros, &ones);
            assert_int_equal(plain_run_after(bytes, from, zeros, &expected), at);
            assert_int_equal(ones, expected);
        }
        free(bytes);
    }
}

TEST(test_runs)
{
    for_each_kernel(runs, 20);
}
