/* Positions in the block of a segment, for the files of the segment. segment.c draws it. */
#ifndef BRY_MAPLET_SEGMENT_LAYOUT_H
#define BRY_MAPLET_SEGMENT_LAYOUT_H

#include "kernel/probes.h"
#include "maplet/segment.h"

static inline unsigned bry__quotients_of(const bry__segment *segment, uint64_t u_most)
{
    return (unsigned)(u_most >> segment->remainder_bits) + 1;
}

static inline size_t bry__samples_of(unsigned quotients)
{
    return (quotients - 1) >> BRY__SAMPLED;
}

static inline unsigned bry__slot_bits(const bry__segment *segment)
{
    return (unsigned)segment->remainder_bits + segment->value_bits;
}

/* The position of a slot's first bit in the block. */
static inline uint64_t bry__slot_at(const bry__segment *segment, unsigned index)
{
    return 8 * (uint64_t)bry__segment_block(segment->steps) -
           (uint64_t)(index + 1) * bry__slot_bits(segment);
}

static inline unsigned char *bry__runs_of(const bry__segment *segment, unsigned quotients)
{
    return segment->bytes + 2 * bry__samples_of(quotients);
}

/* ---- segment_encode.c ------------------------------------------------------------------------ */

/* A copy of a segment whose block is going to be overwritten. */
typedef struct bry__segment_copy {
    bry__segment segment;
    size_t allocated; /* bytes of its block if that is not `bytes` */
    unsigned char bytes[8192];
} bry__segment_copy;
/* False: out of memory. */
bool bry__segment_copy_make(bry__segment_copy *copy, const bry__segment *segment, uint64_t u_most,
                            const bry_allocator *allocator);
void bry__segment_copy_free(const bry__segment_copy *copy, const bry_allocator *allocator);

/* New entries of a segment. */
typedef struct bry__segment_change {
    bry__segment *segment;
    const bry__home *home;
    unsigned n, value_bits;
    bool enlarged; /* the block was too small */
    uint64_t u_most;
    bry__segment_layout layout;
} bry__segment_change;
bry__segment_change bry__segment_change_of(bry__segment *segment, const bry__home *home, unsigned n,
                                           uint64_t u_most, unsigned value_bits);
/* Makes the block large enough; its entries stay, and u_most is theirs. BRY_E_NOMEM. */
bry_status bry__segment_enlarge(bry__segment_change *change, uint64_t u_most);
/* Begins to encode the new entries into the block. If it was too large, this returns the rest. */
void bry__segment_encode_into(const bry__segment_change *change, bry__segment_encoder *encoder);

#endif
