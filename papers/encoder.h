/*
 * Encodings of values as the kBF papers need them: numbers of which all pairwise XORs differ, from
 * each other and from the numbers themselves. What decoding asks of them is behind this table, so
 * that the search of the papers and the algebra that replaces it can be compared.
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
    /* The index of v, or BRY__ENCODER_NONE when v is no encoding. */
    uint32_t (*decode)(const void *self, uint32_t v);
    /* Whether v is the XOR of two different encodings, and of which. */
    bool (*decode_pair)(const void *self, uint32_t v, uint32_t *a, uint32_t *b);
    bool (*is_pair)(const void *self, uint32_t v);
} bry__encoder;

/*
 * All a for which v ⊕ e(a) is a pair: the members of every three encodings whose XOR v may be.
 * Three are not unique, so there can be any number: up to `room` are stored, how many there are is
 * returned. Goes through all encodings.
 */
uint32_t bry__encoder_triples(const bry__encoder *encoder, uint32_t v, uint32_t *members,
                              uint32_t room);

struct bry__gf;

/* The encodings (x, x³) of lib/map/field.h: index i is x = i + 1. gf must stay. */
bry__encoder bry__algebraic_encoder(const struct bry__gf *gf);

#endif
