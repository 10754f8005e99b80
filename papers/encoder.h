/*
 * Encodings of values as the kBF papers need them: numbers whose pairwise XORs all differ, from
 * each other and from the numbers themselves. Decoding uses this table of functions, so that the
 * papers' search and the algebra that replaces it can be compared.
 */
#ifndef BRY_PAPERS_ENCODER_H
#define BRY_PAPERS_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BRY__ENCODER_NONE UINT32_MAX

typedef struct bry__encoder {
    const void *self;
    uint32_t count; /* encodings 0 to count - 1 */
    unsigned bits; /* of the widest */
    uint32_t (*encode)(const void *self, uint32_t index);
    /* The index of v, or BRY__ENCODER_NONE if v is not an encoding. */
    uint32_t (*decode)(const void *self, uint32_t v);
    /* Whether v is the XOR of two different encodings, and of which. */
    bool (*decode_pair)(const void *self, uint32_t v, uint32_t *a, uint32_t *b);
    bool (*is_pair)(const void *self, uint32_t v);
} bry__encoder;

/*
 * All a for which v ⊕ e(a) is a pair: the members of every three encodings whose XOR may be v.
 * Triples are not unique, so there can be any number of members: stores up to `room` of them and
 * returns how many there are. Goes through all encodings.
 */
uint32_t bry__encoder_triples(const bry__encoder *encoder, uint32_t v, uint32_t *members,
                              uint32_t room);

struct bry__gf;

/* The encodings (x, x³) of lib/map/kbf/field.h: index i is x = i + 1. Keeps a pointer to gf. */
bry__encoder bry__algebraic_encoder(const struct bry__gf *gf);

#endif
