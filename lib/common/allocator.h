/* The memory of one object: from the caller's allocator or malloc, cleared or aligned as needed. */
#ifndef BRY_COMMON_ALLOCATOR_H
#define BRY_COMMON_ALLOCATOR_H

#include <bloomery/base.h>

/* bry__alloc_lines() aligns to this: the cache line of the machines we build for. */
#define BRY__LINE 64u

/* The caller's allocator, or one over malloc if it is NULL. */
bry_allocator bry__allocator_or_default(const bry_allocator *allocator);

/* An allocator that counts the bytes it has handed out, for objects that report them at any time.
 * The record must not move as long as memory is in use. */
typedef struct bry__memory {
    bry_allocator from;
    uint64_t bytes;
} bry__memory;
bry_allocator bry__memory_begin(bry__memory *memory, const bry_allocator *from);

/* Zeroed memory, or NULL. Size 0 allocates one byte. */
void *bry__alloc(const bry_allocator *allocator, size_t size);

/* The same without zeroing: for buffers that are written before they are read. */
void *bry__alloc_buffer(const bry_allocator *allocator, size_t size);

/* block may be NULL. size is the one passed to bry__alloc(). */
void bry__free(const bry_allocator *allocator, void *block, size_t size);

/*
 * Zeroed memory at a multiple of BRY__LINE. It takes bry__lines_cost(size) bytes from the
 * allocator, which guarantees no more than malloc's alignment.
 */
void *bry__alloc_lines(const bry_allocator *allocator, size_t size);
/* The same without zeroing. */
void *bry__take_lines(const bry_allocator *allocator, size_t size);
void bry__free_lines(const bry_allocator *allocator, void *block, size_t size);
size_t bry__lines_cost(size_t size);

#endif
