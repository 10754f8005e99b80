/*
 * Arithmetic in GF(2^t), t = 8 to 14, and the codes that kbf superimposes.
 *
 * An element is a number below 2^t; its bits are the coefficients of a polynomial over {0, 1},
 * taken modulo a primitive polynomial of degree t. Addition is XOR. Every element other than 0 is a
 * power of the element 2, so that with a table of logarithms a product is an addition.
 *
 * The encoding of x ≠ 0 is the pair e(x) = (x, x³), 2t bits, x in the lower half. Any two encodings
 * can be recovered from their XOR V = (s, c), s = x + y, c = x³ + y³, because
 *
 *     s³ = x³ + y³ + xy(x + y) = c + xy·s,     so     xy = (s³ + c) / s,
 *
 * and x and y are the roots of z² + s·z + xy = 0. With z = s·u this is u² + u = 1 + c/s³, whose
 * roots u and u + 1 are looked up in a table; half of all V are not a pair and have none. If the
 * right side is 0, V is a single encoding: so a pair is never a single encoding, nor 0. (This is
 * the two-error-correcting BCH code: the encodings are the columns of its check matrix.)
 */
#ifndef BRY_MAP_FIELD_H
#define BRY_MAP_FIELD_H

#include "common/allocator.h"

#define BRY__GF_MIN_BITS 8u
#define BRY__GF_MAX_BITS 14u

typedef struct bry__gf {
    unsigned bits; /* t */
    uint32_t order; /* 2^t - 1: elements other than 0, and so encodings */
    uint16_t *log; /* log[2^i] = i, below order; log[0] is not used */
    uint16_t *exp; /* for exponents below 2 · order, to save a reduction */
    uint16_t *cube;
    uint16_t *root; /* a solution u of u² + u = c, or 0 if there is none (and for c = 0) */
} bry__gf;

/* The smallest t whose field has `codes` elements other than 0; 0 if there is none. */
unsigned bry__gf_bits_for(uint64_t codes);

/* Bytes of the tables. 160 KiB for t = 14. */
size_t bry__gf_bytes(unsigned bits);

/* BRY_E_NOMEM. */
bry_status bry__gf_init(bry__gf *gf, unsigned bits, const bry_allocator *allocator);
void bry__gf_free(bry__gf *gf, const bry_allocator *allocator);

static inline uint32_t bry__gf_mul(const bry__gf *gf, uint32_t x, uint32_t y)
{
    return x && y ? gf->exp[gf->log[x] + gf->log[y]] : 0;
}

/* y is not 0. */
static inline uint32_t bry__gf_div(const bry__gf *gf, uint32_t x, uint32_t y)
{
    return x ? gf->exp[gf->log[x] + gf->order - gf->log[y]] : 0;
}

/* x times 2^power, power below order: the mask of a key. And back. */
static inline uint32_t bry__gf_mask(const bry__gf *gf, uint32_t x, uint32_t power)
{
    return gf->exp[gf->log[x] + power];
}

static inline uint32_t bry__gf_unmask(const bry__gf *gf, uint32_t x, uint32_t power)
{
    return gf->exp[gf->log[x] + gf->order - power];
}

static inline uint32_t bry__gf_encode(const bry__gf *gf, uint32_t x)
{
    return x | (uint32_t)gf->cube[x] << gf->bits;
}

/* The x whose encoding is v, or 0. */
static inline uint32_t bry__gf_decode(const bry__gf *gf, uint32_t v)
{
    uint32_t x = v & gf->order;
    return gf->cube[x] == v >> gf->bits ? x : 0;
}

/* The two elements whose encodings XOR to v, in any order; false if there are none. */
static inline bool bry__gf_decode_pair(const bry__gf *gf, uint32_t v, uint32_t *x, uint32_t *y)
{
    uint32_t s = v & gf->order, c = v >> gf->bits;
    if (s == 0)
        return false;
    uint32_t u = gf->root[1 ^ bry__gf_div(gf, c, gf->cube[s])];
    if (u == 0)
        return false;
    *x = gf->exp[gf->log[s] + gf->log[u]];
    *y = *x ^ s;
    return true;
}

/* Whether v is the XOR of two encodings, equal ones included. */
static inline bool bry__gf_is_two(const bry__gf *gf, uint32_t v)
{
    uint32_t s = v & gf->order, c = v >> gf->bits;
    if (s == 0)
        return c == 0;
    return gf->root[1 ^ bry__gf_div(gf, c, gf->cube[s])] != 0;
}

#endif
