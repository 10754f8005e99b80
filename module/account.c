#include "account.h"

#include "server_api.h"

#include <string.h>

static void count(account *self, size_t bytes)
{
    self->bytes += bytes;
    self->blocks++;
    atomic_fetch_add_explicit(self->sum, bytes, memory_order_relaxed);
}

static void uncount(account *self, size_t bytes)
{
    self->bytes -= bytes;
    self->blocks--;
    atomic_fetch_sub_explicit(self->sum, bytes, memory_order_relaxed);
}

/* TryAlloc: a size that cannot be had is an error of one command, not the end of the server. */
void *account_alloc(void *opaque, size_t size)
{
    account *self = opaque;
    if (self->ceiling && (self->bytes > self->ceiling || size > self->ceiling - self->bytes)) {
        self->denied = true;
        return NULL;
    }
    void *block = api.TryAlloc(size);
    if (block)
        count(self, api.MallocSize(block));
    return block;
}

void account_free(void *opaque, void *block, size_t size)
{
    (void)size;
    uncount(opaque, api.MallocSize(block));
    api.Free(block);
}

bry_allocator account_allocator(account *self)
{
    return (bry_allocator){account_alloc, account_free, self};
}

void *account_open(size_t size, atomic_ullong *sum)
{
    account *block = api.TryAlloc(size);
    if (!block)
        return NULL;
    memset(block, 0, size);
    block->sum = sum;
    count(block, api.MallocSize(block));
    return block;
}

void account_close(void *block)
{
    account *self = block;
    uncount(self, api.MallocSize(block));
    api.Free(block);
}
