/* GF(2^t) and the encodings in it: small fields exhaustively, the largest by sampling. */
#include "map/kbf/field.h"

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"

#include <stdlib.h>

static bry__gf make(unsigned bits)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__gf gf;
    assert_int_equal(bry__gf_init(&gf, bits, &allocator), BRY_OK);
    return gf;
}

static void drop(bry__gf *gf)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__gf_free(gf, &allocator);
}

/* Multiplication from its definition: shift, add, reduce, with the field's own polynomial, which is
 * the element 2 to the power t. */
static uint32_t slow_mul(const bry__gf *gf, uint32_t x, uint32_t y)
{
    uint32_t polynomial = (1u << gf->bits) | gf->exp[gf->bits], product = 0;
    for (; y; y >>= 1) {
        if (y & 1)
            product ^= x;
        x <<= 1;
        if (x >> gf->bits)
            x ^= polynomial;
    }
    return product;
}

TEST(test_products)
{
    generator numbers = {1};
    for (unsigned bits = BRY__GF_MIN_BITS; bits <= BRY__GF_MAX_BITS; bits++) {
        bry__gf gf = make(bits);
        assert_int_equal(gf.order, (1u << bits) - 1);
        /* The polynomial is primitive: every element except 0 is a power of 2, once. */
        unsigned char *seen = calloc(1, (size_t)gf.order + 1);
        for (uint32_t i = 0; i < gf.order; i++) {
            assert_true(gf.exp[i] > 0 && gf.exp[i] <= gf.order);
            assert_false(seen[gf.exp[i]]);
            seen[gf.exp[i]] = 1;
            assert_int_equal(gf.log[gf.exp[i]], i);
        }
        free(seen);
        for (int i = 0; i < 20000; i++) {
            uint32_t x = (uint32_t)generator_below(&numbers, gf.order + 1);
            uint32_t y = (uint32_t)generator_below(&numbers, gf.order + 1);
            assert_int_equal(bry__gf_mul(&gf, x, y), slow_mul(&gf, x, y));
            assert_int_equal(gf.cube[x], slow_mul(&gf, x, slow_mul(&gf, x, x)));
            if (y)
                assert_int_equal(slow_mul(&gf, bry__gf_div(&gf, x, y), y), x);
        }
        drop(&gf);
    }
}

TEST(test_masks)
{
    bry__gf gf = make(8);
    for (uint32_t power = 0; power < gf.order; power++)
        for (uint32_t x = 1; x <= gf.order; x++) {
            uint32_t masked = bry__gf_mask(&gf, x, power);
            assert_int_equal(masked, slow_mul(&gf, x, gf.exp[power]));
            assert_int_equal(bry__gf_unmask(&gf, masked, power), x);
        }
    drop(&gf);
}

/* u² + u takes half of all values: these have a root in the table, and no others. */
TEST(test_roots)
{
    for (unsigned bits = BRY__GF_MIN_BITS; bits <= BRY__GF_MAX_BITS; bits++) {
        bry__gf gf = make(bits);
        uint32_t with = 0;
        for (uint32_t c = 0; c <= gf.order; c++) {
            uint32_t u = gf.root[c];
            if (!u)
                continue;
            assert_int_equal(bry__gf_mul(&gf, u, u) ^ u, c);
            assert_true(c > 0);
            with++;
        }
        assert_int_equal(with, (gf.order + 1) / 2 - 1);
        drop(&gf);
    }
}

/* All contents that a cell of GF(2^8) can have: which are encodings, which pairs, and of what. */
TEST(test_every_pair_of_a_small_field)
{
    for (unsigned bits = 8; bits <= 9; bits++) { /* even and odd: roots differ in kind */
        bry__gf gf = make(bits);
        size_t contents = (size_t)1 << 2 * bits;
        uint32_t *pair = calloc(contents, sizeof *pair); /* x · 2^16 + y */
        unsigned char *single = calloc(1, contents);
        for (uint32_t x = 1; x <= gf.order; x++) {
            uint32_t v = bry__gf_encode(&gf, x);
            assert_true(v < contents);
            assert_false(single[v]);
            single[v] = 1;
        }
        for (uint32_t x = 1; x <= gf.order; x++)
            for (uint32_t y = x + 1; y <= gf.order; y++) {
                uint32_t v = bry__gf_encode(&gf, x) ^ bry__gf_encode(&gf, y);
                assert_true(v != 0 && !single[v] && !pair[v]); /* all sums are distinct */
                pair[v] = x << 16 | y;
            }
        for (uint32_t v = 0; v < contents; v++) {
            uint32_t x = bry__gf_decode(&gf, v), a = 0, b = 0;
            assert_int_equal(x != 0, single[v]);
            if (x)
                assert_int_equal(bry__gf_encode(&gf, x), v);
            assert_int_equal(bry__gf_decode_pair(&gf, v, &a, &b), pair[v] != 0);
            if (pair[v])
                assert_int_equal(a < b ? a << 16 | b : b << 16 | a, pair[v]);
            assert_int_equal(bry__gf_is_two(&gf, v), pair[v] != 0 || v == 0);
        }
        free(pair);
        free(single);
        drop(&gf);
    }
}

TEST(test_pairs_of_the_largest_field)
{
    bry__gf gf = make(14);
    assert_int_equal(gf.order, 16383);
    generator numbers = {2};
    uint32_t widest = 0;
    for (int i = 0; i < 2000000; i++) {
        uint32_t x = 1 + (uint32_t)generator_below(&numbers, gf.order);
        uint32_t y = 1 + (uint32_t)generator_below(&numbers, gf.order), a = 0, b = 0;
        uint32_t v = bry__gf_encode(&gf, x) ^ bry__gf_encode(&gf, y);
        widest |= v;
        assert_int_equal(bry__gf_decode_pair(&gf, v, &a, &b), x != y);
        assert_int_equal(bry__gf_decode(&gf, v), 0);
        assert_true(bry__gf_is_two(&gf, v));
        if (x != y)
            assert_true((a == x && b == y) || (a == y && b == x));
    }
    assert_int_equal(widest, (1u << 28) - 1); /* 28 bits, and all of them */
    drop(&gf);
}

TEST(test_sizes)
{
    assert_int_equal(bry__gf_bits_for(0), 8);
    assert_int_equal(bry__gf_bits_for(255), 8);
    assert_int_equal(bry__gf_bits_for(256), 9);
    assert_int_equal(bry__gf_bits_for(16383), 14);
    assert_int_equal(bry__gf_bits_for(16384), 0);
    assert_int_equal(bry__gf_bits_for(UINT64_MAX), 0);
    for (unsigned bits = BRY__GF_MIN_BITS; bits <= BRY__GF_MAX_BITS; bits++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry__gf gf;
        memory.fail_at = 1;
        assert_int_equal(bry__gf_init(&gf, bits, &memory.allocator), BRY_E_NOMEM);
        memory.fail_at = 0;
        assert_int_equal(bry__gf_init(&gf, bits, &memory.allocator), BRY_OK);
        assert_int_equal(memory.now, bry__gf_bytes(bits));
        assert_true(memory.now < 200 * 1024);
        bry__gf_free(&gf, &memory.allocator);
        assert_int_equal(memory.now, 0);
    }
}
