/*
 * sBF, the stateful Bloom filter that the kBF papers compare with (from "Beyond Bloom Filters: From
 * Approximate Membership Checks to Approximate State Machines", Bonomi and others, 2006): a cell
 * holds the state of its keys and a counter. Keys of different states in one cell make it "don't
 * know", and it stays so until its last key is gone or, as the kBF papers seem to have it, for good.
 */
#ifndef BRY_PAPERS_SBF_H
#define BRY_PAPERS_SBF_H

#include "common/allocator.h"

#include <bloomery/hash.h>

#define BRY__SBF_UNKNOWN 255u /* states are below this */

typedef struct bry__sbf_cell {
    uint8_t state; /* undefined while count is 0 */
    uint8_t count; /* sticks at 255 */
} bry__sbf_cell;

typedef struct bry__sbf {
    unsigned hashes;
    uint64_t segment; /* cells of each of `hashes` segments: a key has one in each */
    uint64_t items;
    bry__sbf_cell *cells;
    bool for_good; /* set after init, if wanted: a cell that does not know never will */
} bry__sbf;

/* BRY_E_RANGE, BRY_E_NOMEM. */
bry_status bry__sbf_init(bry__sbf *sbf, unsigned hashes, uint64_t segment,
                         const bry_allocator *allocator);
void bry__sbf_free(bry__sbf *sbf, const bry_allocator *allocator);

/*
 * BRY_ABSENT: a cell is empty, or two cells have different states. BRY_UNSURE: no cell knows.
 * BRY_PRESENT sets *state.
 */
bry_answer bry__sbf_get(const bry__sbf *sbf, bry_hash hash, uint8_t *state);

void bry__sbf_insert(bry__sbf *sbf, bry_hash hash, uint8_t state);
/* The key must be there. Its cells that hold other keys too become unknown, unless they have the
 * new state already. */
void bry__sbf_update(bry__sbf *sbf, bry_hash hash, uint8_t state);
void bry__sbf_delete(bry__sbf *sbf, bry_hash hash);

#endif
