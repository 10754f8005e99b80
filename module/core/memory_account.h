/*
 * The memory of one object, from the server's allocator, counted to the byte: what the allocator
 * gave out, not what was requested, so that MEMORY USAGE agrees with the server's own total.
 *
 * The total of each family is kept as well. Objects may be freed in other threads (UNLINK, FLUSHALL
 * ASYNC), so that total is atomic. An account is used only together with its object and needs no
 * synchronisation.
 */
#ifndef BLOOMERY_MODULE_MEMORY_ACCOUNT_H
#define BLOOMERY_MODULE_MEMORY_ACCOUNT_H

#include <bloomery/base.h>
#include <stdatomic.h>

struct server_context;

typedef struct account {
    size_t bytes;
    atomic_ullong *sum; /* total bytes of a family */
    uint32_t blocks;
    uint32_t noted; /* for the owner of the account */
} account;

/*
 * Sets a limit: allocations beyond it fail. `asking` is the client's command that it applies to
 * (replayed commands are not limited), NULL for any. One account at a time has a limit, since one
 * command runs at a time. account_limit_end() removes it; true if an allocation failed because of
 * it.
 */
void account_limit_begin(account *self, size_t bytes, struct server_context *asking);
bool account_limit_end(account *self);

/* These are the functions of account_allocator(); `opaque` is the account. */
void *account_alloc(void *opaque, size_t size);
void account_free(void *opaque, void *block, size_t size);

/* Moves the account's bytes to another total. */
void account_move(account *self, atomic_ullong *sum);

bry_allocator account_allocator(account *self);

/* Allocates a zeroed block that begins with its own account, in which it is the first allocation.
 * NULL: out of memory. Close it after everything else in the account has been freed. */
void *account_open(size_t size, atomic_ullong *sum);
void account_close(void *block);

#endif
