/*
 * Which chunks are needed: a bit for each place of each container, set by walking through the
 * manifests of all archives. A second bit says that a chunk was read as part of a manifest; a chunk
 * of file data may have the same content, so the first bit does not tell that.
 */
#ifndef BLOOMERY_DEDUP_MARKS_H
#define BLOOMERY_DEDUP_MARKS_H

#include "apps/dedup/archive/archive.h"
#include "apps/dedup/archive/manifest.h"

typedef struct dedup_marks {
    dedup_store *store;
    unsigned char **bits; /* for each row of the store: two bits for each place */
    size_t count;
    uint64_t missing; /* chunks of files that are not in the store */
} dedup_marks;

/* Walks through all archives. DEDUP_DAMAGED: a record or a manifest is damaged, so that it is not
 * known what is needed. */
dedup_status dedup_marks_make(dedup_marks *marks, dedup_store *store);
void dedup_marks_free(dedup_marks *marks);

/* Whether a chunk is needed, by the number of the row and the place. */
bool dedup_marks_has(const dedup_marks *marks, size_t row, uint32_t place);

#endif
