/*
 * The papers' search for encodings and its inverse. With two arguments COUNT and BITS, only the
 * search: COUNT encodings must take BITS bits.
 */
#include "papers/greedy.h"

#include "map/kbf/field.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bry_allocator heap;

static bry__greedy search(uint32_t count, double bits_an_entry)
{
    bry__greedy greedy;
    assert_int_equal(bry__greedy_search(&greedy, count, bits_an_entry, &heap), BRY_OK);
    assert_int_equal(greedy.count, count);
    return greedy;
}

/* Every number and every pair of them once. */
static void assert_distinct(const bry__greedy *greedy)
{
    unsigned char *seen = calloc(1, (size_t)1 << greedy->bits);
    assert_non_null(seen);
    seen[0] = 1;
    for (uint32_t i = 0; i < greedy->count; i++) {
        assert_true(i == 0 || greedy->code[i] > greedy->code[i - 1]);
        for (uint32_t j = 0; j <= i; j++) {
            uint32_t v = greedy->code[i] ^ (i == j ? 0 : greedy->code[j]);
            assert_false(seen[v]);
            seen[v] = 1;
        }
    }
    free(seen);
}

/* Compared with the rule itself, applied without shortcuts. */
TEST(test_search_is_greedy)
{
    enum { N = 64 };
    bry__greedy greedy = search(N, 0);
    assert_int_equal(greedy.code[0], 1);
    assert_int_equal(greedy.code[4], 15);
    unsigned char taken[1 << 14] = {0};
    uint32_t v = 1;
    for (uint32_t n = 0; n < N; n++, v++) {
        for (;; v++) {
            bool free_of = !taken[v];
            for (uint32_t i = 0; i < n; i++)
                free_of &= !taken[v ^ greedy.code[i]];
            if (free_of)
                break;
        }
        assert_int_equal(greedy.code[n], v);
        taken[v] = 1;
        for (uint32_t i = 0; i < n; i++)
            taken[v ^ greedy.code[i]] = 1;
    }
    assert_distinct(&greedy);
    bry__greedy_free(&greedy);
}

/* The Bloom filter never accepts a collision; its cost are skipped numbers: many with few bits per
 * entry, none with enough. */
TEST(test_bloom_filter_as_a_shortcut)
{
    enum { N = 400 };
    bry__greedy exact = search(N, 0), good = search(N, 50), poor = search(N, 12);
    assert_distinct(&good);
    assert_distinct(&poor);
    assert_memory_equal(exact.code, good.code, N * sizeof *exact.code);
    assert_true(poor.code[N - 1] > exact.code[N - 1]);
    bry__greedy_free(&exact);
    bry__greedy_free(&good);
    bry__greedy_free(&poor);
}

/* What the search costs: (x, x³) has 2^t - 1 encodings in 2t bits. */
TEST(test_bits)
{
    static const unsigned bits[] = {18, 21, 24};
    for (unsigned t = 8; t <= 10; t++) {
        uint32_t count = (1u << t) - 1;
        bry__greedy greedy = search(count, 0);
        assert_int_equal(greedy.bits, bits[t - 8]);
        bry__gf gf;
        assert_int_equal(bry__gf_init(&gf, t, &heap), BRY_OK);
        bry__encoder algebraic = bry__algebraic_encoder(&gf);
        assert_int_equal(algebraic.count, count);
        assert_int_equal(algebraic.bits, 2 * t);
        bry__gf_free(&gf, &heap);
        bry__greedy_free(&greedy);
    }
}

TEST(test_inverse_by_regression)
{
    for (uint32_t count = 1; count <= 1000; count = count * 3 + 1) {
        bry__greedy greedy = search(count, 0);
        uint64_t reads = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t here = 0;
            assert_int_equal(
                bry__regression_find(&greedy.fit, greedy.code, count, greedy.code[i], &here), i);
            reads += here;
        }
        /* More than a binary search: gaps grow with the index, so the mean one is a poor step. */
        assert_true((double)reads / count < 25);
        uint32_t end = greedy.code[count - 1], next = 0;
        for (uint32_t v = 0; v <= end + 2; v += 1 + end / 5000) {
            while (next < count && greedy.code[next] < v)
                next++;
            uint32_t want = next < count && greedy.code[next] == v ? next : BRY__ENCODER_NONE;
            assert_int_equal(bry__regression_find(&greedy.fit, greedy.code, count, v, NULL), want);
        }
        bry__greedy_free(&greedy);
    }
}

static void check_encoder(const bry__encoder *encoder)
{
    const void *self = encoder->self;
    generator numbers = {1};
    for (int i = 0; i < 3000; i++) {
        uint32_t a = (uint32_t)generator_below(&numbers, encoder->count);
        uint32_t b = (uint32_t)generator_below(&numbers, encoder->count), x = 0, y = 0;
        uint32_t v = encoder->encode(self, a);
        assert_int_equal(encoder->decode(self, v), a);
        assert_false(encoder->decode_pair(self, v, &x, &y));
        v ^= encoder->encode(self, b);
        assert_int_equal(encoder->decode(self, v), BRY__ENCODER_NONE);
        assert_int_equal(encoder->decode_pair(self, v, &x, &y), a != b);
        assert_int_equal(encoder->is_pair(self, v), a != b);
        if (a != b)
            assert_true((x == a && y == b) || (x == b && y == a));
    }
    /* A sum of three may have several decompositions; the true one is always among them. */
    uint32_t *members = malloc(encoder->count * sizeof *members);
    for (int i = 0; i < 50; i++) {
        uint32_t a[3], v = 0, found = 0;
        for (int j = 0; j < 3; j++)
            v ^= encoder->encode(self, a[j] = (uint32_t)(i * 3 + j));
        uint32_t n = bry__encoder_triples(encoder, v, members, encoder->count);
        for (uint32_t m = 0; m < n; m++)
            found += members[m] == a[0] || members[m] == a[1] || members[m] == a[2];
        assert_int_equal(found, 3);
        assert_int_equal(bry__encoder_triples(encoder, v, NULL, 0), n);
    }
    free(members);
}

TEST(test_encoders_decode)
{
    bry__greedy greedy = search(500, 0);
    assert_int_equal(bry__greedy_index(&greedy, 1e-6), BRY_OK);
    bry__encoder encoder = bry__greedy_encoder(&greedy);
    check_encoder(&encoder);
    bry__gf gf;
    assert_int_equal(bry__gf_init(&gf, 9, &heap), BRY_OK);
    encoder = bry__algebraic_encoder(&gf);
    check_encoder(&encoder);
    bry__gf_free(&gf, &heap);
    bry__greedy_free(&greedy);
}

TEST(test_no_memory)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry_status status = BRY_E_NOMEM;
    for (uint64_t at = 1; status != BRY_OK; at++) {
        bry__greedy greedy;
        failing_allocator_restart(&memory);
        memory.fail_at = at;
        status = bry__greedy_search(&greedy, 300, at % 2 ? 0 : 20, &memory.allocator);
        if (status == BRY_OK) {
            status = bry__greedy_index(&greedy, 0.01);
            bry__greedy_free(&greedy);
        }
        assert_true(status == BRY_OK || status == BRY_E_NOMEM);
        assert_int_equal(memory.now, 0);
    }
}

static int search_alone(uint32_t count, unsigned bits)
{
    bry__greedy greedy = search(count, 0);
    uint64_t reads = 0, wrong = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t here;
        wrong += bry__regression_find(&greedy.fit, greedy.code, count, greedy.code[i], &here) != i;
        reads += here;
    }
    printf("%u encodings: %u bits, the last is %u; %.2f reads to invert\n", (unsigned)count,
           greedy.bits, (unsigned)greedy.code[count - 1], (double)reads / count);
    bool as_told = greedy.bits == bits;
    bry__greedy_free(&greedy);
    return !as_told || wrong > 0;
}

int main(int argc, char **argv)
{
    heap = bry__allocator_or_default(NULL);
    if (argc > 2)
        return search_alone((uint32_t)strtoul(argv[1], NULL, 10),
                            (unsigned)strtoul(argv[2], NULL, 10));
    return run_all_tests(NULL, NULL);
}
