/*
 * Content-defined chunks: a file is cut where its content says so, not at fixed offsets, so that an
 * insertion changes only the chunks around it.
 *
 * A gear hash runs over the bytes: hash = 2 * hash + gear[byte]. It depends on the last 64 bytes
 * alone. A chunk ends where the top bits of the hash are zero. The number of bits is normalized: up
 * to the `normal` size one bit more is required, after it one bit less, so that sizes vary less than
 * a geometric distribution would. No chunk is shorter than `least` (except the last of a file) or
 * longer than `most`.
 *
 * Boundaries are not part of the repository's format: any chunks restore. But a program that cuts
 * differently finds no duplicates of older chunks, so the table and the masks must stay as they are.
 */
#ifndef BLOOMERY_DEDUP_CHUNKER_H
#define BLOOMERY_DEDUP_CHUNKER_H

#include <stddef.h>
#include <stdint.h>

typedef struct dedup_chunker {
    size_t least; /* The shortest chunk. */
    size_t normal; /* The length from which on chunks end more easily. */
    size_t most; /* The longest chunk. */
    uint64_t before; /* Mask of the hash up to `normal`. */
    uint64_t after; /* Mask of the hash from `normal` on. */
    uint64_t gear[256];
} dedup_chunker;

/* `average` is a power of two, 4 KiB to 64 KiB: the distance of two cuts without a least size. */
void dedup_chunker_init(dedup_chunker *chunker, uint32_t average);

/*
 * The length of the first chunk of these bytes. `len` is at least `most` or everything up to the
 * end of the file. 0 if len is 0.
 */
size_t dedup_chunker_cut(const dedup_chunker *chunker, const unsigned char *bytes, size_t len);

#endif
