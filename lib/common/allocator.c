#include "common/allocator.h"

#include <stdlib.h>
#include <string.h>

static void *malloc_alloc(void *opaque, size_t size)
{
    (void)opaque;
    return malloc(size);
}

static void malloc_free(void *opaque, void *block, size_t size)
{
    (void)opaque;
    (void)size;
    free(block);
}

bry_allocator bry__allocator_or_default(const bry_allocator *allocator)
{
    static const bry_allocator over_malloc = {malloc_alloc, malloc_free, NULL};
    return allocator ? *allocator : over_malloc;
}

static void *memory_alloc(void *opaque, size_t size)
{
    bry__memory *memory = opaque;
    void *block = memory->from.alloc(memory->from.opaque, size);
    memory->bytes += block ? size : 0;
    return block;
}

static void memory_free(void *opaque, void *block, size_t size)
{
    bry__memory *memory = opaque;
    memory->bytes -= size;
    memory->from.free(memory->from.opaque, block, size);
}

bry_allocator bry__memory_begin(bry__memory *memory, const bry_allocator *from)
{
    *memory = (bry__memory){.from = *from};
    return (bry_allocator){memory_alloc, memory_free, memory};
}

void *bry__alloc_buffer(const bry_allocator *allocator, size_t size)
{
    return allocator->alloc(allocator->opaque, size ? size : 1);
}

void *bry__alloc(const bry_allocator *allocator, size_t size)
{
    void *block = bry__alloc_buffer(allocator, size);
    if (block)
        memset(block, 0, size ? size : 1);
    return block;
}

void bry__free(const bry_allocator *allocator, void *block, size_t size)
{
    if (block)
        allocator->free(allocator->opaque, block, size ? size : 1);
}

size_t bry__lines_cost(size_t size)
{
    return size + BRY__LINE;
}

/* The byte before the aligned block holds the offset by which it was moved: 1 to BRY__LINE. */
void *bry__take_lines(const bry_allocator *allocator, size_t size)
{
    if (size > SIZE_MAX - BRY__LINE)
        return NULL;
    unsigned char *raw = allocator->alloc(allocator->opaque, bry__lines_cost(size));
    if (!raw)
        return NULL;
    size_t up = BRY__LINE - (uintptr_t)raw % BRY__LINE;
    raw[up - 1] = (unsigned char)up;
    return raw + up;
}

void *bry__alloc_lines(const bry_allocator *allocator, size_t size)
{
    void *block = bry__take_lines(allocator, size);
    if (block)
        memset(block, 0, size);
    return block;
}

void bry__free_lines(const bry_allocator *allocator, void *block, size_t size)
{
    if (!block)
        return;
    unsigned char *aligned = block;
    bry__free(allocator, aligned - aligned[-1], bry__lines_cost(size));
}
