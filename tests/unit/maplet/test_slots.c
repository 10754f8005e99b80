/*
 * Slots and runs of every instruction set compared with definitions that use one entry at a time.
 * Strings are on the heap and exactly as long as the contract says, so that a sanitizer detects
 * access beyond them.
 */
#include "kernel/kernel.h"

#include "support/cmocka_all.h"
#include "support/generator.h"

#include <stdlib.h>
#include <string.h>

#define MOST 300u
#define WORDS (MOST / 64 + 2)

typedef struct sample {
    unsigned n, bits, value_bits;
    uint64_t slot[MOST];
    unsigned quotient[MOST];
    uint64_t kept[WORDS];
    unsigned left; /* entries that are kept */
    unsigned quotients;
    unsigned char *slots, *runs;
    size_t slots_size, runs_size;
} sample;

static unsigned char *zeros(size_t size)
{
    unsigned char *bytes = calloc(1, size);
    assert_non_null(bytes);
    return bytes;
}

static bool is_kept(const sample *one, unsigned i)
{
    return one->kept[i / 64] >> i % 64 & 1;
}

/* Consecutive fields, downwards from the end of a string. */
static void put_slot(unsigned char *bytes, size_t size, unsigned i, unsigned bits, uint64_t slot)
{
    for (unsigned j = 0; j < bits; j++) {
        uint64_t at = 8 * (uint64_t)size - (uint64_t)(i + 1) * bits + j;
        bytes[at / 8] |= (unsigned char)((slot >> j & 1) << at % 8);
    }
}

static void put_one(unsigned char *bytes, uint64_t at)
{
    bytes[at / 8] |= (unsigned char)(1u << at % 8);
}

static void draw(sample *one, generator *numbers, unsigned n, unsigned bits, unsigned value_bits)
{
    unsigned share = (unsigned)generator_below(numbers, 5) * 25; /* kept, in percent */
    *one = (sample){.n = n, .bits = bits, .value_bits = value_bits};
    one->slots_size = 8 + ((size_t)n * bits + 15) / 16 * 2; /* may be read eight bytes before */
    one->slots = zeros(one->slots_size);
    for (unsigned i = 0, quotient = 0; i < n; i++) {
        one->slot[i] = generator_next(numbers) & bry__low_bits(bits);
        put_slot(one->slots, one->slots_size, i, bits, one->slot[i]);
        quotient += (unsigned)generator_below(numbers, i % 5 ? 3 : 90);
        one->quotient[i] = quotient;
        one->quotients = quotient + 1;
        uint64_t kept = generator_below(numbers, 100) < share;
        one->kept[i / 64] |= kept << i % 64;
        one->left += (unsigned)kept;
    }
    one->runs_size = (one->quotients + n + 7) / 8 + 8; /* may be read eight bytes beyond */
    one->runs = zeros(one->runs_size);
    for (unsigned i = 0; i < n; i++)
        put_one(one->runs, one->quotient[i] + i);
    memset(one->runs + one->runs_size - 8, 0xa5, 8); /* its contents do not matter */
}

static void end(sample *one)
{
    free(one->slots);
    free(one->runs);
}

static void check_kept(const bry__kernel *kernel, const sample *one, generator *numbers)
{
    uint32_t *name = malloc(sizeof *name << one->value_bits);
    assert_non_null(name);
    for (uint32_t i = 0; i < 1u << one->value_bits; i++)
        name[i] = generator_below(numbers, 2) ? UINT32_MAX : i;
    bry__kept_values values = bry__keep_named(name, (uint64_t)1 << one->value_bits);
    bry__kept kept;
    kernel->slots_select(one->slots, 8 * (uint64_t)one->slots_size, one->n, one->bits,
                         one->value_bits, &values, &kept);
    unsigned count = 0;
    for (unsigned i = 0; i < one->n; i++) {
        if (i % 64 == 0)
            assert_int_equal(kept.before[i / 64], count);
        uint64_t value = one->slot[i] >> (one->bits - one->value_bits);
        assert_int_equal(kept.bits[i / 64] >> i % 64 & 1, name[value] != UINT32_MAX);
        count += name[value] != UINT32_MAX;
    }
    assert_int_equal(kept.n, count);
    assert_int_equal(kept.bits[one->n / 64 + 1], 0);
    assert_int_equal(kept.before[one->n / 64 + 1], count);
    free(name);
}

static void check_slots_copy(const bry__kernel *kernel, const sample *one)
{
    enum { BELOW = 8 }; /* that may be overwritten */
    size_t size = ((size_t)one->left * one->bits + 7) / 8;
    unsigned char *expected = zeros(size + 1), *bytes = zeros(BELOW + size);
    for (unsigned i = 0, at = 0; i < one->n; i++)
        if (is_kept(one, i))
            put_slot(expected, size, at++, one->bits, one->slot[i]);
    memset(bytes, 0xa5, BELOW + size);
    kernel->slots_copy(one->slots, 8 * (uint64_t)one->slots_size, one->n, one->bits, one->kept,
                       bytes + BELOW + size);
    assert_memory_equal(bytes + BELOW, expected, size);
    free(expected);
    free(bytes);
}

static void check_runs(const bry__kernel *kernel, const sample *one)
{
    uint64_t runs_end = one->quotients + one->n;
    size_t size = (one->quotients + one->left + 7) / 8;
    unsigned char *expected = zeros(size + 8), *bytes = zeros(size + 8);
    bry__run_entry *listed = malloc((one->left + 64) * sizeof *listed);
    bry__runs_place place = {0};
    unsigned list = 0;
    assert_non_null(listed);
    memset(bytes, 0xa5, size + 8);
    kernel->runs_copy(one->runs, runs_end, one->kept, bytes);
    for (unsigned more; (more = kernel->runs_list(one->runs, runs_end, one->kept, &place,
                                                  listed + list, 64 + one->n % 50)) > 0;)
        list += more;
    assert_int_equal(list, one->left);
    assert_int_equal(place.index, one->n);
    for (unsigned i = 0, at = 0; i < one->n; i++) {
        if (!is_kept(one, i))
            continue;
        assert_int_equal(listed[at].index, i);
        assert_int_equal(listed[at].quotient, one->quotient[i]);
        put_one(expected, one->quotient[i] + at++);
    }
    assert_memory_equal(bytes, expected, size);
    free(expected);
    free(bytes);
    free(listed);
}

TEST(test_slots_and_runs)
{
    static sample one;
    for (int isa = 0; isa < BRY__ISA_COUNT; isa++) {
        const bry__kernel *kernel = bry__kernel_of((bry__isa)isa);
        generator numbers = {4};
        for (unsigned bits = 1; kernel && bits <= 56; bits++)
            for (unsigned round = 0; round < 12; round++) {
                unsigned n = 1 + (unsigned)generator_below(&numbers, round % 3 ? 70 : MOST);
                unsigned most = bits < 12 ? bits : 12;
                draw(&one, &numbers, n, bits, (unsigned)generator_below(&numbers, most + 1));
                check_kept(kernel, &one, &numbers);
                check_slots_copy(kernel, &one);
                check_runs(kernel, &one);
                end(&one);
            }
    }
}
