#include "module/core/memory_account.h"

#include "module/core/replies.h"

#include <string.h>

static void account_count(account *self, size_t bytes)
{
    self->bytes += bytes;
    self->blocks++;
    atomic_fetch_add_explicit(self->sum, bytes, memory_order_relaxed);
}

static void account_uncount(account *self, size_t bytes)
{
    self->bytes -= bytes;
    self->blocks--;
    atomic_fetch_sub_explicit(self->sum, bytes, memory_order_relaxed);
}

/* The limit of the command that is running. */
static struct {
    const account *of; /* NULL: no limit */
    size_t bytes;
    size_t before; /* bytes of the account when the limit was set */
    struct server_context *asking;
    bool denied;
} limit;

void account_limit_begin(account *self, size_t bytes, struct server_context *asking)
{
    limit.of = self;
    limit.bytes = bytes;
    limit.before = self->bytes;
    limit.asking = asking;
    limit.denied = false;
}

bool account_limit_end(account *self)
{
    bool denied = limit.of == self && limit.denied;
    limit.of = NULL;
    limit.denied = false;
    return denied;
}

/* A command that allocates more than this also checks the server's maxmemory. */
#define LARGE_GROWTH ((size_t)1 << 20)

static bool account_exceeds_limit(const account *self, size_t size)
{
    return limit.of == self && (self->bytes > limit.bytes || size > limit.bytes - self->bytes);
}

/* The server checks maxmemory before a command, not while it runs. A command that allocates
 * megabytes is refused if it would exceed maxmemory, unless the server evicts keys. */
static bool account_exceeds_maxmemory(const account *self, size_t size)
{
    if (limit.of != self || !limit.asking || self->bytes + size < limit.before + LARGE_GROWTH)
        return false;
    int flags = api.GetContextFlags(limit.asking);
    return (flags & SERVER_OUT_OF_MEMORY) && !(flags & SERVER_EVICTS);
}

/*
 * TryAlloc(): an allocation that fails is an error of one command, not the end of the server.
 * Whether the limit applies to this command is checked only when it is reached, because the check
 * costs more than most commands.
 */
void *account_alloc(void *opaque, size_t size)
{
    account *self = opaque;
    if (account_exceeds_limit(self, size) && limit.asking && is_replayed(limit.asking))
        limit.of = NULL;
    if (account_exceeds_limit(self, size)) {
        limit.denied = true;
        return NULL;
    }
    void *block = api.TryAlloc(size);
    if (block && account_exceeds_maxmemory(self, size) && !is_replayed(limit.asking)) {
        api.Free(block);
        return NULL;
    }
    if (block)
        account_count(self, api.MallocSize(block));
    return block;
}

void account_free(void *opaque, void *block, size_t size)
{
    (void)size;
    account_uncount(opaque, api.MallocSize(block));
    api.Free(block);
}

void account_move(account *self, atomic_ullong *sum)
{
    atomic_fetch_sub_explicit(self->sum, self->bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(sum, self->bytes, memory_order_relaxed);
    self->sum = sum;
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
    account_count(block, api.MallocSize(block));
    return block;
}

void account_close(void *block)
{
    account *self = block;
    account_uncount(self, api.MallocSize(block));
    api.Free(block);
}
