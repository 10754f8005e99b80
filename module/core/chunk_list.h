/*
 * Bytes in a list of blocks: frames on their way from one object to another, or arriving in pieces,
 * without one block of the total size. Reading the list as a source frees it block by block, so
 * that the frames and the object made from them do not both exist in full.
 */
#ifndef BLOOMERY_MODULE_CHUNK_LIST_H
#define BLOOMERY_MODULE_CHUNK_LIST_H

#include <bloomery/base.h>

typedef struct chunk chunk;

typedef struct chunks {
    bry_allocator allocator;
    chunk *first, *last;
    size_t at; /* bytes already read of the first block */
    uint64_t len; /* bytes left in all blocks */
} chunks;

/* NULL: out of memory. */
chunks *chunks_new(bry_allocator allocator);
void chunks_free(chunks *self); /* NULL is allowed */

/* BRY_E_NOMEM leaves the list unchanged. */
bry_status chunks_append(chunks *self, const void *bytes, size_t len);

bry_source chunks_source(chunks *self);

/* Writes the whole list without consuming it: for an object that is still being restored. */
bry_status chunks_write(const chunks *self, const bry_sink *sink);

#endif
