/*
 * One table of kbf: m cells in k segments, and the operations on a key's cells. kbf_map.c decides
 * how many keys a table may hold, and what happens beyond.
 *
 * kbf_cells.c explains the structure.
 */
#ifndef BRY_MAP_KBF_CELLS_H
#define BRY_MAP_KBF_CELLS_H

#include "common/pieces.h"
#include "hash/derive.h"
#include "map/kbf/kbf_decode.h"

#include <bloomery/hash.h>

#define BRY__KBF_MAX_CELLS ((uint64_t)1 << 35) /* 128 GB; their directory takes 64 MB */
/* Cells are zeroed in pieces of 16 KiB: a key uses up to 32 of them. */
#define BRY__KBF_PIECE_SHIFT 14u

typedef struct bry__kbf {
    const bry__gf *gf; /* the owner's, and shared by its tables */
    unsigned hashes; /* k, 1 to BRY__KBF_MAX_HASHES */
    uint64_t segment; /* cells of a segment */
    uint64_t items;
    uint64_t counts[8]; /* cells by counter */
    uint64_t capacity; /* for the owner, as is `error` */
    double error; /* planned, at capacity */
    bry__pieces cells;
} bry__kbf;

/* `like` gives gf, hashes, segment, capacity and error. BRY_E_NOMEM. */
bry_status bry__kbf_init(bry__kbf *kbf, const bry__kbf *like, const bry_allocator *allocator);
void bry__kbf_free(bry__kbf *kbf, const bry_allocator *allocator);
void bry__kbf_clear(bry__kbf *kbf, const bry_allocator *allocator);

/* Whether every cell is zero. A table without items may still have stuck cells. */
static inline bool bry__kbf_is_zero(const bry__kbf *kbf)
{
    return kbf->counts[0] == kbf->hashes * kbf->segment;
}

/* The exponent of a key's mask: see bry__gf_mask(). */
static inline uint32_t bry__kbf_mask(const bry__gf *gf, bry_hash hash)
{
    return (uint32_t)bry__scale(bry__word(hash.hi, 1), gf->order);
}

/* ---- one key ------------------------------------------------------------------------------- */

/* codes: how many are assigned. *code is set only for BRY_PRESENT. */
bry_answer bry__kbf_get(const bry__kbf *kbf, bry_hash hash, uint32_t codes, uint32_t *code);
void bry__kbf_get_n(const bry__kbf *kbf, const bry_hash *hashes, size_t n, uint32_t codes,
                    uint32_t *codes_out, uint8_t *answers);

/* Whether every cell of the key may hold this code for it. */
bool bry__kbf_may_hold(const bry__kbf *kbf, bry_hash hash, uint32_t code);

/* Prefetches the key's cells. */
void bry__kbf_prefetch(const bry__kbf *kbf, bry_hash hash);

/* Allocates the cells of these keys, so that insert cannot fail. BRY_E_NOMEM. */
bry_status bry__kbf_reach(bry__kbf *kbf, const bry_hash *hashes, size_t n,
                          const bry_allocator *allocator);

/*
 * Adds the pair; its cells must be allocated. Returns a set of the key's cells: bit i is set if the
 * counter in segment i got stuck.
 */
uint32_t bry__kbf_add(bry__kbf *kbf, bry_hash hash, uint32_t code);
void bry__kbf_add_n(bry__kbf *kbf, const bry_hash *hashes, const uint32_t *codes, size_t n);

/* Takes out a pair that is there, or that bry__kbf_may_hold() accepts. Stuck counters stay stuck,
 * except those in `unstick`, which is what the insert that is undone returned. */
void bry__kbf_take(bry__kbf *kbf, bry_hash hash, uint32_t code, uint32_t unstick);

/* Changes the key's code from `from` to `to`. */
void bry__kbf_replace(bry__kbf *kbf, bry_hash hash, uint32_t from, uint32_t to);

/* ---- whole tables -------------------------------------------------------------------------- */

/* Copies `from` to `to`, which was just made like it. BRY_E_NOMEM. */
bry_status bry__kbf_copy(bry__kbf *to, const bry__kbf *from, const bry_allocator *allocator);

/*
 * Adds `from` to `into`, whose segments are 2^shift times smaller: JOIN if shift is 0, COMPRESS
 * if `into` is empty. Everything but the segment is the same in both. BRY_E_NOMEM: nothing was
 * added.
 */
bry_status bry__kbf_merge(bry__kbf *into, const bry__kbf *from, unsigned shift,
                          const bry_allocator *allocator);

/* Allocates all cells that adding `from` writes to, so that it cannot fail. BRY_E_NOMEM. */
bry_status bry__kbf_reach_for(bry__kbf *into, const bry__kbf *from, unsigned shift,
                              const bry_allocator *allocator);

/*
 * Recounts the cells and returns what is wrong with them for this number of items, or NULL. For
 * cells from files: each content must be one that its counter allows, and in a segment without
 * stuck cells the counters must add up to the items.
 */
const char *bry__kbf_check(bry__kbf *kbf);

#endif
