/*
 * Bytes in a list of blocks: frames on their way from one object to another, or arriving piece by
 * piece, without one block of their whole size. As a source the list is used up while it is read,
 * so that the frames and the object made of them are not both there in full.
 */
#ifndef BLOOMERY_MODULE_CHUNKS_H
#define BLOOMERY_MODULE_CHUNKS_H

#include <bloomery/base.h>

typedef struct chunk chunk;

typedef struct chunks {
    bry_allocator allocator;
    chunk *first, *last;
    size_t at; /* read of the first */
    uint64_t len; /* of all that is left */
} chunks;

void chunks_init(chunks *self, bry_allocator allocator);
void chunks_free(chunks *self);

/* BRY_E_NOMEM leaves the list as it was. */
bry_status chunks_append(chunks *self, const void *bytes, size_t len);

bry_sink chunks_sink(chunks *self);
bry_source chunks_source(chunks *self);

/* All that is in the list, block by block, unchanged: for an object that is not whole yet. */
bry_status chunks_write(const chunks *self, const bry_sink *sink);

#endif
