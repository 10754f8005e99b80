/*
 * From the cells of a key to its code.
 *
 * A cell is 32 bits: a counter in the low three, above it the XOR of the encodings (field.h) of as
 * many keys as the counter says. A counter of 7 has stopped counting: the cell is stuck and gives
 * no information.
 */
#ifndef BRY_MAP_KBF_DECODE_H
#define BRY_MAP_KBF_DECODE_H

#include "map/kbf/field.h"

#define BRY__KBF_MAX_HASHES 32u
#define BRY__KBF_STUCK 7u

static inline unsigned bry__cell_count(uint32_t cell)
{
    return cell & 7;
}

static inline uint32_t bry__cell_sum(uint32_t cell)
{
    return cell >> 3;
}

/* The input of decoding: n cells, none of them empty, and how the key's code is masked. */
typedef struct bry__kbf_question {
    const bry__gf *gf;
    const uint32_t *cells;
    unsigned n;
    uint32_t power; /* of the key's mask */
    uint32_t codes; /* assigned: 0 to codes - 1 */
} bry__kbf_question;

/* *code is set only for BRY_PRESENT. */
bry_answer bry__kbf_decode(const bry__kbf_question *question, uint32_t *code);

/*
 * All codes that the key may have: at most two, in found; returns how many, or -1 if no cell gives
 * a clue. If the key is there, its code is among them.
 */
int bry__kbf_candidates(const bry__kbf_question *question, uint32_t found[2]);

/* Whether every cell may hold this encoding. */
bool bry__kbf_agree(const bry__gf *gf, const uint32_t *cells, unsigned n, uint32_t encoding);

#endif
