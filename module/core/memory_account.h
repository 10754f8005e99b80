/*
 * The memory of one object, from the server's allocator, counted to the byte: what the allocator
 * gave out, not what it was asked for, so that MEMORY USAGE and the server's own sum agree.
 *
 * The sum of a family is kept beside it. Objects are freed in other threads (UNLINK, FLUSHALL
 * ASYNC), so that sum is atomic; an account itself belongs to its object and needs no more than it.
 */
#ifndef BLOOMERY_MODULE_ACCOUNT_H
#define BLOOMERY_MODULE_ACCOUNT_H

#include <bloomery/base.h>
#include <stdatomic.h>

typedef struct account {
    size_t bytes, blocks;
    atomic_ullong *sum; /* bytes of all accounts of a family */
    size_t ceiling; /* nothing is given out beyond; 0: no ceiling */
    size_t before; /* bytes when the ceiling was set */
    struct server_context *asking; /* whose command the ceiling is for; NULL: it always holds */
    bool denied; /* set when the ceiling was in the way */
} account;

/* Both may be called with a bry_allocator's opaque pointer, which account_allocator() sets. */
void *account_alloc(void *opaque, size_t size);
void account_free(void *opaque, void *block, size_t size);

/* Counts the account's bytes in another sum. */
void account_move(account *self, atomic_ullong *sum);

bry_allocator account_allocator(account *self);

/*
 * A block of memory, cleared, that begins with its own account and is the first thing counted in
 * it; NULL when there is no memory. Close it when all else that was taken from it is given back.
 */
void *account_open(size_t size, atomic_ullong *sum);
void account_close(void *block);

#endif
