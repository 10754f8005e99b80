/*
 * Encodings by search: Algorithm 1 of "kBF: Towards Approximate and Bloom Filter based Key-Value
 * Storage for Cloud Computing Systems". From 1 upward, takes each number that does not collide with
 * a number or pair before it.
 *
 * The papers' Figure 2 has 2^14 encodings in 30 bits. As described, the search needs more:
 * 18, 21, 24, 27 bits for 255, 511, 1023 and 2047 encodings and 29 for 4096, growing with the 2.8th
 * power of their number. Below 2^30 there are about 5,600, below 2^32 8,752.
 *
 * Collisions are detected by a filter that holds all encodings and pairs so far. With a
 * Bloom filter, as published, false positives skip numbers that do not collide, at a rate of (its
 * error) × (encodings so far), so the error has to be far below 1/count. `bits_an_entry` 0 uses a
 * plain bit set instead, one bit per number below the widest encoding, which never errs.
 */
#ifndef BRY_PAPERS_GREEDY_H
#define BRY_PAPERS_GREEDY_H

#include "bloom/bloom_standard.h"
#include "papers/encoder.h"
#include "papers/regression.h"

typedef struct bry__greedy {
    bry_allocator allocator;
    uint32_t count;
    unsigned bits; /* of the last, which is the widest */
    uint32_t *code; /* ascending */
    bry__regression fit;
    bry__bloom singles, pairs; /* for decoding; empty until bry__greedy_index() */
    bool indexed;
} bry__greedy;

/* Finds `count` encodings, 1 to 2^15. BRY_E_FULL: there are fewer below 2^31. BRY_E_NOMEM. */
bry_status bry__greedy_search(bry__greedy *greedy, uint32_t count, double bits_an_entry,
                              const bry_allocator *allocator);
void bry__greedy_free(bry__greedy *greedy);

/* Builds the two Bloom filters for decoding: of all encodings, and of all pairs. BRY_E_NOMEM. */
bry_status bry__greedy_index(bry__greedy *greedy, double error);

/* Builds the first alone, which is all that decoding pairs needs; the second one is larger by far.
 * With it, is_pair() must not be called. BRY_E_NOMEM. */
bry_status bry__greedy_index_singles(bry__greedy *greedy, double error);

/* The bytes of that filter and, if `pairs`, of both. */
uint64_t bry__greedy_index_bytes(uint32_t count, double error, bool pairs);

/* How often the XOR of four of `count` encodings looks like a pair of them: 0.20, 0.093, 0.050 and
 * 0.022 of 100, 400, 1000 and 3000, as measured. The formula is for 100 and more. */
double bry__greedy_pair_share(uint32_t count);

/* For decoding, which goes through all encodings as in the papers. It must be indexed; keeps a
 * pointer to it. */
bry__encoder bry__greedy_encoder(const bry__greedy *greedy);

#endif
