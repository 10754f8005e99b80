/*
 * kBF as its papers describe it, over the cells of lib/map/kbf/kbf_decode.h and any encoder: codes are
 * not masked, and look-ups decode at one of the papers' levels. With the library's encodings, masks
 * and consistent decoding can be switched on separately, so that the effect of each can be
 * measured. Two corrections are made (doc/errata.md), without which nothing could be measured: the
 * k cells of a key are distinct, and all of them are read before any is trusted.
 */
#ifndef BRY_PAPERS_PAPER_KBF_H
#define BRY_PAPERS_PAPER_KBF_H

#include "papers/encoder.h"

#include "common/allocator.h"

#include <bloomery/hash.h>

typedef enum bry__paper_level {
    BRY__PAPER_ONES = 1, /* a cell of one key */
    BRY__PAPER_PAIRS = 2, /* else two different cells of two: decode22 */
    BRY__PAPER_TRIPLES = 3, /* else a cell of two and one of three: decode23, Algorithm 7 */
    /* The INFOCOM paper's: the one encoding that all cells of one, two and three may hold; cells of
     * three are decoded by going through all encodings. */
    BRY__PAPER_SETS = 4,
    BRY__PAPER_CONSISTENT = 5, /* as in the library; only with the algebraic encoder */
} bry__paper_level;

typedef struct bry__paper_kbf {
    bry__encoder encoder; /* of at most 29 bits */
    unsigned hashes; /* 1 to 32 */
    uint64_t segment;
    uint64_t items;
    uint32_t *cells;
    /* Set after init, if needed: */
    const struct bry__gf *gf; /* the encoder's; for masking and for consistent decoding */
    bool masked;
} bry__paper_kbf;

/* BRY_E_RANGE: encodings do not fit a cell. BRY_E_NOMEM. */
bry_status bry__paper_kbf_init(bry__paper_kbf *kbf, const bry__encoder *encoder, unsigned hashes,
                               uint64_t segment, const bry_allocator *allocator);
void bry__paper_kbf_free(bry__paper_kbf *kbf, const bry_allocator *allocator);

void bry__paper_kbf_insert(bry__paper_kbf *kbf, bry_hash hash, uint32_t code);

/* codes: how many are assigned. *code is set only for BRY_PRESENT. */
bry_answer bry__paper_kbf_get(const bry__paper_kbf *kbf, bry_hash hash, bry__paper_level level,
                              uint32_t codes, uint32_t *code);

/* Both look up the key first, and change nothing unless the answer is BRY_PRESENT. */
bry_answer bry__paper_kbf_update(bry__paper_kbf *kbf, bry_hash hash, bry__paper_level level,
                                 uint32_t codes, uint32_t code);
bry_answer bry__paper_kbf_delete(bry__paper_kbf *kbf, bry_hash hash, bry__paper_level level,
                                 uint32_t codes);

/* Algorithm 5 to the letter: XORs the new encoding and the one that the look-up returned into every
 * cell in use, also if it returned none. Then the cells no longer hold what their keys stored. */
void bry__paper_kbf_update_blindly(bry__paper_kbf *kbf, bry_hash hash, bry__paper_level level,
                                   uint32_t codes, uint32_t code);

/* Adds `from`, whose segments are 2^shift times as long: JOIN if shift is 0, COMPRESS if it is 1
 * and `into` is empty. Encoder and hashes are the same in both. */
void bry__paper_kbf_join(bry__paper_kbf *into, const bry__paper_kbf *from, unsigned shift);

#endif
