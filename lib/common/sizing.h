/*
 * Formulae that size Bloom filters, in both directions. n keys, m bits, k bits per key, error p.
 *
 * Standard filter:  fill = 1 - (1 - 1/m)^(kn),  p = fill^k,  best m = n·ln(1/p)/ln²2 at
 * k = m/n·ln 2.
 *
 * Blocked filter: b blocks of 512 bits; a key picks one block and k of its bits, with repetition.
 * Some blocks get more keys than others, so it errs more than a standard filter of the same size;
 * bry__blocked_error() is exact for uniform hashes up to rounding (see its definition).
 */
#ifndef BRY_COMMON_SIZING_H
#define BRY_COMMON_SIZING_H

#include <bloomery/base.h>

#define BRY__BLOCK_BITS 512u
#define BRY__BLOCKED_MAX_HASHES 21u

/* Standard: bits for n keys at error p; the best k for m bits and n keys (at least 1). */
double bry__bloom_bits(double n, double p);
unsigned bry__bloom_hashes(double m, double n);
/* The k that the error alone decides: round(log2(1/p)), at least 1. */
unsigned bry__bloom_hashes_for_error(double p);

double bry__bloom_fill(double m, unsigned k, double n);
double bry__bloom_error(double m, unsigned k, double n);
/* Keys that m bits hold at error p. */
double bry__bloom_capacity(double m, unsigned k, double p);
/* Keys that were added, estimated from the share of bits that are set; infinite at fill 1. */
double bry__bloom_count(double m, unsigned k, double fill);

double bry__blocked_fill(uint64_t blocks, unsigned k, double n);
double bry__blocked_error(uint64_t blocks, unsigned k, double n);
double bry__blocked_count(uint64_t blocks, unsigned k, double fill);

typedef struct bry__blocked_shape {
    uint64_t blocks;
    unsigned hashes;
    double error; /* expected with n keys, at most the requested p */
} bry__blocked_shape;

/* The smallest filter that keeps n keys at error p or below; 1 <= n <= 2^40, 1e-9 <= p <= 0.5. */
bry__blocked_shape bry__blocked_plan(uint64_t n, double p);

#endif
