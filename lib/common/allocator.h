/* Memory of one object: the caller's allocator or malloc, cleared and aligned here. */
#ifndef BRY_COMMON_ALLOCATOR_H
#define BRY_COMMON_ALLOCATOR_H

#include <bloomery/base.h>

/* What bry__alloc_lines() aligns to: the cache line of the machines we build for. */
#define BRY__LINE 64u

/* The caller's allocator, or the one over malloc when there is none. */
bry_allocator bry__allocator_or_default(const bry_allocator *allocator);

/* Cleared memory, or NULL. Size 0 is one byte. */
void *bry__alloc(const bry_allocator *allocator, size_t size);

/* The same, not cleared: for buffers that are written before they are read. */
void *bry__alloc_buffer(const bry_allocator *allocator, size_t size);

/* Takes NULL. size is what bry__alloc() was given. */
void bry__free(const bry_allocator *allocator, void *block, size_t size);

/*
 * Cleared memory at a multiple of BRY__LINE. It costs bry__lines_cost(size) bytes of the allocator,
 * since that promises no more than malloc's alignment.
 */
void *bry__alloc_lines(const bry_allocator *allocator, size_t size);
/* The same, not cleared. */
void *bry__take_lines(const bry_allocator *allocator, size_t size);
void bry__free_lines(const bry_allocator *allocator, void *block, size_t size);
size_t bry__lines_cost(size_t size);

#endif
