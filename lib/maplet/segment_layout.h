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

#endif
