/*
 * The hash of a key, and the positions that engines derive from it. unit/hash_vectors.tsv pins the
 * scheme; its numbers come from tools/hash_vectors.py, which shares no code with the library.
 */
#include "hash/derive.h"
#include "kernel/block.h"
#include "support/band.h"
#include "support/cmocka_all.h"
#include "support/generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef HASH_VECTORS
#error "HASH_VECTORS names the vector file"
#endif
enum { VECTORS = 120, MAX_KEY = 1000, POSITIONS = 21, STANDARD = 8 };

typedef struct vector {
    uint64_t seed;
    unsigned char key[MAX_KEY];
    size_t len;
    bry_hash hash;
    uint64_t block;
    unsigned positions[POSITIONS];
    uint64_t print;
    uint64_t standard[STANDARD];
} vector;

static vector vectors[VECTORS];

static unsigned hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *at = c ? strchr(digits, c) : NULL;
    assert_non_null(at);
    return (unsigned)(at - digits);
}

static uint64_t hex_number(const char *text)
{
    assert_int_equal(strlen(text), 16);
    uint64_t number = 0;
    for (int i = 0; i < 16; i++)
        number = number << 4 | hex_digit(text[i]);
    return number;
}

static uint64_t decimal(char **text)
{
    char *end;
    uint64_t number = strtoull(*text, &end, 10);
    assert_ptr_not_equal(end, *text);
    *text = *end == ',' ? end + 1 : end;
    return number;
}

static void read_vector(char *line, vector *into)
{
    char *field[8], *rest = NULL;
    for (int i = 0; i < 8; i++) {
        field[i] = strtok_r(i ? NULL : line, "\t\n", &rest);
        assert_non_null(field[i]);
    }
    assert_null(strtok_r(NULL, "\t\n", &rest));
    into->seed = hex_number(field[0]);
    into->len = strcmp(field[1], "-") == 0 ? 0 : strlen(field[1]) / 2;
    assert_in_range(into->len, 0, MAX_KEY);
    for (size_t i = 0; i < into->len; i++)
        into->key[i] =
            (unsigned char)(hex_digit(field[1][2 * i]) << 4 | hex_digit(field[1][2 * i + 1]));
    into->hash = (bry_hash){hex_number(field[2]), hex_number(field[3])};
    into->block = decimal(&field[4]);
    for (int i = 0; i < POSITIONS; i++)
        into->positions[i] = (unsigned)decimal(&field[5]);
    into->print = decimal(&field[6]);
    for (int i = 0; i < STANDARD; i++)
        into->standard[i] = decimal(&field[7]);
}

static int read_vectors(void **state)
{
    (void)state;
    FILE *file = fopen(HASH_VECTORS, "r");
    if (!file)
        return -1;
    static char line[8192];
    int count = 0;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            continue;
        assert_in_range(count, 0, VECTORS - 1);
        read_vector(line, &vectors[count++]);
    }
    fclose(file);
    return count == VECTORS ? 0 : -1;
}

static void assert_hash_equal(bry_hash a, bry_hash b)
{
    assert_int_equal(a.lo, b.lo);
    assert_int_equal(a.hi, b.hi);
}

TEST(test_hashes_are_the_vectors)
{
    assert_int_equal(BRY__HASH_SCHEME, 1);
    for (int i = 0; i < VECTORS; i++) {
        const vector *v = &vectors[i];
        assert_hash_equal(bry_hash_key(v->seed, v->key, v->len), v->hash);
    }
}

TEST(test_what_is_derived_is_the_vectors)
{
    for (int i = 0; i < VECTORS; i++) {
        const vector *v = &vectors[i];
        assert_int_equal(bry__scale(v->hash.hi, 19372), v->block);
        assert_int_equal(bry__fingerprint(v->hash, 1000003), v->print);
        for (unsigned j = 0; j < STANDARD; j++)
            assert_int_equal(bry__position(v->hash, j, 9585059), v->standard[j]);
        for (unsigned j = 0; j < POSITIONS; j++) {
            uint64_t word = bry__word(v->hash.lo, j / BRY__PER_WORD);
            assert_int_equal(bry__block_position(word, j % BRY__PER_WORD), v->positions[j]);
        }
        /* The same for the block functions: exactly the first k positions, at byte p / 8. */
        for (unsigned k = 1; k <= POSITIONS; k++) {
            unsigned char block[64] = {0}, expected[64] = {0};
            for (unsigned j = 0; j < k; j++)
                expected[v->positions[j] / 8] |= (unsigned char)(1u << v->positions[j] % 8);
            bry__block_set(block, v->hash.lo, k);
            assert_memory_equal(block, expected, sizeof block);
            assert_true(bry__block_test(block, v->hash.lo, k));
            for (unsigned j = 0; j < k; j++) {
                unsigned p = v->positions[j];
                block[p / 8] ^= (unsigned char)(1u << p % 8);
                assert_false(bry__block_test(block, v->hash.lo, k));
                block[p / 8] ^= (unsigned char)(1u << p % 8);
            }
        }
    }
}

TEST(test_keys_at_any_address)
{
    unsigned char shifted[MAX_KEY + 16];
    for (int i = 0; i < VECTORS; i++) {
        const vector *v = &vectors[i];
        for (size_t at = 0; at < 16; at += 3) {
            memcpy(shifted + at, v->key, v->len);
            assert_hash_equal(bry_hash_key(v->seed, shifted + at, v->len), v->hash);
        }
    }
}

TEST(test_empty_key)
{
    assert_int_equal(vectors[0].len, 0);
    assert_hash_equal(bry_hash_key(0, NULL, 0), vectors[0].hash);
    assert_hash_equal(bry_hash_key(0, "abc", 0), vectors[0].hash);
    assert_true(bry_hash_key(1, NULL, 0).lo != vectors[0].hash.lo);
}

TEST(test_batch_is_singles)
{
    static const void *keys[VECTORS];
    static size_t lens[VECTORS];
    static bry_hash out[VECTORS + 1];
    for (int i = 0; i < VECTORS; i++) {
        keys[i] = vectors[i].len ? vectors[i].key : NULL;
        lens[i] = vectors[i].len;
    }
    for (size_t n = 0; n <= VECTORS; n++) {
        memset(out, 0x5a, sizeof out);
        bry_hash_key_n(77, keys, lens, n, out);
        for (size_t i = 0; i < n; i++)
            assert_hash_equal(out[i], bry_hash_key(77, keys[i], lens[i]));
        assert_int_equal(out[n].lo, UINT64_C(0x5a5a5a5a5a5a5a5a));
    }
    bry_hash_key_n(77, NULL, NULL, 0, NULL);
}

TEST(test_digest_is_little_endian_and_unseeded)
{
    unsigned char digest[17];
    for (int i = 0; i < 17; i++)
        digest[i] = (unsigned char)(i + 1);
    assert_hash_equal(bry_hash_digest(digest),
                      (bry_hash){UINT64_C(0x0807060504030201), UINT64_C(0x100f0e0d0c0b0a09)});
    assert_hash_equal(bry_hash_digest(digest + 1),
                      (bry_hash){UINT64_C(0x0908070605040302), UINT64_C(0x11100f0e0d0c0b0a)});
}

TEST(test_scaling)
{
    assert_int_equal(bry__scale(0, 10), 0);
    assert_int_equal(bry__scale(UINT64_MAX, 10), 9);
    assert_int_equal(bry__scale(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
    assert_int_equal(bry__scale(UINT64_C(1) << 63, 1000), 500);
    assert_int_equal(bry__scale((UINT64_C(1) << 63) - 1, 1000), 499);
    assert_int_equal(bry__scale(12345, 1), 0);
    /* Twice the range adds one bit at the bottom, which tables that double rely on. */
    generator numbers = {5};
    for (int i = 0; i < 10000; i++) {
        bry_hash hash = generator_hash(&numbers);
        uint64_t range = 1 + generator_below(&numbers, UINT64_C(1) << 60);
        assert_int_equal(bry__fingerprint(hash, 8 * range) >> 3, bry__fingerprint(hash, range));
        assert_true(bry__fingerprint(hash, range) < range);
    }
}

/* Every input bit changes every output bit half of the time, within the band. */
TEST(test_mixing_spreads_every_bit)
{
    enum { ROUNDS = 400 };
    generator numbers = {6};
    static uint32_t flips[64][64];
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t x = generator_next(&numbers), mixed = bry__mix64(x);
        for (int in = 0; in < 64; in++) {
            uint64_t changed = mixed ^ bry__mix64(x ^ UINT64_C(1) << in);
            for (int out = 0; out < 64; out++)
                flips[in][out] += changed >> out & 1;
        }
    }
    for (int in = 0; in < 64; in++)
        for (int out = 0; out < 64; out++)
            band_assert(flips[in][out], ROUNDS, 0.5);
}

int main(void)
{
    return run_all_tests(read_vectors, NULL);
}
